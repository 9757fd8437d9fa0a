"""The four detectors, one statement of the specification each."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.notes import LinkRow, all_near, neighbours_of, note, vault
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.memory.amendments import build_amendments
from vault_memex.memory.bursts import find_tag_bursts
from vault_memex.memory.dangling import NameIndex, count_edits, find_dangling_links
from vault_memex.memory.detection import detect_signals
from vault_memex.memory.signals import (
    Signal,
    SignalSettings,
    build_fingerprint,
    find_hidden_arcs,
    find_stale_states,
    signal_key,
)
from vault_memex.memory.thresholds import Calibration, get_shipped

TODAY = date(2026, 11, 30)
SETTINGS = SignalSettings()
NOTHING = build_amendments(vault(), [])


def day(ago: int) -> str:
    return (TODAY - timedelta(days=ago)).isoformat()


# hidden_arc


def thread(*ages: int, **values: Any) -> list[NoteRecord]:
    """Notes of one thread, so many days old."""
    return [note(f"{i}.md", i, created=day(age), **values) for i, age in enumerate(ages, 1)]


def arcs(
    notes: list[NoteRecord],
    linked: dict[str, set[str]] | None = None,
    distance: float = 0.05,
    settings: SignalSettings = SETTINGS,
) -> list[Signal]:
    paths = [n.path for n in notes]
    near = neighbours_of(
        {(a, b): distance + 1e-4 * (j - 1) for i, a in enumerate(paths) for j, b in enumerate(paths[i + 1 :], 1)}
    )
    return list(find_hidden_arcs(vault(*notes), near, linked or {}, settings))


def test_four_alike_notes_over_390_days_are_one_arc_even_with_mixed_tags() -> None:
    notes = [
        note(f"{i}.md", i, created=day(age), tags=(tag,))
        for i, (age, tag) in enumerate([(390, "b"), (260, "a"), (130, "b"), (0, "c")], 1)
    ]

    found = arcs(notes)

    assert 1 == len(found)
    assert ("1.md", "2.md", "3.md", "4.md") == found[0].notes
    assert "b" == found[0].detail
    assert signal_key("hidden_arc", "1") == found[0].key


def test_evidence_is_shown_in_order_of_time_and_known_by_the_lowest_number() -> None:
    notes = [note(f"{n}.md", n, created=day(age)) for n, age in ((9, 400), (4, 300), (6, 200), (5, 0))]

    found = arcs(notes)

    assert ("9.md", "4.md", "6.md", "5.md") == found[0].notes
    assert signal_key("hidden_arc", "4") == found[0].key


def test_two_links_inside_silence_an_arc_of_four() -> None:
    notes = thread(390, 260, 130, 0)

    assert 1 == len(arcs(notes, {"1.md": {"2.md"}}))
    assert [] == arcs(notes, {"1.md": {"2.md"}, "4.md": {"3.md"}})


def test_a_link_counts_once_whichever_way_it_points() -> None:
    assert 1 == len(arcs(thread(390, 260, 130, 0), {"1.md": {"2.md"}, "2.md": {"1.md"}}))


@pytest.mark.parametrize(
    ("ages", "why"),
    [
        ((6, 4, 2, 0), "within a week"),
        ((390, 200, 0), "three notes"),
        (tuple(range(0, 481, 40)), "thirteen notes"),
        ((179, 120, 60, 0), "179 days"),
    ],
)
def test_no_arc(ages: tuple[int, ...], why: str) -> None:
    assert [] == arcs(thread(*ages)), why


def test_an_arc_needs_so_many_days_a_note() -> None:
    notes = thread(240, 120, 60, 0)

    assert 1 == len(arcs(notes, settings=replace(SETTINGS, arc_days_per_note=60)))
    assert [] == arcs(notes, settings=replace(SETTINGS, arc_days_per_note=61))


def test_an_arc_of_180_days_is_enough() -> None:
    assert 1 == len(arcs(thread(180, 120, 60, 0)))


@pytest.mark.parametrize(
    "values",
    [
        {"layer": "rule"},
        {"properties": {"entity_type": "person"}},
        {"properties": {"review": "pending"}},
        {"created": ""},
    ],
)
def test_rules_entities_pending_and_undated_notes_are_in_no_arc(values: dict[str, Any]) -> None:
    notes = thread(390, 260, 130, 0)
    other = note("0.md", 100, **{"created": day(500), **values})

    found = arcs([*notes, other])

    assert ("1.md", "2.md", "3.md", "4.md") == found[0].notes


def test_files_for_programs_are_in_no_arc() -> None:
    notes = [
        note(p, created=day(a))
        for p, a in (("README.md", 390), ("x/agents.md", 260), ("CLAUDE.md", 130), ("a.md", 0))
    ]

    assert [] == arcs(notes)


def test_the_distance_is_strict_and_may_come_from_calibration() -> None:
    measured = Calibration("m", 100, get_shipped("none of these"), measured=True)
    shipped = Calibration("m", 10, get_shipped("none of these"), measured=False)
    fixed = Calibration("m", 10, get_shipped("none of these"), measured=False, fixed=("related",))

    assert [] == arcs(thread(390, 260, 130, 0), distance=0.101)
    assert 1 == len(arcs(thread(390, 260, 130, 0), distance=0.101, settings=SETTINGS.with_calibration(measured)))
    assert 0.101 == SETTINGS.with_calibration(shipped).reach
    assert 0.25 == SETTINGS.with_calibration(fixed).reach


def test_a_note_without_a_number_is_known_by_its_path() -> None:
    notes = [note(f"{i}.md", created=day(i * 100)) for i in range(4)]

    assert (("0.md",), ("1.md",), ("2.md",), ("3.md",)) == arcs(notes)[0].anchors


# stale_state

PLAN = note("plan.md", 1, layer="state", created=day(300), updated=day(100))


def stale(*others: NoteRecord, plan: NoteRecord = PLAN, distance: float = 0.05) -> list[Signal]:
    snapshot = vault(plan, *others)
    near = neighbours_of({(plan.path, other.path): distance for other in others}, [plan.path])
    return list(find_stale_states(snapshot, near, NOTHING, SETTINGS, TODAY))


def records(*ages: int, layer: str | None = "past", **values: Any) -> list[NoteRecord]:
    return [note(f"r{i}.md", i + 10, layer=layer, created=day(age), **values) for i, age in enumerate(ages)]


def test_three_later_records_make_a_state_stale() -> None:
    found = stale(*records(10, 30, 20))

    assert [("plan.md", "r1.md", "r2.md", "r0.md")] == [s.notes for s in found]
    assert signal_key("stale_state", "1") == found[0].key


def test_two_of_three_needed_records_are_quiet() -> None:
    assert [] == stale(*records(10, 20, 100))


def test_plain_notes_count_as_records_and_states_do_not() -> None:
    assert 1 == len(stale(*records(1, 2, 3, layer=None)))
    assert [] == stale(*records(1, 2, 3, layer="state"))


def test_freshly_imported_but_older_authored_notes_do_not_make_a_state_stale() -> None:
    imported = records(400, 500, 600, updated=day(0))

    assert [] == stale(*imported)


@pytest.mark.parametrize(
    "plan",
    [
        note("plan.md", 1, layer="past", updated=day(100)),
        note("plan.md", 1, layer=None, updated=day(100)),
        note("plan.md", 1, layer="state", updated=day(100), properties={"derives_from": "[[x]]"}),
        note("plan.md", 1, layer="state", updated=day(100), properties={"entity_type": "tool"}),
        note("plan.md", 1, layer="state", updated=day(100), properties={"valid_until": "2026-01-01"}),
        note("plan.md", 1, layer="state", updated="", created="no date"),
    ],
)
def test_only_a_state_that_claims_to_hold_can_be_stale(plan: NoteRecord) -> None:
    assert [] == stale(*records(1, 2, 3), plan=plan)


def test_records_at_the_distance_are_too_far() -> None:
    assert [] == stale(*records(1, 2, 3), distance=0.101)


# tag_burst


def tagged(*ages: int, tag: str = "celadon", first: int = 0, **values: Any) -> list[NoteRecord]:
    return [note(f"{tag}{i}.md", created=day(age), tags=(tag,), **values) for i, age in enumerate(ages, first)]


def bursts(*notes: NoteRecord, settings: SignalSettings = SETTINGS) -> list[Signal]:
    return list(find_tag_bursts(vault(*notes), settings, TODAY))


def test_a_tag_that_is_back_after_a_long_silence_bursts() -> None:
    found = bursts(*tagged(0, 5, 9, 400))

    assert [("celadon2.md", "celadon1.md", "celadon0.md", "celadon3.md")] == [s.notes for s in found]
    assert signal_key("tag_burst", f"celadon|{day(400)}") == found[0].key
    assert "391" in found[0].reason


@pytest.mark.parametrize(
    ("ages", "why"),
    [
        ((0, 5, 9), "brand new"),
        ((0, 5, 9, 30, 60, 90, 200, 400), "steady"),
        ((0, 5, 400), "two notes"),
        ((0, 5, 14, 400), "the third is 14 days old"),
        ((0, 5, 9, 188), "179 days of silence"),
    ],
)
def test_no_burst(ages: tuple[int, ...], why: str) -> None:
    assert [] == bursts(*tagged(*ages)), why


def test_180_days_of_silence_are_enough() -> None:
    assert 1 == len(bursts(*tagged(0, 5, 9, 189)))


def test_workflow_tags_and_notes_that_are_no_source_make_no_burst() -> None:
    assert [] == bursts(*tagged(0, 5, 9, 400, tag="Inbox"))
    assert [] == bursts(*tagged(0, 5, 400), *tagged(9, first=7, layer="rule"))
    assert [] == bursts(*tagged(0, 5, 400), *tagged(-3, first=7))


def test_tags_count_without_case_and_once_a_note() -> None:
    notes = [
        note(f"{i}.md", created=day(age), tags=("Celadon", "celadon")) for i, age in enumerate((0, 5, 9, 400))
    ]

    assert [4] == [len(s.notes) for s in bursts(*notes)]


# dangling_link


def dangling(source: NoteRecord, *targets: str, others: tuple[NoteRecord, ...] = ()) -> list[tuple[str, str]]:
    found = find_dangling_links(vault(source, *others), [LinkRow(source.path, t) for t in targets])
    return [(s.detail, s.suggestion) for s in found]


WRITER = note("Log/today.md", 3, title="today")
OTHERS = (
    note("Boathouse renovation.md", 4),
    note("People/Jisoo Han.md", 5, aliases=("Jisoo",)),
    note("Tao.md", 6),
)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("Title", ("placeholder", "")),
        ("42", ("placeholder", "")),
        ("Boathuose renovation", ("typo", "Boathouse renovation.md")),
        ("boathouse renovatio", ("typo", "Boathouse renovation.md")),
        ("People/Jisoo Hann", ("typo", "People/Jisoo Han.md")),
        ("Jisoo", ("typo", "People/Jisoo Han.md")),
        ("Sponge supplier", ("forward", "")),
        ("Tai", ("forward", "")),  # too short to be a slip of Tao
        ("Boathaus renovation", ("typo", "Boathouse renovation.md")),
        ("Bothaus renovation", ("forward", "")),
    ],
)
def test_a_dangling_link_is_an_example_a_slip_or_a_note_to_come(target: str, expected: tuple[str, str]) -> None:
    assert [expected] == dangling(WRITER, target, others=OTHERS)


@pytest.mark.parametrize(
    "path", ["README.md", "notes/AGENTS.md", "CLAUDE.md", "docs/guide.md", "app/docs/guide.md"]
)
def test_links_in_files_for_programs_and_docs_are_examples(path: str) -> None:
    assert [("placeholder", "")] == dangling(note(path), "Sponge supplier")


def test_a_rule_is_no_source_and_an_entity_is() -> None:
    assert [] == dangling(note("r.md", layer="rule"), "Sponge supplier")
    assert [("forward", "")] == dangling(note("e.md", properties={"entity_type": "person"}), "Sponge supplier")


def test_the_same_target_in_one_note_is_one_signal_whatever_its_case_and_form() -> None:
    assert [("forward", "")] == dangling(WRITER, "Caf\u00e9 list", "cafe\u0301 LIST", "Caf\u00e9 list.md")


def test_a_dangling_link_is_known_by_source_and_target() -> None:
    (found,) = find_dangling_links(vault(WRITER), [LinkRow(WRITER.path, "Sponge Supplier")])

    assert signal_key("dangling_link", "3|sponge supplier") == found.key
    assert (("3|sponge supplier", "Log/today.md|sponge supplier"),) == found.anchors


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("abcd", "abcd", 0),
        ("abcd", "abd", 1),
        ("abcd", "acbd", 2),
        ("abcd", "wxyz", 3),
        ("", "ab", 2),
        ("a", "abcdef", 3),
    ],
)
def test_edits_are_counted_up_to_two(one: str, other: str, edits: int) -> None:
    assert edits == count_edits(one, other, 2)
    assert edits == count_edits(other, one, 2)


def edits_by_hand(one: str, other: str) -> int:
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i, letter in enumerate(one, 1):
        for j, against in enumerate(other, 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (letter != against))
    return table[len(one), len(other)]


@given(st.text("abc", max_size=9), st.text("abc", max_size=9), st.integers(0, 3))
def test_edits_are_those_of_the_whole_table(one: str, other: str, most: int) -> None:
    assert min(edits_by_hand(one, other), most + 1) == count_edits(one, other, most)


def test_the_index_finds_what_a_look_at_each_name_finds() -> None:
    import random

    dice = random.Random(11)
    names = {"".join(dice.choice("abc") for _ in range(dice.randrange(4, 9))) for _ in range(300)}
    index = NameIndex(vault(*(note(f"{name}.md") for name in names)))
    for _ in range(300):
        wanted = "".join(dice.choice("abc") for _ in range(dice.randrange(4, 10)))
        most = min(2, len(wanted) // 4)
        near = [(e, n) for n in names if 0 < (e := count_edits(wanted, n, most)) <= most]
        found = index.find_nearest(wanted)

        assert (min(near)[1] + ".md" if near else None) == (found.path if found else None)


# all together


def detect(snapshot: Snapshot, *, semantic: bool = True) -> Any:
    near = neighbours_of(all_near(*snapshot.notes)) if semantic else None
    return detect_signals(
        snapshot,
        [LinkRow("1.md", "x y z")],
        {},
        neighbours=near,
        amendments=NOTHING,
        settings=SETTINGS,
        today=TODAY,
    )


def test_without_vectors_the_kinds_that_need_meaning_are_left_out_and_said() -> None:
    snapshot = vault(*thread(390, 260, 130, 0))

    with_meaning, without = detect(snapshot), detect(snapshot, semantic=False)

    assert ["hidden_arc", "dangling_link"] == [s.kind for s in with_meaning.signals]
    assert ["dangling_link"] == [s.kind for s in without.signals]
    assert ("semantic",) == without.unavailable
    assert {"tag_burst", "dangling_link"} == without.kinds


def test_the_fingerprint_changes_with_what_detection_depends_on_and_else_not() -> None:
    base = [note("a.md", 1, tags=("x",)), note("b.md", 2)]
    links = [("a.md", "gone"), ("a.md", "lost")]

    def fingerprint(*notes: NoteRecord, unresolved: list[tuple[str, str]] = links, today: date = TODAY) -> str:
        return build_fingerprint(vault(*notes), unresolved, SETTINGS, "e5", today)

    same = fingerprint(*base)

    assert same == fingerprint(*reversed(base), unresolved=links[::-1])
    assert same != fingerprint(base[0])
    assert same != fingerprint(*base, today=TODAY + timedelta(days=1))
    assert same != fingerprint(*base, unresolved=links[:1])
    assert same != fingerprint(base[0], note("b.md", 2, layer="past"))
    assert same != fingerprint(base[0], note("b.md", 2, revision="f" * 32))
