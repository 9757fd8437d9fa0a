"""The curation queue: which notes need attention and why, and which are in somebody's hands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vault_memex.config import Config
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.errors import InvalidArgument
from vault_memex.memory.looks import clip, was_edited_since_look
from vault_memex.memory.queues import (
    DEFAULT_COOLDOWN,
    MOST_COOLDOWN,
    REASONS,
    Candidate,
    Queue,
    Reason,
    build_queue,
    count_changed_neighbours,
    find_other_reasons,
    find_own_reasons,
    join_reasons,
)
from vault_memex.services.actor import find_actor
from vault_memex.services.flag_files import FlagFiles
from vault_memex.services.note_facts import NoteFacts
from vault_memex.store.journal import render_moment
from vault_memex.store.leases import LEASE, Leases
from vault_memex.store.quiet import without_collections

MOST_ROWS = 100
MOST_STALE_DAYS = 3_650


@dataclass(frozen=True, slots=True)
class QueueRequest:
    """What to show of the queue."""

    reason: str = ""
    stale_days: int | None = None  # only notes that nobody looked at for so long
    cooldown_days: int = DEFAULT_COOLDOWN
    include_pending: bool = False
    limit: int = 25
    offset: int | None = None  # None: from the start, and what is shown is reserved


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One note that needs attention."""

    path: str
    title: str
    note_id: int | None
    reasons: tuple[str, ...] = ()
    flag: str = ""  # what the person said
    flag_raised: str = ""
    last_read: str = ""  # by a curator
    clean_passes: int = 0  # in a row in which it needed nothing
    edited_since: bool = False  # by anybody but a curator
    changed_neighbours: int = 0
    pending: bool = False
    layer: str | None = None
    updated: str = ""


@dataclass(frozen=True, slots=True)
class QueueAnswer:
    """A page of the queue. Everything but `matching` is about the whole of it."""

    total: int
    matching: int  # of the reason and age that was asked for
    returned: int
    offset: int
    rows: tuple[QueueRow, ...]
    reason_counts: Mapping[str, int] = field(default_factory=dict)
    never_read: int = 0
    defect_free: int = 0
    leased_elsewhere: int = 0
    reserved_until: str = ""


class Curation:
    """The queue of one connection."""

    def __init__(
        self,
        *,
        config: Config,
        facts: NoteFacts,
        flag_files: FlagFiles,
        leases: Leases,
        snapshot: Callable[[], Snapshot],
        clock: Callable[[], datetime],
        sees_all: bool,
    ) -> None:
        self.sees_all = sees_all  # no scope: what was said of one note may name any other
        self.config = config
        self.facts = facts
        self._flag_files = flag_files
        self._leases = leases
        self.snapshot = snapshot
        self.clock = clock

    def find_queue(self, request: QueueRequest) -> QueueAnswer:
        """Return the notes that need attention, the most needy first.

        Without an offset they are reserved for this connection for half an hour, and what others have reserved is
        left out. A reader and the person at the command line reserve nothing.
        """
        reason = _check(request)
        now = self.clock()
        queue = self.build(self.snapshot(), now, request.cooldown_days, pending=request.include_pending)
        chosen = queue.choose(reason, request.stale_days, now)
        if request.offset is not None:
            page = chosen[request.offset : request.offset + request.limit]
            return _answer(queue, chosen, page, offset=request.offset)
        if self.config.role in ("reader", "owner"):
            others = self._leases.find_others(find_actor(self.config), now)
            page = _pick(chosen, others, request.limit)
            return _answer(queue, chosen, page, others=others)
        others = self._leases.reserve(
            find_actor(self.config),
            now,
            lambda held: [one.note.path for one in _pick(chosen, held, request.limit)],
        )
        page = _pick(chosen, others, request.limit)
        until = render_moment(now + LEASE) if page else ""
        return _answer(queue, chosen, page, others=others, until=until)

    def build(self, snapshot: Snapshot, now: datetime, cooldown_days: int, *, pending: bool = False) -> Queue:
        """Return the whole queue of a snapshot."""
        with without_collections():  # of ten thousand values that stay, while millions are there
            return build_queue(self._find_candidates(snapshot, pending=pending), cooldown_days, now)

    def find_defects(self, paths: Iterable[str]) -> Mapping[str, Sequence[Reason]]:
        """Return of some notes what they lack now; those that are gone or lack nothing are left out."""
        snapshot = self.snapshot()
        facts = self.facts.find(snapshot)
        notes = [snapshot.notes[path] for path in paths if path in snapshot.notes]
        other = find_other_reasons([note.path for note in notes], facts)
        found = {note.path: join_reasons(find_own_reasons(note), other.get(note.path)) for note in notes}
        return {path: reasons for path, reasons in found.items() if reasons}

    def release(self) -> None:
        """Free the notes that this connection has reserved: its run is over."""
        self._leases.release(find_actor(self.config))

    def _find_candidates(self, snapshot: Snapshot, *, pending: bool) -> Iterator[Candidate]:
        self.facts.logs.follow()
        facts, flags = self.facts.find(snapshot), self._flag_files.find()
        retiring = self.facts.find_waiting().retiring
        known = self.facts.find_known(snapshot)
        other = find_other_reasons(snapshot.notes, facts)
        moved = count_changed_neighbours(
            {path: clip(one.change.at) for path, one in known.items() if one.change is not None},
            {path: clip(one.log.looked_at) for path, one in known.items() if one.log.looked_at},
            facts.linked,
        )
        for path, note in snapshot.notes.items():
            flag = flags.get(note.note_id) if note.note_id is not None else None
            if note.note_id in retiring or (flag is None and not may_be_tidied(note, pending=pending)):
                continue
            log, reasons = known[path].log, join_reasons(known[path].reasons, other.get(path))
            edited = bool(log.looked_at) and was_edited_since_look(log, note.revision)
            yield Candidate(note, reasons, log, flag, edited, moved.get(path, 0))


