"""Headings seen without parsing are the headings that parsing finds."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import shared
from tests.core.test_blocks_agree import LINES
from vault_memex.core.markdown import parse_note
from vault_memex.core.outline import _NOT_PLAIN, build_outline

STARTS = ["", "---\ntitle: A\n---\n", "\ufeff", "---\n# no\n"]
PLAIN_LINES = st.sampled_from([
    "", "a", "# h", "## h ##", "#", "#no", "####### x", "- x", "1. y", "##\th", "# h\u3000", "# #", "## x#", "###  ",
    "> q", "#\u00a0x", "[r]:", "a|b", "# a \\#", "### b ### c", "-", "    ", "\t", "# \u00a0 #", "# |", "[r]: u",
])  # fmt: skip


@settings(max_examples=800)
@given(st.sampled_from(STARTS), st.lists(LINES | PLAIN_LINES, max_size=12))
@example("", ["# a", "- b", "# c"])
def test_the_headings_and_the_start_of_the_body_are_those_of_the_parsed_note(start: str, lines: list[str]) -> None:
    text = start + "\n".join(lines)
    note = parse_note(text)

    outline = build_outline(text)

    assert (note.body_start, note.headings) == (outline.body_start, outline.headings)


@settings(max_examples=800)
@given(st.sampled_from(STARTS), st.lists(PLAIN_LINES, max_size=12))
def test_so_they_are_in_texts_that_hide_no_heading(start: str, lines: list[str]) -> None:
    text = start + "\n".join(lines)

    assert parse_note(text).headings == build_outline(text).headings


def test_in_real_vaults_too_and_most_notes_are_not_parsed() -> None:
    texts = [file.read_text(encoding="utf-8") for file in sorted(shared("vaults").rglob("*.md"))]

    different = [text[:80] for text in texts if parse_note(text).headings != build_outline(text).headings]

    plain = sum(not _NOT_PLAIN.search(text) for text in texts)
    assert [] == different
    assert plain > len(texts) // 4
