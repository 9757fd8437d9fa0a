"""The tools of insights: what the vault points out, and what the person made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from vault_memex.errors import InvalidArgument
from vault_memex.memory.inferences import Draft
from vault_memex.server.lines import LONGEST_NAME, cut, join_lines
from vault_memex.server.tool import Answer, Arguments, ToolSpec, WriteArguments
from vault_memex.services.inferences import MintRequest
from vault_memex.services.insights import (
    InferenceView,
    InsightsAnswer,
    InsightsRequest,
    NoteName,
    SignalView,
    SourceView,
    find_insights,
    view_inference,
    view_signal,
)
from vault_memex.vault import Vault

SUMMARY_SHOWN = 300  # code points in a list


class InsightsArguments(Arguments):
    """Arguments of `insights`."""

    also: ClassVar = {"number": "id", "signal_id": "id", "inference_id": "id"}

    kind: Literal["signals", "inferences"] = Field(
        "signals",
        description="signals: what the vault points out. inferences: hypotheses that the person confirmed.",
    )
    type: Literal["", "hidden_arc", "stale_state", "dangling_link", "tag_burst"] = Field(
        "", description="Only signals of this type."
    )
    status: Literal["", "all", "new", "snoozed", "dismissed", "minted", "active", "stale", "archived"] = Field(
        "", description="Signals: new (default), snoozed, dismissed, minted. Inferences: active, stale, archived."
    )
    id: int = Field(0, ge=0, description="One signal or inference by its number, with all its notes or sources.")
    refresh: bool = Field(True, description="Look for new signals first; free when nothing changed.")
    limit: int = Field(20, ge=1, le=100)
    offset: int = Field(0, ge=0)


class DecideArguments(WriteArguments):
    """Arguments of `insight_decide`."""

    also: ClassVar = {
        "number": "id",
        "signal_id": "id",
        "inference_id": "id",
        "class": "scope",
        "sources": "evidence",
        "signal": "from_signal",
    }

    action: Literal["dismiss", "snooze", "reopen", "mint", "archive"] = Field(
        description="dismiss, snooze, reopen: a signal. mint: write an inference. archive: put an inference away."
    )
    id: int = Field(0, ge=0, description="The signal, or for archive the inference.")
    until: str = Field("", description="For snooze: the day on which it is new again; default in 30 days.")
    scope: Literal["", "note"] = Field(
        "", description="note, with dismiss: all unresolved links of that note, present and future ones."
    )
    title: str = Field("", description="For mint: the hypothesis in a sentence.")
    summary: str = Field("", description="For mint: what follows from what, in the person's language.")
    evidence: list[str] = Field([], description="For mint: notes it rests on (title, path or #number).")
    supports: list[str] = Field([], description="For mint: notes that speak for it without being its source.")
    from_signal: int = Field(0, ge=0, description="For mint: the signal it comes from; its notes are evidence.")
    confidence: float | None = Field(None, description="For mint: 0 to 1.")
    model_id: str = Field("", max_length=200, description="For mint: who inferred it.")
    prompt_version: str = Field("", max_length=200)
    confirmed: bool = Field(False, description="For mint: true only after the person has agreed.")


@dataclass(frozen=True, slots=True)
class DecideAnswer:
    """What was decided."""

    outcome: str  # dismissed, snoozed, new, removed, minted, archived
    signal: SignalView | None = None
    inference: InferenceView | None = None


def _insights(vault: Vault, a: InsightsArguments) -> Answer:
    answer = find_insights(
        vault.signals,
        vault.inferences,
        InsightsRequest(a.kind, a.type, a.status, a.id or None, a.refresh, a.limit, a.offset),
    )
    return Answer(render_insights(answer, whole=a.id > 0), answer)


def _decide(vault: Vault, a: DecideArguments) -> Answer:
    if a.action == "mint":
        answer = _mint(vault, a)
    elif not a.id:
        what = "inference" if a.action == "archive" else "signal"
        raise InvalidArgument("id", f"id is missing: the number of the {what}, from `insights`.")
    elif a.action == "archive":
        answer = DecideAnswer("archived", inference=view_inference(vault.inferences.archive(a.id)))
    else:
        row = vault.signals.decide(a.id, a.action, until=a.until, whole_note=a.scope == "note")
        signal = view_signal(row) if row is not None else None
        answer = DecideAnswer(signal.status if signal else "removed", signal)
    return Answer(render_decision(answer), answer)


def _mint(vault: Vault, a: DecideArguments) -> DecideAnswer:
    draft = Draft(a.title, a.summary, a.confirmed, a.confidence, a.model_id, a.prompt_version)
    evidence = [*((ref, "source") for ref in a.evidence), *((ref, "supports") for ref in a.supports)]
    minted = vault.inferences.mint(MintRequest(draft, evidence, a.from_signal or a.id or None))
    return DecideAnswer("minted", inference=view_inference(minted, sources=True))


# -- as text


def render_insights(answer: InsightsAnswer, *, whole: bool) -> str:
    """Return the page as lines."""
    name = answer.kind if answer.total != 1 else answer.kind.removesuffix("s")
    lines = [f"{answer.returned} of {answer.total} {name}." if answer.total else f"No {answer.kind}."]
    if answer.unavailable:
        lines.append(
            f"unavailable: semantic (threads and overtaken states are not looked for: {answer.unavailable})"
        )
    lines += answer.notes
    for signal in answer.signals:
        lines += _render_signal(signal)
    for inference in answer.inferences:
        lines += _render_inference(inference, whole=whole)
    left = answer.total - answer.offset - answer.returned
    if left > 0:
        lines.append(f"{left} more: offset={answer.offset + answer.returned}.")
    return join_lines(lines)


def render_decision(answer: DecideAnswer) -> str:
    """Return what was decided, and about what."""
    if answer.inference is not None:
        whole = answer.outcome == "minted"
        return join_lines([f"{answer.outcome}:", *_render_inference(answer.inference, whole=whole)])
    if answer.signal is not None:
        return join_lines(_render_signal(answer.signal))
    return "removed: links of that note are found again by the next `insights`."


def _render_signal(signal: SignalView) -> Iterator[str]:
    detail = f": {signal.detail}" if signal.detail else ""
    until = f" until {signal.until}" if signal.until else ""
    yield f"signal {signal.id} · {signal.type}{detail} · {signal.status}{until} · found {signal.found}"
    yield f"   {signal.reason}"
    if signal.notes:
        more = f" … {signal.notes_total} in all" if signal.notes_total > len(signal.notes) else ""
        yield f"   notes: {', '.join(map(_render_note, signal.notes))}{more}"


def _render_note(note: NoteName | SourceView) -> str:
    number = f"#{note.note_id} " if note.note_id is not None else ""
    return f"{number}{cut(note.title, LONGEST_NAME)} ({note.path})"


def _render_inference(inference: InferenceView, *, whole: bool) -> Iterator[str]:
    mark = {"stale": " [STALE]", "archived": " [ARCHIVED]"}.get(inference.status, "")
    yield f'inference {inference.id}{mark} · "{cut(inference.title, LONGEST_NAME)}" · {inference.created[:10]}'
    yield f"   {inference.summary if whole else cut(inference.summary, SUMMARY_SHOWN)}"
    yield f"   cite as: {inference.citation}"
    if inference.sources_changed and not whole:
        yield f"   {inference.sources_changed} of {inference.sources_total} sources changed or gone"
    if inference.superseded_by:
        yield f"   replaced by inference {inference.superseded_by}"
    for source in inference.sources:
        yield f"   {source.role} {_render_note(source)}: {source.state}"
        if source.state != "unchanged":
            yield f"      then: {source.excerpt}"
        if source.current_excerpt:
            yield f"      now: {source.current_excerpt}"


INSIGHTS = ToolSpec(
    name="insights",
    title="What the vault points out",
    description=(
        "Signals: a thread of notes nobody linked (hidden_arc), a plan that later records overtook (stale_state), a "
        "subject that is back (tag_burst), a link that leads nowhere (dangling_link). Inferences: hypotheses the "
        "person confirmed, each with its sources and whether they still say the same; cite one as its `citation`. "
        "Look when the person asks, or after a `signal_hint`; offer one at most, gently. To decide use "
        "`insight_decide`."
    ),
    arguments=InsightsArguments,
    run=_insights,
    toolset="insights",
    output=InsightsAnswer,
    read_only=True,
)
INSIGHT_DECIDE = ToolSpec(
    name="insight_decide",
    title="Decide on a signal or an inference",
    description=(
        "Dismiss (for good: ask the person first), snooze or reopen a signal; mint a hypothesis as an inference, once "
        "the person has agreed (confirmed: true), from a signal, from notes, or both; archive an inference. Unknown "
        "notes are named and nothing is written."
    ),
    arguments=DecideArguments,
    run=_decide,
    toolset="insights",
    output=DecideAnswer,
)
