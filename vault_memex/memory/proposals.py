"""What an assistant proposes and a person decides: a value, and what of it still fits the note as it is now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from vault_memex.core.note import PropertyValue
from vault_memex.memory.hunks import Hunk, Merged, TextChange, apply_hunks

INBOX_FOLDER = "_memex/inbox"
MAX_COMMENT = 2_000
ProposalKind = Literal["edit", "report", "delete", "merge"]
Decision = Literal["", "approve", "reject"]
KINDS: tuple[str, ...] = get_args(ProposalKind)
DECISIONS: tuple[str, ...] = get_args(Decision)
_NUMBER = re.compile(r"(\d{1,9})-[a-z]+-", re.ASCII)


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
    body: TextChange | None = None
    fields: tuple[FieldChange, ...] = ()
    comment: str = ""  # the author's reason; all of a report
    change_title: str = ""
    relink: bool = True
    into: str = ""  # merge: the note that stays
    decision: Decision = ""
    decision_comment: str = ""
    precedent: bool = False
    amended: bool = False  # the person changed a text of it in the file

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


def find_number(name: str) -> int | None:
    """Return the number that a proposal's file name begins with."""
    found = _NUMBER.match(name)
    return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class Inbox:
    """What waits, by number, and what in the folder could not be read."""

    proposals: tuple[Proposal, ...] = ()
    unreadable: tuple[str, ...] = ()
    revisions: Mapping[int, str] = field(default_factory=dict)  # of the files
