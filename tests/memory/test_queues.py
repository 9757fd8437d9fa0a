"""Reasons, rests and ranks, as values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.snapshot import NoteRecord
from vault_memex.memory.blast_radius import find_blast_radius
from vault_memex.memory.flags import Flag
from vault_memex.memory.looks import (
    Change,
    NoteLog,
    Step,
    TextChange,
    find_text_change,
    fold,
    was_edited_since_look,
)
from vault_memex.memory.queues import (
    REASONS,
    Candidate,
    Facts,
    Reason,
    build_queue,
    find_other_reasons,
    find_own_reasons,
    is_weak_title,
    join_reasons,
    rank,
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)
LINKED = Facts({"N.md": ["M.md"]})


def find_reasons(one: NoteRecord, facts: Facts) -> tuple[Reason, ...]:
    return join_reasons(find_own_reasons(one), find_other_reasons([one.path], facts).get(one.path))


def note(title: str = "A title", number: int = 1, **more: object) -> NoteRecord:
    values = {"tags": ("a",), "summary": "Said.", **more}
    return NoteRecord("N.md", title, "r", number, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("title", "weak"),
    [
        ("", True),
        ("   ", True),
        ("notes.txt", True),
        ("scan.pdf", True),
        ("meeting-notes", True),
        ("draft_2", True),
        ("v3", True),
        ("track.mp3", True),
        ("2026-11-30", False),
        ("2026-W49", False),
        ("2026", False),
        ("Kiln", False),
        ("설날", False),
        ("Cone 6", False),
        ("meeting-notes of May", False),
        ("St.", False),
    ],
)
def test_a_title_is_weak_when_it_is_a_name_of_a_file_or_program(title: str, weak: bool) -> None:
    assert weak == is_weak_title(title)
    assert weak == ("weak_title" in find_reasons(note(title), LINKED))
    assert "weak_title" not in find_reasons(note(title, layer="past"), LINKED)  # it cannot be changed


@pytest.mark.parametrize(
    ("tags", "standard"),
    [(("kiln-log", "a/b", "도자기", "семья"), True), (("Kiln",), False), (("two words",), False)],
)
def test_a_tag_with_capitals_or_spaces_is_not_standard(tags: tuple[str, ...], standard: bool) -> None:
    assert standard == ("nonstandard_tags" not in find_reasons(note(tags=tags), LINKED))


def test_reasons_come_in_their_order() -> None:
    here = {"N.md"}
    facts = Facts({}, here, here, here, here, here)

    assert REASONS[2:] == find_reasons(note("x_y", tags=("A B",), summary=" "), facts)
    assert "untagged" == find_reasons(note(tags=()), facts)[0]


def looked(days_ago: int, clean: int = 0) -> NoteLog:
    return NoteLog(looked_at=(NOW - timedelta(days=days_ago)).isoformat(), clean=clean)


@pytest.mark.parametrize(("clean", "days"), [(0, 7), (1, 14), (2, 28), (3, 56), (4, 56), (9, 56)])
def test_the_rest_doubles_with_each_clean_pass_up_to_eight_times(clean: int, days: int) -> None:
    rests = Candidate(note(), (), looked(days - 1, clean))
    awake = Candidate(note(), (), looked(days, clean))

    assert (0, 1) == (build_queue([rests], 7, NOW).total, build_queue([awake], 7, NOW).total)
    assert 1 == build_queue([rests], 0, NOW).total


@pytest.mark.parametrize(
    "one",
    [
        Candidate(note(), (), NoteLog()),
        Candidate(note(), ("untagged",), looked(0)),
        Candidate(note(), (), looked(0), Flag(1, "?")),
        Candidate(note(), (), looked(0), edited=True),
        Candidate(note(), (), looked(0), changed_neighbours=1),
    ],
)
def test_whatever_calls_for_a_look_ends_the_rest(one: Candidate) -> None:
    assert 1 == build_queue([one], 365, NOW).total


def test_the_order_is_flags_by_age_then_reasons_then_neighbours_then_age_then_number() -> None:
    order = [
        Candidate(note(number=9), (), looked(1), Flag(9, "?", "2026-01-01")),
        Candidate(note(number=8), ("untagged",), looked(1), Flag(8, "?", "2026-02-01")),
        Candidate(note(number=7), ("untagged", "no_summary"), looked(1)),
        Candidate(note(number=6), ("untagged",), looked(1), changed_neighbours=2),
        Candidate(note(number=5), ("untagged",), looked(1), changed_neighbours=1),
        Candidate(note(number=4), (), looked(1), changed_neighbours=1),
        Candidate(note(number=2), (), NoteLog()),
        Candidate(note(number=3), (), NoteLog()),
        Candidate(note(number=1), (), looked(90)),
        Candidate(note(number=0), (), looked(60)),
    ]

    assert order == rank(reversed(order))


# -- what the journal comes to


def edit(at: str, before: str, after: str, *, curator: bool = False, same: bool = False) -> Step:
    return Step(
        at,
        "a",
        curator=curator,
        looked=curator,
        worked=curator,
        change=Change(before, after, "x", "x" if same else "y"),
    )


def test_a_curators_change_leaves_no_trace_but_the_look() -> None:
    log = fold(fold(NoteLog(revision="r1"), edit("1", "r1", "r2")), edit("2", "r2", "r3", curator=True))

    assert ("1", "1", "2", 0) == (log.text_at, log.edited_at, log.looked_at, log.clean)
    assert not was_edited_since_look(log, "r3")
    assert was_edited_since_look(log, "r4")


def test_a_file_that_was_another_one_before_a_step_was_changed_outside() -> None:
    log = fold(fold(NoteLog(), edit("1", "r1", "r2", curator=True)), edit("3", "r9", "r10", curator=True))

    assert ("3", "owner") == (log.text_at, log.text_by)
    assert not was_edited_since_look(log, "r10")  # the curator saw it


@pytest.mark.parametrize(
    ("known", "updated", "at"), [("", "2", "2"), ("", "7", "5"), ("r0", "3", "4"), ("r0", "4.5", "4.5")]
)
def test_what_changed_before_the_journal_knew_a_note_is_not_forgotten_when_it_is_looked_at(
    known: str, updated: str, at: str
) -> None:
    log = NoteLog(revision=known, known_at="4" if known else "")

    log = fold(log, Step("5", "c", curator=True, looked=True, seen=("r1", "b", updated)))

    assert (at, at, "owner") == (log.edited_at, log.text_at, log.text_by)
    assert not was_edited_since_look(log, "r1")


def test_a_change_of_properties_alone_is_no_change_of_text() -> None:
    log = fold(NoteLog(revision="r1"), edit("1", "r1", "r2", same=True))

    assert ("1", "") == (log.edited_at, log.text_at)
    assert find_text_change(log, "r2", "", "0") is None
    assert find_text_change(log, "r3", "x", "5") is None  # outside, with the text as it was
    assert TextChange("5", "owner") == find_text_change(log, "r3", "z", "5")


Looks = st.lists(st.booleans(), max_size=8)


@given(Looks)
def test_clean_passes_are_counted_from_the_last_that_needed_work(passes: list[bool]) -> None:
    log = NoteLog()
    for number, worked in enumerate(passes):
        log = fold(log, Step(str(number), "c", curator=True, looked=True, worked=worked))

    expected = 0
    for worked in passes:
        expected = 0 if worked else expected + 1
    assert expected == log.clean


# -- around what changed


def test_most_changed_neighbours_come_first_then_the_latest() -> None:
    changes = {
        "a": TextChange("5", "x"),
        "b": TextChange("6", "y"),
        "c": TextChange("7", "z"),
        "old": TextChange("1", "x"),
    }
    linked = {"two": ["a", "b"], "late": ["c"], "early": ["a"], "seen": ["b"], "own": ["a"], "quiet": ["old"]}

    found = find_blast_radius(
        linked,
        linked,
        {**changes, "own": TextChange("8", "x")}.get,
        lambda path: "6" if path == "seen" else "",
        "4",
    )

    assert [("two", ["b", "a"]), ("late", ["c"]), ("early", ["a"])] == [
        (one.path, [moved.path for moved in one.moved]) for one in found
    ]
