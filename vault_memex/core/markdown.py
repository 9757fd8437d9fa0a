"""`parse_note`: what a note says. The only caller of markdown-it-py.

Its block rules alone run, to know where code, HTML, comments, tables and headings are; links and tags are then
read from the note's own text, so every position is exact. Tokens are dropped at once: lists of them slow the
collector down.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.token import Token

from vault_memex.core.blocks import PIPE, BodyReader
from vault_memex.core.frontmatter import FrontmatterReading, TextPlace, read_frontmatter
from vault_memex.core.inline import InlineScanner
from vault_memex.core.links import WIKILINK
from vault_memex.core.note import Link, ParsedNote, PropertyValue
from vault_memex.core.tags import merge_tags, parse_property_tags
from vault_memex.core.text import LINE_END, Span

_DELIMITER_ROW = re.compile(r"\|?(?:[ \t]*:?-++:?[ \t]*\|)*+(?:[ \t]*:?-++:?[ \t]*)?")
_ATX = re.compile(r"#{1,6}(?=[ \t]|\Z)")
_BLOCK_MARKS = frozenset("#>`~-+*_=0123456789<|:[$%")  # what a line of another block than a paragraph starts with
_LIST_ITEM = re.compile(r"[-*+] [A-Za-z\[]")  # one that ends a paragraph, and can be no rule
_INTERRUPTS = ["paragraph", "reference", "blockquote", "list"]
_MAX_NESTING = 100
_MOST_KEPT = 200_000  # code points of a text whose reading is kept: it takes a hundred times the memory


def parse_note(text: str) -> ParsedNote:
    """Return everything index, search and edits need to know of the text. Never raises, whatever the text."""
    reading, body = _read(text)
    block, inline = reading.frontmatter, body.inline
    property_tags, tag_notices = parse_property_tags(block.properties.get("tags"))
    aliases, alias_notices = _parse_aliases(block.properties.get("aliases"))
    return ParsedNote(
        text=text,
        frontmatter=block,
        body_start=block.span.end,
        headings=tuple(body.headings),
        links=(*_find_frontmatter_links(text, reading), *sorted(inline.links, key=lambda link: link.span)),
        definitions=tuple(body.definitions),
        inline_tags=tuple(sorted(inline.tags, key=lambda tag: tag.span)),
        blocks=tuple(body.blocks),
        tags=merge_tags(property_tags, (tag.name for tag in inline.tags)),
        aliases=aliases,
        notices=(*_find_block_notices(reading), *tag_notices, *alias_notices),
    )


@lru_cache(maxsize=4)
def find_prose(text: str) -> tuple[Span, ...]:
    """Return what is running text in the body, in order: no headings, code, HTML, mathematics, links or embeds."""
    _, body = _read(text)
    hidden = _merge_spans((*body.inline.hidden, *(heading.span for heading in body.headings)))
    ends = [span.end for span in hidden]
    prose: list[Span] = []
    for stretch in body.inline.stretches:
        at, end = stretch
        for span in hidden[bisect_right(ends, at) :]:
            if span.start >= end:
                break
            if span.start > at:
                prose.append(Span(at, span.start))
            at = span.end
        if at < end:
            prose.append(Span(at, end))
    return tuple(prose)


def _read(text: str) -> tuple[FrontmatterReading, BodyReader]:
    """Return frontmatter and body as they were read; nobody changes them any more."""
    return _read_once(text) if len(text) <= _MOST_KEPT else _read_whole(text)


def _read_whole(text: str) -> tuple[FrontmatterReading, BodyReader]:
    reading = read_frontmatter(text)
    start = reading.frontmatter.span.end
    body = BodyReader(text, start)
    body.read(_parse_blocks(text[start:]))
    return reading, body


_read_once = lru_cache(maxsize=4)(_read_whole)  # a write is indexed, and then its running text is looked at


def _merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the places that any of the spans cover, in order and apart from each other."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


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


def _parse_blocks(body: str) -> list[Token]:
    """Return the block tokens of a body; lines are counted in it from 0."""
    if "\r" in body:
        body = LINE_END.sub("\n", body)
    tokens: list[Token] = []
    _PARSER.block.parse(body.replace("\0", "\ufffd"), _PARSER, {}, tokens)
    return tokens


def _text_rule(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Find a paragraph that no other rule can have a part in: each line starts with an ordinary character.

    Most text is like that, and this is several times faster than trying every rule on every line.
    """
    src, begins, shifts, ends, counts = state.src, state.bMarks, state.tShift, state.eMarks, state.sCount
    if silent or state.is_code_block(start):
        return False
    line, last, indent = start, state.lineMax, state.blkIndent
    while line < last:
        at = begins[line] + shifts[line]
        if at >= ends[line]:
            break
        if src[at] in _BLOCK_MARKS and (line == start or 0 <= counts[line] <= indent + 3):
            if line > start and _LIST_ITEM.match(src, at) and counts[line] - state.listIndent < 4:
                break
            return False
        line += 1
    token = state.push("text_block", "", 0)
    token.map = [start, line]
    if "^" in src[begins[line - 1] : ends[line - 1]]:
        token.content = state.getLines(start, line, indent, False).strip()
    state.line = line
    return True