def may_be_tidied(note: NoteRecord, *, pending: bool) -> bool:
    """Return whether a curator can do anything about a note: rules are the person's, and locked ones stay."""
    return note.layer != "rule" and note.properties.get("locked") is not True and (pending or not note.pending)


def check_limit(limit: int) -> None:
    """Refuse a page that is no page."""
    if not 1 <= limit <= MOST_ROWS:
        raise InvalidArgument("limit", f"limit is {limit}: write 1 to {MOST_ROWS}.")


def _check(request: QueueRequest) -> Reason | None:
    check_limit(request.limit)
    if request.offset is not None and request.offset < 0:
        raise InvalidArgument("offset", "offset is 0 or more.")
    if not 0 <= request.cooldown_days <= MOST_COOLDOWN:
        raise InvalidArgument(
            "cooldown_days", f"cooldown_days is {request.cooldown_days}: write 0 to {MOST_COOLDOWN}."
        )
    if request.stale_days is not None and not 1 <= request.stale_days <= MOST_STALE_DAYS:
        raise InvalidArgument("stale_days", f"stale_days is {request.stale_days}: write 1 to {MOST_STALE_DAYS}.")
    if not request.reason:
        return None
    found = next((reason for reason in REASONS if reason == request.reason), None)
    if found is None:
        raise InvalidArgument(
            "reason", f"There is no reason {request.reason!r}. Write one of {', '.join(REASONS)}."
        )
    return found


def _pick(chosen: Sequence[Candidate], held: Collection[str], limit: int) -> list[Candidate]:
    return [one for one in chosen if one.note.path not in held][:limit]


def _answer(
    queue: Queue,
    chosen: Sequence[Candidate],
    page: Sequence[Candidate],
    *,
    offset: int = 0,
    others: Collection[str] = (),
    until: str = "",
) -> QueueAnswer:
    return QueueAnswer(
        queue.total,
        len(chosen),
        len(page),
        offset,
        tuple(map(_view, page)),
        {str(reason): count for reason, count in queue.reason_counts.items()},
        queue.never_read,
        queue.defect_free,
        sum(one.note.path in others for one in chosen),
        until,
    )


def _view(one: Candidate) -> QueueRow:
    note, log, flag = one.note, one.log, one.flag
    return QueueRow(
        note.path,
        note.title,
        note.note_id,
        one.all_reasons,
        flag.comment if flag is not None else "",
        flag.raised if flag is not None else "",
        log.looked_at,
        log.clean,
        one.edited,
        one.changed_neighbours,
        note.pending,
        note.layer,
        note.updated,
    )
