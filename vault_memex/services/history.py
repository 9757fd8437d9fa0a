"""What changed: the journal, and what was done outside this program as git or a comparison tells, as one stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from vault_memex.core.dates import parse_date
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import parse_number
from vault_memex.errors import InvalidArgument, NotFound
from vault_memex.memory.connections import parse_connections
from vault_memex.memory.journal_kinds import (
    CHANGE_KINDS,
    CURATION_KINDS,
    IMPORTED,
    KINDS,
    TIDYING_KINDS,
    find_shown_kind,
)
from vault_memex.memory.pairs import parse_pair
from vault_memex.memory.policy import check_curator
from vault_memex.memory.runs import RUN_KINDS
from vault_memex.memory.scope import Scope
from vault_memex.services.flashbacks import KIND as FLASHBACK
from vault_memex.services.inbox import DETAIL
from vault_memex.services.noticing import Noticing
from vault_memex.services.outside import EDITED, Outside, OutsideChange, is_note
from vault_memex.services.reading import OWNER, Reading
from vault_memex.services.reversing import find_states
from vault_memex.services.runs import read_runs
from vault_memex.store.journal import JournalEvent, render_moment
from vault_memex.store.transaction import Stores
from vault_memex.store.trash import Trash

DEFAULT_DAYS = 7
MOST_ROWS = 200
NOT_COMPARED = "Edits made outside are told from the first write here on, or from `vault-memex init` on."
_BEGINNING = datetime.fromtimestamp(0, UTC)
_ANOTHER = "\0"  # no path: what had the name before was another note


@dataclass(frozen=True, slots=True)
class ChangesRequest:
    """What to look for; empty means not limited."""

    since: str = ""
    until: str = ""
    ref: str = ""
    limit: int = 50
    offset: int = 0
    scope: str = ""  # curation: the history of tidying, from the beginning
    kind: str = ""
    precedent_only: bool = False  # the person's decisions that hold for like cases


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One thing that happened to one note."""

    at: str
    kind: str  # one of memory.journal_kinds.KINDS
    path: str
    actor: str
    title: str = ""
    note_id: int | None = None
    from_path: str | None = None
    reason: str = ""  # of a decision: the person's comment
    event: int | None = None  # number in the journal
    proposal: int | None = None  # that was filed or decided
    precedent: bool = False  # the comment holds for like cases
    text: str = ""  # of a run record
    mismatches: tuple[str, ...] = ()  # of a run summary with the journal
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


