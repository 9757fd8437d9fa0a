"""Keeping the notes in order: what needs attention and why, pairs that may be one note, what curators wrote down.

And the trash, from which a note comes back.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from vault_memex.core.text import base_of, stem_of
from vault_memex.errors import NotFound
from vault_memex.memory.queues import MEANINGS, REASONS
from vault_memex.memory.runs import RUNS_FOLDER
from vault_memex.services.curation import QueueRequest
from vault_memex.services.pairs import PairsRequest
from vault_memex.services.trashing import KEPT_DAYS
from vault_memex.web.note_page import render_body
from vault_memex.web.site import Site, find_count, find_form

PAGE = 30
RECORDS = 12


def show_tidying(site: Site, request: Request) -> Response:
    """Show the queue of notes that need attention, all or those of one reason."""
    asked = request.query_params.get("reason", "")
    reason = asked if asked in REASONS else ""
    offset = find_count(request, "offset")
    queue = site.vault.upkeep.curation.find_queue(QueueRequest(reason, limit=PAGE, offset=offset))
    return site.render(
        request,
        "tidying.html",
        queue=queue,
        reason=reason,
        meanings=MEANINGS,
        counts={name: queue.reason_counts[name] for name in REASONS if queue.reason_counts.get(name)},
        records=[stem_of(path) for path in reversed(_find_records(site)[-RECORDS:])] if not offset else (),
        offset=offset,
        size=PAGE,
    )


def _find_records(site: Site) -> tuple[str, ...]:
    return site.vault.files.find_internal(RUNS_FOLDER)


def show_record(site: Site, request: Request) -> Response:
    """Show what a curator wrote down."""
    name = f"{request.path_params['name']}.md"
    path = next((path for path in _find_records(site) if base_of(path) == name), None)
    if path is None:
        raise NotFound(f"There is no record {name!r}.")
    file = site.vault.files.read(path, "internal")
    return site.render(
        request, "record.html", name=stem_of(path), note=render_body(site, path, file.text, stem_of(path))
    )


def show_pairs(site: Site, request: Request) -> Response:
    """Show pairs of notes that say nearly the same."""
    offset = find_count(request, "offset")
    answer = site.vault.upkeep.pairs.find(PairsRequest(limit=PAGE, offset=offset))
    return site.render(request, "pairs.html", answer=answer, offset=offset, size=PAGE)


def keep_apart(site: Site, request: Request) -> Response:
    """Remember that two notes are two."""
    form = find_form(request)
    site.vault.upkeep.pairs.reject((form.get("one", ""), form.get("other", "")), form.get("comment", "").strip())
    return site.go(site.url("pairs"))


def show_trash(site: Site, request: Request) -> Response:
    """Show deleted notes, the last one first."""
    offset = find_count(request, "offset")
    trashed = site.vault.trashing.find()
    return site.render(
        request,
        "trash.html",
        rows=trashed[offset : offset + PAGE],
        total=len(trashed),
        kept_days=KEPT_DAYS,
        offset=offset,
        size=PAGE,
    )


def restore(site: Site, request: Request) -> Response:
    """Put a note back where it was."""
    return site.go(site.note_url(site.vault.trashing.restore(find_form(request).get("file", "")).path))
