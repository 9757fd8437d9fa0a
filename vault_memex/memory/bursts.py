"""Subjects that are back: tags in use again after a long silence."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import name_key
from vault_memex.memory.days import find_day
from vault_memex.memory.signals import Signal, SignalSettings, is_source

_DAY = timedelta(days=1)


def find_tag_bursts(snapshot: Snapshot, settings: SignalSettings, today: date) -> Iterator[Signal]:
    """Yield tags that are back after a long silence, in order. A new tag and a steady one are none."""
    return TagDays(snapshot).find_bursts(settings, today)


class TagDays:
    """On which days the notes of each tag were made. One thread at a time may use it.

    To make it, all notes are looked at; to follow a change, only those that changed.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._at: Snapshot | None = None
        self._days: dict[str, list[tuple[date, str]]] = {}  # by tag: (day, path), in order
        self.follow(snapshot)

    def follow(self, snapshot: Snapshot) -> None:
        """Take in what another snapshot has changed."""
        changes = snapshot.find_changes(self._at)
        self._at = snapshot
        for note in changes.before:
            for tag, dated in _find_dated(note):
                days = self._days[tag]
                days.pop(bisect_left(days, dated))
                if not days:
                    del self._days[tag]
        for note in changes.after:
            for tag, dated in _find_dated(note):
                insort(self._days.setdefault(tag, []), dated)

    def find_bursts(
        self, settings: SignalSettings, today: date, tags: Iterable[str] | None = None
    ) -> Iterator[Signal]:
        """Yield tags that are back after a long silence, in order; with `tags`, only of these."""
        keys = self._days.keys() if tags is None else {name_key(tag) for tag in tags} & self._days.keys()
        start = today - timedelta(days=settings.burst_window)
        for tag in sorted(keys - settings.ignored_tags):
            days = self._days[tag]
            first = bisect_left(days, (start + _DAY, ""))
            recent = days[first : bisect_left(days, (today + _DAY, ""))]
            if len(recent) < settings.burst_notes or first == 0:
                continue
            earlier, path = days[first - 1]
            silence = (recent[0][0] - earlier).days
            if silence >= settings.burst_silence:
                many = f"{len(recent)} notes in {settings.burst_window} days"
                reason = f"#{tag} is back: {many}, after {silence} without."
                notes = (*(path for _, path in recent), path)
                yield Signal("tag_burst", ((f"{tag}|{earlier}",),), notes, reason, tag)


def _find_dated(note: NoteRecord) -> Iterator[tuple[str, tuple[date, str]]]:
    """Yield each tag of a note with its day; none for a note that is no source or has no day."""
    created = find_day(note.created) if note.tags and is_source(note) else None
    if created is not None:
        for tag in {name_key(tag) for tag in note.tags}:
            yield tag, (created, note.path)
