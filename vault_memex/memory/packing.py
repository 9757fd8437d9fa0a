"""A pack: the sections that answer best, of several notes, in a bounded space.

Notes come in reading order: working memory where it leads, then strong matches, then weak ones and rules (the assistant
has those already); of each kind the better match first, where what no longer holds counts half. In that order each
note gives its best section, then each its next best, as long as there is room. One note takes at most its share (in a
tiny pack, what it takes to say anything), and a section that repeats one already chosen is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vault_memex.core.budget import count_quarters, cut_to_quarters
from vault_memex.core.text import Span, find_safe_cut
from vault_memex.memory.duplicates import build_shingles

Strength = Literal["strong", "weak"]

REPEATED_SHARE = 0.8  # of a section's runs of five words that stand in one chosen before
SHORTEST_CUT = 100  # quarters of tokens: less of a section than this says nothing


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a note that may go into a pack."""

    heading_path: tuple[str, ...]
    span: Span  # in the note's text
    relevance: float  # within the note; 0 when nothing of the query is in it


@dataclass(frozen=True, slots=True)
class NoteToPack:
    """A note that was found, with the sections that may be shown of it."""

    path: str
    title: str
    text: str
    sections: tuple[Section, ...]  # in order of position
    strength: Strength
    note_id: int | None = None
    layer: str | None = None
    updated: str = ""
    added_by: str = ""  # who wrote it, when that was not the person
    working: bool = False  # working memory that holds
    leads: bool = False  # goes before everything else
    validity: str = ""  # superseded, expired, not_yet_valid; empty while it holds
    successor: str = ""  # path of what to read instead
    why: str = ""  # why it is here, when that was asked for

    @property
    def place(self) -> int:
        """Where its kind stands in reading order."""
        if self.leads:
            return 0
        return 1 if self.strength == "strong" and self.layer != "rule" else 2


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a note in a pack."""

    heading_path: tuple[str, ...]
    span: Span
    cut: bool = False  # the section goes on


@dataclass(frozen=True, slots=True)
class PackedNote:
    """A note in a pack with its parts, in order of position; none overlaps another."""

    note: NoteToPack
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """What was chosen, and what was not."""

    notes: tuple[PackedNote, ...] = ()
    repeated: tuple[tuple[str, str], ...] = ()  # (path, path of the note that says the same)
    no_room: tuple[str, ...] = ()  # paths of notes of which nothing fitted


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a pack may get. None: no bound."""

    most_notes: int
    quarters: int | None = None  # of tokens, for all notes together
    note_quarters: int | None = None  # for one of them
    section_chars: int | None = None
    sections_per_note: int | None = None


Measure = Callable[[PackedNote], int]
"""How many quarters of tokens a note takes as it is shown."""


def order_for_reading(notes: Sequence[NoteToPack]) -> list[NoteToPack]:
    """Return the notes, given best first, in the order in which a pack shows them."""
    return sorted(notes, key=lambda note: note.place)


def build_pack(notes: Sequence[NoteToPack], bounds: Bounds, measure: Measure) -> Pack:
    """Return the pack of notes given in reading order."""
    packer = _Packer(bounds, measure)
    for note in notes:
        packer.add_first(note)
    for note, section in _find_further(packer.chosen_notes(), bounds):
        packer.add_further(note, section)
    return Pack(tuple(packer.chosen.values()), tuple(packer.repeated.items()), tuple(packer.no_room))


def without_last(pack: Pack) -> Pack:
    """Return the pack without the last part of its last note, for when the whole proved too large."""
    *notes, last = pack.notes
    if len(last.parts) > 1:
        return replace(pack, notes=(*notes, replace(last, parts=last.parts[:-1])))
    return replace(pack, notes=tuple(notes), no_room=(*pack.no_room, last.note.path))


def _find_further(notes: Sequence[NoteToPack], bounds: Bounds) -> Iterator[tuple[NoteToPack, Section]]:
    """Yield the second best section of each note, then each third, and so on; only what has to do with the query."""
    ranked = [(note, [s for s in _rank(note)[1:] if s.relevance > 0]) for note in notes]
    longest = max((len(sections) for _, sections in ranked), default=0)
    if bounds.sections_per_note is not None:
        longest = min(longest, bounds.sections_per_note - 1)
    for turn in range(longest):
        yield from ((note, sections[turn]) for note, sections in ranked if turn < len(sections))


def _rank(note: NoteToPack) -> list[Section]:
    return sorted(note.sections, key=lambda section: (-section.relevance, section.span.start))


