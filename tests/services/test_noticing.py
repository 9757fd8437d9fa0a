"""What is done outside is in the journal where git keeps none: once, with its number, and with no write of our own."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from tests.conftest import OpenVault
from tests.services.test_editing import edit
from vault_memex.errors import DoesNotFit
from vault_memex.services.history import NOT_COMPARED, ChangesRequest
from vault_memex.services.noticing import QUIET
from vault_memex.services.requests import EditRequest, RetireRequest, SaveRequest
from vault_memex.vault import Vault, open_vault


@pytest.fixture
def notes(folder: Path) -> Path:
    """A vault of three notes that are no repository."""
    for name in ("One", "Two", "Three"):
        (folder / f"{name}.md").write_text(
            f"{name}: a text of its own, that no other note has.\n", encoding="utf-8"
        )
    return folder


def rows(vault: Vault) -> list[tuple[str, str, str, bool]]:
    answer = vault.history.find_changes(ChangesRequest())
    return sorted((row.kind, row.path, row.actor, row.uncommitted) for row in answer.rows)


def change_outside(folder: Path) -> None:
    (folder / "One.md").write_text("One, by hand.\n", encoding="utf-8")
    (folder / "Two.md").rename(folder / "Second.md")
    (folder / "Three.md").unlink()
    (folder / "Four.md").write_text("Four is new.\n", encoding="utf-8")


def expect(*, journalled: bool) -> list[tuple[str, str, str, bool]]:
    there = not journalled
    return [
        ("added", "Four.md", "owner", there),
        ("deleted", "Three.md", "owner", there),
        ("edited_outside", "One.md", "owner", there),
        ("renamed", "Second.md", "owner", there),
    ]


def test_what_was_done_outside_is_told_at_once_and_journalled_by_a_server(notes: Path, opening: OpenVault) -> None:
    vault = opening(notes, role="owner", connection="owner")
    vault.number_notes()
    change_outside(notes)
    vault.refresh()
    ids = {note.path: note.note_id for note in vault.snapshot().notes.values()}

    assert expect(journalled=False) == rows(vault)
    assert 4 == vault.noticing.follow()
    assert expect(journalled=True) == rows(vault)
    assert 0 == vault.noticing.follow()
    events = {event.kind: event for event in vault.transactor.stores.journal.read()}
    assert (ids["Second.md"], "Two.md") == (events["renamed"].note_id, events["renamed"].from_path)
    assert ("renamed", "Two.md") in [
        (row.kind, row.from_path) for row in vault.history.find_changes(ChangesRequest(ref="Second")).rows
    ]
    with pytest.raises(DoesNotFit, match="made outside"):
        vault.undoing.undo(events["edited_outside"].id)
    assert () == vault.undoing.find()


def test_what_was_done_while_nothing_ran_and_no_cache_was_kept_is_found(
    notes: Path, opening: OpenVault, tmp_path: Path
) -> None:
    first = opening(notes)
    first.editing.edit(edit("One", {"append": "more"}))
    first.close()
    shutil.rmtree(tmp_path / "cache")
    change_outside(notes)
    vault = opening(notes)

    assert 4 == vault.noticing.follow()
    assert [*expect(journalled=True), ("changed", "One.md", "tester", False)] == sorted(
        rows(vault), key=lambda row: row[2]
    )


def test_writes_of_this_program_are_none_of_it(notes: Path, opening: OpenVault) -> None:
    vault, other = opening(notes, role="owner", connection="owner"), opening(notes, connection="other")
    vault.noticing.follow()
    vault.editing.save(SaveRequest("New", "text", "state"))
    other.editing.edit(edit("One", {"append": "more"}))
    vault.editing.edit(EditRequest("Two", title="Second"))
    vault.editing.retire(RetireRequest("Three", "over"))
    assert 0 == vault.noticing.follow()
    vault.trashing.restore("Three")
    vault.undoing.undo(vault.undoing.find(1)[0].event)
    vault.refresh()

    assert 0 == vault.noticing.follow()
    assert {"owner", "other"} == {actor for _, _, actor, _ in rows(vault)}
    (notes / "One.md").write_text("By hand, then by us.\n", encoding="utf-8")
    other.editing.edit(edit("One", {"append": "ours"}))
    assert 0 == vault.noticing.follow()


def test_what_a_sync_brings_is_told_and_left_to_the_journal_of_the_machine_it_comes_from(
    notes: Path, opening: OpenVault
) -> None:
    vault = opening(notes)
    vault.number_notes()
    vault.noticing.follow()
    for name in ("One", "New"):
        (notes / f"{name}.md").write_text("Written elsewhere.\n", encoding="utf-8")
        an_hour_ago = time.time() - 3600
        os.utime(notes / f"{name}.md", (an_hour_ago, an_hour_ago))
    vault.refresh()

    assert 0 == vault.noticing.follow()
    told = [("added", "New.md", "owner", True), ("edited_outside", "One.md", "owner", True)]
    assert told == rows(vault)


def test_a_vault_that_is_not_ours_gets_no_journal_by_looking(notes: Path, opening: OpenVault) -> None:
    vault = opening(notes)
    change_outside(notes)
    vault.refresh()

    assert 0 == vault.noticing.follow()
    assert [] == rows(vault)
    assert (NOT_COMPARED,) == vault.history.find_changes(ChangesRequest()).notes
    assert not (notes / ".memex").exists()


@pytest.fixture
def ticking(notes: Path, tmp_path: Path) -> Iterator[tuple[Vault, list[datetime]]]:
    now = [datetime(2026, 11, 1, 12, tzinfo=UTC)]
    flags = {"model": "none", "connection": "ann"}
    vault = open_vault(notes, cache_dir=tmp_path / "cache", flags=flags, clock=lambda: now[0])
    vault.refresh()
    vault.number_notes()
    yield vault, now
    vault.close(patient=False)


def test_a_note_that_is_being_written_is_journalled_every_ten_minutes_and_at_last(
    notes: Path, ticking: tuple[Vault, list[datetime]]
) -> None:
    vault, now = ticking
    written = 0
    for minute in range(25):
        (notes / "One.md").write_text(f"Saved in minute {minute}.\n", encoding="utf-8")
        vault.refresh()
        written += vault.noticing.follow()
        now[0] += timedelta(minutes=1)
    now[0] += QUIET
    (notes / "Two.md").write_text("Another one.\n", encoding="utf-8")
    vault.refresh()

    assert 3 == written
    assert 2 == vault.noticing.follow()
    last = [event for event in vault.transactor.stores.journal.read() if event.path == "One.md"]
    assert vault.snapshot().notes["One.md"].revision == last[-1].after
    assert all(one.after == other.before for one, other in pairwise(last))


def test_an_ignored_folder_and_a_git_work_tree_are_left_alone(notes: Path, opening: OpenVault) -> None:
    (notes / "Old").mkdir()
    (notes / "Two.md").rename(notes / "Old" / "Two.md")
    opening(notes).number_notes()
    (notes / ".memex" / "config.toml").write_text('ignore = ["Old"]\n', encoding="utf-8")
    vault = opening(notes)

    assert ["One.md", "Three.md"] == list(vault.snapshot().notes)
    assert 0 == vault.noticing.follow()
    subprocess.run(["git", "init", "-q", notes], check=True)
    assert {"added"} == {kind for kind, _, _, _ in rows(opening(notes))}  # by git: untracked


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds
        time.sleep(0.02)


def test_a_running_server_writes_down_what_it_sees(notes: Path, opening: OpenVault) -> None:
    vault = opening(notes)
    vault.number_notes()
    vault.start()
    vault.background.wait_scanned(20)
    change_outside(notes)

    wait_for(lambda: len(vault.transactor.stores.journal.read()) == 4)

    assert expect(journalled=True) == rows(vault)
