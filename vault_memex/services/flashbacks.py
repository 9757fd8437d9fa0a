"""Flashbacks of one vault: finding them, and remembering which pairs have come up."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import parse_number
from vault_memex.errors import IndexUnusable, MemexError
from vault_memex.memory.flashbacks import Flashback, FlashbackSettings, find_flashbacks
from vault_memex.memory.thresholds import Thresholds
from vault_memex.services.nearby import Near, Nearby
from vault_memex.services.standing import Standing, Standings
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.journal import JournalEvent
from vault_memex.store.transaction import Transactor

KIND = "flashback"
STATE = "flashbacks"
LOCK_SECONDS = 0.2  # a search does not wait longer to remember; the pair comes up again
MOST_ANCHORS = 20  # shown of a note


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two notes by number, or by path where they had none."""

    anchor: str
    note: str


class Surfaced:
    """The pairs that came up. The journal remembers them; where it may not be written, the catalogue's state does."""

    def __init__(
        self,
        catalogue: Catalogue,
        transactor: Transactor,
        snapshot: Callable[[], Snapshot],
        actor: Callable[[], str],
    ) -> None:
        self._catalogue = catalogue
        self._transactor = transactor
        self._snapshot = snapshot
        self._actor = actor
        self._lock = threading.Lock()
        self._read: dict[str, int] = {}
        self._journalled: dict[_Pair, None] = {}
        self._others: dict[_Pair, None] | None = None

    def remember(self, anchor: NoteRecord, flashbacks: Sequence[Flashback], *, may_write: bool) -> None:
        """Remember pairs, each once. What cannot be journalled now is when it comes up again."""
        with self._lock:
            others = self._follow()
            pairs = {_Pair(_key(anchor), _key(f)): f for f in flashbacks}
            fresh = [pair for pair in pairs if pair not in self._journalled]
            if may_write and self._read:  # never the first file of ours in a vault
                fresh = [pair for pair in fresh if not self._record(anchor, pairs[pair])]
            fresh = [pair for pair in fresh if pair not in others]
            if fresh:
                others.update(dict.fromkeys(fresh))
                rows = [[pair.anchor, pair.note] for pair in others]
                with suppress(IndexUnusable):  # remembered in this process alone, then
                    self._catalogue.set_state(STATE, json.dumps(rows, ensure_ascii=False))

    def find_anchors(self, note: NoteRecord) -> tuple[NoteRecord, ...]:
        """Return the notes whose flashback a note was, the latest first."""
        snapshot = self._snapshot()
        names = {note.path, str(note.note_id)}
        with self._lock:
            pairs = [*self._follow(), *self._journalled]
        found = [_resolve(snapshot, pair.anchor) for pair in pairs if pair.note in names]
        return tuple({n.path: n for n in reversed(found) if n is not None}.values())[:MOST_ANCHORS]

    def _record(self, anchor: NoteRecord, flashback: Flashback) -> bool:
        event = JournalEvent(
            id=0,
            at="",
            kind=KIND,
            op=KIND,
            path=anchor.path,
            title=f"{flashback.title} came up with {anchor.title}"[:120],
            actor=self._actor(),
            note_id=anchor.note_id,
            details={"path": flashback.path, "note_id": flashback.note_id, "days": flashback.days},
        )
        try:
            self._transactor.record(event, LOCK_SECONDS)
        except MemexError:
            return False
        return True

    def _follow(self) -> dict[_Pair, None]:
        """Take in what the journal got since; return the pairs that are not in it."""
        if self._others is None:
            kept = json.loads(self._catalogue.get_state(STATE) or "[]")
            self._others = {_Pair(*pair): None for pair in kept}
        journal = self._transactor.stores.journal
        sizes = journal.find_sizes()
        if sizes != self._read:
            for event in journal.read_kind(KIND, self._read):
                note = event.details.get("note_id") or event.details.get("path")
                self._journalled.setdefault(_Pair(str(event.note_id or event.path), str(note)))
            self._read = sizes
        return self._others


class Flashbacks:
    """Finds flashbacks and remembers them."""

    def __init__(
        self,
        *,
        settings: FlashbackSettings,
        catalogue: Catalogue,
        nearby: Nearby,
        standing: Standing,
        surfaced: Surfaced,
        thresholds: Callable[[], Thresholds],
        clock: Callable[[], datetime],
        may_write: bool,
    ) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._nearby = nearby
        self._standing = standing
        self.surfaced = surfaced
        self._thresholds = thresholds
        self._clock = clock
        self._may_write = may_write

    def begin(self, anchor: NoteRecord, *, meaning: bool) -> Callable[[], tuple[Flashback, ...]]:
        """Ask what lies near a note, by `meaning` if it may be; return what waits and does as `find`."""
        if self._settings.limit == 0:
            return lambda: ()
        standings = self._standing.find()
        distance = self._settings.find_distance(self._thresholds())
        wait = self._nearby.begin_near_note(
            anchor.path, len(standings.snapshot.notes), meaning=meaning, below=distance
        )
        return lambda: self._choose(anchor, wait(), standings, distance)

    def find(self, anchor: NoteRecord, near: Near) -> tuple[Flashback, ...]:
        """Return the flashbacks of a note that `near` lies around, and remember them."""
        if self._settings.limit == 0:
            return ()
        return self._choose(anchor, near, self._standing.find(), self._settings.find_distance(self._thresholds()))

    def _choose(
        self, anchor: NoteRecord, near: Near, standings: Standings, distance: float
    ) -> tuple[Flashback, ...]:
        if not near.hits:
            return ()
        rows = (*self._catalogue.find_links(anchor.path), *self._catalogue.find_backlinks(anchor.path))
        found = find_flashbacks(
            anchor,
            near.hits,
            standings.snapshot.notes,
            self._settings,
            distance=distance if near.measured else None,
            linked={path for row in rows for path in (row.source, row.path) if path is not None},
            superseded={path for path, v in standings.fallen.items() if v.status == "superseded"},
            today=self._clock().date(),
        )
        if found:
            self.surfaced.remember(anchor, found, may_write=self._may_write)
        return found


def _key(note: NoteRecord | Flashback) -> str:
    return note.path if note.note_id is None else str(note.note_id)


def _resolve(snapshot: Snapshot, name: str) -> NoteRecord | None:
    number = parse_number(name)
    return snapshot.notes.get(name) or (None if number is None else snapshot.by_id.get(number))
