"""The gate before every page: Host, Origin, the secret, and for forms a second one; and what browsers may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vault_memex.web.access import COOKIE, Keys, Tickets, is_equal

FORM = "vault_memex.form"  # in the scope: the fields of a form that was sent
MOST_BYTES = 4 * 1024 * 1024  # of a form
MOST_FIELDS = 1_000
NAMES = ("127.0.0.1", "localhost")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # none at all would take the Origin from forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_LOCKED = "This page is its starter's. Open the address that `vault-memex ui` printed; each start has another one."


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: int
    text: str


class Gate:
    """The ASGI application around the pages."""

    def __init__(self, pages: ASGIApp, keys: Keys, tickets: Tickets, port: int) -> None:
        self._pages = pages
        self._keys = keys
        self._tickets = tickets
        self._hosts = frozenset(f"{name}:{port}" for name in NAMES) | (
            frozenset(NAMES) if port == 80 else frozenset()
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        answer: ASGIApp | None = self._find_answer(request)
        if answer is None and request.method == "POST":
            form = await _read_form(request)
            if isinstance(form, _Refusal):
                answer = _render(form)
            elif not is_equal(form.get("form_key", ""), self._keys.form):
                answer = _render(
                    _Refusal(403, "This form is of another start of the page. Go back and reload it.")
                )
            else:
                scope[FORM] = form
        scope["root_path"] = self._keys.base
        await (answer or self._pages)(scope, receive, _with_headers(send))

    def _find_answer(self, request: Request) -> Response | None:
        """Return what is answered instead of a page; None when the request may pass."""
        refusal = self._check(request)
        if refusal is not None:
            return _render(refusal)
        if request.url.path == self._keys.base:
            return RedirectResponse(f"{self._keys.base}/")  # the cookie is for what lies below
        token = request.query_params.get("token")
        if token is not None and request.method == "GET":
            return self._let_in(token)
        if not is_equal(request.cookies.get(COOKIE, ""), self._keys.session):
            return _render(_Refusal(403, _LOCKED))
        return None

    def _check(self, request: Request) -> _Refusal | None:
        host = request.headers.get("host", "")
        if host.lower() not in self._hosts:
            return _Refusal(421, "This is a page of your own machine; it answers to 127.0.0.1 and localhost only.")
        base = self._keys.base
        if request.url.path != base and not request.url.path.startswith(f"{base}/"):
            return _Refusal(404, _LOCKED)
        if request.method not in ("GET", "HEAD", "POST"):
            return _Refusal(405, "Only GET and POST are answered.")
        origin = request.headers.get("origin")
        if (origin is not None or request.method == "POST") and urlsplit(origin or "").netloc != host:
            return _Refusal(403, "The request comes from another page.")
        site = request.headers.get("sec-fetch-site", "none")
        is_visit = request.method == "GET" and request.headers.get("sec-fetch-dest") == "document"
        if site not in ("none", "same-origin") and not is_visit:
            return _Refusal(403, "The request comes from another page.")
        return None

    def _let_in(self, token: str) -> Response:
        """Give the cookie, and lead to the page without the token.

        The page leads on by itself rather than by a redirect: a strict cookie does not come with a redirect when the
        address was clicked in some other page.
        """
        if not (is_equal(token, self._keys.token) or self._tickets.take(token)):
            return _render(_Refusal(403, _LOCKED))
        home = f"{self._keys.base}/"
        page = HTMLResponse(
            f'<!doctype html><title>vault-memex</title><link rel="icon" href="{home}static/icon.svg">'
            f'<meta http-equiv="refresh" content="0;url={home}">'
            f'<p><a href="{home}">Open</a></p>'
        )
        page.set_cookie(COOKIE, self._keys.session, path=home, httponly=True, samesite="strict")
        return page


def _render(refusal: _Refusal) -> Response:
    return PlainTextResponse(f"{refusal.text}\n", refusal.status)


async def _read_form(request: Request) -> Mapping[str, str] | _Refusal:
    """Return the fields of a form; of two with one name the last."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        return _Refusal(415, "Only forms are taken.")
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                return _Refusal(413, "The form holds too much. Edit the file instead.")
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except (ValueError, ClientDisconnect):
        return _Refusal(400, "The form cannot be read.")
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
