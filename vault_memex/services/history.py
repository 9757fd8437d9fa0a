"""What changed: the journal of this program, and git commits and edits made outside it, as one stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from vault_memex.core.dates import parse_date
from vault_memex.core.snapshot import Snapshot
from vault_memex.memory.scope import Scope
from vault_memex.services.flashbacks import KIND as FLASHBACK
from vault_memex.services.reading import Reading
from vault_memex.store.git import Git
from vault_memex.store.git_log import find_outside_commits, find_uncommitted
from vault_memex.store.journal import FileState, Journal, JournalEvent, render_moment
from vault_memex.store.versions import Versions

DEFAULT_DAYS = 7
MOST_ROWS = 200
NO_GIT = "Edits made outside are not listed: they are read from git, and the vault is no git work tree."


@dataclass(frozen=True, slots=True)
class ChangesRequest:
    """What to look for; empty means not limited."""

    since: str = ""
    until: str = ""
    ref: str = ""
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One thing that happened to one note."""

    at: str
    kind: str  # added, changed, renamed, deleted, restored, ..., edited_outside
    path: str
    actor: str
    title: str = ""
    note_id: int | None = None
    from_path: str | None = None
    reason: str = ""
    event: int | None = None  # number in the journal
    commit: str | None = None  # of an edit made outside
    uncommitted: bool = False
    before: str | None = None  # file of the vault with the text before this change, where git keeps none


@dataclass(frozen=True, slots=True)
class ChangesAnswer:
    """Changes, newest first."""

    since: str
    total: int
    returned: int
    offset: int
    rows: tuple[ChangeRow, ...]
    notes: tuple[str, ...] = ()


class History:
    """Reads journal and git."""

    def __init__(
        self,
        *,
        journal: Journal,
        git: Git,
        reading: Reading,
        snapshot: Callable[[], Snapshot],
        clock: Callable[[], datetime],
        versions: Versions | None,
        scope: Scope,
    ) -> None:
        self._scope = scope
        self._versions = versions
        self._journal = journal
        self._git = git
        self._reading = reading
        self._snapshot = snapshot
        self._clock = clock

    def find_changes(self, request: ChangesRequest) -> ChangesAnswer:
        """Return changes since a moment (default: the last seven days), of all notes or of one."""
        since = _moment("since", request.since) or self._clock() - timedelta(days=DEFAULT_DAYS)
        until = _moment("until", request.until)
        path = self._reading.find_note(request.ref)[0].path if request.ref else None
        rows = [*self._journalled(since, until), *self._outside(since, until)]
        if path is not None:
            rows = [row for row in rows if path in (row.path, row.from_path)]
        rows.sort(key=lambda r: (r.at, r.event or 0), reverse=True)
        limit = max(1, min(request.limit, MOST_ROWS))
        page = tuple(rows[request.offset : request.offset + limit])
        notes = [f"limit set to {limit} (1-{MOST_ROWS})"] if limit != request.limit else []
        if self._git.mode() == "off":
            notes.append(NO_GIT)
        return ChangesAnswer(render_moment(since), len(rows), len(page), request.offset, page, tuple(notes))

    def _journalled(self, since: datetime, until: datetime | None) -> Iterator[ChangeRow]:
        kept: dict[int, tuple[int, ...]] = {}
        for event in self._journal.read(since, until):
            if event.kind == FLASHBACK:  # two notes that came up together; neither changed
                continue
            if not self._scope.holds(event.path):
                continue
            row, number = _row_of(event), event.note_id
            if not all(self._scope.holds(path) for path in _find_paths(event)):
                row = replace(row, from_path=None, title="", reason="")  # they may speak of what lies outside
            if self._versions is not None and number is not None:
                if number not in kept:
                    kept[number] = self._versions.find_events(number)
                if event.id in kept[number]:
                    row = replace(row, before=f".memex/history/{number}/{event.id}.md")
            yield row

    def _outside(self, since: datetime, until: datetime | None) -> Iterator[ChangeRow]:
        if self._git.mode() == "off":
            return
        numbers = {note.path: note.note_id for note in self._snapshot().notes.values()}
        for commit in find_outside_commits(self._git, since, until):
            for file in commit.files:
                if _is_note(file.path) and self._scope.holds(file.path):
                    yield ChangeRow(
                        at=commit.at,
                        kind=file.kind,
                        path=file.path,
                        actor="owner",
                        title=commit.subject if all(self._scope.holds(one.path) for one in commit.files) else "",
                        note_id=numbers.get(file.path),
                        from_path=self._seen(file.from_path),
                        commit=commit.commit[:12],
                    )
        if until is None:
            yield from self._uncommitted(numbers)

    def _seen(self, path: str | None) -> str | None:
        return path if path is not None and self._scope.holds(path) else None

    def _uncommitted(self, numbers: dict[str, int | None]) -> Iterator[ChangeRow]:
        notes = self._snapshot().notes
        now = render_moment(self._clock())
        files = [f for f in find_uncommitted(self._git) if _is_note(f.path) and self._scope.holds(f.path)]
        left = _find_left(self._journal.read()) if files else {}
        for file in files:
            record = notes.get(file.path)
            if file.path in left and left[file.path] == (record.revision if record else None):
                continue  # a write of this program whose commit is still to come: the journal tells it
            yield ChangeRow(
                at=record.updated if record and len(record.updated) > len("2026-01-01") else now,
                kind="edited_outside" if file.kind == "changed" else file.kind,
                path=file.path,
                actor="owner",
                note_id=numbers.get(file.path),
                from_path=self._seen(file.from_path),
                uncommitted=True,
            )


def _find_paths(event: JournalEvent) -> Iterator[str]:
    """Yield every path of a note that an event is about."""
    pairs = [(event.path, event.from_path), *((file.path, file.from_path) for file in event.files)]
    yield from (path for pair in pairs for path in pair if path is not None and _is_note(path))


def _find_left(events: Iterable[JournalEvent]) -> dict[str, str | None]:
    """Return the revision that the last event left of each file; None where it took the file away."""
    left: dict[str, str | None] = {}
    for event in events:
        if event.kind == FLASHBACK:  # changed nothing
            continue
        for file in event.files or (FileState(event.path, event.from_path, event.before, event.after),):
            if file.from_path is not None:
                left[file.from_path] = None
            left[file.path] = file.after
    return left


def _row_of(event: JournalEvent) -> ChangeRow:
    return ChangeRow(
        at=event.at,
        kind=event.kind,
        path=event.path,
        actor=event.actor,
        title=event.title,
        note_id=event.note_id,
        from_path=event.from_path,
        reason=event.reason,
        event=event.id,
    )


def _is_note(path: str) -> bool:
    return path.casefold().endswith(".md") and not path.startswith((".", "_memex/"))


def _moment(argument: str, text: str) -> datetime | None:
    if not text:
        return None
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=parse_date(text, argument).start)
