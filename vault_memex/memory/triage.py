"""What the person did with each signal, and how a new run of detection meets it.

A signal that was dismissed never comes back. A snoozed one does, on its day. Numbers are never used again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.errors import InvalidArgument, NotFound
from vault_memex.memory.dangling import find_dismissed_class
from vault_memex.memory.signals import (
    SIGNAL_KINDS,
    Detection,
    Signal,
    SignalKind,
    find_identities,
    signal_key,
)

SignalStatus = Literal["new", "snoozed", "dismissed", "minted"]
STATUSES: tuple[SignalStatus, ...] = ("new", "snoozed", "dismissed", "minted")
TRIAGE_STATUSES: tuple[SignalStatus, ...] = ("new", "snoozed", "dismissed")  # what a tool may set

SNOOZE_DAYS = 30
EVERY_LINK = "every link"  # detail of the row that dismisses all dangling links of a note


@dataclass(frozen=True, slots=True)
class NoteRef:
    """A note as a table names it: what is left when the note goes."""

    path: str
    note_id: int | None
    title: str


@dataclass(frozen=True, slots=True)
class SignalRow:
    """One signal with its number and what was decided about it."""

    number: int
    key: str
    kind: SignalKind
    status: SignalStatus
    notes: tuple[NoteRef, ...]
    reason: str
    found: date
    until: date | None = None  # of a snoozed one: the day on which it is new again
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SignalTable:
    """All signals, by number ascending."""

    rows: tuple[SignalRow, ...] = ()
    following: int = 1  # the next number

    def get_row(self, number: int) -> SignalRow:
        """Return a signal; raises NotFound."""
        for row in self.rows:
            if row.number == number:
                return row
        raise NotFound(f"There is no signal {number}. List them with `insights`.", signal=number)

    def find_rows(
        self, status: SignalStatus | None = "new", kind: SignalKind | None = None
    ) -> tuple[SignalRow, ...]:
        """Return the signals of a status and kind (None: any), newest first."""
        found = [r for r in self.rows if status in (None, r.status) and kind in (None, r.kind)]
        return tuple(sorted(found, key=lambda r: (r.found, r.number), reverse=True))

    def count_new(self) -> int:
        """Return how many wait."""
        return sum(row.status == "new" for row in self.rows)


def merge_signals(table: SignalTable, detection: Detection, snapshot: Snapshot, today: date) -> SignalTable:
    """Return the table after a run. Running again on the same changes nothing.

    Found again, a row keeps number and status. A new one whose cause is gone is removed, but only of the kinds
    that this run looked for; one that was decided stays. Nothing is added that a dismissal of its note covers.
    """
    rows = [_wake(row, today) for row in table.rows]
    covered = _find_covered(rows, snapshot)
    matches = _match(rows, detection.signals, snapshot)
    kept: list[SignalRow] = []
    for place, row in enumerate(rows):
        match = matches.get(place)
        if match is not None:
            signal, key = match
            refs = _find_refs(signal, snapshot)
            kept.append(replace(row, key=key, notes=refs, reason=signal.reason, detail=signal.detail))
        elif row.status != "new" or row.kind not in detection.kinds:
            kept.append(row)
    known = {id(signal) for signal, _ in matches.values()}
    following = table.following
    for signal in detection.signals:
        if id(signal) in known or (signal.kind == "dangling_link" and signal.notes[0] in covered):
            continue
        refs = _find_refs(signal, snapshot)
        kept.append(
            SignalRow(following, signal.key, signal.kind, "new", refs, signal.reason, today, detail=signal.detail)
        )
        following += 1
    return SignalTable(tuple(sorted(kept, key=lambda r: r.number)), following)


def _wake(row: SignalRow, today: date) -> SignalRow:
    if row.status != "snoozed":
        return row
    if row.until is None:  # the day was taken out of the table by hand
        return replace(row, until=today + timedelta(days=SNOOZE_DAYS))
    return replace(row, status="new", until=None) if row.until <= today else row


def _find_refs(signal: Signal, snapshot: Snapshot) -> tuple[NoteRef, ...]:
    notes = (snapshot.notes[path] for path in signal.notes if path in snapshot.notes)
    return tuple(NoteRef(note.path, note.note_id, note.title) for note in notes)


def _find_covered(rows: Iterable[SignalRow], snapshot: Snapshot) -> frozenset[str]:
    """Return the notes all of whose dangling links were dismissed."""
    keys = {row.key for row in rows if row.detail == EVERY_LINK and row.status == "dismissed"}
    if not keys:
        return frozenset()
    return frozenset(
        path
        for path, note in snapshot.notes.items()
        if any(signal_key("dangling_link", identity) in keys for identity in find_dismissed_class(note))
    )


def _match(
    rows: Sequence[SignalRow], signals: Sequence[Signal], snapshot: Snapshot
) -> Mapping[int, tuple[Signal, str]]:
    """Return, by place of the row, the signal that it is about and the key to store it by.

    A row is known by any anchor of the signal, and its key is brought to that anchor's best spelling (a path
    becomes a number). An arc whose anchor was deleted is known by the lowest note that is left of it.
    """
    by_key = {(row.kind, row.key): place for place, row in reversed(list(enumerate(rows)))}
    found: dict[int, tuple[Signal, str]] = {}
    waiting: list[Signal] = []
    for signal in signals:
        place, key = _find_row(signal, by_key, found)
        if place is None:
            waiting.append(signal)
        else:
            found[place] = (signal, key)
    orphans = _find_orphans(rows, snapshot, found)
    for signal in waiting:
        if signal.kind == "hidden_arc":
            place = next((p for path in signal.notes for p in orphans.get(path, ()) if p not in found), None)
            if place is not None:
                found[place] = (signal, signal.key)
    return found


def _find_row(
    signal: Signal, by_key: Mapping[tuple[SignalKind, str], int], taken: Collection[int]
) -> tuple[int | None, str]:
    for anchor in signal.anchors:
        for identity in anchor:
            place = by_key.get((signal.kind, signal_key(signal.kind, identity)))
            if place is not None and place not in taken:
                return place, signal_key(signal.kind, anchor[0])
    return None, ""


def _find_orphans(
    rows: Sequence[SignalRow], snapshot: Snapshot, taken: Collection[int]
) -> Mapping[str, tuple[int, ...]]:
    """Return, by the lowest note left of each, the rows of arcs whose anchor is no longer in the vault."""
    orphans: dict[str, tuple[int, ...]] = {}
    for place, row in enumerate(rows):
        if row.kind != "hidden_arc" or place in taken:
            continue
        left = [note for ref in row.notes if (note := _find_note(ref, snapshot)) is not None]
        if any(row.key == signal_key("hidden_arc", i) for note in left for i in find_identities(note)):
            continue
        if left:
            lowest = min(left, key=lambda n: (n.note_id is None, n.note_id or 0, n.path))
            orphans[lowest.path] = (*orphans.get(lowest.path, ()), place)
    return orphans


def _find_note(ref: NoteRef, snapshot: Snapshot) -> NoteRecord | None:
    note = snapshot.by_id.get(ref.note_id) if ref.note_id is not None else None
    return note or snapshot.notes.get(ref.path)


def set_status(
    table: SignalTable, number: int, status: str, today: date, until: date | None = None
) -> SignalTable:
    """Return the table with one signal decided: new, snoozed (until a day, by default in 30 days) or dismissed."""
    row = table.get_row(number)
    if status not in TRIAGE_STATUSES:
        raise InvalidArgument("status", f"status = {status!r}: write one of {', '.join(TRIAGE_STATUSES)}.")
    if until is not None and (status != "snoozed" or until <= today):
        raise InvalidArgument("until", "until is a day after today, and only for status snoozed.")
    if row.detail == EVERY_LINK and status != "dismissed":  # what it covers is found again by the next run
        return replace(table, rows=tuple(r for r in table.rows if r.number != number))
    day = (until or today + timedelta(days=SNOOZE_DAYS)) if status == "snoozed" else None
    return _with_row(table, replace(row, status=_checked(status), until=day))


def _checked(status: str) -> SignalStatus:
    return next(known for known in STATUSES if known == status)


def mark_minted(table: SignalTable, number: int) -> SignalTable:
    """Return the table with a signal that became an inference."""
    return _with_row(table, replace(table.get_row(number), status="minted", until=None))


def _with_row(table: SignalTable, row: SignalRow) -> SignalTable:
    return replace(table, rows=tuple(row if r.number == row.number else r for r in table.rows))


def dismiss_links(table: SignalTable, number: int, snapshot: Snapshot, today: date) -> SignalTable:
    """Return the table with all dangling links of a note dismissed, given one of them: present and future ones."""
    row = table.get_row(number)
    note = _find_note(row.notes[0], snapshot) if row.kind == "dangling_link" and row.notes else None
    if note is None:
        raise InvalidArgument("scope", "scope: note is for a dangling_link whose note is still there.")
    rows = tuple(
        replace(r, status="dismissed", until=None)
        if r.kind == "dangling_link" and r.status in TRIAGE_STATUSES and _is_about(r, note, snapshot)
        else r
        for r in table.rows
    )
    key = signal_key("dangling_link", find_dismissed_class(note)[0])
    if any(r.key == key for r in rows):
        return replace(table, rows=rows)
    ref = NoteRef(note.path, note.note_id, note.title)
    reason = f"All unresolved links of {note.title!r} are meant to be so."
    every = SignalRow(table.following, key, "dangling_link", "dismissed", (ref,), reason, today, detail=EVERY_LINK)
    return SignalTable((*rows, every), table.following + 1)


def _is_about(row: SignalRow, note: NoteRecord, snapshot: Snapshot) -> bool:
    return bool(row.notes) and _find_note(row.notes[0], snapshot) is note


def choose_hint(table: SignalTable, note: NoteRecord) -> SignalRow | None:
    """Return the one new signal to offer after a write to a note: the weightiest kind, then the most evidence."""
    about = [row for row in table.rows if row.status == "new" and any(_is_same(ref, note) for ref in row.notes)]
    return min(about, key=lambda r: (SIGNAL_KINDS.index(r.kind), -len(r.notes), r.number), default=None)


def _is_same(ref: NoteRef, note: NoteRecord) -> bool:
    return ref.path == note.path or (ref.note_id is not None and ref.note_id == note.note_id)
