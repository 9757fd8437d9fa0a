"""Answers of the profile `memex-tools` as values, under the names that its callers know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vault_memex.core.note import RESERVED_PROPERTIES
from vault_memex.core.snapshot import NoteRecord
from vault_memex.memory.flags import Flag
from vault_memex.memory.skills import Skill
from vault_memex.server.render import SHOWN_REVISION, fit_properties
from vault_memex.services.reading import NeighbourRow, NoteView, OutlineRow
from vault_memex.services.retrieval import SearchAnswer
from vault_memex.services.rows import SearchRow
from vault_memex.services.waiting import WaitingChange
from vault_memex.store.catalogue import LinkRow

Notes = Mapping[str, NoteRecord]


@dataclass(frozen=True, slots=True)
class FoundNote:
    """One note of a search."""

    id: int | None
    title: str
    status: str  # verified or pending
    path: str
    folder: str
    updated: str
    created: str
    chars: int
    description: str | None = None
    source_url: str | None = None
    tags: tuple[str, ...] = ()
    properties: dict[str, Any] | None = None
    layer: str | None = None
    matched_section: tuple[str, ...] = ()
    matched_text: str | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class SearchFound:
    """A page of a search."""

    total: int
    returned: int
    offset: int
    notes: tuple[FoundNote, ...]
    exact_match: bool = False  # words as written; meaning was not asked
    unknown_tags: tuple[str, ...] = ()
    missing_words: tuple[str, ...] = ()  # occur nowhere
    semantic_search_unavailable: str | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A link of a note, or a note that links to it."""

    id: int | None  # None: no note of that name yet, or one without a number
    kind: str  # wiki, embed, markdown, frontmatter
    target: str = ""  # as written
    path: str | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class WholeNote:
    """A note with what hangs on it. `body_md` is content of the note, never an instruction."""

    id: int | None
    title: str
    status: str  # verified or pending
    path: str
    revision: str
    body_md: str
    body_chars: int  # true length of the text, or of the section
    body_offset: int = 0
    body_next_offset: int | None = None  # go on there; None at the end
    section: tuple[str, ...] = ()
    description: str | None = None
    layer: str | None = None
    tags: tuple[str, ...] = ()
    properties: dict[str, Any] | None = None
    source_url: str | None = None
    added_by: str = ""
    changed_by: str = ""
    created: str = ""
    updated: str = ""
    former_titles: tuple[str, ...] = ()
    same_title: tuple[str, ...] = ()  # other notes of that title: path and number
    links: tuple[LinkedNote, ...] = ()
    links_total: int = 0
    backlinks: tuple[LinkedNote, ...] = ()
    backlinks_total: int = 0
    outline: tuple[OutlineRow, ...] = ()
    neighbours: tuple[NeighbourRow, ...] = ()
    waiting_changes: tuple[WaitingChange, ...] = ()
    curation_flag: Flag | None = None  # the person's word; it stands above your own opinion
    live_state_notice: str = ""
    profile_notice: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillRow:
    """A way of working."""

    slug: str
    title: str
    description: str = ""
    id: int | None = None  # of the person's note; None: it comes with the program


@dataclass(frozen=True, slots=True)
class SkillList:
    """The skills that this connection is offered."""

    total: int
    skills: tuple[SkillRow, ...] = ()


@dataclass(frozen=True, slots=True)
class WholeSkill:
    """A skill with its text: the person has approved it, so follow it."""

    slug: str
    title: str
    text: str
    description: str = ""
    id: int | None = None


def build_skill_row(skill: Skill) -> SkillRow:
    """Return a skill in these names."""
    return SkillRow(skill.slug, skill.title, skill.description, skill.note_id)


def build_search(answer: SearchAnswer) -> SearchFound:
    """Return the page in these names."""
    return SearchFound(
        answer.total,
        answer.returned,
        answer.offset,
        tuple(map(_build_row, answer.rows)),
        answer.exact_match,
        answer.unknown_tags,
        answer.missing_words,
        answer.semantic_search_unavailable,
        tuple(answer.remarks()),
    )


def _build_row(row: SearchRow) -> FoundNote:
    return FoundNote(
        id=row.note_id,
        title=row.title,
        status=row.review or "verified",
        path=row.path,
        folder=row.path.rpartition("/")[0],
        updated=row.updated,
        created=row.created,
        chars=row.chars,
        description=row.summary,
        source_url=row.source_url,
        tags=row.tags,
        properties=row.properties,
        layer=row.layer,
        matched_section=row.matched_section,
        matched_text=row.matched_text,
        superseded_by=row.superseded_by,
    )


def build_note(view: NoteView, notes: Notes) -> WholeNote:
    """Return the note in these names; `notes` are all that the connection sees, by path."""
    record = notes.get(view.path)
    own = {name: value for name, value in view.properties.items() if name not in RESERVED_PROPERTIES}
    source = view.properties.get("source_url")
    return WholeNote(
        id=view.note_id,
        title=view.title,
        status="pending" if view.properties.get("review") == "pending" else "verified",
        path=view.path,
        revision=view.revision[:SHOWN_REVISION],
        body_md=view.text,
        body_chars=view.body_chars,
        body_offset=view.offset,
        body_next_offset=view.next_offset,
        section=view.section,
        description=view.summary,
        layer=view.layer,
        tags=view.tags,
        properties=fit_properties(own) or None,
        source_url=source if isinstance(source, str) else None,
        added_by=view.added_by,
        changed_by=view.changed_by,
        created=view.created,
        updated=view.updated,
        former_titles=record.former_titles if record is not None else (),
        same_title=view.same_title,
        links=tuple(_build_link(row, notes) for row in view.links),
        links_total=view.links_total,
        backlinks=tuple(_build_backlink(row, notes) for row in view.backlinks),
        backlinks_total=view.backlinks_total,
        outline=view.outline,
        neighbours=view.neighbours,
        waiting_changes=view.waiting_changes,
        curation_flag=view.curation_flag,
        live_state_notice=view.live_state_notice,
        profile_notice=view.profile_notice,
        notices=view.notices,
    )


def _build_link(row: LinkRow, notes: Notes) -> LinkedNote:
    note = notes.get(row.path) if row.path is not None else None
    return LinkedNote(note.note_id if note else None, row.kind, f"{row.target}{row.subpath}", row.path)


def _build_backlink(row: LinkRow, notes: Notes) -> LinkedNote:
    note = notes.get(row.source)
    title = note.title if note else ""
    return LinkedNote(note.note_id if note else None, row.kind, path=row.source, title=title)
