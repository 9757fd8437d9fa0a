"""What else a curator asks before a run: notes that were never described, notes around which something changed, and
when what was looked at last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.errors import InvalidArgument, MemexError, UnknownNotes
from vault_memex.memory.blast_radius import DEFAULT_DAYS, MOST_DAYS, Shaken, find_blast_radius
from vault_memex.memory.looks import NoteLog, clip, is_known, was_edited_since_look
from vault_memex.memory.policy import is_curator
from vault_memex.memory.queues import DEFAULT_COOLDOWN, MEANINGS, REASONS, Queue, find_rest_end
from vault_memex.services.curation import Curation, check_limit, may_be_tidied
from vault_memex.store.journal import render_moment

MOST_NEIGHBOURS = 10  # named
MOST_REFS = 500
PAUSE = timedelta(minutes=15)  # after a run, before another one is due

Resolve = Callable[[str], NoteRecord]
"""Returns the note that a ref means; raises MemexError."""


@dataclass(frozen=True, slots=True)
class BareRow:
    """A note without summary or tags."""

    path: str
    title: str
    note_id: int | None
    missing: tuple[str, ...]  # summary, tags
    created: str = ""


@dataclass(frozen=True, slots=True)
class EnrichmentAnswer:
    """Notes that nobody has described yet, oldest first."""

    total: int
    returned: int
    offset: int
    rows: tuple[BareRow, ...]
    awaiting_review: int = 0  # lack something as well, and something about them waits for the person


def find_unenriched(curation: Curation, limit: int, offset: int = 0) -> EnrichmentAnswer:
    """Return notes without summary or tags of which nothing is held."""
    check_limit(limit)
    held = curation.facts.find_waiting().held
    bare = [
        (note, missing)
        for note in curation.snapshot().notes.values()
        if may_be_tidied(note, pending=True) and (missing := find_missing(note))
    ]
    free = [(note, missing) for note, missing in bare if not note.pending and note.note_id not in held]
    free.sort(key=lambda one: (one[0].created, one[0].note_id or 0, one[0].path))
    page = free[offset : offset + limit]
    rows = tuple(BareRow(n.path, n.title, n.note_id, missing, n.created) for n, missing in page)
    return EnrichmentAnswer(len(free), len(page), offset, rows, len(bare) - len(free))


def find_missing(note: NoteRecord) -> tuple[str, ...]:
    """Return which of summary and tags a note has not."""
    summary = () if (note.summary or "").strip() else ("summary",)
    return summary if note.tags else (*summary, "tags")


# -- around what changed


@dataclass(frozen=True, slots=True)
class MovedRow:
    """A neighbour that changed."""

    path: str
    title: str
    note_id: int | None
    at: str
    by: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class ShakenRow:
    """A note around which notes changed, the latest first."""

    path: str
    title: str
    note_id: int | None
    changed: int  # neighbours in all
    neighbours: tuple[MovedRow, ...]
    last_read: str = ""


@dataclass(frozen=True, slots=True)
class BlastAnswer:
    """Notes that may be out of date, those with most changed neighbours first."""

    since: str
    total: int
    returned: int
    offset: int
    rows: tuple[ShakenRow, ...]


def find_blast(
    curation: Curation,
    resolve: Resolve,
    *,
    since_days: int = DEFAULT_DAYS,
    refs: Sequence[str] = (),
    limit: int = 25,
    offset: int = 0,
) -> BlastAnswer:
    """Return notes whose neighbours changed lately, or only those of the refs. Raises UnknownNotes."""
    check_limit(limit)
    if not 1 <= since_days <= MOST_DAYS:
        raise InvalidArgument("since_days", f"since_days is {since_days}: write 1 to {MOST_DAYS}.")
    snapshot = curation.snapshot()
    notes, unknown = _resolve_all(resolve, refs)
    if unknown:
        raise UnknownNotes(f"These name no note, or several: {', '.join(unknown)}.", unknown=list(unknown))
    curation.facts.logs.follow()
    begin = curation.clock() - timedelta(days=since_days)
    since = render_moment(begin)
    waiting = curation.facts.find_waiting().retiring
    chosen = notes or [note for note in snapshot.notes.values() if note.note_id not in waiting]
    known = curation.facts.find_known(snapshot)
    # Of a note that the journal does not know, a file has changed; whether its text has, only git may tell.
    doubtful = [
        one.note for one in known.values() if one.change and not one.log.revision and one.change.at >= since
    ]
    unchanged = curation.facts.find_unchanged(doubtful, begin)
    found = find_blast_radius(
        [note.path for note in chosen if not note.pending],
        curation.facts.find_linked(snapshot),
        lambda path: known[path].change if path in known and path not in unchanged else None,
        lambda path: known[path].log.looked_at,
        since,
    )
    page = found[offset : offset + limit]
    rows = tuple(_view_shaken(curation, snapshot, one) for one in page)
    return BlastAnswer(since, len(found), len(page), offset, rows)


def _view_shaken(curation: Curation, snapshot: Snapshot, one: Shaken) -> ShakenRow:
    note = snapshot.notes[one.path]
    return ShakenRow(
        note.path,
        note.title,
        note.note_id,
        len(one.moved),
        tuple(
            MovedRow(
                moved.path,
                snapshot.notes[moved.path].title,
                snapshot.notes[moved.path].note_id,
                moved.change.at,
                moved.change.by,
                moved.change.what if curation.sees_all else "",
            )
            for moved in one.moved[:MOST_NEIGHBOURS]
        ),
        curation.facts.logs.find(note).looked_at,
    )


# -- when what was looked at


@dataclass(frozen=True, slots=True)
class CuratedRow:
    """When a curator looked at a note, and how it is now."""

    path: str
    title: str
    note_id: int | None
    last_curated: str = ""  # empty: never
    clean_passes: int = 0
    rests_until: str = ""
    edited_since: bool = False
    by: str = ""  # for curators
    what: str = ""


@dataclass(frozen=True, slots=True)
class LastCurated:
    """The last run and what came since; or some notes, one by one."""

    last_run: str = ""  # empty: never
    changed_since: int = 0  # notes, by anybody but a curator
    queue: int = 0
    due: bool = False
    reasons: tuple[str, ...] = ()
    by: str = ""  # for curators
    summary: str = ""
    rows: tuple[CuratedRow, ...] = ()
    unknown_note_ids: tuple[str, ...] = ()


def find_last_curated(curation: Curation, resolve: Resolve, refs: Sequence[str] = ()) -> LastCurated:
    """Return when the last run was, what changed since and whether another is due; with refs, of each note."""
    if len(refs) > MOST_REFS:
        raise InvalidArgument("refs", f"refs has {len(refs)} notes; at most {MOST_REFS} in a call.")
    curation.facts.logs.follow()
    tells = is_curator(curation.config.role) and curation.sees_all
    if refs:
        notes, unknown = _resolve_all(resolve, refs)
        return LastCurated(
            rows=tuple(_view_curated(curation, note, tells=tells) for note in notes), unknown_note_ids=unknown
        )
    snapshot, now, run = curation.snapshot(), curation.clock(), curation.facts.logs.last_run
    queue = curation.build(snapshot, now, DEFAULT_COOLDOWN)
    resting = run is not None and now - datetime.fromisoformat(run.at) < PAUSE
    reasons = list(_describe(queue))
    if resting and queue.total:
        reasons.insert(0, "a run ended less than 15 minutes ago: not due before that has passed")
    return LastCurated(
        last_run=run.at if run is not None else "",
        changed_since=sum(_count_changed(curation, snapshot, run.at if run is not None else "")),
        queue=queue.total,
        due=queue.total > 0 and not resting,
        reasons=tuple(reasons),
        by=run.by if run is not None and tells else "",
        summary=run.text if run is not None and tells else "",
    )


def _describe(queue: Queue) -> Iterator[str]:
    if not queue.total:
        yield "nothing needs attention"
        return
    if queue.never_read:
        yield f"{queue.never_read} were never looked at"
    for reason in REASONS:
        if count := queue.reason_counts.get(reason):
            yield f"{count}: {MEANINGS[reason]} ({reason})"
    if queue.defect_free:
        yield f"{queue.defect_free} lack nothing and are due to be read"


def _count_changed(curation: Curation, snapshot: Snapshot, since: str) -> Iterator[bool]:
    """Yield of each note whether anybody but a curator changed it since; without a run all count."""
    logs, start = curation.facts.logs, clip(since)
    for note in snapshot.notes.values():
        log = logs.find(note)
        outside = log.revision == "" or not is_known(log, note.revision)
        at = max(clip(log.edited_at), clip(note.updated) if outside else "")
        yield at > start


def _view_curated(curation: Curation, note: NoteRecord, *, tells: bool) -> CuratedRow:
    log: NoteLog = curation.facts.logs.find(note)
    rest_end = find_rest_end(log, DEFAULT_COOLDOWN)
    return CuratedRow(
        note.path,
        note.title,
        note.note_id,
        log.looked_at,
        log.clean,
        render_moment(rest_end) if rest_end is not None else "",
        bool(log.looked_at) and was_edited_since_look(log, note.revision),
        log.looked_by if tells else "",
        log.looked_what if tells else "",
    )


def _resolve_all(resolve: Resolve, refs: Sequence[str]) -> tuple[list[NoteRecord], tuple[str, ...]]:
    notes: dict[str, NoteRecord] = {}
    unknown: list[str] = []
    for ref in refs:
        try:
            note = resolve(ref)
        except MemexError:
            unknown.append(ref)
        else:
            notes[note.path] = note
    return list(notes.values()), tuple(unknown)
