"""Words that change, found again in a text that moved on."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from vault_memex.memory.hunks import CONTEXT, apply_hunks, find_places, plan_hunks, split_tokens

PIECES = (
    "red",
    "blue",
    "a",
    " ",
    "\n",
    "\n\n",
    "\r\n",
    ". ",
    "| ",
    "- ",
    "漢字",
    "é",
    "…",
    "\u2028",
    "100%",
    "```\n",
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=120).map("".join) | st.text(max_size=60)
LONG = " ".join(f"Sentence number {n} says that thing {n * 7} is good." for n in range(30))


@given(TEXTS)
def test_tokens_joined_are_the_text(text: str) -> None:
    assert text == "".join(split_tokens(text))


KEPT = LONG[:400]  # in both texts, so that a change is kept as hunks


@given(TEXTS, TEXTS)
def test_a_change_makes_the_proposed_text_of_its_base(base: str, proposed: str) -> None:
    change = plan_hunks(base, proposed)
    merged = apply_hunks(base, change)

    assert proposed == merged.text
    assert () == merged.failed
    assert all(len(split_tokens(side)) <= CONTEXT for h in change.hunks for side in (h.before, h.after))


@given(TEXTS, TEXTS, st.one_of(TEXTS, TEXTS.map(lambda text: KEPT + text)))
def test_elsewhere_only_the_words_of_hunks_that_fit_change(base: str, proposed: str, present: str) -> None:
    change = plan_hunks(KEPT + base, KEPT + proposed)
    assume(change.whole is None)

    merged = apply_hunks(present, change)

    assert len(change.hunks) == len(merged.applied) + len(merged.failed)
    places = [(p, h) for p, h in zip(find_places(present, change), change.hunks, strict=True) if p]
    assert all(present[p.start : p.end] == h.old for p, h in places)
    rest = present
    for place, hunk in reversed(places):
        rest = rest[: place.start] + hunk.new + rest[place.end :]
    assert rest == merged.text


@given(st.integers(0, 29), st.integers(0, 29))
def test_a_change_and_an_edit_of_another_sentence_are_both_kept(mine: int, other: int) -> None:
    assume(mine != other)
    proposed = LONG.replace(f"thing {mine * 7} is good", f"thing {mine * 7} is bad")
    present = LONG.replace(f"number {other} says", f"number {other} no longer claims")

    merged = apply_hunks(present, plan_hunks(LONG, proposed))

    both = proposed.replace(f"number {other} says", f"number {other} no longer claims")
    assert both == merged.text


def test_a_hunk_whose_words_were_changed_is_reported_and_the_rest_applies() -> None:
    proposed = LONG.replace("thing 7 is good", "thing 7 is bad").replace("thing 140 is good", "thing 140 is bad")
    present = LONG.replace("thing 7 is good", "thing 7 is fine")

    merged = apply_hunks(present, plan_hunks(LONG, proposed))

    assert present.replace("thing 140 is good", "thing 140 is bad") == merged.text
    assert ["good"] == [hunk.old for hunk in merged.failed]


def test_a_row_that_was_changed_is_not_taken_for_its_neighbour() -> None:
    rows = [f"- 2026-01-{n:02}: open\n" for n in range(1, 20)]
    base = "".join(rows)
    proposed = base.replace("05: open", "05: closed")
    present = base.replace("05: open", "05: done")

    merged = apply_hunks(present, plan_hunks(base, proposed))

    assert (present, 1) == (merged.text, len(merged.failed))


def test_equal_lines_are_told_apart_only_while_nothing_else_changed() -> None:
    base = "same line here\n" * 60
    lines = base.splitlines(keepends=True)
    proposed = "".join(line.replace("same", "new") if n == 30 else line for n, line in enumerate(lines))
    change = plan_hunks(base, proposed)

    assert proposed == apply_hunks(base, change).text
    moved = apply_hunks("A first line.\n" + base, change)
    assert ("A first line.\n" + base, 1) == (moved.text, len(moved.failed))


def test_a_near_total_rewrite_is_kept_whole_and_fits_only_its_own_base() -> None:
    change = plan_hunks("one two three four", "quite another text altogether")

    assert "quite another text altogether" == change.whole
    assert "quite another text altogether" == apply_hunks("one two three four", change).text
    moved = apply_hunks("one two three five", change)
    assert ("one two three five", True) == (moved.text, moved.whole_failed)


def test_words_that_change_side_by_side_are_one_hunk() -> None:
    change = plan_hunks(
        "The quick brown fox jumps over the lazy dog.", "The slow red fox jumps over the lazy dog."
    )

    assert [("quick brown", "slow red")] == [(h.old, h.new) for h in change.hunks]


def test_a_large_text_takes_no_long_time() -> None:
    base = "".join(f"Line {n} with a few words and a number {n * 31}.\n" for n in range(20_000))
    proposed = base.replace("Line 9000 with", "Line 9000 without").replace("number 310.", "number 311.")

    change = plan_hunks(base, proposed)

    assert 2 == len(change.hunks)
    assert proposed + "end" == apply_hunks(base + "end", change).text
