"""The server over HTTP: each request brings a token, which names a connection, which has a server of its own.

All connections share one vault in one process; roles, names and scopes are those of their sessions.
"""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http_manager import DEFAULT_MAX_REQUEST_BODY_SIZE, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from vault_memex.errors import InvalidArgument, MemexError
from vault_memex.listening import serve_until_signal
from vault_memex.memory.connections import Connection, find_connection, parse_connections
from vault_memex.server.app import FIRST_PASS_SECONDS, GRAPH_TOOLSETS, START_SECONDS, build_server
from vault_memex.server.tool import ToolSpec
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.session import Session
from vault_memex.store.tokens import Tokens
from vault_memex.vault import Vault

log = logging.getLogger(__name__)

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ANYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 -- compared with, not bound to
UNKNOWN_TOKEN = "Invalid or revoked token"  # noqa: S105
_EVERY_TOOL = find_callable("owner")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, and under which names."""

    host: str = "127.0.0.1"
    port: int = 0  # 0: any that is free
    names: tuple[str, ...] = ()  # other hosts that requests may be for

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can come in."""
        return self.host in ("127.0.0.1", "localhost", "::1")


def check_address(address: Address, *, allow_remote: bool) -> None:
    """Refuse to be reached from other machines unless the person said so."""
    if not address.is_loopback and not allow_remote:
        raise InvalidArgument(
            "host",
            f"--host {address.host} can be reached from other machines, and tokens would travel unencrypted. Add "
            "--allow-remote if you mean it, and put a proxy with TLS before it.",
        )


def _allow(address: Address) -> TransportSecuritySettings:
    own = [] if address.host in ANYWHERE or address.is_loopback else [address.host]
    hosts = [*LOOPBACK, *own, *address.names]
    return TransportSecuritySettings(
        allowed_hosts=[form for host in hosts for form in (host, f"{host}:*")],
        allowed_origins=[
            form for host in hosts for scheme in ("http", "https") for form in _forms(f"{scheme}://{host}")
        ],
    )


def _forms(origin: str) -> Sequence[str]:
    return origin, f"{origin}:*"


@dataclass(slots=True)
class _Served:
    """The server of a connection, as it is in force."""

    connection: Connection
    allowed: Mapping[str, ToolSpec[Any]]
    manager: StreamableHTTPSessionManager
    ending: anyio.CancelScope


class Door:
    """The ASGI application: asks for the token, and hands the request to the server of its connection."""

    def __init__(self, vault: Vault, tokens: Tokens, address: Address, tasks: TaskGroup) -> None:
        self._vault = vault
        self._tokens = tokens
        self._tasks = tasks
        self._check = TransportSecurityMiddleware(_allow(address)).validate_request
        self._served: dict[str, _Served] = {}
        self._making = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        request = Request(scope)
        refusal = await self._check(request)
        if refusal is None and request.url.path.rstrip("/") != PATH:
            refusal = JSONResponse({"error": f"The server is at {PATH}."}, 404)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        try:
            connection = await anyio.to_thread.run_sync(
                self._find_connection, request.headers.get("authorization")
            )
            served = None if connection is None else await self._find_served(connection)
        except MemexError as error:  # the files of tokens or connections make no sense
            await JSONResponse({"error": error.message}, 503)(scope, receive, send)
            return
        if served is None:
            await _refuse_token()(scope, receive, send)
            return
        await self._pass_on(served, scope, receive, send)

    async def _pass_on(self, served: _Served, scope: Scope, receive: Receive, send: Send) -> None:
        messages, body = await _read_body(receive)
        forbidden = _find_forbidden(body, served.allowed)
        if forbidden:
            text = f"{forbidden} writes, and the connection {served.connection.name} may only read."
            await JSONResponse({"error": f"FORBIDDEN: {text}"}, 403)(scope, receive, send)
            return
        await served.manager.handle_request(scope, partial(_replay, messages, receive), send)

    def _find_connection(self, header: str | None) -> Connection | None:
        scheme, _, secret = (header or "").partition(" ")
        token = self._tokens.check(secret.strip()) if scheme.lower() == "bearer" else None
        if token is None:
            return None
        connections = parse_connections(self._vault.files.read_connections())
        return find_connection(connections, token.connection, self._vault.config.role)

    async def _find_served(self, connection: Connection) -> _Served:
        """Return the connection's server; what the person changed in its role or scope is in force at once."""
        async with self._making:
            served = self._served.get(connection.name)
            if served is None or served.connection != connection:
                if served is not None:
                    served.ending.cancel()
                served = await self._tasks.start(self._serve, connection)
                self._served[connection.name] = served
            return served

    async def _serve(self, connection: Connection, *, task_status: TaskStatus[_Served]) -> None:
        allowed = find_callable(connection.role)
        build = partial(_build_manager, self._vault, connection)
        manager = await anyio.to_thread.run_sync(build)
        with anyio.CancelScope() as ending:
            async with manager.run():
                task_status.started(_Served(connection, allowed, manager, ending))
                await anyio.sleep_forever()


def _build_manager(vault: Vault, connection: Connection) -> StreamableHTTPSessionManager:
    if not vault.catalogue.count_notes():
        vault.background.wait_scanned(FIRST_PASS_SECONDS)
    session = Session(vault, connection)
    listed = find_tools(vault.config.tools, connection.role)
    server = build_server(session, listed, find_callable(connection.role, listed), keeps_vault=False)
    # Host and Origin are looked at by the door, before any token is.
    return StreamableHTTPSessionManager(server.lowlevel, json_response=True, stateless=True)


def _refuse_token() -> Response:
    return JSONResponse(
        {"error": "invalid_token", "error_description": UNKNOWN_TOKEN}, 401, {"WWW-Authenticate": "Bearer"}
    )


async def _read_body(receive: Receive) -> tuple[list[Message], bytes]:
    """Return the messages of the request's body, and the body as far as it may be one of ours."""
    messages: list[Message] = []
    size = 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            break
        if size > DEFAULT_MAX_REQUEST_BODY_SIZE:  # who reads it next refuses it
            break
    return messages, b"".join(message.get("body", b"") for message in messages)


async def _replay(messages: list[Message], receive: Receive) -> Message:
    return messages.pop(0) if messages else await receive()


def _find_forbidden(body: bytes, allowed: Mapping[str, ToolSpec[Any]]) -> str | None:
    """Return the tool that a request calls and its role may not; whatever else is wrong with it is told elsewhere."""
    try:
        sent = json.loads(body)
        name = sent["params"]["name"] if sent["method"] == "tools/call" else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return name if isinstance(name, str) and name in _EVERY_TOOL and name not in allowed else None


async def serve_http(vault: Vault, tokens: Tokens, address: Address, listening: socket.socket) -> None:
    """Serve until a signal comes."""
    async with anyio.create_task_group() as tasks:
        door = Door(vault, tokens, address, tasks)
        listed = find_tools(vault.config.tools, vault.config.role)
        vault.start(START_SECONDS, graph=any(spec.toolset in GRAPH_TOOLSETS for spec in listed))
        try:
            await serve_until_signal(door, listening)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(partial(vault.close, patient=False))
            tasks.cancel_scope.cancel()


def run_http(vault: Vault, tokens: Tokens, address: Address, listening: socket.socket) -> None:
    """Do the same from plain code."""
    anyio.run(serve_http, vault, tokens, address, listening)
