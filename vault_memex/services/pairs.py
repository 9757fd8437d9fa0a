"""Candidates for a merge: pairs of notes that say nearly the same, without those that somebody found to be two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vault_memex.config import Config
from vault_memex.core.frontmatter import without_frontmatter
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import render_subject
from vault_memex.errors import InvalidArgument, MemexError
from vault_memex.memory.inferences import body_hash
from vault_memex.memory.journal_kinds import PAIR_REJECTED
from vault_memex.memory.pairs import DETAIL, MOST_PAIRS, JudgedPair, build_pair, parse_pair, render_pair
from vault_memex.memory.policy import check_curator
from vault_memex.services.actor import find_actor
from vault_memex.services.detecting import Detecting
from vault_memex.services.editing import Editing
from vault_memex.services.filing import Filing, check_comment
from vault_memex.store.files import VaultFiles
from vault_memex.store.journal import JournalEvent


@dataclass(frozen=True, slots=True)
class PairsRequest:
    """Which pairs to look for."""

    max_distance: float | None = None  # None: that of duplicates in this vault
    include_pending: bool = False
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, slots=True)
class PairedNote:
    """One of two notes."""

    path: str
    title: str
    note_id: int | None
    chars: int
    updated: str
    layer: str | None = None


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two notes, and how far the one that is said in the other is from it."""

    distance: float
    one: PairedNote
    other: PairedNote


@dataclass(frozen=True, slots=True)
class PairsAnswer:
    """Pairs, nearest first."""

    total: int
    returned: int
    offset: int
    max_distance: float  # cosine distance up to which was looked
    rows: tuple[PairRow, ...] = ()
    rejected: int = 0  # pairs left out because somebody found them to be two notes
    unsettled: int = 0  # passages that are not compared yet
    unavailable: str = ""  # why nothing could be compared
    notes: tuple[str, ...] = ()


class Pairs:
    """Pairs of one vault, as a connection may see them."""

    def __init__(
        self, config: Config, detecting: Detecting, editing: Editing, filing: Filing, files: VaultFiles
    ) -> None:
        self._config = config
        self._detecting = detecting
        self._editing = editing
        self._filing = filing
        self._files = files
        self._sizes: Mapping[str, int] = {}
        self._judged: dict[tuple[int, int], JudgedPair] = {}

    def find(self, request: PairsRequest) -> PairsAnswer:
        """Return the candidates. Pairs of which one note waits for deletion or a merge are left out."""
        check_curator(self._config.role, "Looking for duplicates")
        if request.limit < 1 or request.offset < 0:
            raise InvalidArgument("limit", "limit is 1 or more, offset 0 or more.")
        wanted = request.max_distance
        if wanted is not None and not 0 <= wanted <= 2:
            raise InvalidArgument("max_distance", f"max_distance = {wanted}: write a cosine distance, 0 to 2.")
        limit = min(request.limit, MOST_PAIRS)
        notes = self._editing.snapshot().notes
        leaving = self._filing.inbox.find_leaving()
        excluded = [
            note.path
            for note in notes.values()
            if note.note_id in leaving or (note.pending and not request.include_pending)
        ]
        looked = self._detecting.look_for_pairs(wanted, excluded)
        remarks = [f"limit set to {limit} (1-{MOST_PAIRS})"] if limit != request.limit else []
        if wanted is not None and looked.distance < wanted:
            remarks.append(f"max_distance set to {looked.distance}: what is farther apart is not near at all")
        rows = [
            PairRow(distance, _view(notes[one]), _view(notes[other]))
            for one, other, distance in looked.pairs
            if one in notes and other in notes
        ]
        fresh = [row for row in rows if not self._is_rejected(row)]
        page = tuple(fresh[request.offset : request.offset + limit])
        return PairsAnswer(
            len(fresh),
            len(page),
            request.offset,
            looked.distance,
            page,
            rejected=len(rows) - len(fresh),
            unsettled=looked.unsettled,
            unavailable=looked.unavailable,
            notes=tuple(remarks),
        )

    def reject(self, refs: Sequence[str], reason: str) -> tuple[JournalEvent, tuple[PairedNote, PairedNote]]:
        """Remember that two notes are no duplicates, until the text of one changes. Return the event and the two."""
        check_curator(self._config.role, "Judging duplicates")
        check_comment(reason, needed=True, argument="body")
        with self._editing.hold():
            one, other = (
                self._editing.numbered(self._editing.reading.find_note(ref, writing=True)[0]) for ref in refs
            )
            if one.path == other.path:
                raise InvalidArgument("other", f"ref and other both name {one.path}. Name the two notes.")
            pair = describe_pair(self._editing, one.note_id, other.note_id)
            event = self._editing.transactor.record(
                JournalEvent(
                    id=0,
                    at="",
                    kind=PAIR_REJECTED,
                    op=PAIR_REJECTED,
                    path=one.path,
                    title=render_subject(f"{one.title} is no duplicate"),  # whom it is none of may be out of scope
                    actor=find_actor(self._config),
                    note_id=one.note_id,
                    reason=reason.strip(),
                    details=pair,
                )
            )
        return event, (_view(one), _view(other))

    def _is_rejected(self, row: PairRow) -> bool:
        ids = row.one.note_id, row.other.note_id
        if ids[0] is None or ids[1] is None:
            return False
        judged = self._find_judged().get((min(ids[0], ids[1]), max(ids[0], ids[1])))
        return judged is not None and judged == _build(self._files, row.one, row.other)

    def _find_judged(self) -> Mapping[tuple[int, int], JudgedPair]:
        """Return the last judgement on each pair."""
        journal = self._editing.transactor.stores.journal
        sizes = journal.find_sizes()
        if sizes != self._sizes:
            for event in journal.read_with(DETAIL, self._sizes):
                pair = parse_pair(event.details)
                if pair is not None:
                    self._judged[pair.ids] = pair
            self._sizes = sizes
        return self._judged


def add_pair(editing: Editing, note_id: int | None, details: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the details of a rejection; of a merge with the pair that was found to be two notes."""
    return {**details, **describe_pair(editing, note_id, details.get("into"))}


def describe_pair(editing: Editing, one: object, other: object) -> Mapping[str, Any]:
    """Return what an event says of a pair, by the numbers of two notes, that somebody judged to be two notes.

    Empty when one of them is gone: then there is no pair to remember.
    """
    known = editing.snapshot().by_id
    notes = [known.get(number) if isinstance(number, int) else None for number in (one, other)]
    if notes[0] is None or notes[1] is None:
        return {}
    pair = _build(editing.transactor.stores.files, _view(notes[0]), _view(notes[1]))
    return render_pair(pair) if pair is not None else {}


def _build(files: VaultFiles, one: PairedNote, other: PairedNote) -> JudgedPair | None:
    try:
        hashes = [body_hash(without_frontmatter(files.read(note.path).text)) for note in (one, other)]
    except MemexError:  # gone this instant
        return None
    assert one.note_id is not None
    assert other.note_id is not None
    return build_pair((one.note_id, hashes[0]), (other.note_id, hashes[1]))


def _view(note: NoteRecord) -> PairedNote:
    return PairedNote(note.path, note.title, note.note_id, note.chars, note.updated, note.layer)
