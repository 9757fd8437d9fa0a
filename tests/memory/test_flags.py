"""The file of a flag: what is said comes back, and a file written by hand is one too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.memory.flags import Flag, find_flag_path, find_flagged, parse_flag, render_flag

AT = "2026-11-30T02:05:00.000Z"
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), min_size=1)


@given(st.integers(1, 10**9), TEXTS.map(str.strip).filter(bool), TEXTS)
def test_what_is_written_comes_back(number: int, comment: str, path: str) -> None:
    flag = Flag(number, comment, AT, path)

    assert flag == parse_flag(render_flag(flag), number)
    assert number == find_flagged(find_flag_path(number))


@given(st.text())
def test_any_text_is_a_flag(text: str) -> None:
    assert 7 == parse_flag(text, 7).note_id


@pytest.mark.parametrize(
    ("name", "number"),
    [("0142.md", 142), ("7.md", 7), ("12345.md", 12345), ("7-kiln.md", None), ("x.md", None), ("7.txt", None)],
)
def test_the_name_says_which_note_is_flagged(name: str, number: int | None) -> None:
    assert number == find_flagged(f"_memex/flags/{name}")


@pytest.mark.parametrize(
    ("text", "comment", "raised"),
    [
        ("Look at it.\n", "Look at it.", ""),
        ("---\nraised: 2026-11-30\n---\n\nLook.\n", "Look.", "2026-11-30"),
        ("---\nraised: some day\npath: 3\n---\nLook.", "Look.", ""),
        ("---\n: [\n---\nLook.", "Look.", ""),
        ("", "", ""),
    ],
)
def test_a_flag_by_hand_needs_no_properties(text: str, comment: str, raised: str) -> None:
    assert Flag(7, comment, raised) == parse_flag(text, 7)