class _Packer:
    """What was chosen so far, and the room that is left."""

    def __init__(self, bounds: Bounds, measure: Measure) -> None:
        self._bounds = bounds
        self._measure = measure
        self._sizes: dict[str, int] = {}
        self._said: list[tuple[str, frozenset[tuple[str, ...]]]] = []
        self._shingles: dict[tuple[str, Span], frozenset[tuple[str, ...]]] = {}
        self.chosen: dict[str, PackedNote] = {}
        self.repeated: dict[str, str] = {}
        self.no_room: list[str] = []

    def chosen_notes(self) -> list[NoteToPack]:
        return [packed.note for packed in self.chosen.values()]

    def add_first(self, note: NoteToPack) -> None:
        """Add the best section of a note that says something new, cut where it must be."""
        if len(self.chosen) >= self._bounds.most_notes:
            self.no_room.append(note.path)
            return
        for section in _rank(note):
            twin = self._find_twin(note, section)
            if twin is None:
                if not self._add(note, section, may_cut=True):
                    self.no_room.append(note.path)
                return
            self.repeated.setdefault(note.path, twin)
            if section.relevance == 0:
                return

    def add_further(self, note: NoteToPack, section: Section) -> None:
        if self._find_twin(note, section) is None:
            self._add(note, section, may_cut=False)

    def _add(self, note: NoteToPack, section: Section, *, may_cut: bool) -> bool:
        held = self.chosen.get(note.path, PackedNote(note, ()))
        part = Part(section.heading_path, section.span)
        longest = self._bounds.section_chars
        if longest is not None and section.span.end - section.span.start > longest:
            end = find_safe_cut(note.text, section.span.start + longest)
            part = replace(part, span=Span(section.span.start, end), cut=True)
        packed = _with_part(held, part)
        room = self._find_room(note)
        size = self._measure(packed)
        if room is not None and size > room:
            shorter = self._cut(held, part, room) if may_cut else None
            if shorter is None:
                return False
            packed, size = shorter, self._measure(shorter)
        self.chosen[note.path] = packed
        self._sizes[note.path] = size
        self._said.append((note.path, self._find_shingles(note, section)))
        return True

    def _cut(self, held: PackedNote, part: Part, room: int) -> PackedNote | None:
        """Return the note with as much of the part as fits; None when that says too little."""
        text = _text(held.note, part.span)
        left = min(room, count_quarters(text))
        while left >= SHORTEST_CUT:
            span = Span(part.span.start, part.span.start + len(cut_to_quarters(text, left)))
            packed = _with_part(held, Part(part.heading_path, span, cut=True))
            excess = self._measure(packed) - room
            if excess <= 0:
                return packed
            left -= excess
        return None

    def _find_room(self, note: NoteToPack) -> int | None:
        """Return how large the note may get: its share, or what it takes to say anything."""
        if self._bounds.quarters is None:
            return None
        room = self._bounds.quarters - sum(size for path, size in self._sizes.items() if path != note.path)
        if self._bounds.note_quarters is None:
            return room
        least = self._measure(PackedNote(note, ())) + 4 * SHORTEST_CUT  # of that, some names its section
        return min(room, max(self._bounds.note_quarters, least))

    def _find_shingles(self, note: NoteToPack, section: Section) -> frozenset[tuple[str, ...]]:
        key = (note.path, section.span)
        if key not in self._shingles:
            self._shingles[key] = build_shingles(_text(note, section.span))
        return self._shingles[key]

    def _find_twin(self, note: NoteToPack, section: Section) -> str | None:
        """Return the note that says the same already."""
        own = self._find_shingles(note, section)
        for path, said in self._said:
            if path != note.path and own and len(own & said) >= REPEATED_SHARE * len(own):
                return path
        return None


def _text(note: NoteToPack, span: Span) -> str:
    return note.text[span.start : span.end]


def _with_part(packed: PackedNote, part: Part) -> PackedNote:
    """Return the note with one part more; those that overlap become one."""
    parts: list[Part] = []
    for one in sorted((*packed.parts, part), key=lambda p: p.span):
        last = parts[-1] if parts else None
        if last is not None and one.span.start < last.span.end:
            longer = one if one.span.end > last.span.end else last
            parts[-1] = Part(last.heading_path, Span(last.span.start, longer.span.end), longer.cut)
        else:
            parts.append(one)
    return replace(packed, parts=tuple(parts))
