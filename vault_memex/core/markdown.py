"""`parse_note`: what a note says. The only caller of markdown-it-py.

Its block rules alone run, to know where code, HTML, comments, tables and headings are; links and tags are then
read from the note's own text, so every position is exact. Tokens are dropped at once: lists of them slow the
collector down.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.token import Token

from vault_memex.core.frontmatter import FrontmatterReading, TextPlace, read_frontmatter
from vault_memex.core.inline import InlineScanner
from vault_memex.core.links import WIKILINK
from vault_memex.core.note import Block, Heading, Link, ParsedNote, PropertyValue
from vault_memex.core.tags import merge_tags, parse_property_tags
from vault_memex.core.text import BOM, Span

_LINE_END = re.compile(r"\r\n?|\n")
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t]))\^([A-Za-z0-9-]+)[ \t]*$")
_DELIMITER_ROW = re.compile(r"\|?(?:[ \t]*:?-++:?[ \t]*\|)*+(?:[ \t]*:?-++:?[ \t]*)?")
_PIPE = re.compile(r"\\.|\|", re.DOTALL)
_INTERRUPTS = ["paragraph", "reference", "blockquote", "list"]
_MAX_NESTING = 60


def parse_note(text: str) -> ParsedNote:
    """Return everything index, search and edits need to know of the text. Never raises, whatever the text."""
    reading = read_frontmatter(text)
    block = reading.frontmatter
    body_start = max(block.span.end, 1 if text.startswith(BOM) else 0)
    body = _Body(text, body_start)
    body.read()
    inline = body.inline
    property_tags, tag_notices = parse_property_tags(block.properties.get("tags"))
    aliases, alias_notices = _parse_aliases(block.properties.get("aliases"))
    return ParsedNote(
        text=text,
        frontmatter=block,
        body_start=body_start,
        headings=tuple(body.headings),
        links=(*_find_frontmatter_links(text, reading), *sorted(inline.links, key=lambda link: link.span)),
        inline_tags=tuple(sorted(inline.tags, key=lambda tag: tag.span)),
        blocks=tuple(body.blocks),
        tags=merge_tags(property_tags, (tag.name for tag in inline.tags)),
        aliases=aliases,
        notices=(*_find_block_notices(reading), *tag_notices, *alias_notices),
    )


def _find_block_notices(reading: FrontmatterReading) -> Iterator[str]:
    block = reading.frontmatter
    if block.error is not None:
        place = f" (line {block.error_line})" if block.error_line is not None else ""
        yield f"The frontmatter cannot be read{place}: {block.error}. Until it is mended there are no properties."
    for key in reading.bare_links:
        yield f"The property `{key}` holds an unquoted [[link]], which YAML reads as a list: put it in quotes."


def _parse_aliases(value: PropertyValue) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the aliases and notices. A text is one alias; with a comma in it, nothing reliable."""
    if isinstance(value, str) and "," in value:
        return (), (f"The property `aliases` is the text `{value[:60]}`, so it gives no alias: write a list.",)
    items = value if isinstance(value, list) else [value]
    names = (
        str(item).strip() for item in items if isinstance(item, str | int | float) and not isinstance(item, bool)
    )
    return tuple(dict.fromkeys(name for name in names if name)), ()


def _find_frontmatter_links(text: str, reading: FrontmatterReading) -> Iterator[Link]:
    """Yield a link for each text value that is one link and nothing else."""
    for place in reading.places:
        at = text.find(place.value, place.span.start, place.span.end)
        link = _parse_whole(text, Span(at, at + len(place.value))) if at >= 0 else _parse_escaped(text, place)
        if link is not None:
            yield replace(link, kind="frontmatter", key=place.key)


def _parse_whole(text: str, span: Span) -> Link | None:
    """Return the link that fills the span; None when there is none, or more than the link. An embed is none."""
    scanner = InlineScanner(text)
    scanner.scan(*span)
    if len(scanner.links) == 1 and scanner.links[0].span == span and scanner.links[0].kind != "embed":
        return scanner.links[0]
    return None


