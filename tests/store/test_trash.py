"""Deleting is moving to the trash: whole, restorable, with a tombstone that stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.conftest import put, visible_files
from vault_memex.core.changes import Change
from vault_memex.errors import AlreadyExists, NotFound
from vault_memex.store.ids import parse_id_line
from vault_memex.store.transaction import Transactor
from vault_memex.store.trash import HEADER, TOMBSTONES, Tombstone, Trash, parse_tombstones, render_tombstone

WHEN = "2026-11-30T02:05:00.000Z"


def delete(transactor: Transactor, path: str, note_id: int | None = 142, title: str = "Plan: hall") -> Change:
    files = transactor.stores.files
    change = Trash(files).plan_delete(
        files.read(path), title, note_id, when=WHEN, actor="desk", reason="done\twith it"
    )
    transactor.apply(change, internal=True)
    return change


def test_a_deleted_note_is_in_the_trash_whole_with_its_tombstone(vault: Path, transactor: Transactor) -> None:
    put(vault, "Sub/Plan.md", b"text\r\n")

    delete(transactor, "Sub/Plan.md")

    visible = {k: v for k, v in visible_files(vault).items() if not k.rpartition("/")[2].startswith(".")}
    stone = f"142\tPlan: hall\tSub/Plan.md\t{WHEN}\tdesk\tdone\\twith it\t\t0142--Plan hall.md\n"
    assert {"_memex/trash/0142--Plan hall.md": b"text\r\n", TOMBSTONES: (HEADER + stone).encode()} == visible
    (event,) = transactor.stores.journal.read()
    assert ("deleted", "Sub/Plan.md", 142) == (event.kind, event.path, event.note_id)
    assert "tombstones.tsv merge=union\n" == (vault / "_memex/trash/.gitattributes").read_text(encoding="utf-8")


def test_a_restored_note_is_back_and_its_tombstone_says_so(vault: Path, transactor: Transactor) -> None:
    put(vault, "Sub/Plan.md", b"text\r\n")
    delete(transactor, "Sub/Plan.md")
    trash = Trash(transactor.stores.files)

    for ref in (142, "Sub/Plan.md", "Plan: hall", "0142--Plan hall.md"):
        assert 142 == trash.get_tombstone(ref).id
    applied = transactor.apply(trash.plan_restore(trash.get_tombstone(142), "owner"), internal=True)

    assert b"text\r\n" == (vault / "Sub/Plan.md").read_bytes()
    assert ("restored", "Sub/Plan.md") == (applied.event.kind, applied.event.path)
    assert ((), 142) == (trash.find_tombstones(waiting_only=True), trash.highest_id())
    with pytest.raises(NotFound):
        trash.get_tombstone(142)


def test_restoring_never_overwrites(vault: Path, transactor: Transactor) -> None:
    put(vault, "Plan.md", b"first")
    delete(transactor, "Plan.md")
    put(vault, "plan.md", b"second")
    trash = Trash(transactor.stores.files)

    with pytest.raises(AlreadyExists):
        trash.plan_restore(trash.get_tombstone(142), "owner")
    transactor.apply(trash.plan_restore(trash.get_tombstone(142), "owner", "Other.md"), internal=True)

    assert (b"first", b"second") == ((vault / "Other.md").read_bytes(), (vault / "plan.md").read_bytes())


def test_an_erased_note_leaves_only_its_tombstone(vault: Path, transactor: Transactor) -> None:
    put(vault, "Plan.md", b"secret")
    delete(transactor, "Plan.md")
    trash = Trash(transactor.stores.files)
    stone = trash.get_tombstone(142)

    applied = transactor.apply(trash.plan_purge(stone, "owner", WHEN), internal=True)

    assert "erased" == applied.event.kind
    assert not (vault / "_memex/trash/0142--Plan hall.md").exists()
    assert [WHEN] == [s.purged for s in trash.find_tombstones()]
    with pytest.raises(NotFound):
        trash.plan_restore(trash.find_tombstones()[0], "owner")


def test_two_deleted_notes_of_one_name_get_two_files(vault: Path, transactor: Transactor) -> None:
    for folder in ("a", "b", "c"):
        put(vault, f"{folder}/Plan.md", folder.encode())
        delete(transactor, f"{folder}/Plan.md", None, "Plan")

    stones = Trash(transactor.stores.files).find_tombstones()
    assert ["Plan--Plan.md", "Plan--Plan (2).md", "Plan--Plan (3).md"] == [s.file for s in stones]
    assert [b"a", b"b", b"c"] == [(vault / "_memex/trash" / s.file).read_bytes() for s in stones]


@given(st.text(), st.text(), st.none() | st.integers(1, 10**18 - 1))
def test_any_title_and_reason_make_one_line_that_parses(title: str, reason: str, number: int | None) -> None:
    stone = Tombstone(number, title, "a.md", WHEN, "desk", reason, "", "1--x.md")

    line = render_tombstone(stone)

    assert 1 == line.count("\n")
    assert (stone,) == parse_tombstones(HEADER + line)


def test_lines_that_are_no_tombstones_are_skipped() -> None:
    assert () == parse_tombstones(HEADER + "<<<<<<< HEAD\nx\ty\n1\t2\t3\t4\t5\t6\t7\nx\t2\t3\t4\t5\t6\t7\t8\n")


@pytest.mark.parametrize("digits", [30, 5_000])
def test_a_number_beyond_any_note_makes_a_line_that_is_none(digits: int) -> None:
    number = "9" * digits

    assert () == parse_tombstones(f"{HEADER}{number}\t2\t3\t4\t5\t6\t7\t8\n")
    assert parse_id_line(f"{number}\ta.md\th\t2026-01-01".encode()) is None
