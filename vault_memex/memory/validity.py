"""Whether a note still holds."""

from __future__ import annotations

from collections.abc import Iterable

from vault_memex.core.dates import find_period
from vault_memex.core.snapshot import NoteRecord


def check_holds(note: NoteRecord, now: str) -> bool:
    """Return whether the note is neither superseded nor past its `valid_until` (a date holds to its end)."""
    if note.properties.get("superseded_by"):
        return False
    until = note.properties.get("valid_until")
    ends = find_period(until) if isinstance(until, str) else None
    present = find_period(now)
    return ends is None or present is None or present.start < ends.end


def find_expired(notes: Iterable[NoteRecord], now: str) -> frozenset[str]:
    """Return the paths of the notes that no longer hold."""
    return frozenset(note.path for note in notes if not check_holds(note, now))
