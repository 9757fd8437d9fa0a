"""Corrections, continuations, and days on which a note holds."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.notes import LinkRow, note, vault
from vault_memex.memory.amendments import build_amendments, check_validity

TODAY = date(2026, 11, 30)
NOBODY = build_amendments(vault(), [])


def amends(later: str, earlier: str) -> LinkRow:
    return LinkRow(later, earlier, "amends")


def corrected(*pairs: tuple[str, str], kinds: str = "corrects") -> dict[str, str]:
    """Successors when the first note of each pair corrects the second; notes are as old as their names."""
    names = sorted({name for pair in pairs for name in pair})
    notes = [
        note(n, i, created=f"2026-01-{i:02}", properties={"amend_kind": kinds}) for i, n in enumerate(names, 1)
    ]
    return dict(build_amendments(vault(*notes), [amends(*pair) for pair in pairs]).successors)


def test_a_corrected_note_points_to_its_correction() -> None:
    assert {"a.md": "b.md"} == corrected(("b.md", "a.md"))


def test_a_chain_points_to_the_newest_correction() -> None:
    assert {"a.md": "c.md", "b.md": "c.md"} == corrected(("b.md", "a.md"), ("c.md", "b.md"))


def test_of_two_corrections_the_newer_counts() -> None:
    assert {"a.md": "c.md"} == corrected(("b.md", "a.md"), ("c.md", "a.md"))


def test_a_continuation_supersedes_nothing() -> None:
    assert {} == corrected(("b.md", "a.md"), kinds="continues")


def test_a_correction_is_found_through_a_continuation() -> None:
    kinds = {"b.md": "corrects", "c.md": "continues", "d.md": "corrects"}
    notes = [note("a.md", created="2026-01-01")]
    notes += [
        note(p, created=f"2026-02-0{i}", properties={"amend_kind": k}) for i, (p, k) in enumerate(kinds.items(), 1)
    ]
    links = [amends("b.md", "a.md"), amends("c.md", "b.md"), amends("d.md", "c.md")]

    successors = build_amendments(vault(*notes), links).successors

    assert {"a.md": "d.md", "c.md": "d.md"} == successors


def test_the_newest_of_a_circle_stands() -> None:
    assert {"a.md": "b.md"} == corrected(("b.md", "a.md"), ("a.md", "b.md"))


def test_a_note_does_not_amend_itself() -> None:
    assert {} == corrected(("a.md", "a.md"))


def test_what_waits_for_approval_corrects_nothing_yet() -> None:
    later = note("b.md", properties={"amend_kind": "corrects", "review": "pending"})

    assert {} == build_amendments(vault(note("a.md"), later), [amends("b.md", "a.md")]).successors


def test_superseded_by_points_forward_and_on() -> None:
    notes = vault(
        *(
            note(f"{n}.md", created=f"2026-01-0{i}", properties={"amend_kind": "corrects"})
            for i, n in enumerate("abc", 1)
        )
    )
    links = [LinkRow("a.md", "b.md", "superseded_by"), amends("c.md", "b.md")]

    assert {"a.md": "c.md", "b.md": "c.md"} == build_amendments(notes, links).successors


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=12))
def test_a_successor_stands_itself_and_never_is_the_note(pairs: list[tuple[str, str]]) -> None:
    successors = corrected(*(pairs or [("b", "a")]))

    for path, successor in successors.items():
        assert path != successor
        assert successor not in successors or successors[successor] != path


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, "current"),
        ({"valid_until": "2026-11-30"}, "current"),
        ({"valid_until": "2026-11-29"}, "expired"),
        ({"valid_until": "2026-11"}, "current"),
        ({"valid_until": "2026-10"}, "expired"),
        ({"valid_from": "2026-11-30"}, "current"),
        ({"valid_from": "2026-12-01"}, "not_yet_valid"),
        ({"valid_from": "soon", "valid_until": "never"}, "current"),
        ({"valid_from": "2026-03-01", "valid_until": "2026-10-31"}, "expired"),
        ({"superseded_by": "[[gone]]"}, "superseded"),
    ],
)
def test_a_note_holds_on_the_days_it_says(properties: dict[str, str], expected: str) -> None:
    assert expected == check_validity(note("a.md", properties=properties), NOBODY, TODAY).status


def test_a_superseded_note_names_its_successor_even_when_it_has_also_expired() -> None:
    old = note("a.md", properties={"valid_until": "2020-01-01"})
    new = note("b.md", properties={"amend_kind": "corrects"})
    amendments = build_amendments(vault(old, new), [amends("b.md", "a.md")])

    validity = check_validity(old, amendments, TODAY)

    assert ("superseded", "b.md", False) == (validity.status, validity.successor, validity.holds)


def test_in_a_circle_of_superseded_by_the_newest_note_is_current() -> None:
    one = note("a.md", created="2026-01-01", properties={"superseded_by": "[[b]]"})
    two = note("b.md", created="2026-01-02", properties={"superseded_by": "[[a]]"})
    links = [LinkRow("a.md", "b.md", "superseded_by"), LinkRow("b.md", "a.md", "superseded_by")]
    amendments = build_amendments(vault(one, two), links)

    assert ["superseded", "current"] == [check_validity(n, amendments, TODAY).status for n in (one, two)]
