"""What waits for the person, as a list to read. Nothing is decided here."""

from __future__ import annotations

from dataclasses import dataclass

from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import find_safe_cut
from vault_memex.errors import InvalidArgument, NotFound
from vault_memex.memory.proposal_file import count_proposed, render_difference
from vault_memex.memory.proposals import Proposal
from vault_memex.services.inbox import InboxFiles
from vault_memex.services.review import Review
from vault_memex.services.sight import Sight
from vault_memex.store.files import VaultFiles

MOST_SHOWN = 50
MOST_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """One thing that waits."""

    kind: str  # new note, edit, report, delete, merge
    path: str
    title: str
    by: str
    since: str
    number: int | None = None  # of the proposal
    note_id: int | None = None
    into: str = ""  # of a merge: the note that stays
    reason: str = ""
    problem: str = ""  # why the person's last decision could not be acted on
    proposed_chars: int = 0
    text: str = ""  # what is proposed, when asked for


@dataclass(frozen=True, slots=True)
class InboxAnswer:
    """What waits: of notes and of proposals the oldest."""

    pending_notes: int
    proposals: int
    rows: tuple[WaitingRow, ...]
    notes: tuple[str, ...] = ()  # files that cannot be read


@dataclass(frozen=True, slots=True)
class InboxPage:
    """A part of what waits: new notes first, then proposals, the oldest of each first."""

    total: int
    notes: tuple[NoteRecord, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    unreadable: tuple[str, ...] = ()  # files of this part


def find_page(review: Review, offset: int, limit: int) -> InboxPage:
    """Return `limit` of the things that wait, after the first `offset`; only their files are read."""
    notes, paths = review.find_notes(), review.inbox.find_paths()
    shown = notes[offset : offset + limit]
    inbox = review.inbox.find(most=limit - len(shown), skip=max(0, offset - len(notes)))
    return InboxPage(len(notes) + len(paths), shown, inbox.proposals, inbox.unreadable)


def count_proposals(inbox: InboxFiles, sight: Sight) -> int:
    """Return how many proposals wait about notes of the scope."""
    if sight.is_whole:
        return len(inbox.find_paths())
    return sum(map(sight.shows_proposal, inbox.find().proposals))


def find_waiting(review: Review, files: VaultFiles, sight: Sight, limit: int, max_chars: int) -> InboxAnswer:
    """Return up to `limit` notes and as many proposals, each with up to `max_chars` of what is proposed.

    Only what concerns notes of the scope.
    """
    if max_chars < 0 or limit < 1:
        raise InvalidArgument("limit", "limit is 1 or more, max_chars 0 or more.")
    limit, max_chars = min(limit, MOST_SHOWN), min(max_chars, MOST_CHARS)
    # The first numbers are the oldest; only for a scope does each file have to be read to know what it is about.
    inbox, notes = review.find(limit if sight.is_whole else None), review.find_notes()
    rows = [_view_note(note, files, max_chars) for note in notes[:limit]]
    proposals = [one for one in inbox.proposals if sight.shows_proposal(one)]
    rows += [_view_proposal(one, max_chars) for one in proposals[:limit]]
    count = count_proposals(review.inbox, sight) if sight.is_whole else len(proposals)
    return InboxAnswer(len(notes), count, tuple(rows), inbox.unreadable if sight.is_whole else ())


def _view_note(note: NoteRecord, files: VaultFiles, max_chars: int) -> WaitingRow:
    text = ""
    if max_chars:
        try:
            text = files.read(note.path).text
        except NotFound:  # gone since
            text = ""
    return WaitingRow(
        "new note",
        note.path,
        note.title,
        str(note.properties.get("added_by", "")),
        note.created,
        note_id=note.note_id,
        proposed_chars=note.chars,
        text=text[: find_safe_cut(text, max_chars)] if len(text) > max_chars else text,
    )


def _view_proposal(one: Proposal, max_chars: int) -> WaitingRow:
    text = render_difference(one) if max_chars else ""
    return WaitingRow(
        one.kind,
        one.path,
        one.title,
        one.by,
        one.created,
        number=one.number,
        note_id=one.note_id,
        into=one.into.path if one.into else "",
        reason=one.comment,
        problem=one.problem,
        proposed_chars=count_proposed(one),
        text=text[: find_safe_cut(text, max_chars)] if len(text) > max_chars else text,
    )
