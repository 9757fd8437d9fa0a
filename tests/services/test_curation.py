"""The curation queue of a real vault: what is in it and why, who rests, who wakes, who has what in hand."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenVault
from tests.timing import Clock
from vault_memex.core.patch import parse_patch
from vault_memex.errors import InvalidArgument, UnknownNotes
from vault_memex.memory.signals_file import render_signals
from vault_memex.memory.triage import NoteRef, SignalRow, SignalTable
from vault_memex.services.curation import QueueAnswer, QueueRequest
from vault_memex.services.curation_views import find_blast, find_last_curated, find_unenriched
from vault_memex.services.requests import EditRequest, MergeRequest, RetireRequest, SaveRequest
from vault_memex.services.runs import Finding, RunRequest
from vault_memex.vault import Vault

START = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
OLD = "2026-01-05"


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


Connect = Callable[..., Vault]


@pytest.fixture
def connect(folder: Path, clock: Clock, opening: OpenVault) -> Connect:
    """Opens the vault of three tidy notes, each linked to the next, for a curator or another role."""
    for name, other in (("Stove", "Sink"), ("Sink", "Lamp"), ("Lamp", "Stove")):
        write(folder, f"{name}.md", f"In the kitchen, see [[{other}]].")

    def one(name: str = "tidy", role: str = "curator", **flags: Any) -> Vault:
        return opening(folder, clock=clock, connection=name, role=role, **flags)

    return one


def write(root: Path, path: str, body: str, **properties: str) -> None:
    """Write a note as a person would; one that lacks nothing unless told otherwise."""
    values = {"tags": "[kitchen]", "summary": "Something in it.", "updated": OLD, **properties}
    head = "".join(f"{name}: {value}\n" for name, value in values.items() if value)
    (root / path).write_text(f"---\n{head}---\n{body}\n", encoding="utf-8")


def names(answer: QueueAnswer) -> list[str]:
    return [row.title for row in answer.rows]


def ask(vault: Vault, **request: Any) -> QueueAnswer:
    return vault.upkeep.curation.find_queue(QueueRequest(**{"offset": 0, **request}))


def look(vault: Vault, *refs: str) -> None:
    """End a run in which these notes were looked at."""
    vault.upkeep.runs.record(RunRequest("run_summary", "Looked.", examined=tuple(map(Finding, refs))))


def append(vault: Vault, ref: str, text: str = "More.") -> None:
    vault.editing.edit(EditRequest(ref, parse_patch([{"append": text}])))


def test_a_note_that_lacks_nothing_rests_after_it_was_looked_at_and_longer_after_each_clean_pass(
    connect: Connect, clock: Clock
) -> None:
    vault = connect()
    rests = []
    for _ in range(5):
        look(vault, "Stove", "Sink", "Lamp")
        looked = clock.now
        assert ask(vault).total == 0
        while not ask(vault).total:
            clock.now += timedelta(days=1)
        rests.append((clock.now - looked).days)

    assert [14, 28, 56, 56, 56] == rests


def test_a_pass_in_which_the_note_was_worked_on_begins_the_rest_anew(connect: Connect, clock: Clock) -> None:
    vault = connect()
    for _ in range(3):
        look(vault, "Stove", "Sink", "Lamp")
        clock.now += timedelta(days=60)
    append(vault, "Stove")
    look(vault, "Stove", "Sink", "Lamp")

    clock.now += timedelta(days=7)

    assert ["Stove"] == names(ask(vault))
    assert ask(vault).rows[0].clean_passes == 0


def test_a_queue_of_notes_that_lack_nothing_is_not_empty(connect: Connect) -> None:
    answer = ask(connect())

    assert (3, 3, 3, {}) == (answer.total, answer.never_read, answer.defect_free, dict(answer.reason_counts))


def test_a_neighbours_edit_wakes_a_note_and_a_curators_edit_does_not(connect: Connect, clock: Clock) -> None:
    vault, other, agent = connect(), connect("second"), connect("claude", "agent")
    look(vault, "Stove", "Sink", "Lamp")
    clock.now += timedelta(hours=1)

    append(other, "Sink")
    assert ask(vault).total == 0
    clock.now += timedelta(hours=1)
    append(agent, "Lamp")

    assert [("Lamp", True, 0), ("Sink", False, 1), ("Stove", False, 1)] == sorted(
        (row.title, row.edited_since, row.changed_neighbours) for row in ask(vault).rows
    )


def test_tags_of_a_neighbour_wake_nobody(connect: Connect, clock: Clock) -> None:
    vault, agent = connect(), connect("claude", "agent")
    look(vault, "Stove", "Sink", "Lamp")
    clock.now += timedelta(hours=1)

    agent.editing.edit(EditRequest("Lamp", tags=("kitchen", "light")))

    assert [("Lamp", True, 0)] == [
        (row.title, row.edited_since, row.changed_neighbours) for row in ask(vault).rows
    ]


@pytest.mark.parametrize(("body", "woken"), [("Other words, see [[Stove]].", 3), ("", 1)])
def test_an_edit_outside_wakes_as_one_inside(connect: Connect, clock: Clock, body: str, woken: int) -> None:
    vault = connect()
    look(vault, "Stove", "Sink", "Lamp")
    clock.now += timedelta(hours=1)

    write(vault.root, "Lamp.md", body or "In the kitchen, see [[Stove]].", tags="[other]")
    vault.refresh()

    assert woken == ask(vault).total


def test_who_was_woken_by_a_change_before_rests_again_once_it_was_looked_at(
    connect: Connect, clock: Clock
) -> None:
    vault, agent = connect(), connect("claude", "agent")
    append(agent, "Lamp")
    clock.now += timedelta(minutes=1)

    look(vault, "Stove", "Sink", "Lamp")

    assert ask(vault).total == 0


def test_the_persons_flags_come_first_oldest_first_then_most_reasons_then_who_was_never_seen(
    connect: Connect, clock: Clock
) -> None:
    vault, owner = connect(), connect("owner", "owner")
    write(vault.root, "bare-note.md", "Alone.", tags="", summary="")
    write(vault.root, "Dangling.md", "See [[Nowhere]] and [[Stove]].")
    vault.refresh()
    look(vault, "Stove")
    clock.now += timedelta(days=30)
    owner.upkeep.flags.raise_flag("Sink", "Is it still there?")
    clock.now += timedelta(minutes=1)
    owner.upkeep.flags.raise_flag("Stove", "Gas?")

    answer = ask(vault)

    assert ["Sink", "Stove", "bare-note", "Dangling", "Lamp"] == names(answer)
    assert ("operator_flag",) == answer.rows[0].reasons
    assert "Is it still there?" == answer.rows[0].flag
    assert ("untagged", "no_summary", "disconnected", "weak_title") == answer.rows[2].reasons
    assert {"operator_flag": 2, "untagged": 1, "no_summary": 1, "disconnected": 1, "dangling_links": 1} | {
        "weak_title": 1
    } == answer.reason_counts
    assert ["Dangling"] == names(ask(vault, reason="dangling_links"))
    assert answer.reason_counts == ask(vault, reason="dangling_links").reason_counts


def test_a_note_whose_deletion_or_merge_waits_is_left_out_and_a_pending_one_unless_asked_for(
    connect: Connect,
) -> None:
    vault, agent = connect(), connect("claude", "agent", policy="reviewed")
    agent.editing.save(SaveRequest("Waits", "Not approved yet.", "state"))
    vault.refresh()
    assert ["Lamp", "Sink", "Stove"] == sorted(names(ask(vault)))
    assert ["Lamp", "Sink", "Stove", "Waits"] == sorted(names(ask(vault, include_pending=True)))
    assert [True] == [row.pending for row in ask(vault, include_pending=True).rows if row.title == "Waits"]

    vault.editing.retire(RetireRequest("Sink", "There is none.", hold=True))
    vault.merging.merge(MergeRequest("Stove", "Lamp", "They are one."))

    assert [] == names(ask(vault))


# -- who has what in hand


def bare_notes(vault: Vault, count: int) -> None:
    for number in range(count):
        write(vault.root, f"Bare {number:02}.md", "See [[Stove]].", tags="")
    vault.refresh()


def reserve(vault: Vault, **request: Any) -> QueueAnswer:
    return vault.upkeep.curation.find_queue(QueueRequest(**request))


def test_two_connections_get_disjoint_batches_until_a_summary_frees_them(connect: Connect) -> None:
    one, other = connect("one"), connect("two")
    bare_notes(one, 6)

    first, second = reserve(one, limit=5), reserve(other, limit=5)

    assert 9 == len({*names(first), *names(second)})
    assert [(5, 0), (4, 5)] == [(answer.returned, answer.leased_elsewhere) for answer in (first, second)]
    assert 9 == second.total
    assert "2026-11-30T02:30:00.000Z" == first.reserved_until
    look(one)
    again = reserve(other, limit=100)
    assert (9, 0) == (again.returned, again.leased_elsewhere)


def test_asking_again_replaces_the_own_reservation(connect: Connect) -> None:
    one, other = connect("one"), connect("two")
    bare_notes(one, 6)

    reserve(one, limit=9)
    assert [] == names(reserve(other))
    first = reserve(one, limit=2)

    assert 2 == reserve(other).leased_elsewhere
    assert not set(names(first)) & set(names(reserve(other)))


def test_what_a_connection_that_crashed_had_in_hand_is_free_after_30_minutes(
    connect: Connect, clock: Clock
) -> None:
    crashed, other = connect("crashed"), connect("other")
    reserve(crashed)

    clock.now += timedelta(minutes=29, seconds=59)
    assert 0 == reserve(other).returned
    clock.now += timedelta(seconds=1)

    assert 3 == reserve(other).returned


def test_an_offset_and_whoever_writes_nothing_reserve_nothing(connect: Connect) -> None:
    one, reader, owner, other = connect("one"), connect("guest", "reader"), connect("me", "owner"), connect("two")

    for answer in (ask(one), reserve(reader), reserve(owner)):
        assert (3, "") == (answer.returned, answer.reserved_until)
    reserve(other, limit=1)

    assert (3, 0) == (ask(one).returned, ask(one).leased_elsewhere)
    assert (2, 1) == (reserve(reader).returned, reserve(reader).leased_elsewhere)


def test_a_damaged_file_of_reservations_is_none(connect: Connect) -> None:
    vault = connect()
    for text in ("", "[1]", '{"two": 3}', '{"two": ["soon", ["Sink.md"]]}'):
        (vault.cache / "leases.json").write_text(text, encoding="utf-8")
        assert 3 == reserve(vault).returned


def test_pages_with_an_offset_neither_skip_nor_repeat(connect: Connect) -> None:
    vault = connect()
    bare_notes(vault, 20)

    pages = [names(ask(vault, limit=7, offset=at)) for at in range(0, 28, 7)]

    assert names(ask(vault, limit=100)) == [name for page in pages for name in page]
    assert [7, 7, 7, 2] == [len(page) for page in pages]


def test_only_notes_that_nobody_looked_at_for_so_long_are_shown(connect: Connect, clock: Clock) -> None:
    vault = connect()
    look(vault, "Stove")
    clock.now += timedelta(days=20)
    look(vault, "Sink")

    assert ["Lamp", "Stove"] == sorted(names(ask(vault, stale_days=20, cooldown_days=0)))
    assert 3 == ask(vault, stale_days=20, cooldown_days=0).total


@pytest.mark.parametrize(
    "request_",
    [
        {"reason": "boring"},
        {"stale_days": 0},
        {"stale_days": 3651},
        {"cooldown_days": -1},
        {"cooldown_days": 366},
        {"limit": 0},
        {"limit": 101},
        {"offset": -1},
    ],
    ids=str,
)
def test_what_is_out_of_bounds_is_refused_by_name(connect: Connect, request_: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as refused:
        ask(connect(), **request_)

    assert next(iter(request_)) == refused.value.argument
    if "reason" in request_:
        assert "operator_flag, untagged, no_summary" in refused.value.message


def test_states_overtaken_expired_and_corrected_are_reasons(connect: Connect) -> None:
    vault = connect()
    write(vault.root, "Plan.md", "Until spring, see [[Stove]].", valid_until="2026-03-01")
    write(vault.root, "Old price.md", "Nine, see [[Stove]].")
    write(vault.root, "New price.md", "Ten.", amends='"[[Old price]]"', amend_kind="corrects")
    write(vault.root, "Told.md", "Nine, see [[Stove]].", superseded_by='"[[New price]]"')
    write(vault.root, "Overtaken.md", "So it is, see [[Stove]].", layer="state")
    ref = NoteRef("Overtaken.md", None, "Overtaken")
    row = SignalRow(1, "0" * 16, "stale_state", "new", (ref,), "3 records since.", START.date())
    (vault.root / "_memex").mkdir(exist_ok=True)
    (vault.root / "_memex/signals.md").write_text(render_signals(SignalTable((row,), 2)), encoding="utf-8")
    vault.refresh()

    reasons = {row.title: row.reasons for row in ask(vault).rows}

    assert (("expired",), ("contested",), (), (), ("stale_state",)) == tuple(
        reasons[name] for name in ("Plan", "Old price", "New price", "Told", "Overtaken")
    )


def test_rules_and_locked_notes_are_nobodys_work_unless_the_person_flags_them(connect: Connect) -> None:
    vault, owner = connect(), connect("owner", "owner")
    write(vault.root, "Rule.md", "Always.", tags="", layer="rule")
    write(vault.root, "Locked.md", "Stays.", tags="", locked="true")
    vault.refresh()
    assert not {"Rule", "Locked"} & set(names(ask(vault)))

    owner.upkeep.flags.raise_flag("Rule", "Still so?")

    assert "Rule" == names(ask(vault))[0]
    assert [] == [row.title for row in find_unenriched(vault.upkeep.curation, 100).rows]


# -- what else is asked


def resolve(vault: Vault) -> Callable[[str], Any]:
    return lambda ref: vault.reading.find_note(ref)[0]


def test_notes_without_summary_or_tags_come_oldest_first_without_those_about_which_something_waits(
    connect: Connect,
) -> None:
    vault = connect()
    write(vault.root, "Young.md", "x", summary="", created="2026-02-02")
    write(vault.root, "Old.md", "x", tags="", created="2025-02-02")
    write(vault.root, "Both.md", "x", tags="", summary="", created="2026-03-02")
    write(vault.root, "Held.md", "x", tags="", created="2024-02-02")
    vault.refresh()
    vault.editing.edit(EditRequest("Held", tags=("x",), hold=True))

    answer = find_unenriched(vault.upkeep.curation, 25)

    assert [("Old", ("tags",)), ("Young", ("summary",)), ("Both", ("summary", "tags"))] == [
        (row.title, row.missing) for row in answer.rows
    ]
    assert (3, 1) == (answer.total, answer.awaiting_review)
    assert ["Young"] == [row.title for row in find_unenriched(vault.upkeep.curation, 1, 1).rows]


def test_notes_around_which_something_changed_come_with_what_and_not_what_a_curator_did(
    connect: Connect, clock: Clock
) -> None:
    vault, agent = connect(), connect("claude", "agent")
    write(vault.root, "Kitchen.md", "[[Stove]], [[Sink]], [[Lamp]]")
    vault.refresh()
    append(agent, "Sink")
    clock.now += timedelta(minutes=1)
    append(agent, "Lamp")
    append(vault, "Stove", "By a curator.")

    answer = find_blast(vault.upkeep.curation, resolve(vault))

    assert [("Kitchen", 2)] == [(row.title, row.changed) for row in answer.rows]  # Stove was just looked at
    assert [("Lamp", "claude"), ("Sink", "claude")] == [(one.title, one.by) for one in answer.rows[0].neighbours]
    assert "Change Lamp: 1 edit" == answer.rows[0].neighbours[0].what
    assert 0 == find_blast(vault.upkeep.curation, resolve(vault), refs=("Stove", "Sink")).total
    with pytest.raises(UnknownNotes, match="Ghost"):
        find_blast(vault.upkeep.curation, resolve(vault), refs=("Ghost", "Sink"))


def test_a_change_before_the_window_or_of_tags_alone_shakes_nobody(connect: Connect, clock: Clock) -> None:
    vault, agent = connect(), connect("claude", "agent")
    agent.editing.edit(EditRequest("Sink", tags=("other",)))
    append(agent, "Lamp")
    clock.now += timedelta(days=3)

    assert ["Sink", "Stove"] == sorted(
        row.title for row in find_blast(vault.upkeep.curation, resolve(vault), since_days=4).rows
    )
    assert 0 == find_blast(vault.upkeep.curation, resolve(vault), since_days=2).total


def test_whether_a_run_is_due_is_told_in_words_and_not_within_a_quarter_of_an_hour(
    connect: Connect, clock: Clock
) -> None:
    vault, agent = connect(), connect("claude", "agent")
    write(vault.root, "Bare.md", "See [[Stove]].", tags="")
    vault.refresh()
    never = find_last_curated(vault.upkeep.curation, resolve(vault))
    assert ("", 4, True) == (never.last_run, never.queue, never.due)
    assert ("4 were never looked at", "1: has no tags (untagged)") == never.reasons[:2]
    look(vault, "Stove", "Sink", "Lamp")
    clock.now += timedelta(minutes=14)
    append(agent, "Sink")

    early = find_last_curated(vault.upkeep.curation, resolve(vault))
    clock.now += timedelta(minutes=1)
    later = find_last_curated(vault.upkeep.curation, resolve(vault))

    assert (False, True) == (early.due, later.due)
    assert ("2026-11-30T02:00:00.000Z", 1, "tidy", "Looked.") == (
        later.last_run,
        later.changed_since,
        later.by,
        later.summary,
    )
    assert "" == find_last_curated(agent.upkeep.curation, resolve(agent)).by


def test_of_each_note_it_is_told_when_a_curator_looked_and_unknown_ones_are_named(
    connect: Connect, clock: Clock
) -> None:
    vault, agent = connect(), connect("claude", "agent")
    vault.upkeep.runs.record(RunRequest("run_summary", "x", examined=(Finding("Stove", "tags", "fine"),)))

    told = find_last_curated(vault.upkeep.curation, resolve(vault), ("Stove", "Sink", "Ghost"))

    assert [("Stove", "2026-11-30T02:00:00.000Z", "tags: fine"), ("Sink", "", "")] == [
        (row.title, row.last_curated, row.what) for row in told.rows
    ]
    assert ("Ghost",) == told.unknown_note_ids
    assert "2026-12-14T02:00:00.000Z" == told.rows[0].rests_until
    assert "" == find_last_curated(agent.upkeep.curation, resolve(agent), ("Stove",)).rows[0].what
    with pytest.raises(InvalidArgument, match="500"):
        find_last_curated(vault.upkeep.curation, resolve(vault), ("Stove",) * 501)


# -- what counts as a curator's


def test_what_the_person_approved_of_a_curator_wakes_nobody(connect: Connect, clock: Clock) -> None:
    vault, owner, agent = connect(), connect("owner", "owner"), connect("claude", "agent")
    vault.editing.edit(EditRequest("Lamp", parse_patch([{"append": "By a curator."}]), hold=True))
    agent.editing.edit(EditRequest("Sink", parse_patch([{"append": "By an agent."}]), hold=True))
    look(vault, "Stove", "Sink", "Lamp")
    clock.now += timedelta(minutes=1)

    for proposal in owner.review.find().proposals:
        owner.review.approve(proposal.number)

    assert [("Sink", True, 0), ("Lamp", False, 1), ("Stove", False, 1)] == sorted(
        ((row.title, row.edited_since, row.changed_neighbours) for row in ask(vault).rows), key=lambda row: row[2]
    )


def test_links_that_follow_a_rename_wake_nobody(connect: Connect, clock: Clock) -> None:
    vault, agent = connect(), connect("claude", "agent")
    look(vault, "Stove", "Sink", "Lamp")
    clock.now += timedelta(minutes=1)

    agent.editing.edit(EditRequest("Lamp", title="Light"))

    assert "[[Light]]" in (vault.root / "Sink.md").read_text(encoding="utf-8")
    assert [("Light", 0)] == sorted((row.title, row.changed_neighbours) for row in ask(vault).rows)


def test_a_journal_that_was_cut_is_read_anew(connect: Connect) -> None:
    vault = connect()
    look(vault, "Stove", "Sink", "Lamp")
    assert 0 == ask(vault).total
    for file in vault.root.glob(".memex/journal/*.jsonl"):
        file.write_text("", encoding="utf-8")

    assert 3 == ask(vault).never_read


def test_a_look_at_a_note_that_was_edited_outside_does_not_hide_that_from_its_neighbours(
    connect: Connect, clock: Clock
) -> None:
    vault = connect()
    look(vault, "Stove")
    clock.now += timedelta(hours=1)
    write(vault.root, "Sink.md", "Other words, see [[Lamp]].", updated="2026-11-30T02:30:00Z")
    vault.refresh()
    clock.now += timedelta(hours=1)
    append(vault, "Sink", "By a curator.")  # of which the journal knew nothing
    look(vault, "Sink", "Lamp")

    assert [("Stove", 1)] == [(row.title, row.changed_neighbours) for row in ask(vault).rows]


def test_a_journal_that_git_merged_is_read_anew_and_in_order_of_time(connect: Connect, clock: Clock) -> None:
    vault, other = connect(), connect("second")
    look(vault, "Stove", "Sink", "Lamp")
    clock.now += timedelta(hours=1)
    append(other, "Stove")
    clock.now += timedelta(hours=1)
    look(vault, "Stove")
    assert (1, 2) == cleanness(vault)

    (file,) = vault.root.glob(".memex/journal/*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    clock.now += timedelta(hours=1)
    look(other, "Stove")
    (*_, late) = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([late, *reversed(lines)]))

    assert (0, 3) == cleanness(vault)  # the second worked on it in its run


def cleanness(vault: Vault) -> tuple[int, int]:
    """The clean passes of the stove, and how many hours after the start it was looked at."""
    (row,) = find_last_curated(vault.upkeep.curation, resolve(vault), ("Stove",)).rows
    return row.clean_passes, round((datetime.fromisoformat(row.last_curated) - START).seconds / 3600)


def test_git_tells_whether_a_note_that_the_journal_does_not_know_changed_its_text(
    connect: Connect, clock: Clock
) -> None:
    vault = connect()
    git = ("git", "-C", str(vault.root), "-c", "user.name=Mina", "-c", "user.email=mina@example.org")
    old = {**os.environ, "GIT_COMMITTER_DATE": "2026-11-01T00:00:00Z"}
    subprocess.run([*git[:3], "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True, env=old)
    write(vault.root, "Sink.md", "In the kitchen, see [[Lamp]].", tags="[other]", updated="2026-11-29")
    write(vault.root, "Lamp.md", "Other words, see [[Stove]].", updated="2026-11-29")
    vault.close(patient=False)
    vault = connect()

    answer = find_blast(vault.upkeep.curation, resolve(vault))

    assert [("Sink", ["Lamp"]), ("Stove", ["Lamp"])] == sorted(
        (row.title, [one.title for one in row.neighbours]) for row in answer.rows
    )
