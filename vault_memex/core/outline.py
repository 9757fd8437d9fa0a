"""The headings of a note for those who need nothing else: in most notes they can be seen without parsing it.

A search shows the section of each hit. Where nothing in a text can hide a heading or make one otherwise than by a
`#` at the start of a line, such lines are the headings; any other text is parsed. A test holds both to one truth.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from vault_memex.core.frontmatter import split_fences
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import Heading
from vault_memex.core.text import BOM, Span

# Code, comments, mathematics, HTML, tables, footnotes; rules and underlined headings; a # behind another mark.
_NOT_PLAIN = re.compile(
    r"```|~~~|%%|\$\$|<|[\r\0]|-[ \t]*[|:]|[|:][ \t]*-|^[ \t]*\[\^|^[ \t>]*(?:=+|-+)[ \t]*$|^[ \t>*+\-0-9.)]+#",
    re.MULTILINE,
)
_ATX = re.compile(r"^(#{1,6})(?:[ \t]+(.*))?$", re.MULTILINE)
_CLOSING = re.compile(r"(?:^|[ \t]+)#+$")


_CACHED_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Outline:
    """A note's text with its headings, each as `parse_note` gives it."""

    text: str
    body_start: int
    headings: tuple[Heading, ...]


def build_outline(text: str) -> Outline:
    """Return the headings of a note and where its body starts. Those of the last notes asked for are kept."""
    return _cached_outline(text) if len(text) <= _CACHED_CHARS else _build_outline(text)


def _build_outline(text: str) -> Outline:
    fences = split_fences(text)
    start = max(fences[0].end if fences else 0, 1 if text.startswith(BOM) else 0)
    body = text[start:]
    if _NOT_PLAIN.search(body):
        note = parse_note(text)
        return Outline(text, note.body_start, note.headings)
    headings: list[Heading] = []
    ancestors: list[tuple[int, str]] = []
    for found in _ATX.finditer(body):
        level = len(found[1])
        title = _CLOSING.sub("", (found[2] or "").strip(" \t")).strip()
        while ancestors and ancestors[-1][0] >= level:
            ancestors.pop()
        ancestors.append((level, title))
        path = tuple([name for _, name in ancestors])
        headings.append(Heading(level, title, Span(start + found.start(), start + found.end()), path))
    return Outline(text, start, tuple(headings))


_cached_outline = lru_cache(maxsize=256)(_build_outline)
