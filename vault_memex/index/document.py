"""One note's bytes into everything the catalogue keeps of it. Pure, so that worker processes can do it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from vault_memex.config import Config
from vault_memex.core.analyzer import analyze
from vault_memex.core.changes import Signature
from vault_memex.core.chunking import build_passages
from vault_memex.core.encoding import decode_note
from vault_memex.core.links import link_key
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import RESERVED_PROPERTIES, Link, ParsedNote, PropertyValue
from vault_memex.core.revision import revision_of
from vault_memex.core.text import stem_of
from vault_memex.memory.knowledge import is_entity, is_loose, parse_note_graph, render_graph
from vault_memex.store.indexed import IndexedLink, IndexedNote, IndexedPassage, WordFields

WHOLE_LIMIT = 2_000_000  # bytes; of a larger note only the head is parsed, and its headings are looked for
HEAD_CHARS = 65_536
WORDS_CHARS = 10_000_000  # of a large note's text, so far its words are found: a second of work
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_NOT_SEARCHED = RESERVED_PROPERTIES - {"summary", "author", "description"}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}$")


def build_document(
    path: str, data: bytes, signature: Signature, config: Config, *, racy: bool = False
) -> IndexedNote:
    """Return what the catalogue keeps of a note. Never fails: what cannot be read becomes a notice."""
    decoded = decode_note(data)
    notices = [decoded.not_writable] if decoded.not_writable else []
    text = _find_head(decoded.text, len(data))
    later: list[str] = []
    if len(text) < len(decoded.text):
        notices.append(_describe_large(len(data), len(decoded.text)))
        later = _find_later_headings(decoded.text, len(text))
    note = parse_note(text)
    properties = {key: _plain(value) for key, value in note.properties.items()}
    title = find_title(note, path)
    headings = [*(heading.text for heading in note.headings), *later]
    aliases = tuple(map(_clean, note.aliases))
    tags = tuple(map(_clean, note.tags))
    return IndexedNote(
        path=path,
        signature=signature,
        racy=racy,
        revision=revision_of(data),
        title=_clean(title),
        aliases=aliases,
        former_titles=tuple(_find_strings(properties.get("former_titles"))),
        tags=tags,
        properties=properties,
        layer=_find_layer(properties, path, config),
        summary=_find_text(properties, "summary") or _find_text(properties, "description"),
        own_id=_find_id(properties.get("id")),
        own_created=_find_time(properties, "created", "date"),
        own_updated=_find_time(properties, "updated"),
        chars=len(decoded.text) - note.body_start,
        notices=(*notices, *note.notices),
        links=tuple(_build_link(link) for link in note.links),
        definitions=frozenset(_build_link(link).key for link in note.definitions),
        passages=tuple(
            IndexedPassage(p.ordinal, p.hash, p.heading_path, *p.span, len(p.text))
            for p in build_passages(note, title)
        ),
        words=_build_words(
            ([title], aliases, headings, tags), properties, decoded.text[note.body_start : WORDS_CHARS]
        ),
        graph=render_graph(parse_note_graph(note)) if is_entity(properties) or is_loose(properties) else None,
    )


def find_indexed_text(data: bytes) -> str:
    """Return the part of a note's text that is parsed for the index: all of it, unless it is very large."""
    return _find_head(decode_note(data).text, len(data))


def find_title(note: ParsedNote, path: str) -> str:
    """Return what the note is called: its property `title`, else its name."""
    return _find_text(note.properties, "title") or stem_of(path)


def _find_head(text: str, size: int) -> str:
    if size <= WHOLE_LIMIT:
        return text
    return text[: text.rfind("\n", 0, HEAD_CHARS) + 1 or HEAD_CHARS]


def _describe_large(size: int, chars: int) -> str:
    words = (
        "" if chars <= WORDS_CHARS else f", and words beyond its first {WORDS_CHARS:,} characters are not found"
    )
    return f"The note has {size:,} bytes: links, tags, outline and meaning are those of its first part{words}."


def _build_words(named: Iterable[Iterable[str]], properties: Mapping[str, PropertyValue], body: str) -> WordFields:
    """Return the terms of title, aliases, headings and tags (given in this order), and of the body."""
    # What a person wrote into properties of their own is looked for like any other text of the note.
    own = (value for key, value in properties.items() if key not in _NOT_SEARCHED)
    whole = "\n".join([*(text for value in own for text in _find_strings(value)), body])
    parts = [*("\n".join(texts) for texts in named), whole]
    return WordFields(*(" ".join(analyze(part)) if part else "" for part in parts))


def _build_link(link: Link) -> IndexedLink:
    display = None if link.display is None else _clean(link.display)
    target = _clean(link.target)
    return IndexedLink(link.kind, target, _clean(link.subpath), display, link.key, *link.span, link_key(target))


def _find_later_headings(text: str, start: int) -> list[str]:
    """Return the ATX headings after `start`, not in fences: a cheap scan for notes too large to parse."""
    found, fence = [], ""
    for line in text[start:].splitlines():
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        elif not fence and (match := _HEADING.match(line)):
            found.append(match[1])
    return found


def _plain(value: PropertyValue) -> PropertyValue:
    """Return the value as JSON types: no read-only views, which cannot travel between processes."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _find_text(properties: Mapping[str, PropertyValue], key: str) -> str | None:
    value = properties.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None


def _find_strings(value: PropertyValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _find_strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _find_strings(item)


def _find_layer(properties: Mapping[str, PropertyValue], path: str, config: Config) -> str | None:
    layer = properties.get("layer")
    return layer if layer in ("past", "state", "rule") else config.layer_for(path)


def _find_id(value: PropertyValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53 else None


def _find_time(properties: Mapping[str, PropertyValue], *keys: str) -> str | None:
    """Return the first of the properties that is a date (as it is) or a moment (in UTC, which no zone means)."""
    for key in keys:
        value = properties.get(key)
        if not isinstance(value, str):
            continue
        try:
            moment = datetime.fromisoformat(value.strip())
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            continue
        return value.strip() if _DAY.match(value.strip()) else moment.isoformat()[:19] + "Z"
    return None


def _clean(text: str) -> str:
    """Return the text with lone surrogates, which YAML escapes can make and SQLite refuses, replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
