"""The journal: one event a line in `.memex/journal/YYYY-MM.jsonl`, appended, never rewritten."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from vault_memex.store.appending import append_lines, cut_torn_end

KINDS = {
    "created": "added",
    "merged": "changed",
}  # how a change's operation is called in the journal, if otherwise
_END = 256  # bytes that tell whether a file is the one that was read, only longer
_ID = re.compile(rb'^\{"id":(\d+),', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileState:
    """What an event did to one file. `before` None: it was not there; `after` None: it is gone."""

    path: str
    from_path: str | None
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class JournalEvent:
    """One thing that happened. Revisions name file contents; the undo store has them for 30 days."""

    id: int
    at: str  # UTC, as render_moment writes it
    kind: str  # added, changed, renamed, deleted, restored, submitted, edited_outside, ...
    op: str  # what the change called itself
    path: str
    title: str
    actor: str
    note_id: int | None = None
    from_path: str | None = None
    reason: str = ""
    before: str | None = None
    after: str | None = None
    files: tuple[FileState, ...] = ()  # only when the event is about more than `path`
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def states(self) -> tuple[FileState, ...]:
        """What happened to each file that the event is about."""
        return self.files or (FileState(self.path, self.from_path, self.before, self.after),)


def render_moment(moment: datetime) -> str:
    """Return the moment in UTC as the journal writes it: `2026-11-30T02:05:00.123Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def render_event(event: JournalEvent) -> bytes:
    """Return the event's line, keys always in the same order."""
    values: dict[str, Any] = {
        "id": event.id,
        "at": event.at,
        "kind": event.kind,
        "op": event.op,
        "note_id": event.note_id,
        "path": event.path,
        "from_path": event.from_path,
        "actor": event.actor,
        "title": event.title,
        "reason": event.reason,
        "before": event.before,
        "after": event.after,
    }
    if event.files:
        values["files"] = [[f.path, f.from_path, f.before, f.after] for f in event.files]
    if event.details:
        values["details"] = dict(event.details)
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", errors="backslashreplace") + b"\n"


def parse_event(line: bytes) -> JournalEvent | None:
    """Return the event of a line, or None when it is not one. Keys a newer version added are dropped."""
    try:
        raw = json.loads(line)
        files = tuple(FileState(*entry) for entry in raw.get("files", ()))
        return JournalEvent(
            id=int(raw["id"]),
            at=str(raw["at"]),
            kind=str(raw["kind"]),
            op=str(raw["op"]),
            path=str(raw["path"]),
            title=str(raw["title"]),
            actor=str(raw["actor"]),
            note_id=raw.get("note_id"),
            from_path=raw.get("from_path"),
            reason=raw.get("reason") or "",
            before=raw.get("before"),
            after=raw.get("after"),
            files=files,
            details=raw.get("details") or {},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


class JournalMark(NamedTuple):
    """How far a month's file goes, and how it ends there."""

    size: int  # in bytes
    end: bytes


class Journal:
    """The events of a vault. Appending needs the vault lock; reading needs nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults: tuple[str, ...] = ()  # lines the last read skipped, by file and number
        self._highest = 0
        self._sizes: dict[str, int] = {}  # bytes of whole lines seen in each file

    def next_id(self) -> int:
        """Return one more than the highest number ever used here."""
        for file in self._months():
            size = file.stat().st_size
            seen = self._sizes.get(file.name, 0)
            if size == seen:
                continue
            data = file.read_bytes()
            start = data.rfind(b"\n", 0, seen) + 1 if size > seen else 0
            self._highest = max([self._highest, *(int(n) for n in _ID.findall(data[start:]))])
            self._sizes[file.name] = data.rfind(b"\n") + 1
        return self._highest + 1

    def append(self, event: JournalEvent) -> tuple[Path, int]:
        """Append an event, durable; return its file and the file's length afterwards."""
        return self.append_all([event])

    def append_all(self, events: Sequence[JournalEvent]) -> tuple[Path, int]:
        """Append events of one month together, durable; return their file and the file's length afterwards."""
        file = self.folder / f"{events[0].at[:7]}.jsonl"
        known = self._sizes.get(file.name, 0)
        if known != _size_of(file):  # not what we last wrote or read: it may end torn
            cut_torn_end(file, is_whole=lambda line: parse_event(line) is not None)
            known = -1
        size = append_lines(file, b"".join(map(render_event, events)))
        if known >= 0:
            self._sizes[file.name] = size
            self._highest = max(self._highest, *(event.id for event in events))
        return file, size

    def retract(self, event: JournalEvent) -> None:
        """Take back the last line, if it is the event's: of a write that came to nothing and was never answered."""
        file, line = self.folder / f"{event.at[:7]}.jsonl", render_event(event)
        size = _size_of(file) - len(line)
        if size < 0:
            return
        with file.open("r+b") as stream:
            stream.seek(size)
            if stream.read() == line:
                stream.truncate(size)
                os.fsync(stream.fileno())
        self._sizes.pop(file.name, None)

    def read(self, since: datetime | None = None, until: datetime | None = None) -> tuple[JournalEvent, ...]:
        """Return events from `since` (inclusive) to `until` (exclusive), oldest first."""
        first = render_moment(since) if since else ""
        last = render_moment(until) if until else "9"
        faults: list[str] = []
        events = [
            event
            for file in self._months()
            if first[:7] <= file.stem and file.stem <= last[:7]
            for event in _read_month(file, faults)
            if first <= event.at < last
        ]
        self.faults = tuple(faults)
        return tuple(sorted(events, key=lambda e: (e.at, e.id)))

    def find_sizes(self) -> dict[str, int]:
        """Return the size of each month's file in bytes, by name; nothing before the first write."""
        return {file.name: _size_of(file) for file in self._months()}

    def read_new(self, seen: Mapping[str, int]) -> Iterator[JournalEvent]:
        """Yield the events after the bytes seen in each file, oldest file first.

        A file that got shorter is read from its start.
        """
        return self._read_marked(b"", seen)

    def read_kind(self, kind: str, seen: Mapping[str, int]) -> Iterator[JournalEvent]:
        """Yield the events of a kind in the same way."""
        mark = f'"kind":{json.dumps(kind)}'.encode()
        return (event for event in self._read_marked(mark, seen) if event.kind == kind)

    def find_marks(self) -> dict[str, JournalMark]:
        """Return how far each month's file goes, by name."""
        return {file.name: _mark(file, _size_of(file)) for file in self._months()}

    def is_continued(self, marks: Mapping[str, JournalMark]) -> bool:
        """Return whether every file still is as it was up to its mark; a merge or a hand may put lines in between."""
        return all(_mark(self.folder / name, mark.size) == mark for name, mark in marks.items())

    def read_with(self, detail: str, seen: Mapping[str, int]) -> Iterator[JournalEvent]:
        """Yield the events that have a detail of this name, in the same way."""
        return (event for event in self._read_marked(f'"{detail}":'.encode(), seen) if detail in event.details)

    def _read_marked(self, mark: bytes, seen: Mapping[str, int]) -> Iterator[JournalEvent]:
        for file in self._months():
            start = seen.get(file.name, 0)
            with file.open("rb") as lines:
                lines.seek(start if start <= _size_of(file) else 0)
                for line in lines:
                    event = parse_event(line) if mark in line else None
                    if event is not None:
                        yield event

    def find_writer(self, path: str, revision: str) -> str | None:
        """Return who left a file with this content last; None when no event did."""
        mark = json.dumps(revision).encode()
        for file in reversed(self._months()):
            data = file.read_bytes()
            at = data.rfind(mark)
            while at >= 0:
                start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
                event = parse_event(data[start : end if end >= 0 else len(data)])
                if event is not None and _leaves(event, path, revision):
                    return event.actor
                at = data.rfind(mark, 0, start)
        return None

    def find_event(self, event_id: int) -> JournalEvent | None:
        """Return the event with this number, the latest if two machines used it."""
        for file in reversed(self._months()):
            for event in reversed(list(_read_month(file, []))):
                if event.id == event_id:
                    return event
        return None

    def _months(self) -> Sequence[Path]:
        return sorted(f for f in self.folder.glob("????-??.jsonl") if f.is_file())


def _leaves(event: JournalEvent, path: str, revision: str) -> bool:
    """Whether an event left this file with this content."""
    return any(file.path == path and file.after == revision for file in event.states)


def _mark(file: Path, size: int) -> JournalMark:
    start = max(0, size - _END)
    try:
        with file.open("rb") as stream:
            stream.seek(start)
            end = stream.read(size - start)
    except FileNotFoundError:
        return JournalMark(0, b"")
    return JournalMark(start + len(end), end)


def _size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _read_month(file: Path, faults: list[str]) -> Iterator[JournalEvent]:
    for number, line in enumerate(file.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        event = parse_event(line)
        if event is None:
            faults.append(f"{file.name} line {number} is not an event; skipped")
        else:
            yield event
