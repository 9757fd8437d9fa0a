"""Changes made outside where git cannot tell: found by comparing contents, and written into the journal.

What a path held last is in the journal, else in the file of numbers. A difference from that was made outside,
whenever it was: between two looks, or while no program ran. A vault that has no journal of ours gets none by this.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import render_subject
from vault_memex.services.outside import EDITED, OutsideChange, is_note
from vault_memex.services.reading import OWNER
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.journal import JournalEvent
from vault_memex.store.transaction import Transactor
from vault_memex.store.trash import Trash

OUTSIDE = "outside"  # the operation of such an event
LOCK_SECONDS = 1.0
SYNC_SECONDS = 2.0
QUIET = timedelta(minutes=10)  # a note that is being written is journalled so often at most


@dataclass(frozen=True, slots=True)
class _Last:
    """What the journal says a path holds."""

    revision: str | None  # None: nothing
    at: str
    outside: bool = False  # it was noticed there


@dataclass(frozen=True, slots=True)
class Unseen:
    """An edit outside that nobody noticed before this program wrote the note: between two lines of the journal."""

    path: str
    since: str
    at: str


@dataclass(frozen=True, slots=True)
class _Difference:
    """What was done to one note outside."""

    kind: str
    path: str
    before: str | None
    after: str | None
    note_id: int | None
    from_path: str | None = None
    at: str = ""  # of the last change, as the note tells; empty for one that is gone


class Noticing:
    """Looks for differences. One for a vault; reading is free to all its connections."""

    def __init__(
        self,
        transactor: Transactor,
        trash: Trash,
        catalogue: Catalogue,
        snapshot: Callable[[], Snapshot],
        clock: Callable[[], datetime],
    ) -> None:
        self._transactor = transactor
        self._stores = transactor.stores
        self._trash = trash
        self._catalogue = catalogue
        self._snapshot = snapshot
        self._clock = clock
        self._reading = threading.Lock()
        self._sizes: Mapping[str, int] = {}
        self._last: dict[str, _Last] = {}
        self._unseen: list[Unseen] = []
        self._seen: Snapshot | None = None
        self._later: set[str] = set()  # edited too shortly after the last time

    @property
    def is_possible(self) -> bool:
        """Whether there is anything to compare with. Only then is anything written by looking."""
        return bool(self._stores.ids.numbers())

    def find_open(self) -> tuple[OutsideChange, ...]:
        """Return what was done outside and is not in the journal yet."""
        if not self.is_possible or not self._catalogue.is_complete():
            return ()  # a note that is not indexed yet would seem gone
        notes = self._snapshot().notes
        return tuple(
            OutsideChange(one.at, one.kind, one.path, one.from_path)
            for one in self._find(notes, notes, whole=True)
        )

    def find_unseen(self) -> tuple[Unseen, ...]:
        """Return the edits of which only the journal's next line tells, oldest first."""
        self._follow_journal()
        return tuple(self._unseen)

    def follow(self) -> int:
        """Journal what was done outside since the last look, at the first one all; return how many lines.

        Raises VaultLocked; then the next look tells.
        """
        if not self.is_possible or not self._catalogue.is_complete():
            return 0
        with self._stores.lock.hold(LOCK_SECONDS):
            snapshot = self._snapshot()
            changes = snapshot.find_changes(self._seen)
            touched = {note.path for note in (*changes.before, *changes.after)} | self._later
            if self._seen is not None and not touched:
                return 0
            found = list(self._find(snapshot.notes, touched, whole=self._seen is None))
            due = [one for one in found if not self._is_young(one) and not self._came_by_sync(one)]
            self._transactor.record_all([_render_event(one) for one in due])
            self._later = {one.path for one in found} - {one.path for one in due}
            self._seen = snapshot
        return len(due)

    def _is_young(self, one: _Difference) -> bool:
        last = self._last.get(one.path)
        if one.kind != EDITED or last is None or not last.outside:
            return False
        return datetime.fromisoformat(last.at) > self._clock() - QUIET

    def _came_by_sync(self, one: _Difference) -> bool:
        """Whether a file seems to come from another machine: there it is journalled, and two journals would clash.

        A sync writes the file and then puts its time back; who writes here does not.
        """
        if one.kind not in (EDITED, "added"):
            return False
        try:
            status = os.lstat(self._stores.files.find_place(one.path).file)
        except OSError:  # gone since: the next look tells
            return True
        return status.st_ctime - status.st_mtime > SYNC_SECONDS

    def _find(
        self, notes: Mapping[str, NoteRecord], touched: Iterable[str], *, whole: bool
    ) -> Iterator[_Difference]:
        """Yield the differences at paths; with `whole` also those of notes that are gone. Renames are recognised."""
        last = self._follow_journal()
        listed = {line.path: line for line in self._stores.ids.lines()}
        paths = {path for path in touched if is_note(path)}
        if whole:
            paths |= {path for path in (*last, *listed) if is_note(path)}
        gone: dict[str, str] = {}
        new: list[NoteRecord] = []
        for path in sorted(paths):
            line = listed.get(path)
            known = last[path].revision if path in last else line.hash if line is not None else None
            note = notes.get(path)
            if note is None:
                # Notes in a folder that is ignored from now on are there.
                if known is not None and not self._stores.files.find_place(path).exists:
                    gone[path] = known
            elif known is None:
                new.append(note)
            elif known != note.revision:
                yield _Difference(EDITED, path, known, note.revision, note.note_id, at=note.updated)
        yield from self._pair(gone, new, {path: line.id for path, line in listed.items()})

    def _pair(
        self, gone: dict[str, str], new: Iterable[NoteRecord], numbers: Mapping[str, int]
    ) -> Iterator[_Difference]:
        was = {numbers[path]: path for path in gone if path in numbers}
        for note in new:
            old = was.pop(note.note_id, None) if note.note_id is not None else None
            if old is not None:
                before = gone.pop(old)
                yield _Difference("renamed", note.path, before, note.revision, note.note_id, old, note.updated)
            else:
                yield _Difference("added", note.path, None, note.revision, note.note_id, at=note.updated)
        # Where the journal is gone, the trash knows what was deleted here.
        buried = (
            {stone.path for stone in self._trash.find_tombstones()} - self._last.keys() if gone else set[str]()
        )
        for path, before in gone.items():
            if path not in buried:
                yield _Difference("deleted", path, before, None, numbers.get(path))

    def _follow_journal(self) -> Mapping[str, _Last]:
        with self._reading:
            journal = self._stores.journal
            sizes = journal.find_sizes()
            if sizes != self._sizes:
                for event in journal.read_new(self._sizes):
                    self._take(event)
                self._sizes = sizes
            return dict(self._last)

    def _take(self, event: JournalEvent) -> None:
        ours, edited = event.op != OUTSIDE, event.kind == EDITED
        for file in event.states:
            if file.before is None and file.after is None:  # a line that changed nothing
                continue
            origin = file.from_path or file.path
            last = self._last.get(origin)
            if ours and is_note(origin) and last is not None and file.before not in (None, last.revision):
                self._unseen.append(Unseen(origin, last.at, event.at))
            self._last[origin] = _Last(None, event.at)
            self._last[file.path] = _Last(file.after, event.at, outside=edited and not ours)


def _render_event(one: _Difference) -> JournalEvent:
    said = {EDITED: "Edited", "renamed": "Renamed", "added": "Added", "deleted": "Removed"}[one.kind]
    return JournalEvent(
        id=0,
        at="",
        kind=one.kind,
        op=OUTSIDE,
        path=one.path,
        title=render_subject(f"{said} outside: {one.path}"),
        actor=OWNER,
        note_id=one.note_id,
        from_path=one.from_path,
        before=one.before,
        after=one.after,
    )
