"""Commits that hold one operation and nothing else, and what git says of work done outside."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault_memex.store.git import CommitFile, CommitRequest, Git, render_message
from vault_memex.store.git_log import (
    ChangedFile,
    find_file_times,
    find_outside_commits,
    find_uncommitted,
)

TRAILERS = (("Memex-Op", "changed"), ("Memex-Note", "7"), ("Memex-Actor", "desk"), ("Memex-Event", "12"))
REQUEST = CommitRequest((), "Plan: hall", "desk", "2026-11-30T02:05:00.000Z", TRAILERS)


@pytest.fixture(autouse=True)
def nobody_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git_in(vault: Path, *arguments: str, when: str = "2026-01-01T00:00:00Z") -> str:
    who = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example", "GIT_COMMITTER_NAME": "Ann"}
    environment = {
        **os.environ, **who, "GIT_COMMITTER_EMAIL": "ann@example", "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when,
    }  # fmt: skip
    done = subprocess.run(["git", *arguments], cwd=vault, env=environment, capture_output=True, check=True)
    return done.stdout.decode()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    vault.mkdir()
    git_in(vault, "init", "-q", "-b", "main")
    return vault


def write(vault: Path, path: str, data: bytes) -> CommitFile:
    (vault / path).parent.mkdir(parents=True, exist_ok=True)
    (vault / path).write_bytes(data)
    return CommitFile(path, data)


def commit(vault: Path, *files: CommitFile) -> str:
    result = Git(vault).commit(replace(REQUEST, files=files))
    assert "" == result.error
    assert result.commit is not None
    return result.commit


def test_first_commit_of_an_empty_repository(vault: Path) -> None:
    made = commit(vault, write(vault, "a b/회의.md", b"1\r\n"))

    assert made == git_in(vault, "rev-parse", "HEAD").strip()
    assert b"1\r\n" == Git(vault).run("cat-file", "blob", f"{made}:a b/회의.md")
    assert "" == git_in(vault, "status", "--porcelain")


def test_author_is_the_connection_and_the_message_ends_in_trailers(vault: Path) -> None:
    commit(vault, write(vault, "a.md", b"1"))

    shown = git_in(vault, "log", "-1", "--format=%an <%ae> %aI %cn%n%s%n%(trailers:only)").rstrip()
    expected = "desk <desk@vault-memex.invalid> 2026-11-30T02:05:00+00:00 vault-memex\nPlan: hall\n"
    assert expected + "\n".join(f"{k}: {v}" for k, v in TRAILERS) == shown


def test_owner_commits_as_the_configured_person(vault: Path) -> None:
    git_in(vault, "config", "user.name", "Öwner")
    git_in(vault, "config", "user.email", "o@example")
    Git(vault).commit(replace(REQUEST, actor="owner", files=(write(vault, "a.md", b"1"),)))

    assert "Öwner <o@example> Öwner" == git_in(vault, "log", "-1", "--format=%an <%ae> %cn").strip()


def test_staged_and_unstaged_work_of_the_owner_stays_as_it_is(vault: Path) -> None:
    for path in ("staged.md", "dirty.md", "ours.md", "both.md"):
        write(vault, path, b"1\n")
    git_in(vault, "add", "-A")
    git_in(vault, "commit", "-qm", "start")
    write(vault, "staged.md", b"2\n")
    write(vault, "both.md", b"2\n")
    write(vault, "new.md", b"2\n")
    git_in(vault, "add", "staged.md", "new.md", "both.md")
    write(vault, "both.md", b"3\n")
    write(vault, "dirty.md", b"2\n")
    write(vault, "untracked.md", b"2\n")
    before = git_in(vault, "status", "--porcelain")

    commit(vault, write(vault, "ours.md", b"2\n"), write(vault, "created.md", b"1\n"))

    assert before == git_in(vault, "status", "--porcelain")
    assert "A\tcreated.md\nM\tours.md\n" == git_in(vault, "show", "--name-status", "--format=", "HEAD")


def test_a_move_is_one_rename_and_a_removal_takes_the_file_out(vault: Path) -> None:
    commit(vault, write(vault, "a.md", b"text " * 50), write(vault, "gone.md", b"x"))
    (vault / "a.md").rename(vault / "b.md")
    (vault / "gone.md").unlink()
    moved = CommitFile("b.md", b"text " * 50)

    commit(
        vault, CommitFile("a.md", None), moved, CommitFile("gone.md", None), CommitFile("never-tracked.md", None)
    )

    shown = git_in(vault, "show", "-M", "--name-status", "--format=", "HEAD")
    assert "R100\ta.md\tb.md\nD\tgone.md\n" == shown
    assert "" == git_in(vault, "status", "--porcelain")


def test_the_commit_holds_the_operations_bytes_even_if_the_file_moved_on(vault: Path) -> None:
    first = write(vault, "a.md", b"first")
    write(vault, "a.md", b"second")

    made = commit(vault, first)

    assert b"first" == Git(vault).run("cat-file", "blob", f"{made}:a.md")
    assert b"second" == (vault / "a.md").read_bytes()
    commit(vault, CommitFile("a.md", b"second"))
    assert "" == git_in(vault, "status", "--porcelain")


def test_hooks_never_run_and_signing_is_not_asked_for(vault: Path) -> None:
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        (vault / ".git/hooks" / hook).write_text(
            f"#!/bin/sh\ntouch {vault}/ran-{hook}\nexit 1\n", encoding="utf-8"
        )
        (vault / ".git/hooks" / hook).chmod(0o755)
    git_in(vault, "config", "commit.gpgSign", "true")

    commit(vault, write(vault, "a.md", b"1"))

    assert [] == list(vault.glob("ran-*"))


def test_files_the_owner_ignores_are_not_committed(vault: Path) -> None:
    (vault / ".gitignore").write_text("private/\n", encoding="utf-8")
    secret = write(vault, "private/diary.md", b"1")
    result = Git(vault).commit(replace(REQUEST, files=(secret,)))
    assert (None, "") == (result.commit, result.error)

    commit(vault, secret, write(vault, "a.md", b"1"))
    assert "a.md\n" == git_in(vault, "ls-files")


def test_line_ending_rules_of_the_repository_hold(vault: Path) -> None:
    (vault / ".gitattributes").write_text("*.md text eol=crlf\n", encoding="utf-8")

    made = commit(
        vault, write(vault, "a.md", b"1\r\n2\r\n"), write(vault, ".gitattributes", b"*.md text eol=crlf\n")
    )

    assert b"1\n2\n" == Git(vault).run("cat-file", "blob", f"{made}:a.md")
    assert "" == git_in(vault, "status", "--porcelain")


@pytest.mark.parametrize("state", ["merge", "detached", "locked"])
def test_a_failing_commit_is_reported_and_the_file_stays(
    vault: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(vault, write(vault, "a.md", b"1"))
    head = git_in(vault, "rev-parse", "HEAD")
    if state == "merge":
        (vault / ".git/MERGE_HEAD").write_text(head, encoding="utf-8")
    elif state == "detached":
        git_in(vault, "checkout", "-q", "--detach")
    else:
        (vault / ".git/index.lock").write_bytes(b"")
        monkeypatch.setattr("vault_memex.store.git._LOCK_PATIENCE", 0)

    result = Git(vault).commit(replace(REQUEST, files=(write(vault, "a.md", b"2"),)))

    assert None is result.commit
    assert "could not commit" in result.error
    assert str(vault) not in result.error
    assert (b"2", head) == ((vault / "a.md").read_bytes(), git_in(vault, "rev-parse", "HEAD"))


@pytest.mark.parametrize(("where", "reason"), [("none", "No git"), ("inside", "larger repository")])
def test_no_repository_of_its_own_means_off(tmp_path: Path, where: str, reason: str) -> None:
    outer = tmp_path / "outer"
    (outer / "vault").mkdir(parents=True)
    if where == "inside":
        git_in(outer, "init", "-q")
    git = Git(outer / "vault")

    assert "off" == git.mode()
    assert reason in git.reason
    assert None is git.commit(REQUEST).commit


def test_a_linked_work_tree_is_a_repository_too(vault: Path, tmp_path: Path) -> None:
    commit(vault, write(vault, "a.md", b"1"))
    git_in(vault, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))

    commit(tmp_path / "side", write(tmp_path / "side", "b.md", b"2"))

    assert "a.md\nb.md\n" == git_in(tmp_path / "side", "ls-tree", "--name-only", "HEAD")
    assert "a.md\n" == git_in(vault, "ls-tree", "--name-only", "HEAD")


def test_git_variables_of_the_surroundings_do_not_lead_elsewhere(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))

    made = commit(vault, write(vault, "a.md", b"1"))

    monkeypatch.undo()
    assert made in git_in(vault, "rev-parse", "HEAD")


def test_temporary_files_are_hidden_from_status_once(vault: Path) -> None:
    (vault / ".vmx-abcdef-new.tmp").write_bytes(b"")
    for _ in range(2):
        Git(vault).hide_temporary_files()

    assert "" == git_in(vault, "status", "--porcelain")
    assert 1 == (vault / ".git/info/exclude").read_text(encoding="utf-8").count(".vmx-")


def test_outside_commits_are_those_without_our_trailer(vault: Path) -> None:
    write(vault, "a.md", b"text " * 50)
    git_in(vault, "add", "-A")
    git_in(vault, "commit", "-qm", "old", when="2026-01-01T00:00:00Z")
    commit(vault, write(vault, "ours.md", b"1"))
    git_in(vault, "mv", "a.md", "새 이름.md")
    write(vault, "b.md", b"x")
    git_in(vault, "add", "-A")
    git_in(vault, "commit", "-qm", "mine", when="2026-02-01T00:00:00Z")
    since = datetime(2026, 2, 1, tzinfo=UTC)

    found = find_outside_commits(Git(vault), since)

    assert [("2026-02-01T00:00:00Z", "Ann", "mine")] == [(c.at, c.author, c.subject) for c in found]
    expected = {ChangedFile("added", "b.md"), ChangedFile("renamed", "새 이름.md", "a.md")}
    assert expected == set(found[0].files)
    assert () == find_outside_commits(Git(vault), since, until=since)


def test_merge_commits_are_skipped_and_their_parents_are_not(vault: Path) -> None:
    write(vault, "a.md", b"1")
    git_in(vault, "add", "-A")
    git_in(vault, "commit", "-qm", "one")
    git_in(vault, "checkout", "-qb", "side")
    write(vault, "b.md", b"1")
    git_in(vault, "add", "-A")
    git_in(vault, "commit", "-qm", "two")
    git_in(vault, "checkout", "-q", "main")
    git_in(vault, "merge", "-q", "--no-ff", "-m", "merged", "side")

    found = find_outside_commits(Git(vault), datetime(2025, 1, 1, tzinfo=UTC))

    assert {"one", "two"} == {c.subject for c in found}


def test_uncommitted_work_is_listed(vault: Path) -> None:
    commit(vault, write(vault, "a.md", b"1"), write(vault, "b.md", b"1"), write(vault, "c.md", b"long " * 40))
    write(vault, "a.md", b"2")
    (vault / "b.md").unlink()
    git_in(vault, "mv", "c.md", "d.md")
    write(vault, "새/n.md", b"1")

    expected = (
        ChangedFile("changed", "a.md"), ChangedFile("deleted", "b.md"), ChangedFile("renamed", "d.md", "c.md"),
        ChangedFile("added", "새/n.md"),
    )  # fmt: skip
    assert expected == find_uncommitted(Git(vault))


def test_first_and_last_times_follow_renames_and_not_reused_names(vault: Path) -> None:
    def save(message: str, month: int) -> None:
        git_in(vault, "add", "-A")
        git_in(vault, "commit", "-qm", message, when=f"2026-{month:02}-01T00:00:00Z")

    write(vault, "a.md", b"text " * 50)
    save("one", 1)
    (vault / "a.md").rename(vault / "b.md")
    save("two", 2)
    write(vault, "a.md", b"another thing altogether")
    save("three", 3)
    write(vault, "b.md", b"text " * 51)
    (vault / "a.md").unlink()
    save("four", 4)
    write(vault, "a.md", b"and a third one")
    save("five", 5)

    times = find_file_times(Git(vault))

    assert {"a.md": ("05", "05"), "b.md": ("01", "04")} == {
        p: (t.first[5:7], t.last[5:7]) for p, t in times.items()
    }


def test_subject_is_one_line_and_bounded() -> None:
    message = render_message(replace(REQUEST, subject="a\nb " + "x" * 200, body="why\nso"))

    subject, rest = message.split("\n", 1)
    assert 120 == len(subject)
    assert subject.startswith("a b x")
    assert rest.startswith("\nwhy\nso\n\nMemex-Op: changed\n")
