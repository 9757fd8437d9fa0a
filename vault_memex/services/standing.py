"""What stands in the vault now: which notes were corrected and by what, and which are not valid today."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from vault_memex.core.refs import resolve_ref
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.errors import MemexError
from vault_memex.memory.amendments import (
    AMENDS,
    SUPERSEDED_BY,
    Amendments,
    Validity,
    build_amendments,
    check_validity,
)
from vault_memex.store.catalogue import Catalogue, PropertyLinkRow

_CURRENT = Validity("current")
_LINKING = frozenset((AMENDS, SUPERSEDED_BY))
_TELLING = _LINKING | {"valid_until", "valid_from"}


@dataclass(frozen=True, slots=True)
class Standings:
    """Of one snapshot on one day."""

    snapshot: Snapshot
    today: date
    amendments: Amendments
    fallen: Mapping[str, Validity]  # by path, of the notes that do not hold

    def check(self, path: str) -> Validity:
        """Return whether a note holds."""
        return self.fallen.get(path, _CURRENT)

    def describe(self, note: NoteRecord) -> Iterator[str]:
        """Yield what a reader of the note must know, as sentences."""
        validity = self.check(note.path)
        if validity.status == "superseded":
            named = validity.successor and self.snapshot.notes.get(validity.successor)
            instead = name_note(named) if named else str(note.properties.get(SUPERSEDED_BY))
            yield f"Superseded: this was corrected. Read {instead} instead."
        elif validity.status == "expired":
            yield f"No longer valid: it held until {note.properties.get('valid_until')}."
        elif validity.status == "not_yet_valid":
            yield f"Not valid yet: it holds from {note.properties.get('valid_from')}."
        direct = self.amendments.of.get(note.path, ())
        for kind, word in (("continues", "Continued in"), ("corrects", "Corrected by")):
            notes = [self.snapshot.notes[a.path] for a in direct if a.kind == kind]
            if notes:
                yield f"{word}: {', '.join(map(name_note, notes))}."


def name_note(note: NoteRecord) -> str:
    """Return how a note is named in a sentence: path, and number where it has one."""
    return note.path if note.note_id is None else f"{note.path} (#{note.note_id})"


class Standing:
    """Keeps the standings of the present snapshot; any thread may ask."""

    def __init__(
        self, catalogue: Catalogue, snapshot: Callable[[], Snapshot], clock: Callable[[], datetime]
    ) -> None:
        self._catalogue = catalogue
        self._snapshot = snapshot
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: Standings | None = None

    def find(self) -> Standings:
        """Return what stands now; made again only when the vault or the day has changed."""
        snapshot, today = self._snapshot(), self._clock().date()
        with self._lock:
            if self._kept is None or self._kept.snapshot is not snapshot or self._kept.today != today:
                self._kept = self._build(snapshot, today)
            return self._kept

    def _build(self, snapshot: Snapshot, today: date) -> Standings:
        telling = [note for note in snapshot.notes.values() if not _TELLING.isdisjoint(note.properties)]
        links = [*self._catalogue.find_property_links(_LINKING), *_find_plain_links(snapshot, telling)]
        amendments = build_amendments(snapshot, links)
        corrected = (snapshot.notes[path] for path in amendments.successors)
        fallen = {}
        for note in (*telling, *corrected):
            validity = check_validity(note, amendments, today)
            if not validity.holds:
                fallen[note.path] = validity
        return Standings(snapshot, today, amendments, fallen)


def _find_plain_links(snapshot: Snapshot, notes: Iterable[NoteRecord]) -> Iterator[PropertyLinkRow]:
    """Yield what these properties name without brackets: a number, a title, a path."""
    for note in notes:
        for name in (AMENDS, SUPERSEDED_BY):
            value = note.properties.get(name)
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, bool) or not isinstance(item, int | str) or "[[" in str(item):
                    continue
                try:
                    yield PropertyLinkRow(note.path, resolve_ref(snapshot, str(item)).note.path, name)
                except MemexError:
                    continue  # names no note; what the property says still counts
