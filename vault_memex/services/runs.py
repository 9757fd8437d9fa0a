"""Run records: what a curator writes down, compared with the journal and kept in `_memex/runs` and in the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from vault_memex.config import Config
from vault_memex.core.changes import Change, WriteFile
from vault_memex.core.dates import parse_date
from vault_memex.core.text import parse_number, render_line, render_subject
from vault_memex.errors import AmbiguousTitle, InvalidArgument, NotFound, UnknownNotes
from vault_memex.memory.looks import mark_text
from vault_memex.memory.policy import check_curator
from vault_memex.memory.runs import (
    RUNS_FOLDER,
    ClaimName,
    Deed,
    Examined,
    RunKind,
    RunRecord,
    check_claimed,
    check_examined,
    check_text,
    find_mismatches,
    find_run_path,
    parse_run,
    render_details,
    render_run,
)
from vault_memex.memory.scope import Scope
from vault_memex.services.actor import find_actor
from vault_memex.services.curation import Curation
from vault_memex.services.edit_plan import check_characters
from vault_memex.services.editing import Editing
from vault_memex.services.inbox import DETAIL, SUBMITTED
from vault_memex.store.journal import Journal, JournalEvent, render_moment
from vault_memex.store.trash import Trash

AHEAD_SECONDS = 60  # that a client's clock may be ahead of ours
UNTOLD = timedelta(days=1)  # a run of which no start is known is looked at so far back, or to the one before it
_AT_ONCE = ("changed", "renamed")
_UNCOUNTED = ("added", "deleted")  # may be counted among the changes or not


@dataclass(frozen=True, slots=True)
class Finding:
    """A note that was looked at, as the caller names it."""

    ref: str
    checked: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a curator wants written down."""

    kind: RunKind
    text: str
    ref: str = ""  # the note that an observation or a missing tool is about
    examined: tuple[Finding, ...] = ()
    started_at: str = ""
    claimed: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class StillDefective:
    """A note that was looked at and lacks something after the run."""

    path: str
    title: str
    note_id: int | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was written down, and what the journal says to it."""

    record: RunRecord
    file: str
    event: int  # number in the journal
    still_defective: tuple[StillDefective, ...] = ()  # of the notes that were looked at
    notes: tuple[str, ...] = ()


class Runs:
    """Writes run records."""

    def __init__(
        self,
        config: Config,
        editing: Editing,
        trash: Trash,
        scope: Scope,
        clock: Callable[[], datetime],
        *,
        curation: Curation,
    ) -> None:
        self._curation = curation
        self._scope = scope
        self._config = config
        self._editing = editing
        self._trash = trash
        self._clock = clock
        self._journal = editing.transactor.stores.journal

    def record(self, request: RunRequest) -> Recorded:
        """Write a record down. Raises UnknownNotes when it names notes that never were; then nothing is written."""
        check_curator(self._config.role, "Writing run records")
        check_text(request.kind, request.text)
        check_characters("body", request.text)
        claimed = _check_parts(request)
        with self._editing.hold():
            self._editing.numbering.number_all()
            examined = self._find_examined(request.examined)
            about = self._find_all([request.ref])[0] if request.ref else None
            now, actor = self._clock(), find_actor(self._config)
            started, notes = self._find_start(request.started_at, actor, now)
            done = list(_find_done(self._journal.read(started), actor))
            worked_on = {one for event in done for one in (event.note_id, event.path)}
            record = RunRecord(
                request.kind,
                actor,
                render_moment(now),
                request.text.strip(),
                started_at=render_moment(started) if request.started_at else "",
                examined=tuple(
                    replace(one, worked_on=not worked_on.isdisjoint({one.note_id or 0, one.path}))
                    for one in examined
                ),
                claimed=claimed,
                mismatches=find_mismatches(claimed, map(_find_deed, done))
                if claimed and request.started_at
                else (),
            )
            path, event = self._write(record, about)
        if request.kind == "run_summary":
            self._curation.release()
        return Recorded(record, path, event, self._find_defective(examined), notes)

    def _find_defective(self, examined: Sequence[Examined]) -> tuple[StillDefective, ...]:
        defects = self._curation.find_defects(one.path for one in examined) if examined else {}
        return tuple(
            StillDefective(one.path, one.title, one.note_id, tuple(defects[one.path]))
            for one in examined
            if one.path in defects
        )

    def _write(self, record: RunRecord, about: Examined | None) -> tuple[str, int]:
        taken = self._editing.transactor.stores.files.find_internal(RUNS_FOLDER)
        copy = 1
        while (path := find_run_path(record, copy=copy)) in taken:
            copy += 1
        said = record.kind.replace("_", " ").capitalize()
        change = Change(
            record.kind,
            about.path if about else path,
            render_subject(f"{said}: {' '.join(record.text.split())}"),
            (WriteFile(path, render_run(record).encode("utf-8"), None),),
            record.by,
            about.note_id if about else None,
        )
        applied = self._editing.transactor.apply(change, internal=True, details=render_details(record))
        return path, applied.event.id

    def _find_start(self, said: str, actor: str, now: datetime) -> tuple[datetime, tuple[str, ...]]:
        """Return from when on the journal is compared, and what to say of it."""
        previous = max((run.at for run in read_runs(self._journal) if _ends_run(run, actor)), default="")
        last = datetime.fromisoformat(previous) if previous else None
        if not said:
            untold = now - UNTOLD
            return (max(untold, last) if last else untold), ()
        started = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=parse_date(said, "started_at").start)
        if started > now + timedelta(seconds=AHEAD_SECONDS):
            raise InvalidArgument(
                "started_at", f"started_at {said} is in the future. Now it is {render_moment(now)}."
            )
        if last is not None and started < last:
            return last, (f"started_at is before your last summary; counted from that on ({previous}).",)
        return min(started, now), ()

    def _find_examined(self, findings: Sequence[Finding]) -> tuple[Examined, ...]:
        notes = self._find_all([one.ref for one in findings])
        examined = tuple(
            replace(note, checked=one.checked.strip(), found=one.found.strip())
            for note, one in zip(notes, findings, strict=True)
        )
        check_examined(examined)
        for one in examined:
            check_characters("examined", one.checked + one.found)
        return examined

    def _find_all(self, refs: Sequence[str]) -> list[Examined]:
        """Return the notes meant, deleted ones too by number. Raises UnknownNotes with all refs that mean none."""
        found: list[Examined] = []
        unknown: list[str] = []
        for ref in refs:
            note = self._find(ref)
            if note is None:
                unknown.append(ref)
            else:
                found.append(note)
        if unknown:
            raise UnknownNotes(
                f"These name no note, or several: {', '.join(map(render_line, unknown))}. Nothing was written. Use "
                "numbers or paths from `curation`.",
                unknown=unknown,
            )
        return found

    def _find(self, ref: str) -> Examined | None:
        try:
            record, file, _ = self._editing.reading.find_note(ref, writing=True)
        except (NotFound, AmbiguousTitle):
            number = parse_number(ref.strip().removeprefix("#"))
            stones = self._trash.find_tombstones() if number is not None else ()
            stone = next(
                (one for one in reversed(stones) if one.id == number and self._scope.holds(one.path)), None
            )
            return Examined(stone.path, stone.title, stone.id) if stone is not None else None
        return Examined(
            record.path,
            record.title,
            record.note_id,
            revision=file.revision,
            body=mark_text(file.text),
            updated=record.updated,
        )


def read_runs(journal: Journal) -> Iterator[RunRecord]:
    """Yield the run records of the journal, oldest file first."""
    for event in journal.read_with("text", {}):
        run = parse_run(event.kind, event.actor, event.at, event.details)
        if run is not None:
            yield run


def _ends_run(run: RunRecord, actor: str) -> bool:
    return run.kind == "run_summary" and run.by == actor


def _check_parts(request: RunRequest) -> Mapping[ClaimName, int] | None:
    """Return the numbers claimed; refuse what does not go with the kind."""
    summary = request.kind == "run_summary"
    for name in ("examined", "started_at", "claimed"):
        if getattr(request, name) and not summary:
            raise InvalidArgument(name, f"{name} goes with kind: run_summary.")
    if request.ref and summary:
        raise InvalidArgument("ref", "A summary names its notes in `examined`.")
    return check_claimed(request.claimed) if request.claimed is not None else None


def _find_done(events: Iterable[JournalEvent], actor: str) -> Iterator[JournalEvent]:
    kinds = (*_AT_ONCE, *_UNCOUNTED, SUBMITTED)
    return (event for event in events if event.actor == actor and event.kind in kinds)


def _find_deed(event: JournalEvent) -> Deed:
    if event.kind == SUBMITTED:
        what: ClaimName = "held" if event.details.get("kind") == "edit" else "proposed"
        return Deed(what, str(event.details.get(DETAIL)))
    return Deed("edited", str(event.note_id or event.path), may_count=event.kind in _UNCOUNTED)
