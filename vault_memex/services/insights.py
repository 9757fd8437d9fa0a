"""Signals and inferences as answers: rows with what a reader needs, bounded, one form for tools and commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vault_memex.errors import InvalidArgument
from vault_memex.memory.inferences import INFERENCE_STATUSES, EvidenceCheck, render_citation
from vault_memex.memory.signals import SIGNAL_KINDS, SignalKind
from vault_memex.memory.triage import STATUSES, NoteRef, SignalRow
from vault_memex.services.inferences import InferenceNow, Inferences
from vault_memex.services.signals import Signals

InsightKind = Literal["signals", "inferences"]

NOTES_SHOWN = 8
ALL = "all"


@dataclass(frozen=True, slots=True)
class InsightsRequest:
    """What to list; empty means the default: new signals, inferences of every status."""

    kind: InsightKind = "signals"
    type: str = ""
    status: str = ""
    number: int | None = None
    refresh: bool = True
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, slots=True)
class NoteName:
    """A note that a signal or inference is about."""

    title: str
    path: str
    note_id: int | None = None


@dataclass(frozen=True, slots=True)
class SignalView:
    """One thing that the vault points out."""

    id: int
    type: str
    status: str
    reason: str
    found: str  # day
    notes: tuple[NoteName, ...]  # the evidence; at most eight, all of them for one signal
    notes_total: int
    detail: str = ""  # of a dangling_link: typo, placeholder, trashed or forward; else the tag it is about
    until: str | None = None  # of a snoozed one: the day on which it is new again


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source of an inference, then and now."""

    title: str
    path: str
    role: str  # source or supports
    state: str  # unchanged, changed or deleted
    note_id: int | None = None
    excerpt: str = ""  # when it was minted
    current_excerpt: str = ""  # of a changed one


@dataclass(frozen=True, slots=True)
class InferenceView:
    """One hypothesis that the person confirmed."""

    id: int
    title: str
    status: str
    summary: str
    citation: str  # write this where you use it
    created: str
    sources_total: int
    sources_changed: int = 0  # or deleted
    confidence: float | None = None
    from_signal: int | None = None
    superseded_by: int | None = None
    model_id: str = ""
    prompt_version: str = ""
    sources: tuple[SourceView, ...] = ()  # when one is asked for


@dataclass(frozen=True, slots=True)
class InsightsAnswer:
    """A page of signals or inferences, newest first."""

    kind: str
    total: int
    returned: int
    offset: int = 0
    signals: tuple[SignalView, ...] = ()
    inferences: tuple[InferenceView, ...] = ()
    unavailable: str = ""  # why signals that need meaning are not looked for
    notes: tuple[str, ...] = ()


def find_insights(signals: Signals, inferences: Inferences, request: InsightsRequest) -> InsightsAnswer:
    """Return what was asked for. Raises InvalidArgument for a status or type of the other kind, and NotFound."""
    if request.kind == "inferences":
        return _find_inferences(inferences, request)
    return _find_signals(signals, request)


def _find_signals(signals: Signals, request: InsightsRequest) -> InsightsAnswer:
    status = next((s for s in STATUSES if s == (request.status or "new")), None)
    if status is None and request.status != ALL:
        raise InvalidArgument("status", f"A signal is {', '.join(STATUSES)}; or write {ALL}.")
    kind: SignalKind | None = next((k for k in SIGNAL_KINDS if k == request.type), None)
    if kind is None and request.type:
        raise InvalidArgument("type", f"type = {request.type!r}: write one of {', '.join(SIGNAL_KINDS)}.")
    found = signals.find(refresh=request.refresh)
    if request.number is not None:
        rows: Sequence[SignalRow] = (found.table.get_row(request.number),)
    else:
        rows = found.table.find_rows(status, kind)
    page = rows[request.offset : request.offset + request.limit]
    most = None if request.number is not None else NOTES_SHOWN
    return InsightsAnswer(
        kind="signals",
        total=len(rows),
        returned=len(page),
        offset=request.offset,
        signals=tuple(view_signal(row, most) for row in page),
        unavailable=found.unavailable,
        notes=found.notes,
    )


def _find_inferences(inferences: Inferences, request: InsightsRequest) -> InsightsAnswer:
    if request.type:
        raise InvalidArgument("type", "Only signals have a type. Leave it out for inferences.")
    if request.status not in ("", ALL, *INFERENCE_STATUSES):
        raise InvalidArgument("status", f"An inference is {', '.join(INFERENCE_STATUSES)}; or write {ALL}.")
    if request.number is not None:
        one = view_inference(inferences.get(request.number), sources=True)
        return InsightsAnswer("inferences", 1, 1, inferences=(one,))
    found = inferences.find(None if request.status in ("", ALL) else request.status)
    page = found.inferences[request.offset : request.offset + request.limit]
    return InsightsAnswer(
        kind="inferences",
        total=len(found.inferences),
        returned=len(page),
        offset=request.offset,
        inferences=tuple(view_inference(now) for now in page),
        notes=found.notes,
    )


def view_signal(row: SignalRow, most: int | None = NOTES_SHOWN) -> SignalView:
    """Return the row with at most so many of its notes."""
    return SignalView(
        id=row.number,
        type=row.kind,
        status=row.status,
        reason=row.reason,
        found=row.found.isoformat(),
        notes=tuple(_view_note(ref) for ref in row.notes[:most]),
        notes_total=len(row.notes),
        detail=row.detail,
        until=row.until.isoformat() if row.until else None,
    )


def _view_note(ref: NoteRef) -> NoteName:
    return NoteName(ref.title, ref.path, ref.note_id)


def view_inference(now: InferenceNow, *, sources: bool = False) -> InferenceView:
    """Return the inference as it is now, with or without its sources."""
    inference = now.inference
    return InferenceView(
        id=inference.number,
        title=inference.title,
        status=inference.status,
        summary=inference.summary,
        citation=render_citation(inference, now.checks),
        created=inference.created,
        sources_total=len(now.checks),
        sources_changed=sum(check.state != "unchanged" for check in now.checks),
        confidence=inference.confidence,
        from_signal=inference.from_signal,
        superseded_by=inference.superseded_by,
        model_id=inference.model_id,
        prompt_version=inference.prompt_version,
        sources=tuple(_view_source(check) for check in now.checks) if sources else (),
    )


def _view_source(check: EvidenceCheck) -> SourceView:
    evidence = check.evidence
    return SourceView(
        evidence.title,
        evidence.path,
        evidence.role,
        check.state,
        evidence.note_id,
        evidence.excerpt,
        check.current_excerpt,
    )
