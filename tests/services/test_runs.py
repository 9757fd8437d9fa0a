"""Run records: what is written down, when a run began, and what the journal says to the numbers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenVault
from tests.timing import Clock
from vault_memex.core.patch import parse_patch
from vault_memex.errors import InvalidArgument, RoleRequired, UnknownNotes
from vault_memex.memory.connections import Connection
from vault_memex.services.curation import QueueRequest
from vault_memex.services.requests import EditRequest, RetireRequest
from vault_memex.services.runs import Finding, Recorded, RunRequest, read_runs
from vault_memex.session import Session
from vault_memex.vault import Vault

START = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


Connect = Callable[..., Vault]


@pytest.fixture
def connect(folder: Path, clock: Clock, opening: OpenVault) -> Connect:
    """Opens the vault for a curator, or another role, at the clock's time."""
    for name in ("Stove", "Sink", "Lamp"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nIn the kitchen.\n", encoding="utf-8")

    def one(name: str = "tidy", role: str = "curator", policy: str = "personal") -> Vault:
        return opening(folder, clock=clock, connection=name, role=role, policy=policy)

    return one


def edit(vault: Vault, ref: str, *, hold: bool = False) -> None:
    number = len(vault.transactor.stores.journal.read())
    vault.editing.edit(EditRequest(ref, parse_patch([{"append": f"Line {number}."}]), hold=hold))


def summarise(vault: Vault, *examined: Finding, **more: Any) -> Recorded:
    return vault.upkeep.runs.record(RunRequest("run_summary", "Tidied the kitchen.", examined=examined, **more))


def test_a_summary_is_a_file_to_read_and_one_event_of_the_journal(connect: Connect, clock: Clock) -> None:
    vault = connect("my tidy/bot")
    clock.now += timedelta(minutes=5)
    edit(vault, "Stove")

    done = summarise(vault, Finding("Stove", "summary", "too short"), Finding("Sink"))

    text = vault.root.joinpath("_memex/runs/2026-11-30T0205Z-my-tidy-bot.md").read_text(encoding="utf-8")
    (run,) = read_runs(vault.transactor.stores.journal)
    assert run == done.record
    assert [("Stove.md", True), ("Sink.md", False)] == [(one.path, one.worked_on) for one in run.examined]
    assert "[[Stove|Stove]] · summary: too short" in text
    assert ("run_summary", "my tidy/bot") == _last(vault)
    assert not vault.snapshot().notes.keys() & {done.file}  # no note


def _last(vault: Vault) -> tuple[str, str]:
    event = vault.transactor.stores.journal.read()[-1]
    return event.kind, event.actor


def test_what_the_notes_looked_at_still_lack_is_listed(connect: Connect) -> None:
    vault = connect()
    vault.editing.edit(EditRequest("Stove", summary="It cooks.", tags=("kitchen",)))
    vault.editing.edit(EditRequest("Stove", parse_patch([{"append": "Beside the [[Sink]]."}])))
    vault.editing.edit(EditRequest("Sink", tags=("kitchen",)))

    done = summarise(vault, Finding("Stove"), Finding("Sink"), Finding("Lamp"))

    assert [
        ("Sink.md", ("no_summary",)),
        ("Lamp.md", ("untagged", "no_summary", "disconnected")),
    ] == [(one.path, one.reasons) for one in done.still_defective]


def test_a_summary_frees_what_its_connection_has_reserved_and_an_observation_does_not(connect: Connect) -> None:
    vault, other = connect(), connect("other")

    def left() -> int:
        return other.upkeep.curation.find_queue(QueueRequest()).leased_elsewhere

    vault.upkeep.curation.find_queue(QueueRequest())
    reserved = left()
    vault.upkeep.runs.record(RunRequest("observation", "Dark."))
    noted = left()
    summarise(other)
    ended_by_another = left()
    summarise(vault)

    assert (3, 3, 3, 0) == (reserved, noted, ended_by_another, left())


def test_two_records_of_one_minute_are_two_files(connect: Connect) -> None:
    vault = connect()

    files = [vault.upkeep.runs.record(RunRequest("observation", text)).file for text in ("One.", "Two.", "Three.")]

    assert ["tidy.md", "tidy-2.md", "tidy-3.md"] == [file.partition("Z-")[2] for file in files]
    assert all((vault.root / file).is_file() for file in files)


def test_an_observation_about_a_note_is_found_by_the_note(connect: Connect) -> None:
    vault = connect()

    vault.upkeep.runs.record(RunRequest("observation", "Two stoves are one.", ref="Stove"))

    event = vault.transactor.stores.journal.read()[-1]
    assert ("observation", "Stove.md", "Two stoves are one.") == (event.kind, event.path, event.details["text"])
    assert event.note_id == vault.snapshot().notes["Stove.md"].note_id


def test_numbers_are_compared_with_the_journal_of_this_connection_since_the_start(
    connect: Connect, clock: Clock
) -> None:
    vault, other = connect(), connect("other")
    edit(vault, "Stove")  # before the run
    clock.now += timedelta(minutes=10)
    edit(vault, "Stove")
    edit(vault, "Sink")
    edit(other, "Lamp")
    edit(vault, "Lamp", hold=True)
    vault.editing.retire(RetireRequest("Sink", "none there", hold=True))
    started = (clock.now - timedelta(minutes=1)).isoformat()

    right = summarise(vault, started_at=started, claimed={"edited": 2, "held": 1, "proposed": 1})
    clock.now += timedelta(minutes=1)
    edit(vault, "Stove")
    wrong = summarise(vault, started_at=clock.now.isoformat(), claimed={"edited": 3, "held": 0})

    assert () == right.record.mismatches
    assert ("edited: claimed 3, the journal has 1 (changes made at once)",) == wrong.record.mismatches
    assert "claimed 3, the journal has 1" in (vault.root / wrong.file).read_text(encoding="utf-8")


def test_without_a_start_no_number_is_compared_but_it_is_kept(connect: Connect) -> None:
    done = summarise(connect(), claimed={"edited": 9})

    assert ((), {"edited": 9}, "") == (done.record.mismatches, done.record.claimed, done.record.started_at)


def test_a_start_before_the_last_summary_counts_from_that_on(connect: Connect, clock: Clock) -> None:
    vault = connect()
    edit(vault, "Stove")
    clock.now += timedelta(minutes=5)
    summarise(vault)
    summarise(connect("other"))  # another's summary is nobody's boundary
    clock.now += timedelta(minutes=5)
    edit(vault, "Sink")

    done = summarise(vault, started_at=START.isoformat(), claimed={"edited": 1})

    assert "2026-11-30T02:05:00.000Z" == done.record.started_at
    assert () == done.record.mismatches
    assert "before your last summary" in done.notes[0]


def test_a_start_in_the_future_is_refused_but_a_clock_may_be_a_minute_ahead(connect: Connect) -> None:
    vault = connect()

    ahead = summarise(vault, started_at=(START + timedelta(seconds=60)).isoformat())
    with pytest.raises(InvalidArgument, match="in the future"):
        summarise(vault, started_at=(START + timedelta(seconds=61)).isoformat())

    assert "2026-11-30T02:00:00.000Z" == ahead.record.started_at


def test_unknown_notes_are_all_named_and_nothing_is_written(connect: Connect) -> None:
    vault = connect()

    with pytest.raises(UnknownNotes, match="Oven, #99") as caught:
        summarise(vault, Finding("Stove"), Finding("Oven"), Finding("#99"))

    assert ["Oven", "#99"] == caught.value.fields["unknown"]
    assert not (vault.root / "_memex/runs").exists()


def test_a_note_deleted_in_the_run_is_named_by_its_number(connect: Connect) -> None:
    vault = connect()
    gone = vault.editing.retire(RetireRequest("Stove", "none there"))

    done = summarise(vault, Finding(f"#{gone.note_id}", found="empty"))

    assert [("Stove.md", True)] == [(one.path, one.worked_on) for one in done.record.examined]


def test_a_deleted_note_outside_of_the_scope_is_unknown(connect: Connect) -> None:
    vault = connect()
    gone = vault.editing.retire(RetireRequest("Stove", "none there"))
    seen = Session(vault, Connection("narrow", "curator", ("Lamp.md",)))

    with pytest.raises(UnknownNotes):
        summarise(seen, Finding(f"#{gone.note_id}"))


@pytest.mark.parametrize(
    ("request_", "argument"),
    [
        (RunRequest("observation", "x", examined=(Finding("Stove"),)), "examined"),
        (RunRequest("tooling_gap", "x", started_at="2026-11-30"), "started_at"),
        (RunRequest("tooling_gap", "x", claimed={"held": 1}), "claimed"),
        (RunRequest("run_summary", "x", ref="Stove"), "ref"),
        (RunRequest("run_summary", "x", started_at="soon"), "started_at"),
        (RunRequest("run_summary", "w " * 61), "body"),
        (RunRequest("run_summary", "x\0"), "body"),
        (RunRequest("run_summary", "x", examined=(Finding("Stove"), Finding("[[Stove]]"))), "examined"),
    ],
)
def test_what_does_not_go_together_is_refused_by_name(
    connect: Connect, request_: RunRequest, argument: str
) -> None:
    vault = connect()

    with pytest.raises(InvalidArgument) as caught:
        vault.upkeep.runs.record(request_)

    assert argument == caught.value.argument
    assert not (vault.root / "_memex/runs").exists()


@pytest.mark.parametrize("role", ["reader", "agent"])
def test_only_curators_and_the_person_write_run_records(connect: Connect, role: str) -> None:
    with pytest.raises(RoleRequired):
        summarise(connect(role=role))
