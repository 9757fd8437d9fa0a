"""What two waiting changes may not both touch: a sentence, list item, table row, heading or fenced block.

Only who has to wait depends on this; what a change does to a text never does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vault_memex.core.diff import split_lines
from vault_memex.core.text import Span
from vault_memex.memory.hunks import Hunk, TextChange, find_places

LONGEST_SHOWN = 300  # code points of a blocked sentence
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ALONE = re.compile(r" {0,3}(?:#{1,6}(?:\s|$)|\|)")  # heading, table row
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+")


def find_units(text: str) -> tuple[Span, ...]:
    """Return the units of a text, in order, without the white space between them."""
    units: list[Span] = []
    for kind, span in _find_blocks(text):
        units += _split_sentences(text, span) if kind == "text" else [_trimmed(text, span)]
    return tuple(unit for unit in units if unit.start < unit.end)


def _find_blocks(text: str) -> Iterator[tuple[str, Span]]:
    kind, start, at, fence = "", 0, 0, ""
    for line in split_lines(text):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence
            at += len(line)
            if closes:
                yield "fence", Span(start, at)
                kind, start = "", at
            continue
        new = "fence" if mark else "alone" if _ALONE.match(line) else "item" if _ITEM.match(line) else "text"
        goes_on = new == "text" and kind in ("text", "item") and line.strip()
        if not goes_on:
            if kind:
                yield kind, Span(start, at)
            kind, start = (new if line.strip() else ""), at
        fence = mark[1] if mark else ""
        at += len(line)
    if kind:
        yield kind, Span(start, at)


def _split_sentences(text: str, span: Span) -> Iterator[Span]:
    start = span.start
    for end in _SENTENCE_END.finditer(text, span.start, span.end):
        yield _trimmed(text, Span(start, end.end()))
        start = end.end()
    yield _trimmed(text, Span(start, span.end))


def _trimmed(text: str, span: Span) -> Span:
    shown = text[span.start : span.end]
    start = span.start + len(shown) - len(shown.lstrip())
    return Span(start, max(start, span.end - len(shown) + len(shown.rstrip())))


def find_touched(text: str, change: TextChange) -> frozenset[Span]:
    """Return the units that a change touches in a text, and the places where it only inserts between units."""
    if change.whole is not None:
        return frozenset(find_units(text))
    units = find_units(text)
    touched: set[Span] = set()
    for hunk, place in zip(change.hunks, find_places(text, change), strict=True):
        if place is not None:
            inside = [unit for unit in units if _touches(unit, place, hunk)]
            touched.update(inside or [place])
    return frozenset(touched)


def _touches(unit: Span, place: Span, hunk: Hunk) -> bool:
    if place.start < place.end:
        return place.start < unit.end and unit.start < place.end
    # What is inserted at an end of a unit belongs to it unless a line break keeps them apart.
    at_start = place.start == unit.start and not hunk.new.endswith(("\n", "\r"))
    at_end = place.start == unit.end and not hunk.new.startswith(("\n", "\r"))
    return unit.start < place.start < unit.end or at_start or at_end


def find_blocked(text: str, mine: TextChange, others: Sequence[TextChange]) -> tuple[int, str] | None:
    """Return which of the others has a unit that `mine` touches too, and the unit's words; None when none has."""
    touched = find_touched(text, mine)
    for number, other in enumerate(others):
        if both := touched & find_touched(text, other):
            unit = min(both)
            shown = text[unit.start : unit.end] or text[max(0, unit.start - 60) : unit.start].strip()
            return number, shown[:LONGEST_SHOWN]
    return None
