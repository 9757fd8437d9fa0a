"""What waits about one note, as its reader is told: who, what, and which sentences it keeps others from changing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import find_safe_cut
from vault_memex.memory.blocking import LONGEST_SHOWN, find_touched
from vault_memex.memory.proposal_file import render_difference
from vault_memex.memory.proposals import Proposal
from vault_memex.services.inbox import InboxFiles
from vault_memex.services.sight import Sight

MOST_SHOWN = 20  # changes, and sentences of each
LONGEST_CHANGE = 1_000  # code points of the difference
WHOLE = "the whole text"


@dataclass(frozen=True, slots=True)
class WaitingChange:
    """A proposal about a note."""

    number: int
    kind: str  # edit, report, delete, merge
    by: str
    since: str
    reason: str = ""
    fields: tuple[str, ...] = ()  # title, summary, tags and properties that it changes
    blocks: tuple[str, ...] = ()  # sentences of the note that it changes
    change: str = ""  # what is there and what is proposed
    other: str = ""  # of a merge: the other note's path


def find_waiting_on(inbox: InboxFiles, sight: Sight, note: NoteRecord, body: str) -> tuple[WaitingChange, ...]:
    """Return what waits about a note with this text, by number, the caller's own too; merges into it as well."""
    if note.note_id is None:
        return ()
    found = (*inbox.find(note.note_id).proposals, *inbox.find_merges(note.note_id))
    seen = sorted((one for one in found if sight.shows_proposal(one)), key=lambda one: one.number)
    return tuple(_view(one, note, body) for one in seen[:MOST_SHOWN])


def _view(one: Proposal, note: NoteRecord, body: str) -> WaitingChange:
    into = one.into
    other = "" if into is None else one.path if into.note_id == note.note_id else into.path
    change = render_difference(one)
    return WaitingChange(
        one.number,
        one.kind,
        one.by,
        one.created,
        reason=one.comment,
        fields=tuple(field.name for field in one.fields),
        blocks=tuple(_find_blocked(one, body)) if one.kind == "edit" else (),
        change=change if len(change) <= LONGEST_CHANGE else f"{change[: find_safe_cut(change, LONGEST_CHANGE)]}…",
        other=other,
    )


def _find_blocked(one: Proposal, body: str) -> Iterator[str]:
    if one.body is None:
        return
    if one.body.whole is not None:
        yield WHOLE
        return
    units = sorted(unit for unit in find_touched(body, one.body) if unit.start < unit.end)
    yield from (
        body[u.start : find_safe_cut(body, min(u.end, u.start + LONGEST_SHOWN))] for u in units[:MOST_SHOWN]
    )
