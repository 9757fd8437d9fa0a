"""What the journal knows of each note's care, followed as it grows; the pure part is `memory/looks.py`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from vault_memex.core.snapshot import NoteRecord
from vault_memex.memory.looks import NEVER, Change, NoteLog, Step, fold
from vault_memex.memory.runs import RUN_KINDS, RunRecord, parse_run
from vault_memex.services.actor import ROLE
from vault_memex.services.edit_files import RESERVED, TEXTS
from vault_memex.services.flashbacks import KIND as FLASHBACK
from vault_memex.services.inbox import DETAIL, SUBMITTED
from vault_memex.store.journal import FileState, Journal, JournalEvent, JournalMark
from vault_memex.store.quiet import without_collections

Key = int | str
_RELINKING = frozenset(("renamed", "deleted", "restored", "approved"))  # other notes' links follow, no more


@dataclass(frozen=True, slots=True)
class Outing:
    """A run summary as the queue needs it."""

    at: str
    by: str
    text: str


class NoteLogs:
    """The log of each note, by its number or, while it has none, by its path. Any thread may ask."""

    def __init__(self, journal: Journal, number_of: Callable[[str], int | None]) -> None:
        self._journal = journal
        self._number_of = number_of
        self._lock = threading.Lock()
        self._marks: Mapping[str, JournalMark] = {}
        self._logs: dict[Key, NoteLog] = {}
        self._by_curators: set[int] = set()  # proposals
        self._last_run: Outing | None = None

    def follow(self) -> None:
        """Take in what the journal got since; all of it anew when it is not the one that was read, but longer."""
        with self._lock, without_collections():
            marks = self._journal.find_marks()
            while marks != self._marks:
                if not self._journal.is_continued(self._marks):
                    self._marks, self._last_run = {}, None
                    self._logs.clear()
                    self._by_curators.clear()
                events = list(self._journal.read_new({name: mark.size for name, mark in self._marks.items()}))
                now = self._journal.find_marks()
                if now == marks:  # else somebody writes this instant, and some may have been read already
                    self._fold(events)
                    self._marks = marks
                marks = now

    def _fold(self, events: Iterable[JournalEvent]) -> None:
        # Where git has merged two machines' journals, the lines are not in order of time.
        for event in sorted(events, key=lambda event: (event.at, event.id)):
            for key, step in self._read(event):
                self._logs[key] = fold(self._logs.get(key, NEVER), step)

    def find(self, note: NoteRecord) -> NoteLog:
        """Return what is known of a note, as last followed."""
        known = self._logs.get(note.note_id) if note.note_id is not None else None
        return known or self._logs.get(note.path, NEVER)

    @property
    def last_run(self) -> Outing | None:
        """The last run summary of anybody."""
        return self._last_run

    def _read(self, event: JournalEvent) -> Iterator[tuple[Key, Step]]:
        """Yield what an event says about which notes."""
        if event.kind == FLASHBACK:
            return
        if event.kind == "run_summary":
            run = parse_run(event.kind, event.actor, event.at, event.details)
            if run is not None:
                yield from self._read_run(run)
        elif event.kind in RUN_KINDS:
            return  # about no note's care
        elif event.kind == SUBMITTED:
            yield from self._read_submission(event)
        elif event.kind == "flag_resolved":
            yield self._key_of(event), _build_step(event, curator=True, looked=True)
        else:
            yield from self._read_change(event)

    def _read_run(self, run: RunRecord) -> Iterator[tuple[Key, Step]]:
        self._last_run = Outing(run.at, run.by, run.text)
        for one in run.examined:
            said = ": ".join(filter(None, (one.checked, one.found)))
            yield (
                one.note_id or one.path,
                Step(
                    run.at,
                    run.by,
                    said,
                    curator=True,
                    looked=True,
                    worked=one.worked_on,
                    seen=(one.revision, one.body, one.updated),
                ),
            )

    def _read_submission(self, event: JournalEvent) -> Iterator[tuple[Key, Step]]:
        number = event.details.get(DETAIL)
        if _is_curator(event) and isinstance(number, int):
            self._by_curators.add(number)
            yield self._key_of(event), _build_step(event, curator=True, looked=True)

    def _read_change(self, event: JournalEvent) -> Iterator[tuple[Key, Step]]:
        curator = _is_curator(event)
        by_curator = curator or event.details.get(DETAIL) in self._by_curators  # which the person approved
        texts = event.details.get(TEXTS)
        for file in event.states:
            if file.path.startswith(RESERVED) or not file.path.casefold().endswith(".md"):
                continue
            main = file.path == event.path
            before, after, updated = _find_texts(texts, file)
            mechanical = file.before == file.after or (not main and event.kind in _RELINKING)
            change = Change(file.before, file.after, before, after, updated, mechanical)
            key = self._key_of(event) if main else self._number_of(file.path) or file.path
            yield key, _build_step(event, curator=by_curator, looked=curator and main, change=change)

    def _key_of(self, event: JournalEvent) -> Key:
        return event.note_id or self._number_of(event.path) or event.path


def _is_curator(event: JournalEvent) -> bool:
    return event.details.get(ROLE) == "curator"


def _build_step(event: JournalEvent, *, curator: bool, looked: bool, change: Change | None = None) -> Step:
    return Step(event.at, event.actor, event.title, curator, looked, worked=looked, change=change)


def _find_texts(texts: object, file: FileState) -> tuple[str, str, str]:
    """Return what names a note's text before and after, and when it had changed; empty where the journal is silent."""
    found = texts.get(file.path) or texts.get(file.from_path) if isinstance(texts, Mapping) else None
    if isinstance(found, list) and len(found) == 3:
        return str(found[0]), str(found[1]), str(found[2])
    return "", "", ""
