"""What an assistant proposes and a person decides: a value, and what of it still fits the note as it is now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from vault_memex.core.markdown import parse_note
from vault_memex.core.note import PropertyValue
from vault_memex.core.property_edit import plan_properties
from vault_memex.errors import DoesNotFit
from vault_memex.memory.hunks import Hunk, Merged, TextChange, apply_hunks

INBOX_FOLDER = "_memex/inbox"
MAX_COMMENT = 2_000
ProposalKind = Literal["edit", "report", "delete", "merge"]
Decision = Literal["", "approve", "reject"]
KINDS: tuple[str, ...] = get_args(ProposalKind)
DECISIONS: tuple[str, ...] = get_args(Decision)
_NEVER_BLOCKING = frozenset(("tags", "edited_by"))
_NUMBER = re.compile(r"(\d{1,9})-[a-z]+-", re.ASCII)
_SUBJECT = re.compile(r"\d{1,9}-[a-z]+-(\d{1,18})\.md", re.ASCII)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A value beside the text that changes: title, folder, layer, summary, tags, or a property by its name.

    None is: there is none.
    """

    name: str
    old: PropertyValue
    new: PropertyValue
    is_property: bool = False  # of the frontmatter by that name; else an argument of `edit`


@dataclass(frozen=True, slots=True)
class Keeper:
    """The note that another is to be merged into."""

    path: str
    title: str
    note_id: int | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """One thing that waits. `base` is the revision of the note's file it was made for."""

    number: int
    kind: ProposalKind
    path: str
    title: str  # the note's
    by: str
    created: str
    updated: str
    note_id: int | None = None
    base: str = ""
    body: TextChange | None = None  # of a merge: of the keeper's text
    fields: tuple[FieldChange, ...] = ()
    comment: str = ""  # the author's reason; all of a report
    change_title: str = ""
    relink: bool = True  # a rename or move updates the links of other notes
    decision: Decision = ""
    decision_comment: str = ""
    precedent: bool = False
    problem: str = ""  # why the last decision could not be acted on
    amended: bool = False  # the person changed a text of it in the file
    into: Keeper | None = None  # of a merge
    gains: tuple[str, ...] = ()  # what the keeper gets by it, as lines to read

    @property
    def file(self) -> str:
        """The path of its file."""
        return f"{INBOX_FOLDER}/{self.number:04d}-{self.kind}-{self.note_id or 0}.md"

    @property
    def ref(self) -> str:
        """What to call it in a sentence."""
        return f"proposal {self.number}"


@dataclass(frozen=True, slots=True)
class Fitting:
    """What of a proposed edit fits the note as it is."""

    body: Merged | None = None
    fields: tuple[FieldChange, ...] = ()
    failed_fields: tuple[FieldChange, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether all of it does."""
        return not self.failed_fields and not (self.body and (self.body.failed or self.body.whole_failed))

    @property
    def applies(self) -> bool:
        """Whether any of it does."""
        return bool(self.fields) or bool(self.body and not self.body.whole_failed and _changes(self.body))

    def describe_failed(self) -> tuple[str, ...]:
        """Return one line for each part that does not fit any more."""
        hunks: Sequence[Hunk] = self.body.failed if self.body else ()
        lines = [f"{_short(h.old) or 'an insertion'} → {_short(h.new) or 'nothing'}" for h in hunks]
        if self.body and self.body.whole_failed:
            lines.append("the whole text: the note's text changed since")
        return (*lines, *(f"{f.name}: is not {_short(str(f.old))} any more" for f in self.failed_fields))


def _changes(merged: Merged) -> bool:
    return bool(merged.applied) or not merged.failed


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:59] + "…") if line else ""


def check_fit(
    proposal: Proposal, body: str, values: Mapping[str, PropertyValue], properties: Mapping[str, PropertyValue]
) -> Fitting:
    """Return what of an edit fits: `body` is the note's text now, `values` what it has of title, tags and so on."""
    fits: list[FieldChange] = []
    failed: list[FieldChange] = []
    for one in proposal.fields:
        present = (properties if one.is_property else values).get(one.name)
        (fits if present in (one.old, one.new) else failed).append(one)
    merged = apply_hunks(body, proposal.body) if proposal.body else None
    return Fitting(merged, tuple(fits), tuple(failed))


def plan_fields(
    before: Mapping[str, PropertyValue], after: Mapping[str, PropertyValue]
) -> tuple[FieldChange, ...]:
    """Return the properties that differ, in the order of the note, new ones last."""
    names = dict.fromkeys((*before, *after))
    return tuple(
        FieldChange(name, before.get(name), after.get(name), is_property=True)
        for name in names
        if before.get(name) != after.get(name)
    )


def plan_fitting(text: str, fitting: Fitting) -> str:
    """Return the note's file text with what fits. Raises DoesNotFit when its properties would be others than meant."""
    note = parse_note(text)
    new = text
    if fitting.body is not None:
        new = text[: note.body_start] + fitting.body.text
        if parse_note(new).body_start != note.body_start:
            raise DoesNotFit("The text would be read as properties where it is to stand. Edit the note by hand.")
    own = [one for one in fitting.fields if one.is_property]
    values = {one.name: one.new for one in own if one.new is not None}
    gone = [one.name for one in own if one.new is None]
    return plan_properties(new, values, gone) if own else new


def get_field(fields: Sequence[FieldChange], name: str) -> str | None:
    """Return the new value of an argument of `edit` (title, folder), or None when it is not among the fields."""
    found = next((one.new for one in fields if one.name == name and not one.is_property), None)
    return found if isinstance(found, str) else None


def find_shared_field(mine: Sequence[FieldChange], others: Sequence[FieldChange]) -> str | None:
    """Return a value that both change; tags and who added or edited are no reason to wait."""
    names = {(one.name, one.is_property) for one in others if one.name not in _NEVER_BLOCKING}
    return next((one.name for one in mine if (one.name, one.is_property) in names), None)


def find_number(name: str) -> int | None:
    """Return the number that a proposal's file name begins with."""
    found = _NUMBER.match(name)
    return int(found[1]) if found else None


def find_subject(name: str) -> int | None:
    """Return the number of the note that a proposal is about (0: none), as the name of its file says."""
    found = _SUBJECT.fullmatch(name)
    return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class Inbox:
    """What waits, by number, and what in the folder could not be read."""

    proposals: tuple[Proposal, ...] = ()
    unreadable: tuple[str, ...] = ()
    revisions: Mapping[int, str] = field(default_factory=dict)  # of the files
