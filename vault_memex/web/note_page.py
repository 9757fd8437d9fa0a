"""A note as a person reads it: its text, properties, links in both directions, and what waits about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from mimetypes import guess_type

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from vault_memex.core.links import resolve_link
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import PropertyValue
from vault_memex.core.text import base_of, find_safe_cut, name_key
from vault_memex.errors import NotFound
from vault_memex.memory.proposal_file import render_value
from vault_memex.services.reading import ReadRequest
from vault_memex.web.note_html import MOST_CHARS, PICTURES, NoteHtml, render_note_html, render_value_html
from vault_memex.web.site import Site, find_count, find_form

_SHOWN_ABOVE = ("title", "tags", "summary", "layer", "review")
_FILE_POLICY = "default-src 'none'; sandbox"


def show_note(site: Site, request: Request) -> Response:
    """Show a note, or the part of a long one that the address names."""
    path, offset = request.path_params["path"], find_count(request, "offset")
    view = site.vault.reading.get(path, ReadRequest(offset=offset, max_chars=MOST_CHARS))
    record = site.vault.snapshot().notes.get(view.path)
    return site.render(
        request,
        "note.html",
        view=view,
        note=_render(site, view.path, view.text, view.title),
        as_source="source" in request.query_params,
        properties=render_properties(site, view.path, view.properties),
        backlinks=tuple(dict.fromkeys(link.source for link in view.backlinks if link.source != view.path)),
        links=tuple(dict.fromkeys(link.path for link in view.links if link.path is not None)),
        pending=record is not None and record.pending,
    )


def render_properties(
    site: Site, path: str, properties: Mapping[str, PropertyValue]
) -> dict[str, tuple[Markup, ...]]:
    """Return the parts of each value as HTML; title, tags and summary have their own places on the page."""
    find_url, tag_url = _find_urls(site, path), site.url("search?tag=")
    return {
        name: tuple(
            render_value_html(render_value(part), find_url, tag_url)
            for part in (value if isinstance(value, list) else [value])
        )
        for name, value in properties.items()
        if name not in _SHOWN_ABOVE and value not in (None, [], "")
    }


def render_body(site: Site, path: str, text: str, title: str) -> NoteHtml:
    """Return the HTML of a note's file text: its body, as far as one page goes."""
    body = parse_note(text).body
    return _render(site, path, body[: find_safe_cut(body, MOST_CHARS)], title)


def _render(site: Site, path: str, body: str, title: str) -> NoteHtml:
    return render_note_html(body, _find_urls(site, path), site.url("search?tag="), title)


def _find_urls(site: Site, source: str) -> Callable[[str], str | None]:
    """Return what finds the address of a link of the note, by the rules that the index follows too."""
    snapshot = site.vault.snapshot()
    by_name: dict[str, list[str]] = {}

    def find_files(name: str) -> list[str]:
        if not by_name:
            for path in (*snapshot.notes, *snapshot.attachments):
                by_name.setdefault(name_key(base_of(path)), []).append(path)
        return by_name.get(name, [])

    def find_url(target: str) -> str | None:
        path = resolve_link(target, source, find_files).path
        if path is None:
            return None
        return site.note_url(path) if path in snapshot.notes else site.path_url("file", path)

    return find_url


def flag_note(site: Site, request: Request) -> Response:
    """Mark a note as in need of tidying, or take the mark off."""
    path, form = request.path_params["path"], find_form(request)
    comment = form.get("comment", "").strip()
    if form.get("action") == "close":
        site.vault.upkeep.flags.resolve(path, comment)
    else:
        site.vault.upkeep.flags.raise_flag(path, comment)
    return site.go(site.note_url(path))


def show_file(site: Site, request: Request) -> Response:
    """Return a picture of the vault; nothing else of it is given out as a file."""
    path = request.path_params["path"]
    kind = path.rpartition(".")[2].lower()
    if kind not in PICTURES or path not in site.vault.snapshot().attachments:
        raise NotFound(f"There is no picture {path!r} in the vault.")
    data = site.vault.files.read(path).data
    return Response(
        data,
        media_type=guess_type(f"a.{kind}")[0] or f"image/{kind}",
        headers={"content-security-policy": _FILE_POLICY, "cache-control": "private, max-age=60"},
    )
