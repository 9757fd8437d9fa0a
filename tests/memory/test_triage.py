"""What is decided about a signal holds, whatever detection finds and time brings."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.memory.notes import note, vault
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.errors import InvalidArgument, NotFound
from vault_memex.memory.signals import Detection, Signal, SignalKind, find_identities
from vault_memex.memory.signals_file import parse_signals, render_signals
from vault_memex.memory.triage import (
    EVERY_LINK,
    SignalRow,
    SignalTable,
    choose_hint,
    dismiss_links,
    mark_minted,
    merge_signals,
    set_status,
)

TODAY = date(2026, 11, 30)
KINDS: frozenset[SignalKind] = frozenset(("hidden_arc", "stale_state", "dangling_link", "tag_burst"))
NOTES = [note(f"{n}.md", n) for n in range(1, 7)]


def found(*signals: Signal, kinds: frozenset[SignalKind] = KINDS) -> Detection:
    return Detection(signals, kinds)


def arc(*notes: NoteRecord) -> Signal:
    anchors = sorted(notes, key=lambda n: n.note_id or 0)
    return Signal("hidden_arc", tuple(find_identities(n) for n in anchors), tuple(n.path for n in notes), "thread")


def dangling(source: NoteRecord, target: str) -> Signal:
    anchors = (tuple(f"{identity}|{target}" for identity in find_identities(source)),)
    return Signal("dangling_link", anchors, (source.path,), f"to {target}", "forward")


def stale(plan: NoteRecord, *later: NoteRecord) -> Signal:
    return Signal("stale_state", (find_identities(plan),), (plan.path, *(n.path for n in later)), "overtaken")


def merge(
    table: SignalTable, *signals: Signal, notes: list[NoteRecord] = NOTES, today: date = TODAY
) -> SignalTable:
    return merge_signals(table, found(*signals), vault(*notes), today)


def statuses(table: SignalTable) -> dict[int, str]:
    return {row.number: row.status for row in table.rows}


def test_new_signals_are_numbered_in_the_order_found() -> None:
    table = merge(SignalTable(), stale(NOTES[0]), dangling(NOTES[1], "x"))

    assert {1: "new", 2: "new"} == statuses(table)
    assert 3 == table.following


def test_a_second_run_changes_nothing() -> None:
    signals = [arc(*NOTES[:4]), stale(NOTES[0]), dangling(NOTES[1], "x")]
    table = merge(SignalTable(), *signals)

    assert table == merge(table, *signals, today=TODAY + timedelta(days=3))


def test_a_dismissed_signal_stays_dismissed_when_found_again_and_when_not() -> None:
    table = set_status(merge(SignalTable(), stale(NOTES[0])), 1, "dismissed", TODAY)

    without = merge(table)
    again = merge(without, stale(NOTES[0], NOTES[1]))

    assert {1: "dismissed"} == statuses(without) == statuses(again)


def test_a_new_signal_whose_cause_is_gone_disappears_and_its_number_is_not_used_again() -> None:
    table = merge(SignalTable(), dangling(NOTES[0], "x"), dangling(NOTES[1], "y"))
    table = set_status(table, 1, "dismissed", TODAY)

    table = merge(table)
    table = merge(table, dangling(NOTES[2], "z"))

    assert {1: "dismissed", 3: "new"} == statuses(table)


def test_a_run_without_meaning_leaves_the_signals_that_need_it() -> None:
    table = merge(SignalTable(), arc(*NOTES[:4]), dangling(NOTES[1], "x"))

    table = merge_signals(table, found(kinds=frozenset(("dangling_link", "tag_burst"))), vault(*NOTES), TODAY)

    assert ["hidden_arc"] == [row.kind for row in table.rows]


def test_a_snoozed_signal_is_new_again_on_its_day_and_not_before() -> None:
    table = set_status(merge(SignalTable(), stale(NOTES[0])), 1, "snoozed", TODAY, TODAY + timedelta(days=7))

    early = merge(table, stale(NOTES[0]), today=TODAY + timedelta(days=6))
    due = merge(table, stale(NOTES[0]), today=TODAY + timedelta(days=7))

    assert "snoozed" == early.get_row(1).status
    assert ("new", None) == (due.get_row(1).status, due.get_row(1).until)


def test_a_snooze_whose_day_was_taken_out_by_hand_gets_one() -> None:
    table = set_status(merge(SignalTable(), stale(NOTES[0])), 1, "snoozed", TODAY)
    table = SignalTable((replace(table.rows[0], until=None),), table.following)

    assert date(2026, 12, 30) == merge(table).get_row(1).until


def test_an_arc_all_of_whose_notes_are_gone_stays_as_it_was_decided() -> None:
    table = set_status(merge(SignalTable(), arc(*NOTES[:4])), 1, "dismissed", TODAY)

    assert {1: "dismissed", 2: "new"} == statuses(merge(table, arc(NOTES[4], NOTES[5]), notes=NOTES[4:]))


def test_a_snooze_lasts_30_days_by_default() -> None:
    table = set_status(merge(SignalTable(), stale(NOTES[0])), 1, "snoozed", TODAY)

    assert date(2026, 12, 30) == table.get_row(1).until


def test_a_snoozed_signal_whose_cause_is_gone_by_its_day_disappears() -> None:
    table = set_status(merge(SignalTable(), stale(NOTES[0])), 1, "snoozed", TODAY)

    assert (1,) == tuple(r.number for r in merge(table).rows)
    assert () == merge(table, today=TODAY + timedelta(days=30)).rows


def test_an_arc_that_grows_or_shrinks_is_the_same_arc() -> None:
    table = set_status(merge(SignalTable(), arc(*NOTES[1:5])), 1, "dismissed", TODAY)

    grown = merge(table, arc(*NOTES[0:6]))
    shrunk = merge(grown, arc(*NOTES[1:4]))

    assert {1: "dismissed"} == statuses(grown) == statuses(shrunk)


def test_an_arc_whose_lowest_note_was_deleted_is_known_by_the_next_lowest() -> None:
    table = set_status(merge(SignalTable(), arc(*NOTES[:5])), 1, "dismissed", TODAY)

    table = merge(table, arc(*NOTES[1:5]), notes=NOTES[1:])
    once_more = merge(table, arc(*NOTES[2:6]), notes=NOTES[2:])

    assert {1: "dismissed"} == statuses(table) == statuses(once_more)


def test_another_arc_is_not_taken_for_a_dismissed_one() -> None:
    table = set_status(merge(SignalTable(), arc(*NOTES[:3])), 1, "dismissed", TODAY)

    table = merge(table, arc(*NOTES[3:]))

    assert {1: "dismissed", 2: "new"} == statuses(table)


def test_a_signal_keeps_its_number_when_its_note_gets_one_and_is_renamed() -> None:
    before, after = note("a.md"), note("a.md", 7)
    renamed = note("b.md", 7)
    table = merge(SignalTable(), stale(before), notes=[before])
    table = set_status(table, 1, "dismissed", TODAY)

    table = merge(table, stale(after), notes=[after])
    table = merge(table, stale(renamed), notes=[renamed])

    assert {1: "dismissed"} == statuses(table)
    assert ["b.md"] == [ref.path for ref in table.rows[0].notes]


def test_dismissing_the_links_of_a_note_covers_those_to_come() -> None:
    table = merge(SignalTable(), dangling(NOTES[0], "x"), dangling(NOTES[0], "y"), dangling(NOTES[1], "x"))

    table = dismiss_links(table, 1, vault(*NOTES), TODAY)
    table = merge(table, dangling(NOTES[0], "x"), dangling(NOTES[0], "z"), dangling(NOTES[1], "x"))

    assert {1: "dismissed", 2: "dismissed", 3: "new", 4: "dismissed"} == statuses(table)
    assert EVERY_LINK == table.get_row(4).detail
    assert table == dismiss_links(table, 1, vault(*NOTES), TODAY)


def test_reopening_a_dismissed_class_lets_new_links_be_found() -> None:
    table = dismiss_links(merge(SignalTable(), dangling(NOTES[0], "x")), 1, vault(*NOTES), TODAY)

    table = merge(set_status(table, 2, "new", TODAY), dangling(NOTES[0], "z"))

    assert {1: "dismissed", 3: "new"} == statuses(table)


def test_only_a_dangling_link_of_a_living_note_has_a_class() -> None:
    table = merge(SignalTable(), stale(NOTES[0]), dangling(NOTES[1], "x"))

    for number, notes in ((1, NOTES), (2, NOTES[:1])):
        with pytest.raises(InvalidArgument, match="scope"):
            dismiss_links(table, number, vault(*notes), TODAY)


@pytest.mark.parametrize(
    ("status", "until"),
    [("minted", None), ("gone", None), ("dismissed", TODAY + timedelta(days=1)), ("snoozed", TODAY)],
)
def test_what_may_not_be_set_is_refused(status: str, until: date | None) -> None:
    with pytest.raises(InvalidArgument):
        set_status(merge(SignalTable(), stale(NOTES[0])), 1, status, TODAY, until)


def test_an_unknown_number_is_named() -> None:
    with pytest.raises(NotFound, match="9"):
        SignalTable().get_row(9)


def test_minting_marks_the_signal() -> None:
    table = mark_minted(merge(SignalTable(), stale(NOTES[0])), 1)

    assert {1: "minted"} == statuses(table) == statuses(merge(table))


def test_rows_are_listed_newest_first_by_status_and_kind() -> None:
    table = merge(SignalTable(), stale(NOTES[0]))
    table = merge(table, stale(NOTES[0]), dangling(NOTES[1], "x"), today=TODAY + timedelta(days=1))
    table = set_status(table, 1, "dismissed", TODAY)

    assert [2] == [row.number for row in table.find_rows()]
    assert [2, 1] == [row.number for row in table.find_rows(status=None)]
    assert [1] == [row.number for row in table.find_rows(None, "stale_state")]
    assert 1 == table.count_new()


def test_the_hint_after_a_write_is_the_weightiest_signal_about_the_note() -> None:
    burst = Signal("tag_burst", (("t|2020-01-01",),), tuple(n.path for n in NOTES[:3]), "back", "t")
    small, large = stale(NOTES[0], NOTES[1]), stale(NOTES[3], NOTES[0], NOTES[1])
    link = dangling(NOTES[0], "x")
    about = NOTES[0]

    def hint(*signals: Signal) -> SignalRow | None:
        return choose_hint(merge(SignalTable(), *signals), about)

    assert None is hint(stale(NOTES[4]))
    assert ["hidden_arc", "tag_burst", "stale_state", "dangling_link"] == [
        row.kind
        for signals in ([link, large, burst, arc(*NOTES[:4])], [link, large, burst], [link, large], [link])
        if (row := hint(*signals))
    ]
    assert 3 == len((hint(small, large) or SignalTable().get_row(0)).notes)
    assert None is choose_hint(set_status(merge(SignalTable(), link), 1, "dismissed", TODAY), about)


IDS = st.integers(1, 6)


class Triage(RuleBasedStateMachine):
    """Detection finds and loses causes, notes go, the person decides, days pass, the file is written and read."""

    def __init__(self) -> None:
        super().__init__()
        self.today = TODAY
        self.table = SignalTable()
        self.causes: set[tuple[str, int]] = set()
        self.alive = {n.note_id or 0: n for n in NOTES}
        self.numbers: dict[tuple[str, int], int] = {}  # of each cause, once it was seen
        self.dismissed: set[int] = set()
        self.asleep: dict[int, date] = {}
        self.highest = 0

    def signal(self, cause: tuple[str, int]) -> Signal:
        kind, number = cause
        return stale(self.alive[number]) if kind == "stale" else dangling(self.alive[number], kind)

    @rule(kind=st.sampled_from(["stale", "x", "y"]), number=IDS)
    def cause_appears(self, kind: str, number: int) -> None:
        if number in self.alive:
            self.causes.add((kind, number))

    @precondition(lambda self: self.causes)
    @rule(data=st.data())
    def cause_goes(self, data: st.DataObject) -> None:
        self.causes.discard(data.draw(st.sampled_from(sorted(self.causes))))

    @rule(number=IDS)
    def note_goes(self, number: int) -> None:
        self.alive.pop(number, None)
        self.causes = {cause for cause in self.causes if cause[1] != number}

    @rule(number=IDS)
    def note_moves(self, number: int) -> None:
        if number in self.alive:
            moved = self.alive[number]
            self.alive[number] = replace(moved, path=f"moved/{moved.path}")

    @rule()
    def detect(self) -> None:
        signals = [self.signal(cause) for cause in sorted(self.causes)]
        before = {row.key: row.number for row in self.table.rows}
        snapshot = Snapshot(1, {n.path: n for n in self.alive.values()})
        merged = merge_signals(self.table, found(*signals), snapshot, self.today)

        assert merged == merge_signals(merged, found(*signals), snapshot, self.today)
        for row in merged.rows:
            assert before.get(row.key, row.number) == row.number
            assert row.key in before or row.number > self.highest
        for signal in signals:
            assert 1 == sum(row.key == signal.key for row in merged.rows)
        wanted = {signal.key for signal in signals}
        for row in merged.rows:
            assert row.status != "new" or row.key in wanted
        for number, until in self.asleep.items():
            rows = [row for row in merged.rows if row.number == number]
            if until > self.today:
                assert ["snoozed"] == [row.status for row in rows]
            else:
                assert all(row.status == "new" for row in rows)
        self.asleep = {number: until for number, until in self.asleep.items() if until > self.today}
        self.table = merged
        self.highest = max([self.highest, *(row.number for row in merged.rows)])

    @precondition(lambda self: self.table.rows)
    @rule(data=st.data(), status=st.sampled_from(["new", "snoozed", "dismissed"]))
    def decide(self, data: st.DataObject, status: str) -> None:
        number = data.draw(st.sampled_from([row.number for row in self.table.rows]))
        if number in self.dismissed:
            return
        self.table = set_status(self.table, number, status, self.today)
        self.asleep.pop(number, None)
        if status == "dismissed":
            self.dismissed.add(number)
        elif status == "snoozed":
            self.asleep[number] = self.today + timedelta(days=30)

    @rule(days=st.integers(1, 40))
    def time_passes(self, days: int) -> None:
        self.today += timedelta(days=days)

    @rule()
    def written_and_read(self) -> None:
        reading = parse_signals(render_signals(self.table), self.today)

        assert () == reading.notices
        assert self.table == reading.table
        self.table = reading.table

    @invariant()
    def a_dismissed_one_never_returns(self) -> None:
        status = statuses(self.table)

        assert all("dismissed" == status[number] for number in self.dismissed)


Triage.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestTriage = Triage.TestCase
