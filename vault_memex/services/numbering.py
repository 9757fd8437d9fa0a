"""Numbers of notes: given once, at the first write after a note appeared, kept in `.memex/ids.tsv`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import filterfalse

from vault_memex.core.revision import revision_of
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.errors import IndexUnusable
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.ids import IdLine, Ids
from vault_memex.store.journal import render_moment
from vault_memex.store.trash import Trash

NO_NUMBER = 0  # in the catalogue: the `id` that the note says is another note's
STATE = "numbers"
_EMPTY = revision_of(b"")  # no content to be known by


_Seen = tuple[Snapshot | None, Mapping[str, int]]


@dataclass(slots=True)
class _Unlisted:
    """Notes whose paths have no number in the file, by what they turn out to be."""

    moved: list[tuple[IdLine, NoteRecord]] = field(default_factory=list)
    own: list[NoteRecord] = field(default_factory=list)  # the number in their frontmatter is free
    copies: list[NoteRecord] = field(default_factory=list)  # that number is another note's
    new: list[NoteRecord] = field(default_factory=list)


class Numbering:
    """Keeps numbers in the file and numbers in the catalogue the same. Writing needs the vault lock."""

    def __init__(
        self,
        ids: Ids,
        catalogue: Catalogue,
        trash: Trash,
        snapshot: Callable[[], Snapshot],
        clock: Callable[[], datetime],
        *,
        find_renames: Callable[[Sequence[str], Sequence[str]], Mapping[str, str]],
    ) -> None:
        self._find_renames = (
            find_renames  # of paths that are gone and paths that are new: by the new one, the old one
        )
        self._asked: tuple[object, Mapping[str, str]] = (None, {})  # what was asked last, and the answer
        self._ids = ids
        self._catalogue = catalogue
        self._trash = trash
        self._snapshot = snapshot
        self._clock = clock
        self._listed: _Seen = (None, {})  # all of these notes were among these numbers
        self._shown: _Seen = (None, {})  # the catalogue had them all

    def load(self) -> None:
        """Bring the catalogue up to the file; writes nothing into the vault.

        That it was found to be so is remembered: a start on which nothing has changed reads neither.
        """
        mark = f"{self._catalogue.revision} {self._ids.find_stamp()}"
        if self._catalogue.get_state(STATE) == mark:
            return
        snapshot, listed = self._snapshot(), self._ids.numbers()
        since, known = self._shown
        notes = snapshot.notes
        changed = (note.path for note in snapshot.find_changes(since).after)
        numbers = {path: listed[path] for path in (changed if listed is known else notes) if path in listed}
        unlisted = self._find_unlisted(snapshot)
        numbers |= {note.path: line.id for line, note in unlisted.moved}
        numbers |= {note.path: NO_NUMBER for note in unlisted.copies}
        fresh = {path: number for path, number in numbers.items() if (notes[path].note_id or NO_NUMBER) != number}
        if fresh:
            self.show(fresh)
            return
        if since is None:  # the first look of this process: later ones cost little
            with suppress(IndexUnusable):
                self._catalogue.set_state(STATE, mark)
        self._shown = snapshot, listed

    def show(self, numbers: Mapping[str, int]) -> None:
        """Bring numbers into the catalogue. One that cannot be written follows later: the file is what counts."""
        with suppress(IndexUnusable):
            self._catalogue.set_note_ids(numbers)

    def find_former(self, name: str) -> Sequence[int]:
        """Return the numbers of all notes that ever had this path or file name, lowest first."""
        return self._ids.find_former(name)

    def next_number(self) -> int:
        """Return the number the next new note gets."""
        return max([self._ids.highest(), self._trash.highest_id(), *self._snapshot().by_id]) + 1

    def take(self, path: str, revision: str) -> int:
        """Give the next number to a note about to be written; the line is on disk before the note is."""
        before = self._ids.numbers()
        (number,) = self._ids.assign([(path, revision)], self._now(), above=self.next_number() - 1)
        since, known = self._listed
        if known is before:  # one more is listed now, and none less
            self._listed = since, self._ids.numbers()
        return number

    def take_all(self, notes: Sequence[tuple[str, str]]) -> None:
        """Give the numbers from `next_number` on to notes, as (path, revision), about to be written."""
        self._ids.assign(notes, self._now(), above=self.next_number() - 1)

    def number_all(self) -> int:
        """Give numbers to all notes that have none, and record moves made outside; return how many lines.

        Where two machines gave one number to two notes, the later one gets another.
        """
        conflicts = self._ids.find_conflicts()
        if conflicts:
            self._ids.renumber(conflicts, above=self.next_number() - 1)
        unlisted = self._find_unlisted(self._snapshot())
        new = [*unlisted.copies, *unlisted.new]
        self._ids.moved([(line.path, note.path, note.revision) for line, note in unlisted.moved])
        self._ids.adopt([(note.path, note.note_id or 0, note.revision) for note in unlisted.own], self._now())
        if new:
            new.sort(key=lambda note: (note.created, note.path))
            wanted = [(note.path, note.revision) for note in new]
            self._ids.assign(wanted, self._now(), above=self.next_number() - 1)
        count = len(conflicts) + len(unlisted.moved) + len(unlisted.own) + len(new)
        if count:
            self.load()
        return count

    def _find_missing(self, snapshot: Snapshot) -> list[str]:
        """Return the notes whose paths have no number in the file. If that is as it was, changed ones are looked at."""
        numbers = self._ids.numbers()
        since, known = self._listed
        changed = (note.path for note in snapshot.find_changes(since).after)
        missing = list(filterfalse(numbers.__contains__, changed if numbers is known else snapshot.notes))
        if not missing:
            self._listed = snapshot, numbers
        return missing

    def _find_unlisted(self, snapshot: Snapshot) -> _Unlisted:
        """Recognise notes that are not in the file: by the number they have or say, else by their content."""
        found = _Unlisted()
        paths = self._find_missing(snapshot)
        if not paths:
            return found
        notes = snapshot.notes
        taken: set[int] = set()
        gone: dict[int, IdLine] = {}
        for line in self._ids.lines():
            if line.path in notes:
                taken.add(line.id)
            else:
                gone[line.id] = line
        buried = {stone.id for stone in self._trash.find_tombstones(waiting_only=True)}
        known = {line.hash: line for line in gone.values() if line.id not in buried and line.hash != _EMPTY}
        for note in sorted((notes[path] for path in paths), key=lambda note: (note.created, note.path)):
            number = note.note_id
            former = gone.get(number) if number is not None else known.get(note.revision)
            if former is not None and former.id not in taken:
                found.moved.append((former, note))
                taken.add(former.id)
            elif number is None:
                found.new.append(note)
            elif number in taken:
                found.copies.append(note)
            else:
                found.own.append(note)
                taken.add(number)
        left = {line.path: line for line in gone.values() if line.id not in taken | buried}
        return self._with_renamed(found, left)

    def _with_renamed(self, found: _Unlisted, left: Mapping[str, IdLine]) -> _Unlisted:
        """Return what was found, with those of the new notes that git knows as ones that are gone."""
        if not found.new or not left:
            return found
        asked = (frozenset(left), frozenset((note.path, note.revision) for note in found.new))
        if self._asked[0] != asked:
            self._asked = asked, self._find_renames([*left], [note.path for note in found.new])
        was, unclaimed, new = self._asked[1], dict(left), found.new
        found.new = []
        for note in new:
            line = unclaimed.pop(was.get(note.path, ""), None)
            if line is None:
                found.new.append(note)
            else:
                found.moved.append((line, note))
        return found

    def record_move(self, path: str, to: str, revision: str) -> None:
        """Record that a note with a number moved."""
        if self._ids.number_of(path) is not None:
            self._ids.moved([(path, to, revision)])

    def _now(self) -> str:
        return render_moment(self._clock())
