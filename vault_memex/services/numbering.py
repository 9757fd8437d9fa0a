"""Numbers of notes: given once, at the first write after a note appeared, kept in `.memex/ids.tsv`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import filterfalse

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.ids import Ids
from vault_memex.store.journal import render_moment


class Numbering:
    """Keeps numbers in the file and numbers in the catalogue the same. Writing needs the vault lock."""

    def __init__(
        self, ids: Ids, catalogue: Catalogue, snapshot: Callable[[], Snapshot], clock: Callable[[], datetime]
    ) -> None:
        self._ids = ids
        self._catalogue = catalogue
        self._snapshot = snapshot
        self._clock = clock

    def load(self) -> None:
        """Bring the catalogue up to the file; writes nothing into the vault."""
        numbers = self._ids.numbers()
        notes = self._snapshot().notes
        fresh = {
            path: number for path, number in numbers.items() if path in notes and notes[path].note_id != number
        }
        if fresh:
            self._catalogue.set_note_ids(fresh)

    def next_number(self) -> int:
        """Return the number the next new note gets."""
        return max([self._ids.highest(), *self._snapshot().by_id]) + 1

    def take(self, path: str, revision: str) -> int:
        """Give the next number to a note about to be written; the line is on disk before the note is."""
        return self._ids.assign([(path, revision)], self._now(), above=self.next_number() - 1)[0]

    def number_all(self) -> int:
        """Give numbers to all notes that have none, and record moves made outside; return how many lines."""
        numbers = self._ids.numbers()
        notes = self._snapshot().notes
        new: list[NoteRecord] = []
        moved = 0
        for path in filterfalse(numbers.__contains__, notes):
            note = notes[path]
            if note.note_id is not None:
                self._adopt(note)
                moved += 1
            else:
                new.append(note)
        if new:
            new.sort(key=lambda n: (n.created, n.path))
            given = self._ids.assign(
                [(n.path, n.revision) for n in new], self._now(), above=self.next_number() - 1
            )
            self._catalogue.set_note_ids({n.path: number for n, number in zip(new, given, strict=True)})
        return moved + len(new)

    def _adopt(self, note: NoteRecord) -> None:
        assert note.note_id is not None
        former = self._ids.path_of(note.note_id)
        if former is not None and former not in self._snapshot().notes:
            self._ids.moved(former, note.path, note.revision)
        else:
            self._ids.adopt(note.path, note.note_id, note.revision, self._now())

    def record_move(self, path: str, to: str, revision: str) -> None:
        """Record that a note with a number moved."""
        if self._ids.number_of(path) is not None:
            self._ids.moved(path, to, revision)

    def _now(self) -> str:
        return render_moment(self._clock())
