"""Passes over the vault, hints and own writes: what the catalogue says afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.index.indexed_vault import IndexedVault, dump, put_back_mtime, wait_until
from vault_memex.config import Config
from vault_memex.core.changes import Signature
from vault_memex.errors import VaultError
from vault_memex.index import applying, indexer, reading
from vault_memex.index.applying import PassStopped
from vault_memex.index.indexer import OwnWrite
from vault_memex.store.catalogue import Catalogue

ROOT = Path(__file__).parents[2]


def sign(file: Path) -> Signature:
    return Signature.of(file.stat())


def age(vault: IndexedVault) -> None:
    """Give all files times long past, so that no signature is racy."""
    for file in vault.root.rglob("*.md"):
        os.utime(file, (1_600_000_000, 1_600_000_000))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


# -- passes


def test_a_folder_that_is_ignored_from_now_on_leaves_the_index_and_comes_back(vault: IndexedVault) -> None:
    vault.write("a.md", "kiln")
    vault.write("old/b.md", "ash")
    vault.indexer.reconcile()
    vault.config = Config(ignore=("old",))
    vault.reopen()

    assert ("old/b.md",) == vault.indexer.reconcile().removed
    assert ["a.md"] == vault.notes()
    vault.config = Config()
    vault.reopen()
    assert ("old/b.md",) == vault.indexer.reconcile().added


def test_pass_reports_what_it_found_and_a_second_one_finds_nothing(vault: IndexedVault) -> None:
    vault.write("a.md", "kiln")
    vault.write("b/c.md", "ash")
    vault.write("b/p.png", "png")

    first = vault.indexer.reconcile()
    second = vault.indexer.reconcile()

    assert (("a.md", "b/c.md"), 2, 2) == (first.added, first.notes, first.folders)
    assert ((), (), (), ()) == (second.added, second.changed, second.removed, second.moved)
    assert (["a.md"], ("b/p.png",)) == (vault.search("kiln"), vault.catalogue.load_snapshot().attachments)


def test_same_size_edit_with_the_mtime_put_back_is_seen(vault: IndexedVault) -> None:
    file = vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    put_back_mtime(file, b"clay")

    report = vault.indexer.reconcile()

    assert (("a.md",), ["a.md"]) == (report.changed, vault.search("clay"))


def test_edit_that_no_signature_shows_is_seen_while_the_note_is_racy(vault: IndexedVault) -> None:
    file = vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    file.write_bytes(b"clay")
    (note,) = vault.catalogue.signatures()
    # The catalogue is made to believe that this is what it read: a clock too coarse to tell the two writes apart.
    with vault.catalogue._transaction() as db:
        db.execute("UPDATE files SET mtime_ns=?, ctime_ns=?, size=?, inode=? WHERE path=?", (*sign(file), note))

    assert ("a.md",) == vault.indexer.reconcile().changed


def test_full_verify_sees_what_no_signature_shows(vault: IndexedVault) -> None:
    file = vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    file.write_bytes(b"clay")
    with vault.catalogue._transaction() as db:
        db.execute("UPDATE files SET mtime_ns=?, ctime_ns=?, size=?, inode=?, racy=0", sign(file))

    assert ((), ("a.md",)) == (vault.indexer.reconcile().changed, vault.indexer.reconcile(verify=True).changed)


def test_touched_note_is_read_but_not_indexed_again(vault: IndexedVault) -> None:
    file = vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    os.utime(file, (1_600_000_000, 1_600_000_000))

    report = vault.indexer.reconcile()

    assert ((), 1) == (report.changed, report.touched)
    assert "2020-09-13T12:26:40Z" == vault.catalogue.load_snapshot().notes["a.md"].updated


def test_moved_folder_keeps_the_numbers_of_its_notes(vault: IndexedVault) -> None:
    for number in range(5):
        vault.write(f"a/{number}.md", f"text {number}")
    vault.write("links.md", "[[a/3]] [[4]]")
    vault.indexer.reconcile()
    vault.catalogue.set_note_ids({f"a/{n}.md": n + 1 for n in range(5)})
    (vault.root / "a").rename(vault.root / "b")

    report = vault.indexer.reconcile()

    assert tuple((f"a/{n}.md", f"b/{n}.md") for n in range(5)) == report.moved
    assert ((), ()) == (report.added, report.removed)
    assert [1, 2, 3, 4, 5] == [vault.catalogue.load_snapshot().notes[f"b/{n}.md"].note_id for n in range(5)]
    assert [None, "b/4.md"] == [row.path for row in vault.catalogue.find_links("links.md")]


def test_rename_by_case_alone_is_one_move(vault: IndexedVault) -> None:
    vault.write("note.md", "text")
    vault.indexer.reconcile()
    (vault.root / "note.md").rename(vault.root / "Note.md")

    assert (("note.md", "Note.md"),) == vault.indexer.reconcile().moved
    assert ["Note.md"] == vault.notes()


def test_note_moved_onto_the_path_of_another_wins_it(vault: IndexedVault) -> None:
    vault.write("a.md", "kiln")
    vault.write("b.md", "ash")
    vault.indexer.reconcile()
    os.replace(vault.root / "a.md", vault.root / "b.md")

    vault.indexer.reconcile()

    assert ([], ["b.md"]) == (vault.search("ash"), vault.search("kiln"))


def test_file_deleted_and_written_again_during_the_scan_stays(tmp_path: Path) -> None:
    vault: IndexedVault

    def open_folder(folder: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        file = vault.root / "a.md"
        if racing and file.exists():
            file.unlink()
            found = os.scandir(folder)
            entries = iter(list(found))
            found.close()
            file.write_text("kiln again", encoding="utf-8")
            return _Entries(entries)
        return os.scandir(folder)

    racing = False
    vault = IndexedVault(tmp_path, open_folder=open_folder)
    vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    racing = True

    vault.indexer.reconcile()

    assert (["a.md"], ["a.md"]) == (vault.notes(), vault.search("again"))
    vault.close()


class _Entries:
    def __init__(self, entries: Iterator[os.DirEntry[str]]) -> None:
        self._entries = entries

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        return self._entries

    def __exit__(self, *error: object) -> None:
        return None


def test_own_write_during_a_pass_is_left_as_it_is(tmp_path: Path) -> None:
    vault: IndexedVault

    def open_folder(folder: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        if writing:
            file = vault.write("a.md", "newest")
            vault.indexer.index_writes([OwnWrite("a.md", b"newest", sign(file))])
        return os.scandir(folder)

    writing = False
    vault = IndexedVault(tmp_path, open_folder=open_folder)
    vault.write("a.md", "old")
    vault.indexer.reconcile()
    vault.write("a.md", "changed outside")
    writing = True

    report = vault.indexer.reconcile()

    assert ((), ["a.md"]) == (report.changed, vault.search("newest"))
    vault.close()


# -- what must not be taken for a wish


def refuse(name: str, switch: list[bool]) -> Callable[[str], AbstractContextManager[Iterator[os.DirEntry[str]]]]:
    def open_folder(folder: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        if switch and os.path.basename(folder) == name:
            raise PermissionError(13, "Permission denied", folder)
        return os.scandir(folder)

    return open_folder


def test_unreadable_folder_keeps_its_notes(tmp_path: Path) -> None:
    switch: list[bool] = []
    vault = IndexedVault(tmp_path, open_folder=refuse("a", switch))
    vault.write("a/x.md", "kiln")
    vault.write("a/p.png", "png")
    vault.write("b.md", "ash")
    vault.indexer.reconcile()
    switch.append(True)

    report = vault.indexer.reconcile()

    assert ((), ("a",)) == (report.removed, report.unreadable)
    assert (["a/x.md", "b.md"], ("a/p.png",)) == (vault.notes(), vault.catalogue.find_attachments())
    vault.close()


def test_unreadable_root_changes_nothing(tmp_path: Path) -> None:
    switch: list[bool] = []
    vault = IndexedVault(tmp_path, open_folder=refuse("vault", switch))
    vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    switch.append(True)

    with pytest.raises(VaultError):
        vault.indexer.reconcile()

    assert ["a.md"] == vault.notes()
    vault.close()


def test_losing_most_of_the_vault_is_believed_only_the_second_time(tmp_path: Path) -> None:
    clock = Clock()
    vault = IndexedVault(tmp_path, clock=clock)
    for number in range(30):
        vault.write(f"{number}.md", f"text {number}")
    vault.indexer.reconcile()
    for number in range(20):
        (vault.root / f"{number}.md").unlink()

    first = vault.indexer.reconcile()
    clock.now = 1.9
    second = vault.indexer.reconcile()
    kept = len(vault.notes())
    clock.now = 2.0
    third = vault.indexer.reconcile()

    assert [(20, 0), (20, 0), (0, 20)] == [(r.held_back, len(r.removed)) for r in (first, second, third)]
    assert (30, 10, 2.0) == (kept, len(vault.notes()), first.confirm_after)
    vault.close()


def test_unmounted_vault_that_comes_back_loses_nothing(tmp_path: Path) -> None:
    clock = Clock()
    vault = IndexedVault(tmp_path, clock=clock)
    for number in range(3):
        vault.write(f"{number}.md", f"text {number}")
    vault.indexer.reconcile()
    vault.root.rename(tmp_path / "elsewhere")
    vault.root.mkdir()

    report = vault.indexer.reconcile()
    clock.now = 29.0
    vault.indexer.reconcile()
    vault.root.rmdir()
    (tmp_path / "elsewhere").rename(vault.root)
    back = vault.indexer.reconcile()
    clock.now = 60.0

    assert (3, 30.0, 0) == (report.held_back, report.confirm_after, back.held_back)
    assert ["0.md", "1.md", "2.md"] == vault.notes()
    vault.close()


def test_moving_most_of_the_vault_is_not_held_back(vault: IndexedVault) -> None:
    for number in range(30):
        vault.write(f"a/{number}.md", f"text {number}")
    vault.indexer.reconcile()
    (vault.root / "a").rename(vault.root / "b")

    report = vault.indexer.reconcile()

    assert (30, 0) == (len(report.moved), report.held_back)


# -- hints


def test_equal_signature_is_an_echo_and_changes_nothing(vault: IndexedVault) -> None:
    file = vault.write("a.md", "kiln")
    revision = vault.indexer.index_writes([OwnWrite("a.md", b"kiln", sign(file))])

    assert revision == vault.indexer.index_paths(["a.md"]).revision


def test_gone_path_waits_while_the_caller_is_patient_and_becomes_a_move(vault: IndexedVault) -> None:
    vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    vault.catalogue.set_note_ids({"a.md": 4})
    (vault.root / "a.md").unlink()

    waiting = vault.indexer.index_paths(["a.md"], patient=["a.md"])
    kept = vault.notes()
    vault.write("b.md", "kiln")
    moved = vault.indexer.index_paths(["a.md", "b.md"], patient=["a.md", "b.md"])

    assert (("a.md",), ["a.md"]) == (waiting.missing, kept)
    assert ((("a.md", "b.md"),), ()) == (moved.moved, moved.missing)
    assert 4 == vault.catalogue.load_snapshot().notes["b.md"].note_id


def test_hint_for_what_is_out_of_scope_does_nothing(tmp_path: Path) -> None:
    vault = IndexedVault(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x.md").write_text("secret", encoding="utf-8")
    (vault.root / "linked").symlink_to(tmp_path / "out")
    vault.write(".hidden/x.md", "secret")
    vault.write("_memex/inbox/x.md", "secret")
    os.mkfifo(vault.root / "pipe.md")
    paths = ["linked/x.md", ".hidden/x.md", "_memex/inbox/x.md", "pipe.md", "../out/x.md", "nowhere.md", "a\0b.md"]

    report = vault.indexer.index_paths(paths)

    assert ((), (), []) == (report.changed, report.removed, vault.notes())
    vault.close()


def test_empty_file_of_an_editor_that_is_saving_waits(vault: IndexedVault) -> None:
    file = vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    file.write_bytes(b"")

    report = vault.indexer.index_paths(["a.md"])
    kept = vault.search("kiln")
    os.utime(file, (1_600_000_000, 1_600_000_000))

    assert (("a.md",), ["a.md"]) == (report.busy, kept)


# -- own writes


def test_several_files_of_one_change_appear_together(vault: IndexedVault) -> None:
    for path, text in (("a.md", "[[old]]"), ("old.md", "kiln"), ("gone.md", "ash")):
        vault.write(path, text)
    vault.indexer.reconcile()
    vault.catalogue.set_note_ids({"old.md": 9})
    (vault.root / "gone.md").unlink()
    (vault.root / "old.md").rename(vault.root / "new.md")
    vault.write("a.md", "[[new]]")
    writes = [
        OwnWrite(path, (vault.root / path).read_bytes(), sign(vault.root / path)) for path in ("new.md", "a.md")
    ]

    revision = vault.indexer.index_writes(writes, deletes=["gone.md"], moves=[("old.md", "new.md")])

    assert ["a.md", "new.md"] == vault.notes()
    assert (9, ["new.md"]) == (
        vault.catalogue.load_snapshot().notes["new.md"].note_id,
        [row.path for row in vault.catalogue.find_links("a.md")],
    )
    age(vault)
    assert revision < vault.indexer.reconcile().revision
    assert ["a.md", "new.md"] == vault.notes()


def test_own_note_moved_to_the_trash_leaves_the_catalogue(vault: IndexedVault) -> None:
    vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    trash = vault.root / "_memex/trash/a.md"
    trash.parent.mkdir(parents=True)
    (vault.root / "a.md").rename(trash)

    vault.indexer.index_writes(
        [OwnWrite("_memex/trash/a.md", b"kiln", sign(trash))], moves=[("a.md", "_memex/trash/a.md")]
    )

    assert [] == vault.notes()


# -- many notes, worker processes, crashes


def write_many(vault: IndexedVault, count: int) -> None:
    for number in range(count):
        vault.write(
            f"f{number % 7}/n{number}.md",
            f"---\ntags: [t{number % 5}]\n---\n# H{number}\nword{number} [[n{number + 1}]]\n",
        )


def test_worker_processes_give_what_one_process_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(indexer, "PARALLEL_FROM", 100)
    many, one = IndexedVault(tmp_path / "many"), IndexedVault(tmp_path / "one", workers=0)
    write_many(many, 450)
    one.root.rmdir()
    one.root.symlink_to(many.root)
    seen: list[tuple[int, int]] = []

    report = many.indexer.reconcile(lambda done, total: seen.append((done, total)))
    one.indexer.reconcile()

    assert 450 == len(report.added)
    assert (450, 450) == seen[-1]
    many.close()
    one.close()
    assert dump(one.cache) == dump(many.cache)
    assert ("", "") == capfd.readouterr()


def test_worker_that_dies_is_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "PARALLEL_FROM", 100)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    vault = IndexedVault(tmp_path)
    write_many(vault, 250)

    assert 250 == len(vault.indexer.reconcile().added)
    vault.close()


def test_workers_end_when_a_pass_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "PARALLEL_FROM", 100)
    vault = IndexedVault(tmp_path)
    write_many(vault, 600)
    seen: list[int] = []

    with pytest.raises(PassStopped):
        vault.indexer.reconcile(lambda done, _total: seen.append(done), stopped=lambda: bool(seen))

    assert [] == [t.name for t in threading.enumerate() if t.name.startswith("index-worker")]
    vault.indexer.reconcile()
    assert 600 == len(vault.notes())
    vault.close()


def test_earlier_batches_are_searchable_while_later_ones_are_read(vault: IndexedVault) -> None:
    write_many(vault, applying.BATCH_NOTES + 50)
    found: list[list[str]] = []

    vault.indexer.reconcile(lambda done, total: found.append(vault.search("word0") if done < total else []))

    assert ["f0/n0.md"] == found[0]


CRASH = """
import os, sys
from pathlib import Path
from vault_memex.config import Config
from vault_memex.index import indexer
from vault_memex.index.indexer import Indexer
from vault_memex.store.catalogue import Catalogue
indexer.PARALLEL_FROM = int(sys.argv[3])
catalogue = Catalogue.open(Path(sys.argv[2]))
Indexer(Path(sys.argv[1]), catalogue, Config()).reconcile(lambda done, total: print(done, flush=True))
os._exit(0)
"""


@pytest.mark.parametrize("parallel_from", [100, 100_000])
def test_kill_9_while_indexing_is_healed_by_the_next_pass(tmp_path: Path, parallel_from: int) -> None:
    vault, fresh = IndexedVault(tmp_path / "v"), IndexedVault(tmp_path / "fresh")
    write_many(vault, 1200)
    vault.close()
    command = [sys.executable, "-c", CRASH, str(vault.root), str(vault.cache), str(parallel_from)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert int(process.stdout.readline()) < 1200
    process.send_signal(signal.SIGKILL)
    process.communicate()

    vault.reopen()
    assert len(vault.notes()) < 1200
    vault.indexer.reconcile()
    fresh.root.rmdir()
    fresh.root.symlink_to(vault.root)
    fresh.indexer.reconcile()

    vault.close()
    fresh.close()
    assert dump(fresh.cache) == dump(vault.cache)


def test_two_processes_that_index_at_once_leave_what_one_leaves(tmp_path: Path) -> None:
    vault, fresh = IndexedVault(tmp_path / "v"), IndexedVault(tmp_path / "fresh")
    write_many(vault, 400)
    command = [sys.executable, "-c", CRASH, str(vault.root), str(vault.cache), "100000"]
    processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) for _ in range(2)]
    for number in range(20):
        file = vault.write(f"own{number}.md", f"own {number}")
        vault.indexer.index_writes([OwnWrite(file.name, file.read_bytes(), sign(file))])

    assert [0, 0] == [process.wait(60) for process in processes]
    vault.indexer.reconcile()
    fresh.root.rmdir()
    fresh.root.symlink_to(vault.root)
    fresh.indexer.reconcile()
    vault.close()
    fresh.close()
    assert dump(fresh.cache) == dump(vault.cache)


def test_damaged_catalogue_is_rebuilt_by_the_next_pass(vault: IndexedVault) -> None:
    vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    vault.catalogue.close()
    (vault.cache / "catalogue.sqlite").write_bytes(b"\xff" * 9000)

    vault.reopen()
    vault.indexer.reconcile()

    assert ["a.md"] == vault.search("kiln")


def test_note_that_became_a_link_leaves_the_catalogue(vault: IndexedVault) -> None:
    vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    (vault.root / "a.md").unlink()
    (vault.root / "a.md").symlink_to("b.md")

    assert (("a.md",), []) == (vault.indexer.reconcile().removed, vault.notes())


def test_note_too_large_to_read_is_told_and_what_is_known_of_it_stays(
    vault: IndexedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = vault.write("a.md", "kiln")
    vault.indexer.reconcile()
    monkeypatch.setattr(reading, "MAX_BYTES", 10)
    file.write_text("more than ten bytes", encoding="utf-8")

    assert (("a.md",), ["a.md"]) == (vault.indexer.reconcile().unreadable, vault.search("kiln"))


def test_readers_are_answered_while_a_pass_writes(vault: IndexedVault) -> None:
    write_many(vault, 600)
    thread = threading.Thread(target=vault.indexer.reconcile)
    thread.start()
    reader = Catalogue.open(vault.cache)
    wait_until(lambda: bool(reader.load_snapshot().notes))
    thread.join()

    assert 600 == len(reader.load_snapshot().notes)
    reader.close()
