"""The list items of a section: where each begins and ends, and its lines without mark and indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from vault_memex.core.text import Span, find_line_end, find_next_line

_ITEM = re.compile(r"( {0,3})([-*+]|[0-9]{1,9}[.)])(?:([ \t]+)(.*)|)$", re.DOTALL)
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_OTHER_BLOCK = re.compile(r" {0,3}(?:#{1,6}(?:[ \t]|$)|>|`{3}|~{3}|\||<|%%|\$\$)")
_ENCLOSING = (("```", "```"), ("~~~", "~~~"), ("<!--", "-->"), ("%%", "%%"), ("$$", "$$"))
_TAB = 4


@dataclass(frozen=True, slots=True)
class ListItem:
    """One item of a list at the top of a section."""

    span: Span  # whole lines, the last line ending included
    lines: tuple[str, ...]  # never empty
    indent: str  # before the mark
    mark: str  # "-", "*", "+" or a number


@dataclass(slots=True)
class _Open:
    """An item whose end is not known yet."""

    start: int
    end: int
    indent: str
    mark: str
    width: int  # columns before its content
    lines: list[str]
    blank: list[str] = field(default_factory=list)  # lines that belong to it only if more follows


def find_items(text: str, span: Span) -> tuple[ListItem, ...]:
    """Return the items of the lists in a stretch of whole lines, in order.

    Nested lists, further paragraphs and lines that go on without indentation belong to the item above them. What
    stands in code, comments or mathematics is no item.
    """
    return tuple(_ItemReader(text, span).read())


class _ItemReader:
    """Walks over lines with at most one item open."""

    def __init__(self, text: str, span: Span) -> None:
        self._text = text
        self._span = span
        self._item: _Open | None = None
        self._closing = ""  # what ends the code, comment or formula that is open outside of items

    def read(self) -> Iterator[ListItem]:
        """Yield the items."""
        at = self._span.start
        while at < self._span.end:
            following = min(find_next_line(self._text, at), self._span.end)
            line = self._text[at : min(find_line_end(self._text, at), self._span.end)]
            if not self._goes_on(line, following):
                yield from self._close()
                self._start(line, at, following)
            at = following
        yield from self._close()

    def _goes_on(self, line: str, following: int) -> bool:
        """Take the line into what is open, if it belongs there."""
        if self._closing:
            if self._closing in line:
                self._closing = ""
            return True
        item = self._item
        if item is None:
            return False
        if not line.strip(" \t"):
            item.blank.append("")
            return True
        indented = _width(line) >= item.width
        lazy = not item.blank and not (_ITEM.match(line) or _OTHER_BLOCK.match(line) or _RULE.match(line))
        if not indented and not lazy:
            return False
        item.lines += [*item.blank, _dedent(line, item.width)]
        item.blank, item.end = [], following
        return True

    def _start(self, line: str, at: int, following: int) -> None:
        found = None if _RULE.match(line) else _ITEM.match(line)
        if found is None:
            stripped = line.strip(" \t")
            for opening, closing in _ENCLOSING:
                if stripped.startswith(opening) and closing not in stripped[len(opening) :]:
                    self._closing = closing
            return
        indent, mark, gap, content = found[1], found[2], found[3] or "", found[4] or ""
        wide = len(gap.expandtabs(_TAB))
        width = len(indent) + len(mark) + (wide if 1 <= wide <= _TAB and content.strip(" \t") else 1)
        self._item = _Open(at, following, indent, mark, width, [content])

    def _close(self) -> Iterator[ListItem]:
        item, self._item = self._item, None
        if item is not None:
            yield ListItem(Span(item.start, item.end), tuple(item.lines), item.indent, item.mark)


def _width(line: str) -> int:
    """Return the columns of the blanks that a line begins with."""
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(_TAB))


def _dedent(line: str, width: int) -> str:
    """Return the line without its first columns, as far as they are blank."""
    columns, at = 0, 0
    while at < len(line) and columns < width and line[at] in " \t":
        columns += _TAB - columns % _TAB if line[at] == "\t" else 1
        at += 1
    return line[at:]
