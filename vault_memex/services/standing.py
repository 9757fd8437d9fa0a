"""What stands in the vault now: which notes were corrected and by what, and which are not valid today."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime

from vault_memex.core.refs import resolve_ref
from vault_memex.core.snapshot import NoteChanges, NoteRecord, Snapshot
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
    concerned: frozenset[str] = frozenset()  # the notes whose records had a part in this
    named: bool = False  # whether a note is named by what may be another one's title or number

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
    """Keeps the standings of the present snapshot; any thread may ask.

    A change is looked at alone. Only where it concerns a note that had a part in them, or which note a name means,
    are standings made again, from the notes that say something of the kind: most vaults have few.
    """

    def __init__(
        self, catalogue: Catalogue, snapshot: Callable[[], Snapshot], clock: Callable[[], datetime]
    ) -> None:
        self._catalogue = catalogue
        self._snapshot = snapshot
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: Standings | None = None
        self._telling: dict[str, NoteRecord] = {}

    def find(self) -> Standings:
        """Return what stands now."""
        snapshot, today = self._snapshot(), self._clock().date()
        with self._lock:
            kept = self._kept
            if kept is not None and kept.snapshot is snapshot and kept.today == today:
                return kept
            changes = snapshot.find_changes(kept.snapshot if kept else None)
            self._kept = None  # should the catalogue fail below, the next look begins anew
            self._follow(changes, anew=kept is None)
            if kept is not None and kept.today == today and _is_untouched(kept, snapshot, changes):
                found = replace(kept, snapshot=snapshot)
            else:
                found = self._build(snapshot, today)
            self._kept = found
            return found

    def _follow(self, changes: NoteChanges, *, anew: bool) -> None:
        if anew:
            self._telling.clear()
        for note in changes.before:
            self._telling.pop(note.path, None)
        for note in changes.after:
            if _is_telling(note):
                self._telling[note.path] = note

    def _build(self, snapshot: Snapshot, today: date) -> Standings:
        telling = [self._telling[path] for path in sorted(self._telling)]
        plain = list(_find_plain_names(telling))
        links = [*self._catalogue.find_property_links(_LINKING), *_find_plain_links(snapshot, plain)]
        amendments = build_amendments(snapshot, links)
        corrected = (snapshot.notes[path] for path in amendments.successors)
        fallen = {}
        for note in (*telling, *corrected):
            validity = check_validity(note, amendments, today)
            if not validity.holds:
                fallen[note.path] = validity
        ends = {end for link in links for end in (link.source, link.target) if end is not None}
        return Standings(snapshot, today, amendments, fallen, frozenset({*self._telling, *ends}), bool(plain))


def _is_telling(note: NoteRecord) -> bool:
    return not _TELLING.isdisjoint(note.properties)


def _is_untouched(kept: Standings, snapshot: Snapshot, changes: NoteChanges) -> bool:
    """Whether nothing that the standings rest on has changed."""
    before = {note.path: note for note in changes.before}
    after = {note.path: note for note in changes.after}
    if before.keys() != after.keys() or snapshot.attachments is not kept.snapshot.attachments:
        return False  # a link may lead elsewhere
    if not kept.concerned.isdisjoint(after) or any(map(_is_telling, changes.after)):
        return False
    return not kept.named or all(_find_names(note) == _find_names(after[path]) for path, note in before.items())


def _find_names(note: NoteRecord) -> tuple[object, ...]:
    return note.title, note.note_id, note.aliases, note.former_titles


def _find_plain_names(notes: Iterable[NoteRecord]) -> Iterator[tuple[str, str, str]]:
    """Yield (path, property, name) for what these properties name without brackets: a number, a title, a path."""
    for note in notes:
        for name in (AMENDS, SUPERSEDED_BY):
            value = note.properties.get(name)
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, int | str) and not isinstance(item, bool) and "[[" not in str(item):
                    yield note.path, name, str(item)


def _find_plain_links(snapshot: Snapshot, names: Iterable[tuple[str, str, str]]) -> Iterator[PropertyLinkRow]:
    """Yield the links that the names come to."""
    for path, name, wanted in names:
        try:
            yield PropertyLinkRow(path, resolve_ref(snapshot, wanted).note.path, name)
        except MemexError:
            continue  # names no note; what the property says still counts
