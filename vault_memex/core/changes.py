"""A `Change`: what a write is going to do to files, as a value. Planning makes it; one door applies it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol


class FileStat(Protocol):
    """What `os.stat` gives."""

    @property
    def st_mtime_ns(self) -> int:
        """Time of the last write."""
        ...

    @property
    def st_ctime_ns(self) -> int:
        """Time of the last change of any kind (on Windows: of creation)."""
        ...

    @property
    def st_size(self) -> int:
        """Length in bytes."""
        ...

    @property
    def st_ino(self) -> int:
        """File number."""
        ...


class Signature(NamedTuple):
    """What the file system says of a file. Any difference means: look again; "newer than" is never asked."""

    mtime_ns: int
    ctime_ns: int  # shows same-size edits whose mtime was put back
    size: int
    inode: int

    @classmethod
    def of(cls, stat: FileStat) -> Signature:
        """Return the signature of a stat result; inode numbers are cut to 63 bits, as SQLite keeps them."""
        # Made without the class's own constructor, which takes twice as long: a scan makes one for every note.
        values = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino & 0x7FFF_FFFF_FFFF_FFFF)
        return tuple.__new__(cls, values)


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Put `data` at `path`. `before` is the revision it replaces; None means the file must not exist yet."""

    path: str
    data: bytes
    before: str | None
    in_canvas: bool = False  # a canvas whose references follow a rename; else only notes are written


@dataclass(frozen=True, slots=True)
class MoveFile:
    """Move a file, bytes untouched, to a path that must be free (a change of case alone is allowed)."""

    path: str
    to: str
    before: str


@dataclass(frozen=True, slots=True)
class RemoveFile:
    """Remove a file of the program's own `_memex` folder. Notes are moved to the trash instead."""

    path: str
    before: str


FileEdit = WriteFile | MoveFile | RemoveFile


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