def _parse_escaped(text: str, place: TextPlace) -> Link | None:
    """Return the link of a value written otherwise than it reads (`it''s`): its places are those written."""
    link = _parse_whole(place.value, Span(0, len(place.value)))
    if link is None:
        return None
    written = WIKILINK.search(text, *place.span)
    raw = _parse_whole(text, Span(*written.span())) if written is not None else None
    if raw is None:
        return replace(link, span=place.span, target_span=place.span)
    return replace(link, span=raw.span, target_span=raw.target_span)


@dataclass(slots=True)
class _Frame:
    """A list, list item or quote that is open, or the note itself."""

    lines: tuple[int, int]
    is_item: bool = False
    previous: tuple[int, int] | None = None  # lines of the last finished block in it
    block_ids: tuple[str, ...] = ()  # ids found in a list item; they name what comes before its nested list
    footnote: bool = False  # the last block belongs to a footnote, so indented text goes on with it


class _Body:
    """Walks the block tokens of a note's body and collects what they hold."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.starts = [start, *(found.end() for found in _LINE_END.finditer(text, start))]
        self.inline = InlineScanner(text)
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self.ancestors: list[tuple[int, str]] = []
        self.frames = [_Frame((0, len(self.starts)))]

    def read(self) -> None:
        """Parse the body's blocks and read each."""
        source = self.text[self.start :]
        if "\r" in source:
            source = _LINE_END.sub("\n", source)
        tokens: list[Token] = []
        _PARSER.block.parse(source.replace("\0", "\ufffd"), _PARSER, {}, tokens)
        heading: Token | None = None
        for token in tokens:
            kind = token.type
            if kind == "inline":
                self._read_text(token, heading)
                heading = None
            elif kind == "heading_open":
                heading = token
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

    def _read_text(self, token: Token, heading: Token | None) -> None:
        """Read a paragraph, or the text of a heading."""
        first, end = _lines_of(heading or token)
        span = self._line_span(first, end - 1)
        self.inline.scan(*span)
        frame = self.frames[-1]
        if heading is not None:
            self._add_heading(int(heading.tag[1]), token.content.strip().replace("\n", " "), span)
            frame.footnote = False
        else:
            frame.footnote = token.content.startswith("[^")
            if "^" in token.content:
                self._read_block_id(token.content, (first, end))
        frame.previous = (first, end)

    def _add_heading(self, level: int, text: str, span: Span) -> None:
        while self.ancestors and self.ancestors[-1][0] >= level:
            self.ancestors.pop()
        self.ancestors.append((level, text))
        self.headings.append(Heading(level, text, span, tuple(name for _, name in self.ancestors)))

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

    def _open(self, token: Token) -> None:
        if token.type != "blockquote_open":
            self._flush_block_ids()
        self.frames.append(_Frame(_lines_of(token), is_item=token.type == "list_item_open"))

    def _close(self, _: Token) -> None:
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

    def _pass_over(self, token: Token) -> None:
        """Leave out code, HTML, math and rules, but go on with the text of a footnote."""
        frame = self.frames[-1]
        frame.previous = _lines_of(token)
        if token.type == "code_block" and frame.footnote:
            self.inline.scan(*self._block_span(frame.previous))
        else:
            frame.footnote = False

    def _read_comment(self, token: Token) -> None:
        """Read a block between %% marks: its links and tags count, its headings and lists do not."""
        lines = _lines_of(token)
        self.inline.scan(*self._block_span(lines))
        self.frames[-1].previous = lines
        self.frames[-1].footnote = False

    def _read_table(self, token: Token) -> None:
        """Read each cell by itself: a pipe ends it, unless a backslash stands before."""
        first, end = _lines_of(token)
        for line in (first, *range(first + 2, end)):
            span = self._line_span(line, line)
            start = span.start
            for found in _PIPE.finditer(self.text, *span):
                if found.group() == "|":
                    self.inline.scan(start, found.start())
                    start = found.end()
            self.inline.scan(start, span.end)
        self.frames[-1].previous = (first, end)
        self.frames[-1].footnote = False


