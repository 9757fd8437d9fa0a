"""Changes reach the disk whole, journalled and committed, and never over somebody else's work."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.conftest import put, replacing, visible_files
from vault_memex.core.changes import Change, MoveFile, RemoveFile, WriteFile
from vault_memex.core.revision import revision_of
from vault_memex.errors import (
    AlreadyExists,
    InvalidArgument,
    MemexError,
    NotFound,
    NotWritable,
    PatchNoop,
    ReservedFolder,
    StaleRevision,
    VaultError,
)
from vault_memex.store.git import Git
from vault_memex.store.journal import FileState, JournalEvent
from vault_memex.store.transaction import Transactor


def change(*edits: WriteFile | MoveFile | RemoveFile, op: str = "changed", path: str = "Plan.md") -> Change:
    return Change(op, path, "Plan: hall", edits, "desk", 7, "because")


def test_a_new_note_and_its_folders_are_made(vault: Path, transactor: Transactor) -> None:
    applied = transactor.apply(
        change(WriteFile("New/Deep/Plan.md", b"x\r\n", None), op="created", path="New/Deep/Plan.md")
    )

    assert {"New/Deep/Plan.md": b"x\r\n"} == visible_files(vault)
    assert ("added", 1, None, revision_of(b"x\r\n")) == (
        applied.event.kind, applied.event.id, applied.event.before, applied.event.after,
    )  # fmt: skip
    assert (vault / "New/Deep/Plan.md").stat().st_ino == getattr(applied.files[0].signature, "inode", 0)
    assert [applied.event] == list(transactor.stores.journal.read())
    assert [] == list((vault / ".memex/pending").iterdir())


def test_a_change_replaces_bytes_and_keeps_mode_owner_and_attributes(vault: Path, transactor: Transactor) -> None:
    put(vault, "Plan.md", b"old")
    os.chmod(vault / "Plan.md", 0o640)
    os.chown(vault / "Plan.md", 1234, 1234)
    os.setxattr(vault / "Plan.md", "user.color", b"red")

    transactor.apply(change(replacing("Plan.md", b"old", b"new")))

    status = (vault / "Plan.md").stat()
    assert b"new" == (vault / "Plan.md").read_bytes()
    assert (0o640, 1234, 1234) == (status.st_mode & 0o777, status.st_uid, status.st_gid)
    assert b"red" == os.getxattr(vault / "Plan.md", "user.color")


def test_old_bytes_are_kept_for_undo(vault: Path, transactor: Transactor) -> None:
    put(vault, "Plan.md", b"old")

    event = transactor.apply(change(replacing("Plan.md", b"old", b"new"))).event

    assert b"old" == transactor.stores.undo.get(event.before or "")
    assert 0 == transactor.stores.undo.expire(now=0)
    assert b"new" == transactor.stores.undo.get(event.after or "")  # without git
    assert 2 == transactor.stores.undo.expire(now=4_000_000_000)
    assert None is transactor.stores.undo.get(event.before or "")


def test_a_stale_revision_is_refused_with_the_new_one(vault: Path, transactor: Transactor) -> None:
    put(vault, "Plan.md", b"theirs")

    with pytest.raises(StaleRevision) as caught:
        transactor.apply(change(replacing("Plan.md", b"old", b"ours")))

    assert revision_of(b"theirs") == caught.value.fields["revision"]
    assert {"Plan.md": b"theirs"} == visible_files(vault)
    assert () == transactor.stores.journal.read()


@pytest.mark.parametrize(
    ("edit", "error"),
    [
        (replacing("Gone.md", b"old", b"new"), NotFound),
        (WriteFile("Plan.md", b"new", None), AlreadyExists),
        (WriteFile("plan.MD", b"new", None), AlreadyExists),
        (replacing("Plan.md", b"old", b"old"), PatchNoop),
        (MoveFile("Gone.md", "X.md", revision_of(b"old")), NotFound),
        (MoveFile("Plan.md", "Other.md", revision_of(b"old")), AlreadyExists),
        (MoveFile("Plan.md", "Plan.md", revision_of(b"old")), InvalidArgument),
        (MoveFile("Plan.md", "X.md", revision_of(b"else")), StaleRevision),
        (MoveFile("Plan.md", "../X.md", revision_of(b"old")), MemexError),
        (MoveFile("Plan.md", "_memex/trash/X.md", revision_of(b"old")), ReservedFolder),
        (WriteFile("_memex/x.md", b"new", None), ReservedFolder),
        (RemoveFile("Plan.md", revision_of(b"old")), InvalidArgument),
        (WriteFile(".memex/config.toml", b"new", None), ReservedFolder),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_else_done(
    vault: Path, transactor: Transactor, edit: WriteFile | MoveFile | RemoveFile, error: type[MemexError]
) -> None:
    put(vault, "Plan.md", b"old")
    put(vault, "Other.md", b"other")
    before = visible_files(vault)

    with pytest.raises(error):
        transactor.apply(change(WriteFile("First.md", b"1", None), edit))

    assert before == visible_files(vault)
    assert not (vault / ".memex").exists()


@pytest.mark.parametrize(("data", "mode"), [(b"\xb0\xa1\xb3\xaa" * 30, 0o644), (b"a\0b", 0o644), (b"old", 0o444)])
def test_files_that_cannot_be_written_are_refused(
    vault: Path, transactor: Transactor, data: bytes, mode: int
) -> None:
    put(vault, "Plan.md", data)
    os.chmod(vault / "Plan.md", mode)

    with pytest.raises(NotWritable):
        transactor.apply(change(replacing("Plan.md", data, b"new")))

    assert data == (vault / "Plan.md").read_bytes()


def test_a_linked_note_is_edited_at_its_target(vault: Path, transactor: Transactor) -> None:
    put(vault, "Notes/ok.md", b"old")
    os.symlink("Notes/ok.md", vault / "inner.md")

    applied = transactor.apply(change(replacing("inner.md", b"old", b"new"), path="inner.md"))

    assert "Notes/ok.md" == applied.files[0].path
    assert b"new" == (vault / "Notes/ok.md").read_bytes()
    assert "Notes/ok.md" == os.readlink(vault / "inner.md")


def test_a_hard_linked_note_stays_one_file(vault: Path, transactor: Transactor, tmp_path: Path) -> None:
    put(vault, "Plan.md", b"a long old text")
    os.link(vault / "Plan.md", tmp_path / "other name")

    transactor.apply(change(replacing("Plan.md", b"a long old text", b"new")))

    assert b"new" == (tmp_path / "other name").read_bytes()
    assert os.path.samefile(vault / "Plan.md", tmp_path / "other name")


def test_a_decomposed_name_stays_decomposed(vault: Path, transactor: Transactor) -> None:
    name = unicodedata.normalize("NFD", "회의록.md")
    put(vault, name, b"old")

    applied = transactor.apply(change(replacing("회의록.md", b"old", b"new"), path="회의록.md"))

    assert {name: b"new"} == {k: v for k, v in visible_files(vault).items() if not k.startswith(".")}
    assert name == applied.files[0].path
    with pytest.raises(AlreadyExists):
        transactor.apply(change(WriteFile("회의록.md", b"second", None)))


def test_moving_rewriting_and_creating_is_one_change(vault: Path, transactor: Transactor) -> None:
    put(vault, "Plan.md", b"old")
    put(vault, "Cites.md", b"[[Plan]]")

    applied = transactor.apply(
        change(
            replacing("Cites.md", b"[[Plan]]", b"[[New]]"),
            MoveFile("Plan.md", "Sub/New.md", revision_of(b"old")),
            replacing("Sub/New.md", b"old", b"new"),
            WriteFile("Plan.md", b"a stub", None),
            op="renamed",
            path="Sub/New.md",
        )
    )

    visible = {k: v for k, v in visible_files(vault).items() if not k.rpartition("/")[2].startswith(".")}
    assert {"Cites.md": b"[[New]]", "Sub/New.md": b"new", "Plan.md": b"a stub"} == visible
    assert ("Plan.md", revision_of(b"old"), revision_of(b"new")) == (
        applied.event.from_path, applied.event.before, applied.event.after,
    )  # fmt: skip
    states = {(s.path, s.from_path, s.before, s.after) for s in applied.event.files}
    assert {
        ("Cites.md", None, revision_of(b"[[Plan]]"), revision_of(b"[[New]]")),
        ("Sub/New.md", "Plan.md", revision_of(b"old"), revision_of(b"new")),
        ("Plan.md", None, None, revision_of(b"a stub")),
    } == states


@pytest.mark.parametrize(("old", "new"), [("plan.md", "Plan.md"), (unicodedata.normalize("NFD", "é.md"), "é.md")])
def test_a_name_may_change_its_case_or_unicode_form_alone(
    vault: Path, transactor: Transactor, old: str, new: str
) -> None:
    put(vault, old, b"old")

    applied = transactor.apply(change(MoveFile(old, new, revision_of(b"old")), op="renamed", path=new))

    assert {new: b"old"} == visible_files(vault)
    assert (old, new) == (applied.event.from_path, applied.event.path)


def test_internal_changes_may_use_the_programs_folder_and_remove_there(
    vault: Path, transactor: Transactor
) -> None:
    transactor.apply(change(WriteFile("_memex/inbox/1.md", b"x", None)), internal=True)
    applied = transactor.apply(change(RemoveFile("_memex/inbox/1.md", revision_of(b"x"))), internal=True)

    assert {} == visible_files(vault)
    assert (FileState("_memex/inbox/1.md", None, revision_of(b"x"), None),) == applied.event.files


def test_an_event_without_files_is_numbered_with_the_others(vault: Path, transactor: Transactor) -> None:
    put(vault, "Plan.md", b"old")
    transactor.apply(change(replacing("Plan.md", b"old", b"new")))
    draft = JournalEvent(0, "", "submitted", "submit", "Plan.md", "Plan", "desk")

    recorded = transactor.record(draft)

    assert [1, 2] == [e.id for e in transactor.stores.journal.read()]
    assert (2, "submitted") == (recorded.id, recorded.kind)


def test_a_vault_that_went_away_is_not_written(vault: Path, transactor: Transactor) -> None:
    vault.rename(vault.with_name("elsewhere"))

    with pytest.raises(VaultError):
        transactor.apply(change(WriteFile("Plan.md", b"x", None)))

    assert not vault.exists()


def test_opening_alone_writes_nothing_into_the_vault(vault: Path, opened: Callable[..., Transactor]) -> None:
    one = opened("auto")
    assert () == one.recover()
    assert () == one.clean_up()

    assert [] == list(vault.iterdir())


def git_in(vault: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=vault, capture_output=True, check=True).stdout.decode()


@pytest.fixture
def repository(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    git_in(vault, "init", "-q", "-b", "main")
    return vault


def test_each_write_becomes_one_commit_in_order(repository: Path, opened: Callable[..., Transactor]) -> None:
    one = opened("auto")
    put(repository, "Plan.md", b"0")
    for n in range(1, 4):
        applied = one.apply(change(replacing("Plan.md", b"%d" % (n - 1), b"%d" % n)))
        assert "queued" == applied.commit
    assert one.flush()

    commits = git_in(repository, "log", "--reverse", "--format=%H %(trailers:key=Memex-Event,valueonly)").split()
    assert ["1", "2", "3"] == commits[1::2]
    assert [b"1", b"2", b"3"] == [Git(repository).run("cat-file", "blob", f"{c}:Plan.md") for c in commits[::2]]
    assert "" == git_in(repository, "status", "--porcelain")
    assert [] == list((repository / ".memex/pending").iterdir())


def test_waiting_gives_the_commit(repository: Path, opened: Callable[..., Transactor]) -> None:
    applied = opened("each").apply(change(WriteFile("Plan.md", b"1", None), op="created"), wait=True)

    assert ("done", git_in(repository, "rev-parse", "HEAD").strip()) == (applied.commit, applied.commit_id)
    shown = set(git_in(repository, "show", "--name-only", "--format=", "HEAD").split())
    assert {"Plan.md", ".memex/journal/2026-11.jsonl", ".memex/.gitattributes", ".memex/.gitignore"} == shown


def test_new_numbers_go_along_with_the_commit(repository: Path, opened: Callable[..., Transactor]) -> None:
    one = opened("each")
    one.stores.ids.assign([("Plan.md", "h")], "2026")
    one.apply(change(WriteFile("Plan.md", b"1", None)), wait=True)
    one.apply(change(replacing("Plan.md", b"1", b"2")), wait=True)

    assert ".memex/ids.tsv" in git_in(repository, "show", "--name-only", "--format=", "HEAD~1")
    assert ".memex/ids.tsv" not in git_in(repository, "show", "--name-only", "--format=", "HEAD")


def test_a_commit_that_fails_is_told_and_made_at_the_next_start(
    repository: Path, opened: Callable[..., Transactor]
) -> None:
    one = opened("each")
    one.apply(change(WriteFile("First.md", b"1", None)), wait=True)
    (repository / ".git/MERGE_HEAD").write_text(git_in(repository, "rev-parse", "HEAD"), encoding="utf-8")

    applied = one.apply(change(WriteFile("Plan.md", b"1", None)), wait=True)
    assert ("failed", b"1") == (applied.commit, (repository / "Plan.md").read_bytes())
    assert "merge is under way" in applied.commit_error
    one.close(wait=False)
    (repository / ".git/MERGE_HEAD").unlink()
    two = opened("each")
    assert ["committed"] == [r.outcome for r in two.recover()]
    two.flush()

    assert "" == git_in(repository, "status", "--porcelain")
    assert (
        "2\n\n1\n"
        == git_in(repository, "log", "--format=%(trailers:key=Memex-Event,valueonly)").rstrip("\n") + "\n"
    )
    assert () == two.recover()


def test_batch_commits_all_together_when_flushed(repository: Path, opened: Callable[..., Transactor]) -> None:
    one = opened("batch")
    one.apply(change(WriteFile("Plan.md", b"1", None)))
    one.apply(change(replacing("Plan.md", b"1", b"2")))
    one.apply(change(WriteFile("Other.md", b"1", None)))
    one.flush()

    assert "1\n2\n3" == git_in(repository, "log", "--format=%(trailers:key=Memex-Event,valueonly)").strip()
    assert "" == git_in(repository, "status", "--porcelain")


def test_a_renamed_note_is_a_rename_in_git(repository: Path, opened: Callable[..., Transactor]) -> None:
    one = opened("each")
    one.apply(change(WriteFile("Plan.md", b"text " * 50, None)), wait=True)
    one.apply(
        change(MoveFile("Plan.md", "New.md", revision_of(b"text " * 50)), op="renamed", path="New.md"), wait=True
    )

    assert "R100\tPlan.md\tNew.md" in git_in(repository, "show", "-M", "--name-status", "--format=", "HEAD")
