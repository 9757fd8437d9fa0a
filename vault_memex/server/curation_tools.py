"""The tool that shows what needs attention, to whoever tidies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from vault_memex.errors import InvalidArgument
from vault_memex.memory.blast_radius import DEFAULT_DAYS, MOST_DAYS
from vault_memex.memory.queues import DEFAULT_COOLDOWN, REASONS
from vault_memex.server.curation_texts import (
    render_blast,
    render_enrichment,
    render_last_curated,
    render_queue,
)
from vault_memex.server.pair_texts import render_pairs
from vault_memex.server.tool import Answer, Arguments, ToolSpec
from vault_memex.services.curation import MOST_ROWS, QueueAnswer, QueueRequest
from vault_memex.services.curation_views import (
    MOST_REFS,
    BlastAnswer,
    EnrichmentAnswer,
    LastCurated,
    Resolve,
    find_blast,
    find_last_curated,
    find_unenriched,
)
from vault_memex.services.pairs import PairsAnswer, PairsRequest
from vault_memex.vault import Vault

_OF_VIEWS = {
    "reason": ("candidates",),
    "stale_days": ("candidates",),
    "cooldown_days": ("candidates",),
    "include_pending": ("candidates", "duplicates"),
    "since_days": ("blast_radius",),
    "refs": ("blast_radius", "last_curated"),
    "max_distance": ("duplicates",),
    "limit": ("candidates", "enrichment", "blast_radius", "duplicates"),
    "offset": ("candidates", "enrichment", "blast_radius", "duplicates"),
}


class CurationArguments(Arguments):
    """Arguments of `curation`."""

    also: ClassVar = {"note_ids": "refs", "notes": "refs", "ids": "refs", "days": "since_days"}

    view: Literal["candidates", "enrichment", "blast_radius", "duplicates", "last_curated"] = Field(
        "candidates",
        description="candidates: the queue. enrichment: notes without summary or tags. blast_radius: notes whose "
        "linked notes changed. duplicates: pairs (curators). last_curated: whether a run is due; with refs, of each.",
    )
    reason: str = Field("", description=f"candidates: only this one: {', '.join(REASONS)}.")
    stale_days: int | None = Field(None, description="candidates: not read by a curator for so long, 1-3650.")
    cooldown_days: int = Field(
        DEFAULT_COOLDOWN, description="candidates: 0-365; a read note rests so long, longer after each clean pass."
    )
    include_pending: bool = Field(False, description="Also notes that wait for approval, for reference.")
    since_days: int = Field(DEFAULT_DAYS, description=f"blast_radius: 1-{MOST_DAYS}.")
    refs: list[str] = Field([], description=f"blast_radius, last_curated: only these notes; at most {MOST_REFS}.")
    max_distance: float | None = Field(
        None, description="duplicates: cosine distance; default: of duplicates here."
    )
    limit: int = Field(25, description=f"1-{MOST_ROWS}.")
    offset: int | None = Field(
        None, description="Rows to skip. candidates: even 0 shows the queue without holding notes for you."
    )

    @field_validator("refs", mode="before")
    @classmethod
    def _take_numbers(cls, refs: object) -> object:
        return [str(ref) if isinstance(ref, int) else ref for ref in refs] if isinstance(refs, list) else refs


@dataclass(frozen=True, slots=True)
class CurationAnswer:
    """What the view shows."""

    view: str
    candidates: QueueAnswer | None = None
    enrichment: EnrichmentAnswer | None = None
    blast_radius: BlastAnswer | None = None
    duplicates: PairsAnswer | None = None
    last_curated: LastCurated | None = None
    notes: tuple[str, ...] = ()


def _curation(vault: Vault, a: CurationArguments) -> Answer:
    for name, views in _OF_VIEWS.items():
        if a.sent(name) and a.view not in views:
            raise InvalidArgument(name, f"{name} goes with view: {' or '.join(views)}.")
    remark = vault.background.find_remark()
    text, answer = _look(vault, a)
    if remark is not None:
        text, answer = f"{text}\n{remark}", replace(answer, notes=(remark,))
    return Answer(text, answer)


def _look(vault: Vault, a: CurationArguments) -> tuple[str, CurationAnswer]:
    curation, offset, refs = vault.upkeep.curation, a.offset or 0, tuple(a.refs)
    if a.view == "candidates":
        queue = curation.find_queue(
            QueueRequest(a.reason, a.stale_days, a.cooldown_days, a.include_pending, a.limit, a.offset)
        )
        return render_queue(queue), CurationAnswer(a.view, candidates=queue)
    if a.view == "enrichment":
        bare = find_unenriched(curation, a.limit, offset)
        return render_enrichment(bare), CurationAnswer(a.view, enrichment=bare)
    if a.view == "blast_radius":
        blast = find_blast(
            curation, resolving(vault), since_days=a.since_days, refs=refs, limit=a.limit, offset=offset
        )
        return render_blast(blast), CurationAnswer(a.view, blast_radius=blast)
    if a.view == "duplicates":
        pairs = vault.upkeep.pairs.find(PairsRequest(a.max_distance, a.include_pending, a.limit, offset))
        return render_pairs(pairs), CurationAnswer(a.view, duplicates=pairs)
    last = find_last_curated(curation, resolving(vault), refs)
    return render_last_curated(last), CurationAnswer(a.view, last_curated=last)


def resolving(vault: Vault) -> Resolve:
    """Return how a ref is understood."""
    return lambda ref: vault.reading.find_note(ref)[0]


CURATION: ToolSpec[Any] = ToolSpec(
    name="curation",
    title="What needs attention",
    description=(
        "Which notes to tidy, and why: what the person flagged first, then notes with most defects, then those whose "
        "linked notes changed, then the longest unread. Use it only when asked to tidy. A batch is held for you for "
        "half an hour, so that several curators do not meet; it is advice, not a lock. Read each note with `get`, "
        "change only what fails, and end with a summary where you can."
    ),
    arguments=CurationArguments,
    run=_curation,
    toolset="curation",
    output=CurationAnswer,
    read_only=True,
)
