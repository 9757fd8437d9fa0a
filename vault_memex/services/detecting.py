"""Looking for signals: what detection needs from catalogue and meaning, and the part of it about one note."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from zlib import crc32

from vault_memex.config import Config
from vault_memex.core.markdown import parse_note
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import name_key, stem_of, without_md
from vault_memex.index.meaning import LONG_SECONDS, Meaning, MeaningUnavailable, NearAnswer, NearQuestion
from vault_memex.memory.bursts import TagDays
from vault_memex.memory.dangling import NameIndex, find_dangling_links
from vault_memex.memory.days import find_day
from vault_memex.memory.detection import detect_signals
from vault_memex.memory.signals import (
    Detection,
    Signal,
    SignalSettings,
    build_fingerprint,
    find_stale_states,
    is_record,
    is_source,
    render_knobs,
)
from vault_memex.services.distances import Distances
from vault_memex.services.standing import Standing
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.trash import Trash

NEAR = 64  # notes around a new one among which a state may be that it overtakes
MOST_STATES = 3
STATE_NEAR = 250
NEAREST_PAIRS = 5  # of each note
STATE_SECONDS = 0.05  # a write waits no longer for what is near a state: the next full run finds the same


@dataclass(frozen=True, slots=True)
class Link:
    """A link that leads nowhere."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a run would look at."""

    snapshot: Snapshot
    unresolved: tuple[Link, ...]
    trashed: Mapping[str, str]  # by the key of a name, what to write to restore the note
    settings: SignalSettings
    today: date
    fingerprint: str  # equal: a run would find the same


@dataclass(frozen=True, slots=True)
class Looked:
    """What meaning said, or why it said nothing."""

    near: NearAnswer | None
    unavailable: str = ""


@dataclass(frozen=True, slots=True)
class PairsLooked:
    """What meaning said of pairs of notes, or why it said nothing."""

    distance: float  # up to which was looked
    pairs: tuple[tuple[str, str, float], ...] = ()  # nearest first
    unsettled: int = 0  # passages that have no vector yet
    unavailable: str = ""


