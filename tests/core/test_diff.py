from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.timing import cpu_seconds
from vault_memex.core.diff import find_changed_blocks, render_diff, split_lines


def test_a_diff_shows_three_lines_around_a_change() -> None:
    before = "".join(f"{n}\n" for n in range(1, 10))

    assert (
        "--- a.md\n+++ a.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    ) == render_diff("a.md", before, before.replace("5", "five"))  # fmt: skip


def test_far_changes_stand_in_hunks_of_their_own() -> None:
    before = "".join(f"{n}\n" for n in range(1, 21))
    after = before.replace("2\n", "two\n", 1).replace("19\n", "")

    assert ["@@ -1,5 +1,5 @@", "@@ -16,5 +16,4 @@"] == [
        line for line in render_diff("a.md", before, after).splitlines() if line.startswith("@@")
    ]


def test_near_changes_share_a_hunk() -> None:
    before = "".join(f"{n}\n" for n in range(1, 21))
    shown = render_diff("a.md", before, before.replace("8\n", "eight\n", 1).replace("11\n", "eleven\n"))

    assert ["@@ -5,10 +5,10 @@"] == [line for line in shown.splitlines() if line.startswith("@@")]


def test_a_new_text_starts_from_nothing() -> None:
    assert "--- a.md\n+++ a.md\n@@ -0,0 +1 @@\n+x\n" == render_diff("a.md", "", "x\n")


def test_equal_texts_have_no_diff() -> None:
    assert render_diff("a.md", "x", "x") == ""


def test_a_missing_final_newline_is_said() -> None:
    assert "-x\n\\ No newline at end of file\n+x\n" in render_diff("a.md", "x", "x\n")


def test_carriage_returns_show_when_endings_differ() -> None:
    assert "-a␍\n+a\n" in render_diff("a.md", "a\r\nb\n", "a\nb\n")
    assert "␍" not in render_diff("a.md", "a\r\n", "b\r\n")


def test_cut_lines_are_counted() -> None:
    shown = render_diff("a.md", "", "".join(f"line {n}\n" for n in range(1000)), limit=200)

    assert len(shown) < 300
    kept = sum(line.startswith("+line") for line in shown.splitlines())
    assert f"[{1000 - kept} more lines of this diff not shown]" == shown.splitlines()[-1]


@pytest.mark.no_cover
def test_a_large_note_takes_a_moment_only() -> None:
    before = "".join(f"line {n}\n" for n in range(50_000))
    one, all_of_them = before.replace("line 25000\n", "changed\n"), before.replace("line", "row")

    assert "-line 25000\n+changed\n" in render_diff("a.md", before, one)
    assert "more lines of this diff not shown" in render_diff("a.md", before, all_of_them)
    assert 5 > cpu_seconds(lambda: (render_diff("a.md", before, one), render_diff("a.md", before, all_of_them)))


@given(*[st.lists(st.sampled_from(["a\n", "b\r\n", "c\r", "d\n", "\n"]), max_size=12)] * 2)
def test_changed_blocks_turn_one_text_into_the_other(before: list[str], after: list[str]) -> None:
    rebuilt: list[str] = []
    at = 0
    for a, b, c, d in find_changed_blocks(before, after):
        rebuilt += (*before[at:a], *after[c:d])
        at = b
    rebuilt += before[at:]

    assert after == rebuilt


@given(st.text("ab\r\n\u2028\x0c", max_size=30))
def test_lines_join_to_the_text(text: str) -> None:
    assert text == "".join(split_lines(text))
