"""Pages to look around: the journal, search, and the graph."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from vault_memex.core.filters import Filters, parse_filters
from vault_memex.errors import InvalidArgument, MemexError
from vault_memex.services.history import ChangesRequest
from vault_memex.services.picture import find_picture
from vault_memex.services.searches import Mode, SearchAnswer, SearchRequest
from vault_memex.web.picture_page import find_policy, render_page
from vault_memex.web.site import Site, find_count, find_day

PAGE = 50
MOST_UNDOABLE = 1_000
ROWS = 20  # of a search
SPANS = (("week", 7), ("month", 30), ("year", 365), ("all", 0))
_MODES: dict[str, Mode] = {"hybrid": "hybrid", "exact": "exact", "strict": "strict"}


def show_journal(site: Site, request: Request) -> Response:
    """Show what happened to the notes, newest first, a day at a time."""
    ask = request.query_params
    span = ask.get("span", "") if ask.get("span", "") in dict(SPANS) else ("all" if ask.get("note") else "month")
    offset, days = find_count(request, "offset"), dict(SPANS)[span]
    since = (site.vault.clock() - timedelta(days=days)).date().isoformat() if days else "1970-01-01"
    request_ = ChangesRequest(since=since, ref=ask.get("note", ""), limit=PAGE, offset=offset)
    answer = site.vault.history.find_changes(request_)
    days_shown = [(day, list(rows)) for day, rows in groupby(answer.rows, key=lambda row: find_day(row.at))]
    return site.render(
        request,
        "journal.html",
        answer=answer,
        days=days_shown,
        span=span,
        spans=[name for name, _ in SPANS],
        note=ask.get("note", ""),
        undoable={row.event for row in site.vault.undoing.find(MOST_UNDOABLE) if not row.undone},
        offset=offset,
        size=PAGE,
    )


def show_search(site: Site, request: Request) -> Response:
    """Search, or list the notes that changed last."""
    ask = request.query_params
    query, mode = ask.get("q", "").strip(), ask.get("mode", "hybrid")
    folder, tag = ask.get("folder", "").strip(), ask.get("tag", "").strip()
    offset = find_count(request, "offset")
    answer: SearchAnswer | None = None
    error = ""
    try:
        if mode not in _MODES:
            raise InvalidArgument("mode", "A search is hybrid, exact or strict.")
        answer = site.vault.retrieval.search(
            SearchRequest(
                query,
                _MODES[mode],
                parse_filters(tags=[tag] if tag else None, folder=folder),
                ROWS,
                offset,
                flashbacks=offset == 0,
            )
        )
    except MemexError as problem:
        error = problem.message
    return site.render(
        request,
        "search.html",
        400 if error else 200,
        error=error,
        query=query,
        folder=folder,
        tag=tag,
        mode=mode if mode in _MODES else "hybrid",
        answer=answer,
        offset=offset,
        size=ROWS,
    )


def show_graph(site: Site, request: Request) -> Response:
    """Show the graph, which is a page of its own, inside of this one."""
    return site.render(request, "graph.html")


def show_picture(site: Site, request: Request) -> Response:  # noqa: ARG001 -- as all pages
    """Return the graph itself."""
    vault = site.vault
    picture = find_picture(vault.catalogue, vault.knowledge.view, vault.snapshot(), Filters())
    page = render_page(picture, vault.root.name, (), notes_url=site.url("note/"))
    policy = f"{find_policy()}; frame-ancestors 'self'"
    return HTMLResponse(page.encode("utf-8", "replace"), headers={"content-security-policy": policy})