class Detecting:
    """Runs the detectors over one vault."""

    def __init__(
        self,
        *,
        config: Config,
        catalogue: Catalogue,
        trash: Trash,
        meaning: Meaning,
        distances: Distances,
        standing: Standing,
        snapshot: Callable[[], Snapshot],
        clock: Callable[[], datetime],
    ) -> None:
        self._config = config
        self._catalogue = catalogue
        self._trash = trash
        self._meaning = meaning
        self._distances = distances
        self._standing = standing
        self._snapshot = snapshot
        self._clock = clock
        self._following = threading.Lock()  # for the two below; made when a write first needs them
        self._tag_days: TagDays | None = None
        self._names: NameIndex | None = None

    def today(self) -> date:
        """Return the day on which signals are looked for."""
        return self._clock().date()

    def find_mark(self) -> str:
        """Return what tells cheaply that nothing at all happened since; another mark may still mean the same."""
        trash = crc32(repr(self._find_trashed()).encode())
        return (
            f"{self._catalogue.revision} {self.today()} {self._find_vectors()} {trash:x} "
            f"{render_knobs(self._settings())}"
        )

    def prepare(self) -> Prepared:
        """Return what a run would look at now."""
        snapshot, today, settings = self._snapshot(), self.today(), self._settings()
        unresolved = tuple(
            Link(source, group.target) for group in self._catalogue.find_unresolved() for source in group.sources
        )
        pairs = [(link.source, link.target) for link in unresolved]
        trashed = self._find_trashed()
        fingerprint = build_fingerprint(
            snapshot, [*pairs, *trashed.items()], settings, self._find_vectors(), today
        )
        return Prepared(snapshot, unresolved, trashed, settings, today, fingerprint)

    def measure(self) -> None:
        """Have the distances between notes measured if that is due; without meaning they stay as they are."""
        try:
            self._distances.measure()
        except MeaningUnavailable:
            return

    def look(self, prepared: Prepared) -> Looked:
        """Ask meaning which notes are near each other."""
        notes = prepared.snapshot.notes
        question = _build_question(
            notes,
            prepared.settings,
            (path for path, note in notes.items() if not is_source(note) or not find_day(note.created)),
        )
        try:
            return Looked(self._meaning.neighbours(question, LONG_SECONDS))
        except MeaningUnavailable as error:
            return Looked(None, str(error))

    def look_for_pairs(self, distance: float | None, excluded: Collection[str]) -> PairsLooked:
        """Ask meaning which notes say nearly the same, up to a distance (default: that of duplicates).

        A note and the one that it amends are no duplicates.
        """
        thresholds = self._distances.find().thresholds
        asked = min(thresholds.duplicate if distance is None else distance, thresholds.near)
        question = _build_question(self._snapshot().notes, self._settings(), excluded)
        try:
            pairs = self._meaning.near_pairs(question, asked, NEAREST_PAIRS)
        except MeaningUnavailable as error:
            return PairsLooked(asked, unavailable=str(error))
        done, total = self._meaning.count_embedded(self._catalogue)
        amendments = self._standing.find().amendments.of.values()
        amended = {frozenset((one.path, one.amends)) for some in amendments for one in some}
        pairs = [pair for pair in pairs if frozenset(pair[:2]) not in amended]
        return PairsLooked(asked, tuple(pairs), total - done)

    def detect(self, prepared: Prepared, looked: Looked) -> Detection:
        """Return the signals."""
        return detect_signals(
            prepared.snapshot,
            prepared.unresolved,
            self._catalogue.load_linked_notes() if looked.near is not None else {},
            neighbours=looked.near,
            amendments=self._standing.find().amendments,
            settings=prepared.settings,
            today=prepared.today,
            trashed=prepared.trashed,
        )

    def _find_trashed(self) -> dict[str, str]:
        """Return the names of notes in the trash, by key, with what to write to restore each; the latest counts."""
        found = {}
        for stone in self._trash.find_tombstones(waiting_only=True):
            for name in (stone.title, stem_of(stone.path), without_md(stone.path)):
                found[name_key(name)] = str(stone.id) if stone.id is not None else shlex.quote(stone.file)
        return found

    def _settings(self) -> SignalSettings:
        return self._config.signals.with_calibration(self._distances.find())

    def _find_vectors(self) -> str:
        if not self._meaning.enabled:
            return ""
        done, total = self._meaning.count_embedded(self._catalogue)
        return f"{self._meaning.fingerprint} {done}/{total}"

    # -- about one note, while somebody waits for the answer to a write

    def detect_about(
        self, note: NoteRecord, near: Sequence[tuple[str, float]] | None = None, before: str = ""
    ) -> Detection:
        """Return the signals that a note just written may have made, without looking at the whole vault.

        `near` are the notes near it, where the caller knows them; links that were in its text `before` are not
        looked at. Threads are left to the next full run.
        """
        snapshot = self._snapshot()
        signals = [
            *self._find_bursts(note, snapshot),
            *self._find_dangling(note, snapshot, before),
            *self._find_overtaken(note, snapshot, near),
        ]
        return Detection(tuple(signals), frozenset())

    def _find_bursts(self, note: NoteRecord, snapshot: Snapshot) -> Iterator[Signal]:
        if not note.tags:
            return
        with self._following:
            if self._tag_days is None:
                self._tag_days = TagDays(snapshot)
            else:
                self._tag_days.follow(snapshot)
            found = list(self._tag_days.find_bursts(self._settings(), self.today(), note.tags))
        yield from (signal for signal in found if note.path in signal.notes)

    def _find_dangling(self, note: NoteRecord, snapshot: Snapshot, before: str) -> list[Signal]:
        links = [
            Link(note.path, without_md(row.target))
            for row in self._catalogue.find_links(note.path)
            if row.path is None and row.target
        ]
        if links and before:
            known = {name_key(without_md(link.target)) for link in parse_note(before).links}
            links = [link for link in links if name_key(link.target) not in known]
        if not links:
            return []
        with self._following:
            if self._names is None:
                self._names = NameIndex(snapshot)
            else:
                self._names.follow(snapshot)
            return list(find_dangling_links(snapshot, links, self._names, self._find_trashed()))

    def _find_overtaken(
        self, note: NoteRecord, snapshot: Snapshot, near: Sequence[tuple[str, float]] | None
    ) -> Iterator[Signal]:
        """Yield the states that the note, a record, is one too many against."""
        if not (is_source(note) and is_record(note)):
            return
        settings = self._settings()
        try:
            hits = self._meaning.near_of(note.path, NEAR, patience=0.0) if near is None else near
            states = [
                (path, distance)
                for path, distance in hits
                if distance < settings.stale_distance
                and (other := snapshot.notes.get(path)) is not None
                and other.layer == "state"
            ]
            asked = [
                (
                    path,
                    distance,
                    self._meaning.begin_near_of(
                        path, STATE_NEAR, below=settings.stale_distance, answer_within=STATE_SECONDS
                    ),
                )
                for path, distance in states[:MOST_STATES]
            ]
            for path, distance, wait in asked:
                yield from self._judge_state(snapshot, path, {**dict(wait()), note.path: distance}, settings)
        except MeaningUnavailable:
            return

    def _judge_state(
        self, snapshot: Snapshot, state: str, around: Mapping[str, float], settings: SignalSettings
    ) -> Iterator[Signal]:
        notes = {path: snapshot.notes[path] for path in (*around, state) if path in snapshot.notes}
        near = NearAnswer([], {state: sorted(around.items(), key=lambda hit: (hit[1], hit[0]))})
        amendments = self._standing.find().amendments
        for signal in find_stale_states(replace(snapshot, notes=notes), near, amendments, settings, self.today()):
            if signal.notes[0] == state:
                yield signal


def _build_question(
    notes: Mapping[str, NoteRecord], settings: SignalSettings, excluded: Iterable[str]
) -> NearQuestion:
    return NearQuestion(
        arc_distance=settings.arc_distance,
        state_distance=settings.stale_distance,
        states=tuple(path for path, note in notes.items() if is_source(note) and note.layer == "state"),
        excluded=frozenset(excluded),
    )
