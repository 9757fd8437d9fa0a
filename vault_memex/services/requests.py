"""What writes are asked for, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from vault_memex.core.changes import Change
from vault_memex.core.note import PropertyValue
from vault_memex.core.patch import PatchOp
from vault_memex.memory.duplicates import Duplicate
from vault_memex.memory.flashbacks import Flashback
from vault_memex.memory.hints import LinkHint, SimilarHint, TagHint


@dataclass(frozen=True, slots=True)
class SaveRequest:
    """A new note."""

    title: str
    body: str
    layer: str
    summary: str = ""
    tags: tuple[str, ...] = ()
    folder: str = ""
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    source_url: str = ""
    amends: str = ""  # a ref
    amend_kind: str = "continues"
    memory_type: str = ""  # empty: by layer, tags and validity
    valid_from: str = ""
    valid_until: str = ""
    allow_duplicate: bool = False
    change_title: str = ""
    hold: bool = False  # the person decides whether it stays


@dataclass(frozen=True, slots=True)
class EditRequest:
    """A change to a note. None means: not asked for; an empty text is a value."""

    ref: str
    patch: tuple[PatchOp, ...] = ()
    body: str | None = None
    title: str | None = None
    folder: str | None = None
    relink: bool = True
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    tags: tuple[str, ...] | None = None
    summary: str | None = None
    layer: str | None = None
    if_revision: str = ""
    allow_shrink: bool = False
    change_title: str = ""
    comment: str = ""  # why; alone: a report that something is outdated
    hold: bool = False  # the person decides


@dataclass(frozen=True, slots=True)
class RetireRequest:
    """A note to put into the trash."""

    ref: str
    reason: str
    hold: bool = False  # the person decides


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """A note to be merged into another."""

    ref: str
    into: str  # a ref
    reason: str
    merged_body: str | None = None  # the keeper's new text; None: it stays


@dataclass(frozen=True, slots=True)
class PlannedWrite:
    """A change of several notes, ready for the one door."""

    change: Change
    details: Mapping[str, Any] = field(default_factory=dict)  # for the journal
    numbers: Mapping[str, int] = field(default_factory=dict)  # of new notes, by path; taken already


@dataclass(frozen=True, slots=True)
class WriteHints:
    """What the author may want to do next; nothing of it is done by itself."""

    links: tuple[LinkHint, ...] = ()  # notes named and not linked, with a patch that links them
    tags: tuple[TagHint, ...] = ()  # in use elsewhere, their words stand in the text
    near: tuple[SimilarHint, ...] = ()  # of a new note: others about the same


@dataclass(frozen=True, slots=True)
class SignalHint:
    """The one signal to offer after a write."""

    type: str
    reason: str
    signal: int | None = None  # its number; without one `insights` gives it one


@dataclass(frozen=True, slots=True)
class WriteAnswer:
    """What a write did. The file was read back: this is what is on disk."""

    outcome: str  # created, pending, applied, renamed, deleted, held, folded, reported
    path: str
    title: str
    note_id: int | None
    revision: str
    diff: str = ""
    removed_headings: tuple[str, ...] = ()
    relinked: tuple[str, ...] = ()  # notes and canvases whose links were rewritten
    cited_by: tuple[str, ...] = ()  # notes that link here; at most ten, least recently changed first
    cited_by_total: int = 0
    citing_advice: str = ""  # what to check in them
    similar: tuple[Duplicate, ...] = ()  # notes that the new one partly repeats
    flashbacks: tuple[Flashback, ...] = ()  # older notes from elsewhere about the same
    hints: WriteHints | None = None
    signal_hint: SignalHint | None = None  # what the vault points out about this note; at most one
    new_tags: tuple[str, ...] = ()  # that no other note had
    new_folder: str | None = None
    trash_path: str | None = None
    into: str | None = None  # the note that it is to be merged into
    proposal: int | None = None  # what now waits for the person
    discarded: tuple[int, ...] = ()  # proposals about the note that went with it
    commit: str = ""  # done, queued, off
    commit_error: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetireAnswer:
    """What became of a note that is to go: the fields of WriteAnswer that can hold something then."""

    outcome: str  # deleted, held, folded
    path: str
    title: str
    note_id: int | None = None
    trash_path: str | None = None
    into: str | None = None  # the note that it is to be merged into
    proposal: int | None = None
    discarded: tuple[int, ...] = ()
    cited_by: tuple[str, ...] = ()
    cited_by_total: int = 0
    citing_advice: str = ""
    commit: str = ""
    commit_error: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, answer: WriteAnswer) -> RetireAnswer:
        """Return the answer without what only a write of text can say."""
        return cls(**{one.name: getattr(answer, one.name) for one in fields(cls)})
