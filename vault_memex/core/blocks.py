"""Reads the blocks of a note's body: what each holds, in the note's own positions.

The blocks come from `core.markdown` as tokens with line ranges; this module never looks for code or headings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from vault_memex.core.inline import InlineScanner
from vault_memex.core.links import parse_definition
from vault_memex.core.note import Block, Heading, Link
from vault_memex.core.text import LINE_END, Span

PIPE = re.compile(r"\\.|\|", re.DOTALL)  # a pipe, or anything escaped
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t]))\^([A-Za-z0-9-]+)[ \t]*$")


class BlockToken(Protocol):
    """What a block token has to say; markdown-it's own tokens do."""

    type: str
    tag: str  # h1 to h6 for headings
    map: list[int] | None  # first line, and the one after the last
    content: str


@dataclass(slots=True)
class _Frame:
    """A list, list item or quote that is open, or the note itself."""

    lines: tuple[int, int]
    is_item: bool = False
    previous: tuple[int, int] | None = None  # lines of the last finished block in it
    block_ids: tuple[str, ...] = ()  # ids found in a list item; they name what comes before its nested list
    footnote: bool = False  # the last block belongs to a footnote, so indented text goes on with it


class BodyReader:
    """Walks the block tokens of a note's body and collects what they hold."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.starts = _find_line_starts(text, start)
        self.inline = InlineScanner(text)
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self.definitions: list[Link] = []
        self.ancestors: list[tuple[int, str]] = []
        self.frames = [_Frame((0, len(self.starts)))]

    def read(self, tokens: Iterable[BlockToken]) -> None:
        """Read the body's blocks in order."""
        heading: BlockToken | None = None
        for token in tokens:
            kind = token.type
            if kind == "text_block" or (kind == "inline" and heading is None):
                self._read_text(token)
            elif kind == "heading_block":
                self._read_heading(token, token.content)
            elif kind == "heading_open":
                heading = token
            elif kind == "inline" and heading is not None:
                self._read_heading(heading, token.content)
                heading = None
            elif kind in _READERS:
                _READERS[kind](self, token)

    def _line_span(self, first: int, last: int) -> Span:
        """Return the span of lines, `last` included, without the ending of the last one."""
        start = self.starts[first]
        end = self.starts[last + 1] if last + 1 < len(self.starts) else len(self.text)
        if last + 1 < len(self.starts):
            end -= 2 if self.text[end - 2 : end] == "\r\n" else 1
        return Span(start, end)

    def _block_span(self, lines: tuple[int, int]) -> Span:
        """Return the span of a block's lines without the blank ones at its end."""
        first, end = lines
        while end - 1 > first and not self.text[slice(*self._line_span(end - 1, end - 1))].strip():
            end -= 1
        return self._line_span(first, max(first, end - 1))

    def _read_text(self, token: BlockToken) -> None:
        """Read a paragraph."""
        first, end = lines = _lines_of(token)
        self.inline.scan(*self._line_span(first, end - 1))
        frame = self.frames[-1]
        content = token.content
        frame.footnote = content.startswith("[^")
        if "^" in content:
            self._read_block_id(content, lines)
        frame.previous = lines

    def _read_heading(self, token: BlockToken, content: str) -> None:
        first, end = lines = _lines_of(token)
        span = self._line_span(first, end - 1)
        level, text = int(token.tag[1]), content.strip().replace("\n", " ")
        if text:
            after = self.text.find("#", span.start) + level if token.type == "heading_block" else span.start
            self.inline.scan(after, span.end)
        while self.ancestors and self.ancestors[-1][0] >= level:
            self.ancestors.pop()
        self.ancestors.append((level, text))
        self.headings.append(Heading(level, text, span, tuple([name for _, name in self.ancestors])))
        frame = self.frames[-1]
        frame.previous = lines
        frame.footnote = False

    def _read_block_id(self, content: str, lines: tuple[int, int]) -> None:
        """Note the id at the end of a paragraph: of the list item or paragraph, or, alone, of the block before."""
        found = _BLOCK_ID.search(content.rpartition("\n")[2])
        if found is None:
            return
        name = found.group(1).lower()
        frame = self.frames[-1]
        if content.strip() == found.group().strip() and frame.previous is not None:
            self.blocks.append(Block(name, self._block_span(frame.previous)))
        elif frame.is_item:
            frame.block_ids += (name,)
        else:
            self.blocks.append(Block(name, self._block_span(lines)))

    def _open(self, token: BlockToken) -> None:
        if token.type != "blockquote_open":
            self._flush_block_ids()
        self.frames.append(_Frame(_lines_of(token), is_item=token.type == "list_item_open"))

    def _close(self, _: BlockToken) -> None:
        self._flush_block_ids()
        frame = self.frames.pop()
        self.frames[-1].previous = frame.lines
        self.frames[-1].footnote = False

    def _flush_block_ids(self) -> None:
        frame = self.frames[-1]
        if frame.block_ids and frame.previous is not None:
            span = self._block_span((frame.lines[0], frame.previous[1]))
            self.blocks.extend(Block(name, span) for name in frame.block_ids)
            frame.block_ids = ()

    def _pass_over(self, token: BlockToken) -> None:
        """Leave out code, HTML, math and rules, but go on with the text of a footnote."""
        frame = self.frames[-1]
        frame.previous = _lines_of(token)
        if token.type == "code_block" and frame.footnote:
            self.inline.scan(*self._block_span(frame.previous))
        else:
            frame.footnote = False

    def _read_definition(self, token: BlockToken) -> None:
        first, end = _lines_of(token)
        found = parse_definition(self.text, self._line_span(first, end - 1))
        if found is not None:
            self.definitions.append(found)

    def _read_comment(self, token: BlockToken) -> None:
        """Read a block between %% marks: its links and tags count, its headings and lists do not."""
        lines = _lines_of(token)
        self.inline.scan(*self._block_span(lines))
        self.frames[-1].previous = lines
        self.frames[-1].footnote = False

    def _read_table(self, token: BlockToken) -> None:
        """Read each cell by itself: a pipe ends it, unless a backslash stands before."""
        first, end = _lines_of(token)
        for line in (first, *range(first + 2, end)):
            span = self._line_span(line, line)
            start = span.start
            for found in PIPE.finditer(self.text, *span):
                if found.group() == "|":
                    self.inline.scan(start, found.start())
                    start = found.end()
            self.inline.scan(start, span.end)
        self.frames[-1].previous = (first, end)
        self.frames[-1].footnote = False


def _find_line_starts(text: str, start: int) -> list[int]:
    if "\r" in text:
        return [start, *(found.end() for found in LINE_END.finditer(text, start))]
    starts = [start]
    at = text.find("\n", start)
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def _lines_of(token: BlockToken) -> tuple[int, int]:
    """Return the token's first line and the one after its last, from 0 in the body."""
    first, end = token.map or (0, 1)
    return first, end


_READERS: dict[str, Callable[[BodyReader, BlockToken], None]] = {
    "bullet_list_open": BodyReader._open,
    "ordered_list_open": BodyReader._open,
    "list_item_open": BodyReader._open,
    "blockquote_open": BodyReader._open,
    "bullet_list_close": BodyReader._close,
    "ordered_list_close": BodyReader._close,
    "list_item_close": BodyReader._close,
    "blockquote_close": BodyReader._close,
    "fence": BodyReader._pass_over,
    "code_block": BodyReader._pass_over,
    "html_block": BodyReader._pass_over,
    "math_block": BodyReader._pass_over,
    "hr": BodyReader._pass_over,
    "comment_block": BodyReader._read_comment,
    "definition_block": BodyReader._read_definition,
    "table_block": BodyReader._read_table,
}
