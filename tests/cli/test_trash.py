"""The trash on the command line: what a person sees of it, and what comes back whole."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.test_commands import Run, run  # noqa: F401 -- a fixture
from tests.timing import Clock
from vault_memex.errors import AlreadyExists, NotFound, RoleRequired
from vault_memex.services.requests import RetireRequest
from vault_memex.services.retrieval import SearchRequest
from vault_memex.vault import Vault, open_vault

DELETED = datetime(2026, 11, 1, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock(DELETED)


def open_as(root: Path, clock: Clock, role: str = "owner") -> Vault:
    vault = open_vault(root, flags={"connection": "tester", "role": role, "model": "none"}, clock=clock)
    vault.refresh()
    return vault


def test_a_restored_note_comes_back_with_every_byte_its_number_and_its_place_in_search(
    sample: Path, clock: Clock
) -> None:
    before = (sample / "Kitchen/Ideas.md").read_bytes()
    vault = open_as(sample, clock)
    try:
        vault.editing.retire(RetireRequest("Kitchen/Ideas.md", "a test"))
        (trashed,) = vault.trashing.find()
        assert not vault.retrieval.search(SearchRequest("doenjang caraway")).rows

        vault.trashing.restore(f"#{trashed.note_id}")

        assert before == (sample / "Kitchen/Ideas.md").read_bytes()
        assert trashed.note_id == vault.snapshot().notes["Kitchen/Ideas.md"].note_id
        assert ["Kitchen/Ideas.md"] == [
            r.path for r in vault.retrieval.search(SearchRequest("doenjang caraway")).rows
        ]
        assert () == vault.trashing.find()
        events = [(e.kind, e.path) for e in vault.transactor.stores.journal.read()]
        assert [("deleted", "Kitchen/Ideas.md"), ("restored", "Kitchen/Ideas.md")] == events[-2:]
    finally:
        vault.close(patient=False)


def test_a_note_can_be_restored_elsewhere_and_never_over_another(sample: Path, clock: Clock) -> None:
    vault = open_as(sample, clock)
    try:
        vault.editing.retire(RetireRequest("Kitchen/Ideas.md", "a test"))
        (sample / "Kitchen/Ideas.md").write_text("Somebody was faster.\n", encoding="utf-8")
        vault.refresh()

        with pytest.raises(AlreadyExists):
            vault.trashing.restore("Kitchen/Ideas.md")
        restored = vault.trashing.restore("Kitchen/Ideas.md", "Kitchen/Old ideas.md")

        assert "Somebody was faster.\n" == (sample / "Kitchen/Ideas.md").read_text(encoding="utf-8")
        assert restored.note_id == vault.snapshot().notes["Kitchen/Old ideas.md"].note_id
        vault.number_notes()
        assert restored.note_id == vault.snapshot().notes["Kitchen/Old ideas.md"].note_id
    finally:
        vault.close(patient=False)


def test_what_was_deleted_within_thirty_days_is_not_old(sample: Path, clock: Clock) -> None:
    vault = open_as(sample, clock)
    try:
        vault.editing.retire(RetireRequest("Kitchen/Ideas.md", "a test"))
        clock.now = datetime(2026, 11, 30, 9, tzinfo=UTC)
        assert (1, ()) == (vault.trashing.find()[0].days_left, vault.trashing.purge_old())

        clock.now = datetime(2026, 12, 1, 9, tzinfo=UTC)
        assert ["Ideas"] == [one.title for one in vault.trashing.purge_old()]
        assert ["tombstones.tsv"] == sorted(
            p.name for p in (sample / "_memex/trash").iterdir() if p.name[0] != "."
        )
        with pytest.raises(NotFound):
            vault.trashing.restore("Kitchen/Ideas.md")
    finally:
        vault.close(patient=False)


def test_a_number_that_was_erased_is_never_given_again(sample: Path, clock: Clock) -> None:
    vault = open_as(sample, clock)
    try:
        highest = max(vault.snapshot().by_id, default=0)
        vault.number_notes()
        highest = max(vault.snapshot().by_id)
        path = vault.snapshot().by_id[highest].path
        vault.editing.retire(RetireRequest(path, "a test"))
        vault.trashing.purge(str(highest))

        assert highest + 1 == vault.numbering.next_number()
    finally:
        vault.close(patient=False)


@pytest.mark.parametrize("role", ["reader", "agent", "curator"])
def test_only_the_owner_restores_and_erases(sample: Path, clock: Clock, role: str) -> None:
    vault = open_as(sample, clock, role)
    try:
        for act in (vault.trashing.restore, vault.trashing.purge):
            with pytest.raises(RoleRequired):
                act("anything")
    finally:
        vault.close(patient=False)


def test_the_command_lists_restores_and_erases_only_when_told_so(run: Run, sample: Path) -> None:  # noqa: F811
    vault = open_vault(sample, flags={"connection": "tester", "model": "none"})
    vault.refresh()
    for path in ("Kitchen/Ideas.md", "Loose ends.md"):
        vault.editing.retire(RetireRequest(path, "a test"))
    vault.close(patient=False)

    listed = json.loads(run("trash", "--json").out)
    assert ["Loose ends.md", "Kitchen/Ideas.md"] == [one["path"] for one in listed]
    assert "Kitchen/Ideas.md" in run("trash", "list").out

    assert "restored: Ideas (Kitchen/Ideas.md)" in run("trash", "restore", "Kitchen/Ideas.md").out
    refused = run("trash", "purge", "Loose ends.md")
    assert (0, True) != (refused.status, "Nothing was erased" in refused.err)
    assert (sample / "Kitchen/Ideas.md").is_file()
    assert "erased: Loose ends" in run("trash", "purge", "Loose ends.md", "--yes").out
    assert (1, "The trash is empty.\n") == (run("trash").status, run("trash").out)


@pytest.mark.parametrize(
    "arguments", [("restore",), ("purge",), ("list", "X"), ("restore", "nothing of the kind")]
)
def test_what_is_not_meant_is_refused_with_the_next_step(run: Run, arguments: tuple[str, ...]) -> None:  # noqa: F811
    ran = run("trash", *arguments)

    assert 0 != ran.status
    assert "trash" in ran.err
