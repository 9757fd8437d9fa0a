"""Changes made outside as git knows them: commits that are not ours, and what is not committed yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vault_memex.core.snapshot import NoteRecord
from vault_memex.store.git import Git
from vault_memex.store.git_log import ChangedFile, find_outside_commits, find_uncommitted
from vault_memex.store.ids import Ids

EDITED = "edited_outside"


@dataclass(frozen=True, slots=True)
class OutsideChange:
    """What happened to one note."""

    at: str
    kind: str  # added, edited_outside, renamed, deleted
    path: str
    from_path: str | None = None
    title: str = ""
    commit: str = ""  # empty: not committed
    journalled: bool = False  # the journal shows it


def is_note(path: str) -> bool:
    """Whether the path is one of a note, and of no file of the program's own."""
    return path.casefold().endswith(".md") and not path.startswith((".", "_memex/"))


class Outside:
    """Reads git. A note that git takes for two, for it was moved and rewritten, is known by its number."""

    def __init__(self, git: Git, ids: Ids) -> None:
        self._git = git
        self._ids = ids

    @property
    def in_git(self) -> bool:
        """Whether git can tell: the vault is the top of a git work tree."""
        return self._git.mode() != "off"

    def find_commits(
        self, since: datetime, notes: Mapping[str, NoteRecord], shown: Callable[[str], bool]
    ) -> Iterator[OutsideChange]:
        """Yield what commits since a moment did to notes, newest first. `shown` tells which paths may be spoken of."""
        for commit in find_outside_commits(self._git, since):
            title = commit.subject if all(shown(one.path) for one in commit.files) else ""
            for file in self._pair(commit.files, notes):
                yield OutsideChange(
                    commit.at, _kind_of(file), file.path, file.from_path, title, commit.commit[:12]
                )

    def find_uncommitted(
        self, left: Callable[[], Mapping[str, str | None]], notes: Mapping[str, NoteRecord], now: str
    ) -> Iterator[OutsideChange]:
        """Yield what differs from the last commit, but for our own writes whose commit is still to come.

        `left` gives the revision in which the journal's last event left each file, None for one it took away.
        """
        files = [one for one in find_uncommitted(self._git) if is_note(one.path)]
        known = left() if files else {}
        outside = [one for one in files if not _is_ours(one.path, known, notes)]
        for file in self._pair(outside, notes):
            record = notes.get(file.path)
            at = record.updated if record and len(record.updated) > len("2026-01-01") else now
            yield OutsideChange(at, _kind_of(file), file.path, file.from_path)

    def _pair(self, files: Sequence[ChangedFile], notes: Mapping[str, NoteRecord]) -> Iterator[ChangedFile]:
        """Yield the notes among the files; one that went and one that came and has its number are one renamed."""
        there = [one for one in files if is_note(one.path)]
        gone = {one.path for one in there if one.kind == "deleted"}
        came = [one for one in there if one.kind == "added" and one.path in notes]
        numbers = self._ids.find_all_paths() if gone and came else {}
        was = {numbers[path]: path for path in gone if path in numbers}
        old_of = {one.path: was.pop(notes[one.path].note_id or 0, None) for one in came}
        paired = {old for old in old_of.values() if old is not None}
        for file in there:
            if old_of.get(file.path) is not None:
                yield replace(file, kind="renamed", from_path=old_of[file.path])
            elif file.path not in paired:
                yield file


def _is_ours(path: str, left: Mapping[str, str | None], notes: Mapping[str, NoteRecord]) -> bool:
    record = notes.get(path)
    return path in left and left[path] == (record.revision if record else None)


def _kind_of(file: ChangedFile) -> str:
    return EDITED if file.kind == "changed" else file.kind