def _lines_of(token: Token) -> tuple[int, int]:
    """Return the token's first line and the one after its last, from 0 in the body."""
    first, end = token.map or (0, 1)
    return first, end


_READERS: dict[str, Callable[[_Body, Token], None]] = {
    "bullet_list_open": _Body._open,
    "ordered_list_open": _Body._open,
    "list_item_open": _Body._open,
    "blockquote_open": _Body._open,
    "bullet_list_close": _Body._close,
    "ordered_list_close": _Body._close,
    "list_item_close": _Body._close,
    "blockquote_close": _Body._close,
    "fence": _Body._pass_over,
    "code_block": _Body._pass_over,
    "html_block": _Body._pass_over,
    "math_block": _Body._pass_over,
    "hr": _Body._pass_over,
    "comment_block": _Body._read_comment,
    "table_block": _Body._read_table,
}


def _count_cells(row: str) -> int:
    """Return how many cells a table row has: a pipe at either end opens and closes the row."""
    row = row.strip()
    pipes = sum(1 for found in _PIPE.finditer(row) if found.group() == "|")
    ends_with_pipe = row.endswith("|") and not row.endswith("\\|") and len(row) > 1
    return pipes + 1 - row.startswith("|") - ends_with_pipe


def _table_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Find a table as GitHub's rules do, as one token: its cells are read from the note's text."""
    below = start + 1
    if below >= end or state.sCount[below] < state.blkIndent or state.is_code_block(below):
        return False
    delimiter = state.src[state.bMarks[below] + state.tShift[below] : state.eMarks[below]]
    if not delimiter or delimiter[0] not in "|:-" or "-" not in delimiter or delimiter.startswith("- "):
        return False
    header = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if "|" not in header or state.is_code_block(start) or not _DELIMITER_ROW.fullmatch(delimiter.rstrip()):
        return False
    if _count_cells(header) != _count_cells(delimiter):
        return False
    if silent:
        return True
    old_parent, state.parentType = state.parentType, "table"
    terminators = state.md.block.ruler.getRules("blockquote")
    line = below + 1
    while line < end and state.sCount[line] >= state.blkIndent and not state.isEmpty(line):
        if state.is_code_block(line) or any(rule(state, line, end, True) for rule in terminators):
            break
        line += 1
    state.parentType = old_parent
    return _push_block(state, "table_block", start, line)


def _push_block(state: StateBlock, kind: str, start: int, after: int) -> bool:
    token = state.push(kind, "", 0)
    token.map = [start, after]
    state.line = after
    return True


def _find_closing_line(state: StateBlock, start: int, end: int, mark: str) -> int | None:
    """Return the line that closes a block whose first line starts with `mark`; None when it is none."""
    at = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(mark, at) or state.is_code_block(start):
        return None
    close = state.src.find(mark, at + len(mark), state.eMarks[end - 1])
    if close < 0 or close < state.eMarks[start]:
        return None  # closed on its own line, it is part of a paragraph
    line = bisect_left(state.eMarks, close)
    inside = range(start + 1, line + 1)
    if any(state.sCount[i] < state.blkIndent and not state.isEmpty(i) for i in inside):
        return None
    return line


def _comment_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    line = _find_closing_line(state, start, end, "%%")
    if line is None:
        return False
    return silent or _push_block(state, "comment_block", start, line + 1)


def _math_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    line = _find_closing_line(state, start, end, "$$")
    if line is None:
        return False
    return silent or _push_block(state, "math_block", start, line + 1)


def _reference_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Leave out reference definitions, but not footnotes, which CommonMark takes for such."""
    if state.src.startswith("[^", state.bMarks[start] + state.tShift[start]):
        return False
    return reference(state, start, end, silent)


def _build_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    ruler = parser.block.ruler
    ruler.at("table", _table_rule, {"alt": ["paragraph", "reference"]})
    ruler.at("reference", _reference_rule, {"alt": []})
    ruler.before("fence", "comment", _comment_rule, {"alt": _INTERRUPTS})
    ruler.before("fence", "math", _math_rule, {"alt": _INTERRUPTS})
    ruler.enable(["table", "comment", "math"])
    return parser


_PARSER = _build_parser()
