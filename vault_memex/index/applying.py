"""Notes as they are read into catalogue batches: moves recognised, newer writes of others left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vault_memex.core.changes import Signature
from vault_memex.index.diff import Identity, MoveFinder
from vault_memex.index.reading import Unread
from vault_memex.index.workers import Outcome
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.indexed import Batch, IndexedNote, Touch

BATCH_NOTES = 200  # a transaction of some 50 ms, so that a tool's write never waits long
BATCH_CHARS = 4_000_000


@dataclass(slots=True)
class PassCounts:
    """What a pass has done so far."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    touched: int = 0
    busy: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


class PassStopped(Exception):
    """The program ends in the middle of a pass."""


class Applier:
    """One pass: `read` what was found, then `finish` with what is to go."""

    def __init__(
        self,
        catalogue: Catalogue,
        known: Mapping[str, Signature],
        gone: Sequence[str],
        report: Callable[[int], None] | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.counts = PassCounts()
        self._catalogue = catalogue
        self._known = known
        self._gone = list(gone)
        identities = catalogue.get_revisions(gone) if gone else {}
        self._moves = MoveFinder(
            {
                path: Identity(found.revision, found.own_id, known[path].size, known[path].inode)
                for path, found in identities.items()
            }
        )
        self._moved: set[str] = set()
        self._report = report
        self._stopped = stopped
        self._done = 0
        self._upserts: list[IndexedNote] = []
        self._touches: list[Touch] = []
        self._new_moves: list[tuple[str, str]] = []
        self._chars = 0

    def read(self, readings: Iterable[Outcome]) -> None:
        """Store the readings in batches. Raises PassStopped, which loses nothing: the next pass reads the rest."""
        for reading in readings:
            if self._stopped():
                raise PassStopped
            self._done += 1
            if isinstance(reading, Unread):
                self._note_unread(reading)
            elif isinstance(reading, Touch):
                self._touches.append(reading)
            else:
                self._take(reading)
            if len(self._upserts) + len(self._touches) >= BATCH_NOTES or self._chars > BATCH_CHARS:
                self._flush(Batch())
        if self._report and self._done:
            self._report(self._done)

    def find_unmoved(self) -> list[str]:
        """Return the gone paths that turned up nowhere else."""
        return [path for path in self._gone if path not in self._moved]

    def finish(self, deletes: Sequence[str], attachments: Sequence[str]) -> None:
        """Store the rest, with the deletes and the new attachments, in one transaction."""
        self._flush(Batch(deletes=deletes, attachments=attachments))

    def _take(self, note: IndexedNote) -> None:
        self._upserts.append(note)
        self._chars += note.chars
        if self._known.get(note.path, _UNREAD) != _UNREAD:
            return
        identity = Identity(note.revision, note.own_id, note.signature.size, note.signature.inode)
        old = self._moves.find_old(note.path, identity)
        if old is not None:
            self._moved.add(old)
            self._new_moves.append((old, note.path))

    def _note_unread(self, reading: Unread) -> None:
        if reading.reason == "busy":
            self.counts.busy.append(reading.path)
        elif reading.reason == "gone":
            # Seen by the scan and gone since: an announced name must not stay behind.
            if self._known.get(reading.path) is not None:
                self._gone.append(reading.path)
        else:
            self.counts.unreadable.append(reading.path)

    def _flush(self, last: Batch) -> None:
        batch = Batch(
            self._upserts, self._touches, last.attachments, last.deletes, self._new_moves, expected=self._known
        )
        if batch:
            self._count(batch, set(self._catalogue.apply(batch).skipped))
        self._upserts, self._touches, self._new_moves, self._chars = [], [], [], 0
        if self._report and self._done:
            self._report(self._done)

    def _count(self, batch: Batch, skipped: set[str]) -> None:
        counts = self.counts
        moved = [move for move in batch.moves if skipped.isdisjoint(move)]
        targets = {new for _, new in moved}
        for note in batch.upserts:
            if note.path not in skipped and note.path not in targets:
                known = self._known.get(note.path, _UNREAD) != _UNREAD
                (counts.changed if known else counts.added).append(note.path)
        counts.moved += moved
        counts.removed += [path for path in batch.deletes if path not in skipped]
        counts.touched += sum(touch.path not in skipped for touch in batch.touches)


_UNREAD = Signature(0, 0, 0, 0)
