"""The pages as one application, and serving it to the person until they stop it."""

from __future__ import annotations

import logging
import socket
import webbrowser
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files
from threading import Thread

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from vault_memex.errors import MemexError, NotFound
from vault_memex.listening import serve_until_signal
from vault_memex.vault import Vault
from vault_memex.web import inbox_pages, insight_pages, note_page, read_pages, upkeep_pages
from vault_memex.web.access import Keys, Tickets, make_keys
from vault_memex.web.gate import Gate
from vault_memex.web.looking import Looking
from vault_memex.web.site import Site, compile_templates

log = logging.getLogger(__name__)

START_SECONDS = 0.5  # the first page does not share the processor with the first scan


class _VaultPath(Convertor[str]):
    """A path of the vault. Names of files may hold line breaks, which Starlette's own kind of path may not."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        """Return it as it is."""
        return value

    def to_string(self, value: str) -> str:
        """Return it as it is."""
        return value


register_url_convertor("vault", _VaultPath())

Page = Callable[[Site, Request], Response]
_STATIC = {"app.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml"}
_PAGES: tuple[tuple[str, Page], ...] = (
    ("/", inbox_pages.show_inbox),
    ("/count", inbox_pages.tell_count),
    ("/proposal/{number:int}", inbox_pages.show_proposal),
    ("/waiting/{path:vault}", inbox_pages.show_waiting),
    ("/note/{path:vault}", note_page.show_note),
    ("/file/{path:vault}", note_page.show_file),
    ("/journal", read_pages.show_journal),
    ("/search", read_pages.show_search),
    ("/graph", read_pages.show_graph),
    ("/graph/picture", read_pages.show_picture),
    ("/signals", insight_pages.show_signals),
    ("/inferences", insight_pages.show_inferences),
    ("/inference/{number:int}", insight_pages.show_inference),
    ("/tidying", upkeep_pages.show_tidying),
    ("/record/{name}", upkeep_pages.show_record),
    ("/pairs", upkeep_pages.show_pairs),
    ("/trash", upkeep_pages.show_trash),
)
_FORMS: tuple[tuple[str, Page], ...] = (
    ("/proposal/{number:int}", inbox_pages.decide_proposal),
    ("/waiting/{path:vault}", inbox_pages.decide_waiting),
    ("/flag/{path:vault}", note_page.flag_note),
    ("/pairs", upkeep_pages.keep_apart),
    ("/trash", upkeep_pages.restore),
    ("/undo", inbox_pages.undo),
    ("/signal/{number:int}", insight_pages.decide_signal),
    ("/inference/{number:int}", insight_pages.decide_inference),
)


def build_app(vault: Vault, keys: Keys, tickets: Tickets, port: int) -> ASGIApp:
    """Return the application: the gate, and the pages behind it. They run in threads, as all services do."""
    site = Site(vault, keys, Looking(vault.signals.find))
    routes = [
        Route("/static/{name}", _give_static, methods=["GET"]),
        *(Route(path, partial(page, site), methods=["GET"]) for path, page in _PAGES),
        *(Route(path, partial(page, site), methods=["POST"]) for path, page in _FORMS),
    ]
    pages = Starlette(
        routes=routes,
        exception_handlers={
            MemexError: partial(_tell_error, site),
            HTTPException: partial(_tell_http, site),
            Exception: partial(_tell_fault, site),
        },
    )
    return Gate(pages, keys, tickets, port)


def _give_static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    headers = {"cache-control": "private, max-age=31536000, immutable"}  # the address names the release
    return Response(_read_static(name), media_type=_STATIC[name], headers=headers)


@cache
def _read_static(name: str) -> bytes:
    return files("vault_memex.web").joinpath("static", name).read_bytes()


async def _tell(site: Site, request: Request, status: int, message: str) -> Response:
    render = partial(site.render, request, "error.html", status, message=message, status_code=status)
    return await anyio.to_thread.run_sync(render)


async def _tell_error(site: Site, request: Request, error: Exception) -> Response:
    assert isinstance(error, MemexError)
    return await _tell(site, request, 404 if isinstance(error, NotFound) else 409, error.message)


async def _tell_http(site: Site, request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return await _tell(
        site, request, status, "There is no such page." if status == 404 else "That cannot be done here."
    )


async def _tell_fault(site: Site, request: Request, error: Exception) -> Response:
    log.error("the page %s failed", request.url.path, exc_info=error)
    return await _tell(site, request, 500, "A fault in this program. What it was is written in the terminal.")


async def _serve(vault: Vault, app: ASGIApp, listening: socket.socket) -> None:
    try:
        await serve_until_signal(app, listening)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(partial(vault.close, patient=False))


def serve(vault: Vault, listening: socket.socket, announce: Callable[[str], None], *, browse: bool) -> None:
    """Serve until Ctrl+C, then close the vault. `announce` gets the address; with `browse` a browser is opened."""
    keys, tickets = make_keys(), Tickets()
    port = listening.getsockname()[1]
    app = build_app(vault, keys, tickets, port)
    vault.snapshot()  # the first page does not wait for what every page needs
    compile_templates()
    listening.listen()
    address = f"http://127.0.0.1:{port}{keys.base}/?token="
    announce(address + keys.token)
    vault.start(START_SECONDS)
    if browse:
        # The socket takes connections already; a browser that runs in the terminal would hold this thread.
        Thread(target=webbrowser.open, args=(address + tickets.issue(),), name="browser", daemon=True).start()
    anyio.run(_serve, vault, app, listening)
