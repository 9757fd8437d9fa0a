"""Arguments of the profile `memex-tools`: what callers of memex.tools send, and a few more that may be left out."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from vault_memex.memory.blast_radius import DEFAULT_DAYS, MOST_DAYS
from vault_memex.memory.journal_kinds import KINDS
from vault_memex.memory.queues import DEFAULT_COOLDOWN, REASONS
from vault_memex.memory.runs import MOST_CLAIMED, MOST_EXAMINED, MOST_WORDS
from vault_memex.server.curation_record_tools import ExaminedArgument
from vault_memex.server.read_tools import Text
from vault_memex.server.tool import Arguments, WriteArguments
from vault_memex.services.curation import MOST_ROWS
from vault_memex.services.curation_views import MOST_REFS
from vault_memex.services.reading import DEFAULT_MAX_CHARS

Ref = Annotated[int | str, Field(description="The note's number; its exact title or path will do.")]
_MOMENT = "A moment, or a date, which is the start of its day in UTC."
_BODY = "Markdown. Link people, projects and ideas that have notes as [[Exact Title]]. End with a list of sources."
_SUMMARY = "The note's description: two or three sentences, about 350 characters, at most 5,000."
_PATCH = (
    'Up to 50 operations, in order, all or none: {"find": "exact text", "replace": "new"} (must occur once; "count": n '
    'for n times; "section" to look only there), {"append": "text"}, {"prepend": "text"}, and with "section" also '
    '{"replace": "text"} and {"before": "text"}. section is a heading, "## Log" or "Alpha > Log".'
)


class Nothing(Arguments):
    """No arguments."""


class Search(Arguments):
    """Arguments of `search`."""

    also: ClassVar = {"q": "query", "tag": "tags", "review": "status"}

    query: Text = Field(
        "",
        description='Content words. Operators: OR, NOT or -word, ( ), and "exact phrase". Empty lists by the filters.',
    )
    tags: list[str] = Field([], description="All must be on the note.")
    status: Literal["", "verified", "pending"] = ""
    properties: dict[str, Any] = Field(
        {},
        description='{"status": "active"}, {"priority": {"$gte": 3}}, {"people": ["Mina"]}, '
        '{"review.due": {"$between": ["2026-01-01", "2026-03-31"]}}. Also $in $gt $lt $lte $ne $exists $contains.',
    )
    order: Literal["", "relevance", "updated_desc", "updated_asc", "created_desc", "created_asc"] = Field(
        "", description="Default: relevance with a query, updated_desc without."
    )
    updated_after: str = Field("", description=f"Inclusive. {_MOMENT}")
    updated_before: str = Field("", description="Exclusive.")
    created_after: str = Field("", description="Inclusive.")
    created_before: str = Field("", description="Exclusive.")
    limit: int = Field(10, description="Rows, 1-25.")
    offset: int = Field(0, ge=0, description="Rows to skip; with `total` this pages.")


class Get(Arguments):
    """Arguments of `get`."""

    also: ClassVar = {"note_id": "id", "ref": "id", "path": "id", "body_offset": "offset", "heading": "section"}

    id: int | str = Field("", description="The note's number; a path or [[link]] will do.")
    title: str = Field("", description="Its exact title instead, in whatever case; a former title is found too.")
    section: str = Field("", description='One heading with its subsections: "Log", "## Log" or "Alpha > Log".')
    max_chars: int = Field(DEFAULT_MAX_CHARS, ge=1, le=80_000, description="Of the text.")
    offset: int = Field(0, ge=0, description="Go on at body_next_offset of a cut answer.")
    depth: int = Field(0, ge=0, le=2, description="1 or 2: also list notes one or two links away.")


class RecentChanges(Arguments):
    """Arguments of `recent_changes`."""

    also: ClassVar = {"id": "note_id", "ref": "note_id"}

    since: str = Field("", description=f"Inclusive; default the last 7 days. {_MOMENT}")
    until: str = Field("", description="Exclusive.")
    note_id: int | str = Field("", description="Only this note.")
    limit: int = Field(50, description="Rows, 1-200.")
    offset: int = Field(0, ge=0)


class Inbox(Arguments):
    """Arguments of `inbox`."""

    limit: int = Field(25, description="Of waiting notes and of proposals, the oldest; at most 50.")
    max_chars: int = Field(0, description="Characters of what is proposed, for each; 0: none.")


class Propose(WriteArguments):
    """Arguments of `propose`."""

    also: ClassVar = {"id": "note_id", "ref": "note_id", "body": "body_md", "content": "body_md", "tag": "tags"}

    note_id: int | str = Field("", description="The note to change; left out, a new one is proposed.")
    title: str = Field("", description="Needed for a new note; else a new title. At most 500 characters.")
    body_md: str = Field("", description=f"Needed for a new note; else the whole new text: prefer patch. {_BODY}")
    patch: list[dict[str, Any]] = Field([], description=_PATCH)
    summary: str = Field("", description=_SUMMARY)
    tags: list[str] = Field([], description="The whole list; from `list_tags` where they fit.")
    properties: dict[str, Any] = Field({}, description="Those to set, from `list_properties`; null removes one.")
    source_url: str = Field("", description="http(s) address the note comes from.")
    change_title: str = Field("", description="What the change is, in at most 120 characters.")
    comment: str = Field(
        "",
        description="Why, for the person who decides. Alone with note_id: report that the note is outdated.",
    )
    hold: bool = Field(False, description="Let the person decide, also where you could do it at once.")
    layer: Literal["", "past", "state", "rule"] = Field(
        "", description="Of a new note: past, a record (the default); state, what will change; rule."
    )
    folder: str = Field("", description="Of a new note; else move there.")
    amends: int | str = Field("", description="Of a new note: the record that it continues or corrects.")
    amend_kind: Literal["continues", "corrects"] = "continues"
    allow_duplicate: bool = Field(False, description="Save a new note although one says the same.")
    if_revision: str = Field("", description="The revision you read; else the one last shown to you.")
    allow_shrink: bool = Field(False, description="Needed when a note would lose over half of its text.")


class ProposeDelete(WriteArguments):
    """Arguments of `propose_delete`."""

    also: ClassVar = {"id": "note_id", "ref": "note_id", "comment": "reason"}

    note_id: Ref
    reason: str = Field(description="Why, and where links to the note should lead then.")


class ProposeMerge(WriteArguments):
    """Arguments of `propose_merge`."""

    also: ClassVar = {"id": "note_id", "ref": "note_id", "comment": "reason", "into": "into_note_id"}

    note_id: Ref
    into_note_id: int | str = Field(description="The note that stays, and gets tags and links of the other.")
    merged_body_md: str = Field("", description="Its whole new text; left out, it stays as it is.")
    reason: str = Field("", description="Why they are one.")


class Listing(Arguments):
    """Arguments of `list_tags` and `list_properties`."""

    limit: int = Field(500, ge=1, le=500)
    offset: int = Field(0, ge=0)


class Log(WriteArguments):
    """Arguments of `log`."""

    also: ClassVar = {"body": "text", "id": "note_id", "ref": "note_id"}

    kind: Literal["run_summary", "observation", "tooling_gap"] = Field(
        description="run_summary ends a run. observation: for later runs. tooling_gap: a tool you missed."
    )
    text: str = Field(description=f"What to write down; a run summary in at most {MOST_WORDS} words.")
    note_id: int | str = Field("", description="The note that an observation or gap is about.")
    examined: list[ExaminedArgument] = Field(
        [], description=f"Each note looked at, what for and what was found; at most {MOST_EXAMINED}."
    )
    started_at: str = Field("", description="When the run began; claims are compared from then on.")
    claimed: dict[str, int] | None = Field(
        None,
        description=f"How many: edited (at once), held (edits that wait), proposed (the rest); each 0-{MOST_CLAIMED}.",
    )


class LogRecent(Arguments):
    """Arguments of `log_recent`."""

    also: ClassVar = {"id": "note_id", "ref": "note_id"}

    note_id: int | str = Field("", description="All about this note, by whomever; else the history of tidying.")
    kind: Literal["", *KINDS] = Field("", description="Only this.")  # type: ignore[valid-type]
    precedent_only: bool = Field(False, description="Only decisions of the person that hold for like cases.")
    limit: int = Field(40, description="Rows, 1-200.")
    offset: int = Field(0, ge=0)


class NeedsEnrichment(Arguments):
    """Arguments of `needs_enrichment`."""

    limit: int = Field(25, description=f"Notes, 1-{MOST_ROWS}.")
    offset: int = Field(0, ge=0)


class CurationCandidates(Arguments):
    """Arguments of `curation_candidates`."""

    reason: str = Field("", description=f"Only this problem: {', '.join(REASONS)}.")
    stale_days: int | None = Field(None, description="Only notes that no curator read for so long, 1-3650.")
    cooldown_days: int = Field(DEFAULT_COOLDOWN, description="How long a note rests after it was tidied, 0-365.")
    include_pending: bool = Field(False, description="Also notes that wait for approval, for reference.")
    limit: int = Field(25, description=f"Notes, 1-{MOST_ROWS}.")
    offset: int | None = Field(None, ge=0, description="Rows to skip; even 0 shows notes without reserving them.")


class BlastRadius(Arguments):
    """Arguments of `blast_radius`."""

    also: ClassVar = {"days": "since_days"}

    since_days: int = Field(DEFAULT_DAYS, description=f"1-{MOST_DAYS}.")
    note_ids: list[int | str] = Field([], description="Only these notes.")
    limit: int = Field(25, description=f"Notes, 1-{MOST_ROWS}.")
    offset: int = Field(0, ge=0)


class LastCuratedNotes(Arguments):
    """Arguments of `last_curated`."""

    also: ClassVar = {"ids": "note_ids", "refs": "note_ids"}

    note_ids: list[int | str] = Field([], description=f"Of each of these notes; at most {MOST_REFS}.")


class GetSkill(Arguments):
    """Arguments of `get_skill`."""

    also: ClassVar = {"name": "slug", "skill": "slug", "id": "slug"}

    slug: str = Field(min_length=1, description="Its short name, as `list_skills` shows it.")


class DuplicateCandidates(Arguments):
    """Arguments of `duplicate_candidates`."""

    max_distance: float | None = Field(
        None, ge=0, le=2, description="Cosine distance; default: of duplicates here."
    )
    include_pending: bool = Field(False, description="Also notes that wait for approval.")
    limit: int = Field(20, description="Pairs, 1-100.")
    offset: int = Field(0, ge=0)


class ResolveFlag(WriteArguments):
    """Arguments of `resolve_curation_flag`."""

    also: ClassVar = {"id": "note_id", "ref": "note_id", "explanation": "resolution", "comment": "resolution"}

    note_id: Ref
    resolution: str = Field(description="What was done, or why nothing is wrong: disagreeing is fine.")
