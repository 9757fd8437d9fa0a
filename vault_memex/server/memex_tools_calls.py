"""What the tools of the profile `memex-tools` do: each calls one service and puts its answer in the profile's names.

Notes are named by number there, so every note gets one when the first of these tools is called. A whole new text says
no revision: the one that was last shown counts as what it was based on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from vault_memex.core.filters import parse_filters
from vault_memex.core.patch import parse_patch
from vault_memex.core.snapshot import Snapshot
from vault_memex.errors import InvalidArgument, RevisionRequired
from vault_memex.memory.policy import Touched, check_edit
from vault_memex.server.curation_record_tools import RecordAnswer, render_record
from vault_memex.server.curation_texts import (
    render_blast,
    render_enrichment,
    render_last_curated,
    render_queue,
)
from vault_memex.server.curation_tools import resolving
from vault_memex.server.lines import join_lines
from vault_memex.server.memex_tools_answers import SkillList, WholeSkill, build_note, build_search, build_skill_row
from vault_memex.server.memex_tools_arguments import (
    BlastRadius,
    CurationCandidates,
    DuplicateCandidates,
    Get,
    GetSkill,
    Inbox,
    LastCuratedNotes,
    Listing,
    Log,
    LogRecent,
    NeedsEnrichment,
    Nothing,
    Propose,
    ProposeDelete,
    ProposeMerge,
    RecentChanges,
    ResolveFlag,
    Search,
)
from vault_memex.server.numbered import find_numbered
from vault_memex.server.pair_texts import render_pairs
from vault_memex.server.render import (
    render_changes,
    render_inbox,
    render_search,
    render_status,
    render_view,
    render_vocabulary,
    render_write,
)
from vault_memex.server.skill_tools import answer_skill, render_skills
from vault_memex.server.suggestions import find_number
from vault_memex.server.tool import Answer
from vault_memex.services.curation import QueueRequest
from vault_memex.services.curation_views import find_blast, find_last_curated, find_unenriched
from vault_memex.services.history import ChangesRequest
from vault_memex.services.inbox_view import find_waiting
from vault_memex.services.pairs import PairsRequest
from vault_memex.services.reading import ReadRequest
from vault_memex.services.requests import (
    EditRequest,
    MergeRequest,
    RetireAnswer,
    RetireRequest,
    SaveRequest,
    WriteAnswer,
)
from vault_memex.services.retrieval import SearchRequest
from vault_memex.services.runs import Finding, RunRequest
from vault_memex.services.vocabulary import Kind
from vault_memex.vault import Vault

NO_REASON = "no reason given"


# -- reading


def search(vault: Vault, a: Search) -> Answer:
    """Find notes, or list them by filters."""
    find_numbered(vault)
    filters = parse_filters(
        tags=a.tags,
        review=a.status,
        properties=a.properties,
        created_after=a.created_after,
        created_before=a.created_before,
        updated_after=a.updated_after,
        updated_before=a.updated_before,
    )
    found = vault.retrieval.search(SearchRequest(a.query, "hybrid", filters, a.limit, a.offset, a.order))
    return Answer(render_search(found), build_search(found))


def get(vault: Vault, a: Get) -> Answer:
    """Return one note by number or title."""
    if bool(str(a.id)) == bool(a.title):
        raise InvalidArgument("id", "Name the note by `id` or by `title`, one of the two.")
    find_numbered(vault)
    view = vault.reading.get(str(a.id) or a.title, ReadRequest(a.section, a.offset, a.max_chars, a.depth))
    return Answer(render_view(view), build_note(view, vault.snapshot().notes))


def recent_changes(vault: Vault, a: RecentChanges) -> Answer:
    """Return what changed, newest first."""
    find_numbered(vault)
    found = vault.history.find_changes(ChangesRequest(a.since, a.until, str(a.note_id), a.limit, a.offset))
    return Answer(render_changes(found), found)


def inbox(vault: Vault, a: Inbox) -> Answer:
    """Return what waits for the person."""
    found = find_waiting(vault.review, vault.files, vault.sight, a.limit, a.max_chars)
    return Answer("\n".join(render_inbox(found)), found)


def listing(kind: Kind) -> Callable[[Vault, Listing], Answer]:
    """Return the function that lists one kind of words in use."""

    def run(vault: Vault, a: Listing) -> Answer:
        found = vault.vocabulary.list(kind, limit=a.limit, offset=a.offset)
        return Answer(render_vocabulary(found), found)

    return run


def health(vault: Vault, _: Nothing) -> Answer:
    """Return the state of memory."""
    found = vault.status.check()
    return Answer(render_status(found), found)


def list_skills(vault: Vault, _: Nothing) -> Answer:
    """Return the skills that this connection is offered."""
    vault.skills.fix()
    skills = vault.skills.offer("tools")
    return Answer(render_skills(skills), SkillList(len(skills), tuple(map(build_skill_row, skills))))


def get_skill(vault: Vault, a: GetSkill) -> Answer:
    """Return one skill with its text, in which tools have the names of this profile."""
    answer = answer_skill(loaded := vault.skills.load(a.slug, "tools"))
    row = build_skill_row(loaded.skill)
    return replace(answer, value=WholeSkill(row.slug, row.title, answer.text, row.description, row.id))


# -- writing


def propose(vault: Vault, a: Propose) -> Answer:
    """Save a new note, or change one; what has to wait waits."""
    find_numbered(vault)
    answer = _edit(vault, a) if str(a.note_id) else _save(vault, a)
    if answer.proposal is None:
        vault.reading.note_shown(answer.path, answer.revision)
    return Answer(render_write(answer), answer)


def _save(vault: Vault, a: Propose) -> WriteAnswer:
    for name in ("title", "body_md"):
        if not getattr(a, name).strip():
            raise InvalidArgument(
                name, f"{name} is missing: a new note needs title and body_md, a change note_id."
            )
    if a.patch or a.if_revision:
        raise InvalidArgument("note_id", "note_id is missing: patch and if_revision change a note that is there.")
    return vault.editing.save(
        SaveRequest(
            title=a.title,
            body=a.body_md,
            layer=a.layer or "past",
            summary=a.summary,
            tags=tuple(a.tags),
            folder=a.folder,
            properties={name: value for name, value in a.properties.items() if value is not None},
            source_url=a.source_url,
            amends=str(a.amends),
            amend_kind=a.amend_kind,
            allow_duplicate=a.allow_duplicate,
            change_title=a.change_title,
            hold=a.hold,
        )
    )


def _edit(vault: Vault, a: Propose) -> WriteAnswer:
    for name in ("amends", "amend_kind", "allow_duplicate"):
        if a.sent(name):
            raise InvalidArgument(name, f"{name} goes with a new note: leave out note_id.")
    properties = {**a.properties, "source_url": a.source_url or None} if a.sent("source_url") else a.properties
    return vault.editing.edit(
        EditRequest(
            ref=str(a.note_id),
            patch=parse_patch(a.patch) if a.patch else (),
            body=a.body_md if a.sent("body_md") else None,
            title=a.title if a.sent("title") else None,
            folder=a.folder if a.sent("folder") else None,
            properties=properties,
            tags=tuple(a.tags) if a.sent("tags") else None,
            summary=a.summary if a.sent("summary") else None,
            layer=a.layer or None,
            if_revision=a.if_revision or _find_shown(vault, a),
            allow_shrink=a.allow_shrink,
            change_title=a.change_title,
            comment=a.comment,
            hold=a.hold,
        )
    )


def _find_shown(vault: Vault, a: Propose) -> str:
    """Return what a whole new text was based on: the note as it was last shown."""
    if not a.sent("body_md") or a.patch:
        return ""
    note = vault.reading.find_note(str(a.note_id), writing=True)[0]
    check_edit(
        note, Touched(text=True, whole=True), vault.config.role
    )  # whoever may not write it need not read it
    shown = vault.reading.find_shown(note.path)
    if not shown:
        raise RevisionRequired(f"Read {note.path} with `get` first: body_md replaces all that is there now.")
    return shown


def propose_delete(vault: Vault, a: ProposeDelete) -> Answer:
    """Propose a deletion; it waits, whoever asks."""
    find_numbered(vault)
    answer = vault.editing.retire(RetireRequest(str(a.note_id), a.reason, hold=True))
    return Answer(render_write(answer), RetireAnswer.of(answer))


def propose_merge(vault: Vault, a: ProposeMerge) -> Answer:
    """Propose a merge; it waits, whoever asks."""
    find_numbered(vault)
    merged = a.merged_body_md if a.sent("merged_body_md") else None
    request = MergeRequest(str(a.note_id), str(a.into_note_id), a.reason.strip() or NO_REASON, merged)
    answer = vault.merging.merge(request)
    return Answer(render_write(answer), RetireAnswer.of(answer))


# -- curating


def needs_enrichment(vault: Vault, a: NeedsEnrichment) -> Answer:
    """Return notes without description or tags, oldest first."""
    find_numbered(vault)
    found = find_unenriched(vault.upkeep.curation, a.limit, a.offset)
    return Answer(render_enrichment(found), found)


def curation_candidates(vault: Vault, a: CurationCandidates) -> Answer:
    """Return what needs attention, and why; without an offset it is reserved for the caller."""
    find_numbered(vault)
    request = QueueRequest(a.reason, a.stale_days, a.cooldown_days, a.include_pending, a.limit, a.offset)
    found = vault.upkeep.curation.find_queue(request)
    return Answer(render_queue(found), found)


def blast_radius(vault: Vault, a: BlastRadius) -> Answer:
    """Return notes whose linked notes changed lately."""
    find_numbered(vault)
    refs = [str(one) for one in a.note_ids]
    found = find_blast(
        vault.upkeep.curation, resolving(vault), since_days=a.since_days, refs=refs, limit=a.limit, offset=a.offset
    )
    return Answer(render_blast(found), found)


def last_curated(vault: Vault, a: LastCuratedNotes) -> Answer:
    """Return when the last run was and whether one is due; with notes, when each was looked at."""
    find_numbered(vault)
    found = find_last_curated(vault.upkeep.curation, resolving(vault), [str(one) for one in a.note_ids])
    return Answer(render_last_curated(found), found)


def log(vault: Vault, a: Log) -> Answer:
    """Write down what a curator did or saw."""
    findings = tuple(Finding(one.ref, one.checked, one.found) for one in a.examined)
    request = RunRequest(a.kind, a.text, str(a.note_id), findings, a.started_at, a.claimed)
    written = vault.upkeep.runs.record(request)
    record = written.record
    answer = RecordAnswer(
        "recorded", written.event, written.file, record.started_at, record.mismatches, notes=written.notes
    )
    return Answer(join_lines(list(render_record(answer))), answer)


def log_recent(vault: Vault, a: LogRecent) -> Answer:
    """Return the history of tidying, or all about one note, newest first."""
    find_numbered(vault)
    request = ChangesRequest(
        ref=str(a.note_id),
        limit=a.limit,
        offset=a.offset,
        scope="curation",
        kind=a.kind,
        precedent_only=a.precedent_only,
    )
    found = vault.history.find_changes(request)
    return Answer(render_changes(found), found)


def resolve_flag(vault: Vault, a: ResolveFlag) -> Answer:
    """Close the flag on a note."""
    closed = vault.upkeep.flags.resolve(str(a.note_id), a.resolution)
    answer = RecordAnswer("closed", closed.event, closed=closed)
    return Answer(join_lines(list(render_record(answer))), answer)


def duplicate_candidates(vault: Vault, a: DuplicateCandidates) -> Answer:
    """Return pairs of notes that say nearly the same."""
    find_numbered(vault)
    found = vault.upkeep.pairs.find(PairsRequest(a.max_distance, a.include_pending, a.limit, a.offset))
    return Answer(render_pairs(found), found)


# -- the calls that errors suggest


def translate(suggestion: Mapping[str, Any], snapshot: Snapshot) -> Mapping[str, Any]:
    """Return the suggested call as one of `propose`."""
    if suggestion.get("tool") not in ("save", "edit"):
        return suggestion
    call = {name: value for name, value in suggestion.items() if name not in ("tool", "ref", "body")}
    if "ref" in suggestion:
        call["note_id"] = find_number(snapshot, suggestion["ref"])
    if "body" in suggestion:
        call["body_md"] = suggestion["body"]
    return {"tool": "propose", **call}