def _heading_rule(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Find a heading as markdown-it does, as one token."""
    at = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("#", at) or state.is_code_block(start):
        return False
    marks = _ATX.match(state.src, at, state.eMarks[start])
    if marks is None:
        return False
    if silent:
        return True
    text = state.src[marks.end() : state.eMarks[start]].strip(" \t")
    before = text.rstrip("#")
    if before != text and before[-1:] in ("", " ", "\t"):
        text = before.rstrip(" \t")  # closing marks
    token = state.push("heading_block", f"h{marks.end() - at}", 0)
    token.content = text
    token.map = [start, start + 1]
    state.line = start + 1
    return True


def _count_cells(row: str) -> int:
    """Return how many cells a table row has: a pipe at either end opens and closes the row."""
    row = row.strip()
    pipes = sum(1 for found in PIPE.finditer(row) if found.group() == "|")
    ends_with_pipe = row.endswith("|") and not row.endswith("\\|") and len(row) > 1
    return pipes + 1 - row.startswith("|") - ends_with_pipe


def _table_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Find a table as GitHub's rules do, as one token: its cells are read from the note's text."""
    below = start + 1
    if below >= end or state.sCount[below] < state.blkIndent or state.is_code_block(below):
        return False
    delimiter = state.src[state.bMarks[below] + state.tShift[below] : state.eMarks[below]]
    if len(delimiter) < 2 or delimiter[0] not in "|:-" or delimiter.startswith(("- ", "-\t")):
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
    """Find reference definitions, but not footnotes, which CommonMark takes for such."""
    if state.src.startswith("[^", state.bMarks[start] + state.tShift[start]):
        return False
    if not reference(state, start, end, silent):
        return False
    return silent or _push_block(state, "definition_block", start, state.line)


def _build_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    ruler = parser.block.ruler
    ruler.at("table", _table_rule, {"alt": ["paragraph", "reference"]})
    ruler.at("reference", _reference_rule, {"alt": []})
    ruler.disable("heading")
    # Before code, lists and the rest, which a line that starts with # is none of: a note can be all headings.
    ruler.before("code", "atx", _heading_rule, {"alt": ["paragraph", "reference", "blockquote"]})
    ruler.before("table", "text", _text_rule)
    ruler.before("fence", "comment", _comment_rule, {"alt": _INTERRUPTS})
    ruler.before("fence", "math", _math_rule, {"alt": _INTERRUPTS})
    ruler.enable(["text", "table", "atx", "comment", "math"])
    return parser


_PARSER = _build_parser()
