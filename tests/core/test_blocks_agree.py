"""Our own block rules find what markdown-it's own find: headings, code, HTML and quotes on the same lines."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.conftest import shared
from vault_memex.core.markdown import _parse_blocks

STOCK = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")

STARTS = [
    "",
    " ",
    "  ",
    "   ",
    "    ",
    "\t",
    "> ",
    ">",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "> - ",
    "  - ",
    "      - ",
]
TEXTS = [
    "", "a", "a b", "# h", "## h ##", "#", "#no", "####### x", "---", "===", "- x", "* * *", "1. y", "```", "~~~~",
    "````sh", "<div>", "</div>", "<!--", "-->", "<b>", "<b> c", "a|b", "|-|-|", "-|-", "| a | b |", "---|", "x\\|y|z",
    "[r]: u", "[r]: u 'k'", "[r]:", "> q", "*em*", "+", "-", "5. z", "a # b", "# ", "##\th", "- [ ] t", "-  x", "** a",
    "_", "$5", "50% x", "=", ":-", "| :-: |",
]  # fmt: skip
LINES = st.builds(str.__add__, st.sampled_from(STARTS), st.sampled_from(TEXTS))


def found(tokens: list[Token]) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for i, token in enumerate(tokens):
        lines = tuple(token.map or ())
        if token.type == "heading_open":
            rows.append((token.tag, lines, tokens[i + 1].content))
        elif token.type == "heading_block":
            rows.append((token.tag, lines, token.content))
        elif token.type in ("text_block", "paragraph_open"):
            rows.append(("text", lines))
        elif token.type in ("table_open", "table_block"):
            rows.append(("table", lines))
        elif token.type in ("fence", "code_block", "html_block", "hr", "list_item_open", "blockquote_open"):
            rows.append((token.type, lines))
    return rows


@settings(max_examples=800)
@given(st.lists(LINES, max_size=14))
def test_blocks_are_those_markdown_it_finds(lines: list[str]) -> None:
    text = "\n".join(lines)
    stock: list[Token] = []
    STOCK.block.parse(text, STOCK, {}, stock)

    assert found(stock) == found(_parse_blocks(text))


def test_blocks_of_real_notes_are_those_markdown_it_finds() -> None:
    different = []
    for file in sorted(shared("vaults").rglob("*.md")):
        text = file.read_text(encoding="utf-8")
        if any(mark in text for mark in ("%%", "$$", "[^")):
            continue
        stock: list[Token] = []
        STOCK.block.parse(text, STOCK, {}, stock)
        if found(stock) != found(_parse_blocks(text)):
            different.append(file.name)

    assert [] == different
