"""What git remembers of the notes: commits made outside, what is uncommitted, first and last times, versions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from vault_memex.store.git import Git, GitFailed

FileChange = Literal["added", "changed", "deleted", "renamed"]
_KINDS: dict[str, FileChange] = {
    "A": "added",
    "M": "changed",
    "T": "changed",
    "D": "deleted",
    "R": "renamed",
    "C": "added",
}
_BLOB = re.compile(rb"[0-9a-f]{40,64} blob (\d+)")
_FORMAT = "%x01%H%x00%ct%x00%at%x00%an%x00%s%x00%(trailers:key=Memex-Event,valueonly,separator=%x2C)%x00"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of a commit, or of the work tree against the last commit."""

    kind: FileChange
    path: str
    from_path: str | None = None


@dataclass(frozen=True, slots=True)
class OutsideCommit:
    """A commit that this program did not make."""

    commit: str
    at: str  # committed, UTC ISO 8601
    author: str
    subject: str
    files: tuple[ChangedFile, ...]


@dataclass(frozen=True, slots=True)
class FileTimes:
    """When a file came into the repository and when a commit last changed it: UTC ISO 8601, authors' clocks."""

    first: str
    last: str


@dataclass(slots=True)
class _Entry:
    commit: str
    committed: int
    authored: int
    author: str
    subject: str
    event: str
    files: list[ChangedFile] = field(default_factory=list)


def find_outside_commits(git: Git, since: datetime, until: datetime | None = None) -> tuple[OutsideCommit, ...]:
    """Return commits from `since` (inclusive) to `until` (exclusive) without our trailer, newest first.

    Renames are found at 50 % likeness. Merge commits are left out, their parents are not.
    """
    if git.mode() == "off":
        return ()
    arguments = ["--no-merges", f"--since={int(since.timestamp()) - 1}"]
    return tuple(
        OutsideCommit(e.commit, _moment(e.committed), e.author, e.subject, tuple(e.files))
        for e in _read_log(git, arguments)
        if not e.event and e.committed >= since.timestamp() and (until is None or e.committed < until.timestamp())
    )


def find_uncommitted(git: Git) -> tuple[ChangedFile, ...]:
    """Return files that differ from the last commit, new ones too, sorted by path."""
    if git.mode() == "off":
        return ()
    out = git.run("status", "--porcelain=v1", "-z", "--untracked-files=all").decode("utf-8", errors="replace")
    fields = iter(out.split("\0"))
    found: list[ChangedFile] = []
    for entry in fields:
        if not entry:
            continue
        state, path = entry[:2], entry[3:]
        if "R" in state:
            found.append(ChangedFile("renamed", path, next(fields)))
        elif "?" in state or "A" in state:
            found.append(ChangedFile("added", path))
        else:
            found.append(ChangedFile("deleted" if "D" in state else "changed", path))
    return tuple(sorted(found, key=lambda f: f.path))


def find_committed(git: Git, event_id: int, path: str, *, before: bool) -> bytes | None:
    """Return what a file held before or after the commit of one of our events; None when git does not know."""
    if git.mode() == "off":
        return None
    words = ["log", "-1", "--format=%H", "-E", f"--grep=^Memex-Event: {event_id}$"]
    commit = git.run(*words, check=False).decode("ascii", errors="replace").strip()
    if not commit:
        return None
    try:
        return git.run("cat-file", "blob", f"{commit}{'^' if before else ''}:{path}")
    except GitFailed:
        return None  # a first commit, or the file was not there


def find_files_at(git: Git, moment: datetime, paths: Iterable[str]) -> dict[str, bytes]:
    """Return what files held in the last commit before a moment; those that it does not have are left out."""
    wanted = [path for path in paths if "\n" not in path]
    if git.mode() == "off" or not wanted:
        return {}
    found = git.run("rev-list", "-1", f"--before={int(moment.timestamp())}", "HEAD", check=False)
    commit = found.decode("ascii", errors="replace").strip()
    if not commit:
        return {}
    names = "".join(f"{commit}:{path}\n" for path in wanted)
    out = git.run("cat-file", "--batch", data=names.encode("utf-8", errors="surrogateescape"), check=False)
    files: dict[str, bytes] = {}
    at = 0
    for path in wanted:
        head, start = out[at : out.find(b"\n", at)], out.find(b"\n", at) + 1
        at = start
        if (blob := _BLOB.fullmatch(head)) is not None:
            files[path] = out[start : start + int(blob[1])]
            at = start + int(blob[1]) + 1
    return files


def find_file_times(git: Git) -> dict[str, FileTimes]:
    """Return first and last commit time of every file that is there now, renames followed, in one pass."""
    if git.mode() == "off":
        return {}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    now_at: dict[str, str | None] = {}  # a path back then -> its path now; None: it is gone now
    for entry in _read_log(git, ["--no-merges"]):
        for file in entry.files:
            current = now_at.get(file.path, file.path)
            if file.kind == "deleted":
                now_at.setdefault(file.path, None)
                continue
            if current is not None:
                last.setdefault(current, entry.authored)
                first[current] = entry.authored
            if file.kind == "added":
                now_at[file.path] = None  # an older file of this name was another one
            elif file.from_path is not None:
                now_at[file.from_path] = current
                now_at[file.path] = None
    return {path: FileTimes(_moment(first[path]), _moment(last[path])) for path in first}


def _read_log(git: Git, arguments: list[str]) -> Iterator[_Entry]:
    options = ["log", "-z", "--name-status", "-M50%", "-l5000", f"--format={_FORMAT}"]
    out = git.run(*options, *arguments, check=False).decode("utf-8", errors="replace")
    for block in out.split("\x01")[1:]:
        commit, committed, authored, author, subject, event, *rest = block.split("\0")
        entry = _Entry(commit, int(committed), int(authored), author, subject, event.strip())
        fields = iter(rest)
        for state in fields:
            letter = state.strip()[:1]
            if letter in ("R", "C"):
                source, path = next(fields), next(fields)
                entry.files.append(ChangedFile(_KINDS[letter], path, source if letter == "R" else None))
            elif letter in _KINDS:
                entry.files.append(ChangedFile(_KINDS[letter], next(fields)))
        yield entry


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
