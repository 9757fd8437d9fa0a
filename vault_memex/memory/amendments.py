"""What holds now: which notes were corrected, by what in the end, and which are not valid today.

Nothing is hidden for being old. Search and recall mark such a note, name its successor, and put it lower.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Literal, Protocol

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.memory.days import find_day, find_last_day

AmendKind = Literal["corrects", "continues"]
ValidityStatus = Literal["current", "superseded", "expired", "not_yet_valid"]

AMENDS = "amends"
SUPERSEDED_BY = "superseded_by"


class PropertyLink(Protocol):
    """A frontmatter link as the catalogue resolved it."""

    @property
    def source(self) -> str:
        """The note whose property it is."""

    @property
    def target(self) -> str | None:
        """The note it names; None when none answers."""

    @property
    def key(self) -> str | None:
        """The property: "amends", or "amends.0" for an item of a list."""


@dataclass(frozen=True, slots=True)
class Amendment:
    """One note that amends another."""

    path: str  # of the later note
    amends: str
    kind: AmendKind


@dataclass(frozen=True, slots=True)
class Amendments:
    """All amendments of a vault, and what they come to."""

    of: Mapping[str, tuple[Amendment, ...]] = field(default_factory=lambda: MappingProxyType({}))  # oldest first
    successors: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def find_successor(self, path: str) -> str | None:
        """Return the newest correction anywhere downstream of a corrected note; None when it stands."""
        return self.successors.get(path)


@dataclass(frozen=True, slots=True)
class Validity:
    """Whether a note holds on a day. `successor` is the note to read instead, where one is known."""

    status: ValidityStatus
    successor: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the note may be taken at its word."""
        return self.status == "current"


def build_amendments(snapshot: Snapshot, links: Iterable[PropertyLink]) -> Amendments:
    """Return who amends whom. `links` may hold others too; only `amends` and `superseded_by` are read.

    Only `corrects` makes a note superseded; `continues` adds to it. What waits for approval changes nothing yet.
    A note that `superseded_by` points away from counts as corrected by the one it names.
    """
    found: dict[str, set[Amendment]] = {}
    for link in links:
        property_name = (link.key or "").partition(".")[0]
        if link.target is None or link.target == link.source:
            continue
        if property_name == AMENDS:
            amendment = Amendment(link.source, link.target, _kind_of(snapshot.notes.get(link.source)))
        elif property_name == SUPERSEDED_BY:
            amendment = Amendment(link.target, link.source, "corrects")
        else:
            continue
        later = snapshot.notes.get(amendment.path)
        if later is not None and amendment.amends in snapshot.notes and not later.pending:
            found.setdefault(amendment.amends, set()).add(amendment)
    of = {path: tuple(sorted(group, key=lambda a: _age_key(snapshot, a.path))) for path, group in found.items()}
    return Amendments(of, _find_successors(snapshot, of))


def _kind_of(note: NoteRecord | None) -> AmendKind:
    return "corrects" if note is not None and note.properties.get("amend_kind") == "corrects" else "continues"


def _age_key(snapshot: Snapshot, path: str) -> tuple[str, int, str]:
    note = snapshot.notes[path]
    return (note.created, note.note_id or 0, path)


def _find_successors(snapshot: Snapshot, of: Mapping[str, tuple[Amendment, ...]]) -> dict[str, str]:
    """Return, for each corrected note, the newest correction downstream.

    Where amendments run in a circle the newest note of the circle stands: it has no successor inside it.
    """
    successors: dict[str, str] = {}
    for path, direct in of.items():
        if not any(amendment.kind == "corrects" for amendment in direct):
            continue
        newest = max(_find_corrections(path, of), key=lambda p: _age_key(snapshot, p))
        if newest != path:
            successors[path] = newest
    return successors


def _find_corrections(path: str, of: Mapping[str, tuple[Amendment, ...]]) -> set[str]:
    """Return all corrections that amendments of any kind lead to, the note itself if they lead back."""
    corrections: set[str] = set()
    seen: set[str] = set()
    waiting = [path]
    while waiting:
        for amendment in of.get(waiting.pop(), ()):
            if amendment.kind == "corrects":
                corrections.add(amendment.path)
            if amendment.path not in seen:
                seen.add(amendment.path)
                waiting.append(amendment.path)
    return corrections


def check_validity(note: NoteRecord, amendments: Amendments, today: date) -> Validity:
    """Return whether the note holds today. A `valid_until` day is the last one on which it does.

    What the properties say counts even when the note named by `superseded_by` cannot be found. A date that cannot
    be read limits nothing.
    """
    successor = amendments.find_successor(note.path)
    named = note.properties.get(SUPERSEDED_BY)
    if successor is not None or (named and not _is_newest_of_circle(note, amendments)):
        return Validity("superseded", successor)
    until = find_last_day(note.properties.get("valid_until"))
    if until is not None and until < today:
        return Validity("expired")
    start = find_day(note.properties.get("valid_from"))
    if start is not None and start > today:
        return Validity("not_yet_valid")
    return Validity("current")


def _is_newest_of_circle(note: NoteRecord, amendments: Amendments) -> bool:
    return any(amendment.kind == "corrects" for amendment in amendments.of.get(note.path, ()))
