"""Profile `xmemo`: search_memory, recall, recall_context and forget with XMemo's parameters, over our services."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from pydantic import Field

from vault_memex.core.filters import Filters, get_memory_type, parse_filters
from vault_memex.errors import InvalidArgument, ParamNotAllowed
from vault_memex.memory.pack_text import render_pack
from vault_memex.server.lines import LONGEST_NAME, cut, join_lines
from vault_memex.server.read_tools import ALWAYS_LOADED, LONG_ANSWER, Text
from vault_memex.server.recall_tools import RECALL, RecallArguments, run_recall
from vault_memex.server.render import render_write
from vault_memex.server.tool import Answer, Arguments, ToolSpec
from vault_memex.services.forgetting import resolve_exact
from vault_memex.services.recall import (
    DEFAULT_ITEMS,
    DEFAULT_TOKENS,
    FEWEST_TOKENS,
    MOST_PACKED,
    MOST_TOKENS,
    RecallRequest,
)
from vault_memex.services.requests import RetireRequest, WriteAnswer
from vault_memex.services.retrieval import SearchAnswer, SearchRequest
from vault_memex.services.rows import SearchRow
from vault_memex.services.trashing import KEPT_DAYS
from vault_memex.vault import Vault

PLUGIN_PARAMETERS = ("path_filter", "memory_type", "prefer_working")
"""Only of the profile of a plugin that knows this vault; a generic one narrows by its query."""

_PATH = "SQL ILIKE pattern over the path without .md: % any run, _ one character, \\ before one that is meant."
_TYPE = "semantic, episodic, procedural, working, identity, auto, or a % pattern."
_WORKING = "Put matching working memory that still holds first."
_BUCKET = "A top-level folder; % is all."


class SearchMemory(Arguments):
    """Arguments of `search_memory`."""

    also: ClassVar = {"q": "query", "max_results": "limit"}

    query: Text = Field(min_length=1, description="The exact topic or wording.")
    limit: int = Field(5, ge=1, le=50, description="Add bucket or path_filter before raising it.")
    bucket: str = Field("%", description=_BUCKET)
    path_filter: str = Field("%", description=_PATH)
    memory_type: str = Field("%", description=_TYPE)
    prefer_working: bool = Field(False, description=_WORKING)
    explain: bool = Field(False, description="Say for each why it matches.")


class RecallContext(Arguments):
    """Arguments of `recall_context`."""

    also: ClassVar = {"q": "query"}

    query: Text = Field(min_length=1, description="What the context is for: content words or a question.")
    max_items: int = Field(DEFAULT_ITEMS, description=f"Notes, 1-{MOST_PACKED}.")
    max_tokens: int = Field(
        DEFAULT_TOKENS, description=f"Of the whole answer, {FEWEST_TOKENS}-{MOST_TOKENS}; never exceeded."
    )
    bucket: str = Field("%", description=_BUCKET)
    memory_type: str = Field("auto", description=_TYPE)
    path_filter: str = Field("%", description=_PATH)
    prefer_working: bool = Field(False, description=_WORKING)
    output_json: bool = Field(False, description="The same as JSON text.")


class Forget(Arguments):
    """Arguments of `forget`."""

    also: ClassVar = {
        "memory_id": "target",
        "id": "target",
        "ref": "target",
        "path": "target",
        "note_id": "target",
    }

    target: int | str = Field(
        description="The exact #number, path or title of the one note, as an answer showed it."
    )
    reason: str = Field("", max_length=2_000, description="Why; kept with the trash.")


@dataclass(frozen=True, slots=True)
class Memory:
    """One strong match."""

    ref: str  # for `get` and `forget`
    path: str
    title: str
    text: str
    section: tuple[str, ...] = ()
    updated: str = ""
    memory_type: str = ""
    validity: str | None = None  # superseded, expired or not_yet_valid; None while it holds
    superseded_by: str | None = None
    agent_boundary: str | None = None  # who wrote it, when that was an assistant: a label, no right
    why: str | None = None  # with explain
    distance: float | None = None  # with explain: cosine distance of the nearest passage


@dataclass(frozen=True, slots=True)
class Memories:
    """Strong matches, or `no_match`, which is no error."""

    outcome: str  # ok or no_match
    total: int
    memories: tuple[Memory, ...] = ()
    weak_candidates: int | None = None  # how many there are, never their text
    missing_words: tuple[str, ...] = ()  # occur nowhere in the vault
    notes: tuple[str, ...] = ()


# -- what they do


def _check_profile(vault: Vault, arguments: Arguments) -> None:
    """Refuse what the generic profile does not have."""
    if vault.config.search_profile == "generic":
        for name in PLUGIN_PARAMETERS:
            if arguments.sent(name):
                raise ParamNotAllowed(
                    name,
                    f"{name} is not part of the generic profile. Leave it out and narrow by query or bucket; the "
                    "person can set search_profile = full.",
                )


def _build_filters(bucket: str, path_filter: str, memory_type: str) -> Filters:
    if "%" in bucket and bucket.strip() != "%":
        raise InvalidArgument("bucket", f"bucket = {bucket!r}: write one top-level folder, or % for all.")
    return parse_filters(folder=bucket.strip().strip("%"), path_filter=path_filter, memory_type=memory_type)


def _search(vault: Vault, a: SearchMemory) -> Answer:
    _check_profile(vault, a)
    found = vault.retrieval.search(
        SearchRequest(
            query=a.query,
            mode="strict",
            filters=_build_filters(a.bucket, a.path_filter, a.memory_type),
            limit=a.limit,
            prefer_working=a.prefer_working,
            explain=a.explain,
        )
    )
    answer = Memories(
        outcome=found.outcome,
        total=found.total,
        memories=tuple(_view(vault, row) for row in found.rows),
        weak_candidates=found.weak_candidates,
        missing_words=found.missing_words,
        notes=tuple(found.remarks()),
    )
    return Answer(_render(answer, found), answer)


def _view(vault: Vault, row: SearchRow) -> Memory:
    note = vault.snapshot().notes.get(row.path)
    added_by = note.properties.get("added_by") if note is not None else None
    return Memory(
        ref=_name(row),
        path=row.path,
        title=row.title,
        text=row.matched_text or row.summary or "",
        section=row.matched_section,
        updated=row.updated,
        memory_type=get_memory_type(note) if note is not None else "",
        validity=row.validity,
        superseded_by=row.superseded_by,
        agent_boundary=str(added_by) if added_by else None,
        why=row.why,
        distance=row.distance,
    )


def _name(row: SearchRow) -> str:
    return f"#{row.note_id}" if row.note_id is not None else row.path


def _render(answer: Memories, found: SearchAnswer) -> str:
    lines = [f"{len(answer.memories)} of {answer.total} strong matches." if answer.total else "No strong match."]
    lines += found.remarks()
    for number, memory in enumerate(answer.memories, 1):
        fallen = f" · {memory.validity.replace('_', ' ')}" if memory.validity else ""
        lines.append(f"{number}. {memory.ref} · {memory.path} · {memory.memory_type}{fallen}")
        if memory.section:
            lines.append(f"   in: {cut(' > '.join(memory.section), LONGEST_NAME)}")
        lines.append(f"   content of the note: {' '.join(memory.text.split())}")
        if memory.why:
            lines.append(f"   why: {memory.why}")
    return join_lines(lines)


def _recall(vault: Vault, a: RecallArguments) -> Answer:
    _check_profile(vault, a)
    return run_recall(vault, a)


def _recall_context(vault: Vault, a: RecallContext) -> Answer:
    _check_profile(vault, a)
    recalled = vault.recall.recall(
        RecallRequest(
            query=a.query,
            max_tokens=a.max_tokens,
            max_items=a.max_items,
            filters=_build_filters(a.bucket, a.path_filter, a.memory_type),
            prefer_working=a.prefer_working,
            as_json=a.output_json,
        )
    )
    return Answer(render_pack(recalled.pack, recalled.frame))


def _forget(vault: Vault, a: Forget) -> Answer:
    note = resolve_exact(vault.settled(), str(a.target))
    answer = vault.editing.retire(RetireRequest(note.path, a.reason.strip() or "forgotten: no reason given"))
    if answer.proposal is not None:
        return Answer(render_write(answer), answer)
    line = f"Only the person restores or erases it (vault-memex trash); it can be restored for {KEPT_DAYS} days."
    return Answer(join_lines([*render_write(answer).splitlines(), line]), answer)


# -- how they are listed


SEARCH_MEMORY = ToolSpec(
    name="search_memory",
    title="Search the memory strictly",
    description=(
        "Strong matches only, or no_match; a weak match never becomes an answer here. Use it when project, path or "
        "type are known and a weak answer would be dangerous. On no_match say so: it does not prove absence, and "
        "`recall` must not take its place silently. Add bucket or path_filter before raising `limit`. For an open "
        "question use `recall`, for context of several notes `recall_context`; this changes nothing."
    ),
    arguments=SearchMemory,
    run=_search,
    output=Memories,
    read_only=True,
    meta=ALWAYS_LOADED,
)
RECALL_MEMORY = replace(
    RECALL,
    description=(
        "The few notes that answer best, forgiving: words or meaning, each labelled strong or weak, what no longer "
        "holds marked, every text with its source. What is weak is unverified: say so. Where a weak answer would be "
        "dangerous use `search_memory`; for more context `recall_context`."
    ),
    run=_recall,
)
RECALL_CONTEXT = ToolSpec(
    name="recall_context",
    title="Recall context within a budget",
    description=(
        "A pack of sections of several notes for a task, never above max_tokens, in reading order, each with its ref "
        "and labelled strong or weak; repeats are dropped and what was left out is said."
    ),
    arguments=RecallContext,
    run=_recall_context,
    read_only=True,
    meta=LONG_ANSWER,
)
FORGET = ToolSpec(
    name="forget",
    title="Forget one note",
    description=(
        "Move exactly one note to the trash, after you have read it and the person wants it gone. target is its "
        "#number, path or title as an answer showed it; `latest` and `current` are refused. Only the person restores "
        "or erases it."
    ),
    arguments=Forget,
    run=_forget,
    output=WriteAnswer,
    destructive=True,
)

TOOLS = (SEARCH_MEMORY, RECALL_MEMORY, RECALL_CONTEXT, FORGET)
