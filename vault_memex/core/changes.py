"""A `Change`: what a write is going to do to files, as a value. Planning makes it; one door applies it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Put `data` at `path`. `before` is the revision it replaces; None means the file must not exist yet."""

    path: str
    data: bytes
    before: str | None


@dataclass(frozen=True, slots=True)
class MoveFile:
    """Move a file, bytes untouched, to a path that must be free (a change of case alone is allowed)."""

    path: str
    to: str
    before: str


FileEdit = WriteFile | MoveFile


@dataclass(frozen=True, slots=True)
class Change:
    """One operation of one person or connection: all its file edits happen, or none does."""

    op: str  # created, changed, renamed, deleted, restored, merged
    path: str  # the note it is about, by its path afterwards (for a delete: before)
    title: str  # one line for journal and commit
    edits: tuple[FileEdit, ...]
    actor: str = "owner"  # connection name
    note_id: int | None = None
    reason: str = ""
