"""Serving HTTP from a socket of this machine until a signal comes."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import uvicorn
from starlette.types import ASGIApp

from vault_memex.errors import InvalidArgument

END_SECONDS = 2  # for answers under way; a stream that a client holds open does not keep the process


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens, on any free port for 0. Raises InvalidArgument when the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, so that asyncio lets no answer wait for its first part to be acknowledged (40 ms each).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # from here on whoever is told the address is answered, however long serving takes to begin
    except (OSError, OverflowError) as error:
        listening.close()
        why = error.strerror if isinstance(error, OSError) else "ports go from 0 to 65535"
        raise InvalidArgument("port", f"{host}:{port} cannot be had: {why}.") from error
    return listening


async def stopping(stop: Callable[[], None]) -> None:
    """Call `stop` at each signal that asks the process to end."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            stop()


class _Listening(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # `stopping` hears them, and the vault is closed before the process ends


async def serve_until_signal(app: ASGIApp, listening: socket.socket) -> None:
    """Serve, and return when a signal has come and the answers under way are given."""
    settings = uvicorn.Config(
        app,
        lifespan="off",
        log_level="warning",
        access_log=False,
        ws="none",
        timeout_graceful_shutdown=END_SECONDS,
    )
    server = _Listening(settings)

    def stop() -> None:
        server.should_exit = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stopping, stop)
        await server.serve(sockets=[listening])
        tasks.cancel_scope.cancel()
