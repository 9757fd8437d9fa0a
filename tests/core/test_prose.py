"""Running text: what a hint may read and change."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.markdown import find_prose, parse_note


def prose(text: str) -> list[str]:
    return [text[slice(*span)] for span in find_prose(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\ntext", ["plain\ntext"]),
        ("---\na: b\n---\nbody", ["body"]),
        ("\ufeffbody", ["body"]),
        ("# Heading\n\ntext", ["text"]),
        ("Heading\n===\n\ntext", ["text"]),
        ("a `code` b", ["a ", " b"]),
        ("a [[link]] b ![[embed]] c", ["a ", " b ", " c"]),
        ("a [x `y` z](https://web.example) b", ["a ", " b"]),
        ("a <b>c</b> $m$ d", ["a ", "c", " ", " d"]),
        ("```\ncode\n```\nafter", ["after"]),
        ("<!-- comment -->\n\nafter", ["after"]),
        ("", []),
    ],
)
def test_prose_is_what_is_left_of_the_body(text: str, expected: list[str]) -> None:
    assert expected == prose(text)


def test_cells_and_items_are_prose() -> None:
    found = prose("- item\n- other\n\n| a | b |\n|---|---|\n| c | d |\n")

    assert ["- item", "- other", "a", "b", "c", "d"] == [text.strip() for text in found if text.strip()]


@given(
    st.lists(
        st.sampled_from(
            ["a", "`", "``", "[[", "]]", "[", "](u)", "<b>", "$", "\n", "\n\n", "# ", "- ", "|", "> "]
        ),
        max_size=16,
    ).map("".join)
)
def test_prose_is_in_order_and_holds_no_link(text: str) -> None:
    spans = find_prose(text)

    assert all(one.start < one.end <= other.start for one, other in pairwise(spans))
    for link in parse_note(text).links:
        assert all(span.end <= link.span.start or link.span.end <= span.start for span in spans)