@dataclass(frozen=True, slots=True)
class _Told:
    """A row, and which notes it is about besides the one it names: by paths of that time, and by numbers."""

    row: ChangeRow
    paths: frozenset[str] = frozenset()
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The note that is asked about, as it is now or was last."""

    path: str
    number: int | None


class History:
    """Reads journal and git, for one connection."""

    def __init__(
        self,
        *,
        stores: Stores,
        outside: Outside,
        noticing: Noticing,
        reading: Reading,
        trash: Trash,
        snapshot: Callable[[], Snapshot],
        clock: Callable[[], datetime],
        scope: Scope,
        role: str,
    ) -> None:
        self._scope = scope
        self._role = role
        self._files = stores.files
        self._versions = stores.versions
        self._journal = stores.journal
        self._outside = outside
        self._noticing = noticing
        self._reading = reading
        self._trash = trash
        self._snapshot = snapshot
        self._clock = clock

    def find_changes(self, request: ChangesRequest) -> ChangesAnswer:
        """Return changes of all notes or of one, wherever it was then: of the last seven days unless told otherwise.

        The history of tidying and run records are for curators. Raises InvalidArgument for a kind that there is not.
        """
        tidying = request.scope == "curation" or request.precedent_only
        self._check(request, tidying=tidying)
        week = self._clock() - timedelta(days=DEFAULT_DAYS)
        since = _moment("since", request.since) or (_BEGINNING if tidying else week)
        until = _moment("until", request.until)
        wanted = self._find_wanted(request.ref) if request.ref else None
        told = [*self._find_journalled(since), *self._find_outside(since)]
        told.sort(key=lambda one: (one.row.at, one.row.event or 0), reverse=True)
        last = render_moment(until) if until else "9"
        found = (row for row in self._trace(told, wanted) if row.at < last)
        rows = self._choose(found, request, tidying=tidying)
        limit = max(1, min(request.limit, MOST_ROWS))
        page = tuple(rows[request.offset : request.offset + limit])
        notes = [f"limit set to {limit} (1-{MOST_ROWS})"] if limit != request.limit else []
        if not self._outside.in_git and not self._noticing.is_possible:
            notes.append(NOT_COMPARED)
        return ChangesAnswer(render_moment(since), len(rows), len(page), request.offset, page, tuple(notes))

    def _check(self, request: ChangesRequest, *, tidying: bool) -> None:
        if request.kind and request.kind not in KINDS:
            raise InvalidArgument("kind", f"kind = {request.kind!r} is none. There are: {', '.join(KINDS)}.")
        if tidying or request.kind in CURATION_KINDS:
            check_curator(self._role, "The history of tidying")

    def _choose(self, rows: Iterable[ChangeRow], request: ChangesRequest, *, tidying: bool) -> list[ChangeRow]:
        if request.precedent_only:
            rows = (row for row in rows if row.precedent)
        if request.kind:
            return [row for row in rows if row.kind == request.kind]
        if not tidying:
            return [row for row in rows if row.kind in CHANGE_KINDS]
        if request.ref:
            return list(rows)  # everything, by anyone
        curators = self._find_curators()
        return [row for row in rows if row.kind in TIDYING_KINDS or row.actor in curators]

    def _find_curators(self) -> set[str]:
        """Return the connections that are curators, or were when they wrote down what they did."""
        listed = parse_connections(self._files.read_connections()).values()
        return {one.name for one in listed if one.role == "curator"} | {run.by for run in read_runs(self._journal)}

    # -- which note

    def _find_wanted(self, ref: str) -> _Wanted:
        """Return the note of a ref, a deleted one too."""
        try:
            note = self._reading.find_note(ref)[0]
        except NotFound:
            key = parse_number(ref.strip().removeprefix("#")) or ref.strip()
            for stone in reversed(self._trash.find_tombstones()):
                if key in (stone.id, stone.path, stone.title) and self._scope.holds(stone.path):
                    return _Wanted(stone.path, stone.id)
            raise
        return _Wanted(note.path, note.note_id)

    def _trace(self, told: Iterable[_Told], wanted: _Wanted | None) -> Iterator[ChangeRow]:
        """Yield the rows of what is told, newest first, with numbers; of one note alone if one is wanted."""
        notes = self._snapshot().notes
        now_at: dict[str, str] = {}  # a path of that time -> the note's path now
        for one in told:
            row = one.row
            path = now_at.get(row.path, row.path)
            number = row.note_id if row.note_id is not None else _number_at(notes, path)
            others = {now_at.get(other, other) for other in one.paths}
            if wanted is None or _is_about(wanted, path, number, others, one.numbers):
                yield replace(row, note_id=number)
            if row.from_path is not None:
                now_at[row.from_path] = path
            if row.from_path is not None or row.kind == "added":
                now_at[row.path] = _ANOTHER

    # -- the two streams

    def _find_journalled(self, since: datetime) -> Iterator[_Told]:
        kept: dict[int, tuple[int, ...]] = {}
        for event in self._journal.read(since):
            kind = _find_kind(event)
            if kind is None or not (self._scope.is_whole or self._scope.holds(event.path)):
                continue
            row, number = _row_of(event, kind), event.note_id
            if not all(self._scope.holds(path) for path in _find_paths(event)):
                row = replace(row, from_path=None, title="", reason="", text="", mismatches=())
            if self._versions is not None and number is not None:
                if number not in kept:
                    kept[number] = self._versions.find_events(number)
                if event.id in kept[number]:
                    row = replace(row, before=f".memex/history/{number}/{event.id}.md")
            paths = frozenset(_find_paths(event)) - {event.path}
            yield _Told(row, paths, frozenset(_find_examined(event)))

    def _find_outside(self, since: datetime) -> Iterator[_Told]:
        notes = self._snapshot().notes
        commits: list[OutsideChange] = []
        if self._outside.in_git:
            commits += self._outside.find_commits(since, notes, self._scope.holds)
            now = render_moment(self._clock())
            opened = self._outside.find_uncommitted(lambda: _find_left(self._journal.read()), notes, now)
        else:
            opened = iter(self._noticing.find_open())
        for change in (*commits, *opened, *self._find_unseen(since, commits)):
            yield from self._tell(change)

    def _find_unseen(self, since: datetime, commits: Iterable[OutsideChange]) -> Iterator[OutsideChange]:
        """Yield the edits that came to light by our next write alone; one that was committed is told as that."""
        committed: dict[str, list[str]] = {}
        for change in commits:
            committed.setdefault(change.path, []).append(change.at)
        first = render_moment(since)
        for one in self._noticing.find_unseen():
            # Commits are dated by the second.
            told = (at[:19] for at in committed.get(one.path, ()))
            if one.at >= first and not any(one.since[:19] <= at <= one.at[:19] for at in told):
                yield OutsideChange(one.at, EDITED, one.path, journalled=True)

    def _tell(self, change: OutsideChange) -> Iterator[_Told]:
        if self._scope.holds(change.path):
            came = change.from_path
            yield _Told(
                ChangeRow(
                    at=change.at,
                    kind=change.kind,
                    path=change.path,
                    actor=OWNER,
                    title=change.title,
                    from_path=came if came is not None and self._scope.holds(came) else None,
                    commit=change.commit or None,
                    uncommitted=not change.commit and not change.journalled,
                )
            )


def _is_about(wanted: _Wanted, path: str, number: int | None, others: Set[str], numbers: Set[int]) -> bool:
    if wanted.path in others or wanted.number in numbers:
        return True
    if wanted.number is None or number is None:
        return wanted.path == path
    return wanted.number == number


def _number_at(notes: Mapping[str, NoteRecord], path: str) -> int | None:
    note = notes.get(path)
    return note.note_id if note is not None else None


def _find_kind(event: JournalEvent) -> str | None:
    """Return what an event is called; None for what changed no note and decided nothing."""
    if event.kind == FLASHBACK:  # two notes that came up together; neither changed
        return None
    imported = event.details.get(IMPORTED) is True
    changes_note = is_note(event.path) and bool(find_states(event))
    return find_shown_kind(event.kind, imported=imported, changes_note=changes_note)


def _find_paths(event: JournalEvent) -> Iterator[str]:
    """Yield every path of a note that an event is about."""
    pairs = [(event.path, event.from_path), *((file.path, file.from_path) for file in event.files)]
    yield from (path for pair in pairs for path in pair if path is not None and is_note(path))


def _find_examined(event: JournalEvent) -> Iterator[int]:
    """Yield the numbers of the notes that a run looked at, or that were judged to be two notes."""
    pair = parse_pair(event.details)
    yield from pair.ids if pair is not None else ()
    examined = event.details.get("examined") if event.kind in RUN_KINDS else None
    for one in examined if isinstance(examined, list) else ():
        number = one.get("note_id") if isinstance(one, Mapping) else None
        if isinstance(number, int):
            yield number


def _find_left(events: Iterable[JournalEvent]) -> dict[str, str | None]:
    """Return the revision that the last event left of each file; None where it took the file away."""
    left: dict[str, str | None] = {}
    for event in events:
        if event.kind == FLASHBACK:  # changed nothing
            continue
        for file in event.states:
            if file.from_path is not None:
                left[file.from_path] = None
            left[file.path] = file.after
    return left


def _row_of(event: JournalEvent, kind: str) -> ChangeRow:
    details = event.details
    proposal = details.get(DETAIL)
    mismatches = details.get("mismatches") if kind in RUN_KINDS else None
    return ChangeRow(
        at=event.at,
        kind=kind,
        path=event.path,
        actor=event.actor,
        title=event.title,
        note_id=event.note_id,
        from_path=event.from_path,
        reason=event.reason,
        event=event.id,
        proposal=proposal if isinstance(proposal, int) else None,
        precedent=details.get("precedent") is True,
        text=str(details.get("text", "")) if kind in RUN_KINDS else "",
        mismatches=tuple(map(str, mismatches)) if isinstance(mismatches, list) else (),
    )


def _moment(argument: str, text: str) -> datetime | None:
    if not text:
        return None
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=parse_date(text, argument).start)
