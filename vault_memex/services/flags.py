"""Flags: raised by the person, shown to whoever reads the note, closed with an explanation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from vault_memex.config import Config
from vault_memex.core.changes import Change, RemoveFile, WriteFile
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import render_subject
from vault_memex.errors import FlagHasPendingRetire, IndexUnusable, NotFound, NotWritable
from vault_memex.memory.flags import Flag, find_flag_path, render_flag
from vault_memex.memory.policy import check_curator, check_role
from vault_memex.services.actor import find_actor
from vault_memex.services.editing import Editing
from vault_memex.services.filing import Filing, check_comment
from vault_memex.services.flag_files import FlagFiles, build_flag
from vault_memex.store.journal import render_moment


@dataclass(frozen=True, slots=True)
class FlagView:
    """A flag beside the note as it is now."""

    note_id: int
    comment: str
    raised: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """A flag that was closed, as it was."""

    note_id: int
    path: str
    title: str
    comment: str
    resolution: str
    event: int  # number in the journal


class Flags:
    """Raises and closes flags."""

    def __init__(
        self,
        config: Config,
        flag_files: FlagFiles,
        editing: Editing,
        filing: Filing,
        clock: Callable[[], datetime],
    ) -> None:
        self._config = config
        self._flag_files = flag_files
        self._editing = editing
        self._filing = filing
        self._clock = clock

    def find(self) -> tuple[FlagView, ...]:
        """Return the flags on notes that are there (in the scope of the connection), oldest first."""
        notes = self._editing.snapshot().by_id
        return tuple(_view(flag, notes[n]) for n, flag in self._flag_files.find().items() if n in notes)

    def raise_flag(self, ref: str, comment: str) -> FlagView:
        """Flag a note; a flag that is there gets the new comment and keeps its age."""
        check_role(self._config.role, owner_only="Flagging a note")
        check_comment(comment, needed=True)
        with self._editing.hold():
            record, number = self._find_note(ref)
            file = self._flag_files.read(number)
            before = build_flag(file, number) if file is not None else None
            raised = before.raised if before is not None else render_moment(self._clock())
            flag = Flag(number, comment.strip(), raised, record.path)
            if before is not None and before.comment == flag.comment:
                return _view(before, record)
            edit = WriteFile(
                file.path if file is not None else find_flag_path(number),
                render_flag(flag).encode("utf-8"),
                file.revision if file is not None else None,
            )
            title = render_subject(f"Flag {record.title}: {flag.comment}")
            change = Change("flag_raised", record.path, title, (edit,), find_actor(self._config), number)
            self._editing.transactor.apply(change, internal=True, details={"comment": flag.comment})
        return _view(flag, record)

    def resolve(self, ref: str, resolution: str) -> Resolved:
        """Close a note's flag; what was said goes into the journal.

        Raises FlagHasPendingRetire while a deletion or merge of the note waits, and NotFound when there is no flag.
        """
        check_curator(self._config.role, "Closing a flag")
        check_comment(resolution, needed=True, argument="resolution")
        with self._editing.hold():
            record, number = self._find_note(ref)
            file = self._flag_files.read(number)
            if file is None:
                raise NotFound(f"{record.path} has no flag.", flagged=[f"#{one.note_id}" for one in self.find()])
            if file.not_writable:
                raise NotWritable(f"{file.path}: {file.not_writable}", path=file.path)
            self._check_waiting(record, number)
            flag = build_flag(file, number)
            title = render_subject(f"Flag on {record.title} closed: {resolution.strip()}")
            change = Change(
                "flag_resolved",
                record.path,
                title,
                (RemoveFile(file.path, file.revision),),
                find_actor(self._config),
                number,
                resolution.strip(),
            )
            details = {"comment": flag.comment, "raised": flag.raised}
            applied = self._editing.transactor.apply(change, internal=True, details=details)
        return Resolved(number, record.path, record.title, flag.comment, resolution.strip(), applied.event.id)

    def _find_note(self, ref: str) -> tuple[NoteRecord, int]:
        record = self._editing.numbered(self._editing.reading.find_note(ref, writing=True)[0])
        if record.note_id is None:  # the index could not be written
            raise IndexUnusable(f"{record.path} could not be given a number. `vault-memex doctor` says why.")
        return record, record.note_id

    def _check_waiting(self, record: NoteRecord, number: int) -> None:
        inbox = self._filing.inbox
        waiting = [one for one in inbox.find(number).proposals if one.kind in ("delete", "merge")]
        waiting += inbox.find_merges(number)
        if waiting:
            named = ", ".join(f"{one.kind} (proposal {one.number})" for one in waiting)
            raise FlagHasPendingRetire(
                f"{record.path}: {named} waits for the person, whose decision settles the flag too. Leave it.",
                proposals=[one.number for one in waiting],
            )


def _view(flag: Flag, note: NoteRecord) -> FlagView:
    return FlagView(flag.note_id, flag.comment, flag.raised, note.path, note.title)
