"""Links: how one is written, and which file it means.

Reading knows both spellings, `[[path#part|shown]]` and `[shown](path#part)`; both are resolved alike. Names are
compared by `name_key`, paths segment by segment. An alias is never a link target.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from vault_memex.core.note import Link, LinkKind
from vault_memex.core.text import Span, folder_of, name_key, without_md

# The inner part may hold single brackets, and a footnote's after #.
WIKILINK = re.compile(
    r"\[\[(?!\[)([^\[\]\r\n]*+(?:(?:(?<=#)\[\^[^\[\]\r\n]*+\]|\[(?!\[)|\](?!\]))[^\[\]\r\n]*+)*+)\]\]"
)
_SPACE = re.compile(r"[ \t\r\n]*+")
_ANGLE = re.compile(r"<((?:[^<>\\\r\n]|\\[^\r\n])*+)>")
_BARE = re.compile(r"(?:[^\\()\s\x00-\x1f\x7f]|\\[!-/:-@\[-`{-~]|\\)++")
_UNSPACED = re.compile(r"\S++")
# A quote's marks may stand between the label and a path on the next line.
_DEFINITION = re.compile(r"\[(?:[^\[\]\\]|\\.)++\]:[ \t]*+(?:\r?\n[ \t>]*+|\r[ \t>]*+)?", re.DOTALL)
_TITLE = re.compile(r'"(?:[^"\\]|\\.)*+"|\'(?:[^\'\\]|\\.)*+\'|\((?:[^()\\]|\\.)*+\)', re.DOTALL)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY = re.compile(r"&(?:[a-zA-Z][a-zA-Z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
_EXTERNAL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:|//")
_MAX_PARENS = 16


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """The file a link means. `candidates` holds all equally good ones, best first, when there are several."""

    path: str | None
    candidates: tuple[str, ...] = ()


FindFiles = Callable[[str], Sequence[str]]
"""Returns the vault paths of all files whose base name, extension included, has the given `name_key`."""


def parse_wikilink(text: str, span: Span, kind: LinkKind) -> Link | None:
    """Return the link written as `[[...]]` or `![[...]]` at `span`; None when nothing is in it."""
    start = span.start + (3 if text[span.start] == "!" else 2)
    inner = text[start : span.end - 2]
    pipe = -1 if inner.startswith("|") else inner.find("|")
    path_end = len(inner) if pipe < 0 else pipe
    if pipe > 0 and inner[pipe - 1] == "\\":
        path_end -= 1  # a pipe inside a table is written as \|
    display = inner[pipe + 1 :].strip() if pipe >= 0 else ""
    part = inner.find("#", 0, path_end)
    target_end = path_end if part < 0 else part
    raw = inner[:target_end]
    target = raw.strip()
    subpath = _clean(inner[part:path_end]) if part >= 0 else ""
    if not target and not subpath.strip("# "):
        return None
    at = start + len(raw) - len(raw.lstrip())
    return Link(
        kind=kind,
        target=_clean(target),
        subpath=subpath if subpath.strip("# ") else "",
        display=display or None,
        span=span,
        target_span=Span(at, at + len(target)),
    )


@dataclass(frozen=True, slots=True)
class Destination:
    """What stands in the round brackets of a Markdown link."""

    span: Span  # of the address as written, without angle brackets
    end: int  # after the closing bracket


def parse_destination(text: str, at: int, end: int) -> Destination | None:
    """Return the destination whose `(` is at `at`; None when this is not a Markdown link."""
    pos = _skip_space(text, at + 1, end)
    angle = _ANGLE.match(text, pos, end)
    if angle is not None:
        span, pos = Span(*angle.span(1)), angle.end()
    else:
        stop = _find_bare_end(text, pos, end)
        if stop is None:
            return None
        span, pos = Span(pos, stop), stop
    after = _skip_space(text, pos, end)
    if after > pos:
        title = _TITLE.match(text, after, end)
        if title is not None:
            after = _skip_space(text, title.end(), end)
    if after < end and text[after] == ")":
        return Destination(span, after + 1)
    return None


def parse_definition(text: str, span: Span) -> Link | None:
    """Return what the reference definition at `span`, `[label]: path "title"`, names; None for the web."""
    head = _DEFINITION.search(text, *span)
    if head is None:
        return None
    angle = _ANGLE.match(text, head.end(), span.end)
    bare = _UNSPACED.match(text, head.end(), span.end)
    written = Span(*angle.span(1)) if angle else Span(*bare.span()) if bare else None
    if written is None:
        return None
    return parse_markdown_link(text, Span(head.start(), written.end), written, label="", kind="definition")


def _skip_space(text: str, at: int, end: int) -> int:
    found = _SPACE.match(text, at, end)
    return found.end() if found is not None else at


def _find_bare_end(text: str, at: int, end: int) -> int | None:
    """Return where an address without angle brackets ends; None when its brackets nest too deep."""
    depth = 0
    while at < end:
        run = _BARE.match(text, at, end)
        if run is not None:
            at = run.end()
            continue
        if text[at] == "(":
            depth += 1
            if depth > _MAX_PARENS:
                return None
        elif text[at] == ")" and depth:
            depth -= 1
        else:
            break
        at += 1
    return at if depth == 0 else None


def parse_markdown_link(text: str, span: Span, written: Span, *, label: str, kind: LinkKind) -> Link | None:
    """Return the link `[label](written)` when it points into the vault; None for the web, or an empty address."""
    raw = text[written.start : written.end]
    if not raw or _EXTERNAL.match(raw):
        return None
    part = raw.find("#")
    target_end = len(raw) if part < 0 else part
    address = _decode(raw)
    target, mark, rest = address.partition("#")
    subpath = _clean(mark + rest)
    if not target.strip() and not subpath.strip("# "):
        return None
    return Link(
        kind=kind,
        target=_clean(target).strip(),
        subpath=subpath if subpath.strip("# ") else "",
        display=label.strip() or None,
        span=span,
        target_span=Span(written.start, written.start + target_end),
        markdown=True,
    )


def _decode(raw: str) -> str:
    """Return an address without backslash escapes, entities and percent signs."""
    if "\\" in raw:
        raw = _ESCAPE.sub(r"\1", raw)
    if "&" in raw:
        raw = _ENTITY.sub(lambda found: html.unescape(found.group()), raw)
    if "%" in raw:
        try:
            raw = unquote(raw, errors="strict")
        except UnicodeDecodeError:
            return raw
    return raw


def _clean(name: str) -> str:
    return name.replace("\u00a0", " ").strip()


def link_key(target: str) -> str:
    """Return the key under which a link waits for files: the last part of its path, without `.md`."""
    name = target.rpartition("/")[2].strip()
    while name[-3:].casefold() == ".md":
        name = without_md(name)
    return name_key(name)


def resolve_link(target: str, source: str, find_files: FindFiles) -> LinkTarget:
    """Return the file that `target`, written in the note `source`, means in Obsidian; path None when none does.

    The text is tried as it is, then with `.md`. An exact path from the root wins, else the files whose path ends
    with the text: those at or below the source's folder before others, then the shortest path, then the first by
    name.
    """
    if not target:
        return LinkTarget(source)
    for wanted in (target, f"{target}.md"):
        found = _resolve(wanted, source, find_files)
        if found.path is not None:
            return found
    return LinkTarget(None)


_NOTHING = LinkTarget(None)


def _resolve(wanted: str, source: str, find_files: FindFiles) -> LinkTarget:
    if "/" not in wanted and wanted not in (".", ".."):  # as most links are written
        key = name_key(wanted)
        files = find_files(key) if key else ()
        if len(files) <= 1:
            return LinkTarget(files[0]) if files else _NOTHING
    segments = wanted.split("/")
    rooted = wanted.startswith("/")
    if rooted:
        segments = segments[1:]
    elif segments[0] in (".", ".."):
        joined = _join(folder_of(source), segments)
        if joined is None:
            return LinkTarget(None)
        segments, rooted = joined, True
    keys = [name_key(segment) for segment in segments]
    if not all(keys):
        return LinkTarget(None)
    files = find_files(keys[-1])
    exact = [path for path in files if _ends_with(path, keys, whole=True)]
    if exact:
        same = "/".join(segments)
        return _choose([path for path in exact if path == same] or exact)
    if rooted:
        return LinkTarget(None)
    matching = [path for path in files if _ends_with(path, keys, whole=False)]
    folder = folder_of(source)
    near = [path for path in matching if not folder or path.startswith(f"{folder}/")]
    return _choose(near or matching)


def _join(folder: str, segments: Sequence[str]) -> list[str] | None:
    """Return the segments of a relative path from the root; None when it leads out of the vault."""
    parts = folder.split("/") if folder else []
    for segment in segments:
        if segment == "..":
            if not parts:
                return None
            parts.pop()
        elif segment != ".":
            parts.append(segment)
    return parts or None


def _ends_with(path: str, keys: Sequence[str], *, whole: bool) -> bool:
    """Return whether the last segments of a path, or all of them, have these keys. The last one is known to."""
    parts = path.split("/")
    if len(parts) < len(keys) or (whole and len(parts) != len(keys)):
        return False
    above = parts[len(parts) - len(keys) : -1]
    return all(name_key(part) == key for part, key in zip(above, keys, strict=False))


def _choose(paths: Sequence[str]) -> LinkTarget:
    if not paths:
        return LinkTarget(None)
    ranked = tuple(sorted(paths, key=lambda path: (len(path), path)))
    return LinkTarget(ranked[0], ranked if len(ranked) > 1 else ())
