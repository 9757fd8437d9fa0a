"""Recall: the sections that answer best, forgiving and labelled, as a short list or as a pack within a budget."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from vault_memex.core.analyzer import analyze
from vault_memex.core.chunking import build_passages
from vault_memex.core.expression import Expr, Query, Without, Word
from vault_memex.core.filters import Filters, get_memory_type
from vault_memex.core.markdown import parse_note
from vault_memex.core.match import MOST_SCANNED, count_words
from vault_memex.core.ranking import Ranked
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import Span, shorten
from vault_memex.errors import InvalidArgument, MemexError
from vault_memex.index.meaning import PATIENCE_SECONDS
from vault_memex.memory.pack_text import Frame, fit_remarks, measure_frame, measure_note
from vault_memex.memory.packing import Bounds, NoteToPack, Pack, Section, build_pack, order_for_reading
from vault_memex.services.retrieval import Retrieval
from vault_memex.services.searches import LONGEST_SAID, Candidates, SearchRequest, render_searched
from vault_memex.services.standing import Standings
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import VaultFiles

DEFAULT_LIMIT, MOST_ITEMS = 5, 25
DEFAULT_ITEMS, MOST_PACKED = 8, 50
DEFAULT_TOKENS, FEWEST_TOKENS, MOST_TOKENS = 4_000, 256, 32_000
NOTE_SHARE = 0.4  # of the budget
SECTION_CHARS = 1_200  # of one in a list
NEAR_BONUS = 0.6  # of the nearest passage beside the share of words; the second has half of it
NAME_BONUS = 0.1  # of every section of a note that is called like the query


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What to recall. With `max_tokens` a pack, else a list of one section for each note."""

    query: str
    limit: int = DEFAULT_LIMIT  # notes in a list
    max_tokens: int | None = None
    max_items: int = DEFAULT_ITEMS  # notes in a pack
    filters: Filters = field(default_factory=Filters)
    prefer_working: bool = False
    explain: bool = False
    as_json: bool = False
    patience: float = PATIENCE_SECONDS
    words_only: str = ""  # why meaning is not asked for, when it is not


@dataclass(frozen=True, slots=True)
class Recalled:
    """What to show, and what to say of it; `render_pack` makes the answer of both."""

    pack: Pack
    frame: Frame


class Recall:
    """Recalls from one vault."""

    def __init__(self, *, retrieval: Retrieval, files: VaultFiles, catalogue: Catalogue) -> None:
        self._retrieval = retrieval
        self._files = files
        self._catalogue = catalogue

    def recall(self, request: RecallRequest) -> Recalled:
        """Return what matches in any way, strong before weak. Raises InvalidArgument naming the argument."""
        _check(request)
        found, remarks = self._find(request)
        packs = request.max_tokens is not None
        most = request.max_items if packs else request.limit
        notes = [*self._read(found, _find_order(found, request), 2 * most + 4)]
        strong = sum(note.path in (found.strong or {}) for note in found.ranked)
        code = _choose_code(notes)
        frame = fit_remarks(
            Frame(code, len(found.ranked), strong, tuple(remarks), request.max_tokens, request.as_json)
        )
        bounds = Bounds(most, section_chars=SECTION_CHARS, sections_per_note=1)
        if request.max_tokens is not None:
            quarters = 4 * request.max_tokens
            bounds = Bounds(most, quarters - measure_frame(frame), int(quarters * NOTE_SHARE))
        return Recalled(build_pack(notes, bounds, measure_note(frame)), frame)

    def _find(self, request: RecallRequest) -> tuple[Candidates, list[str]]:
        """Return what matches as written, and else what holds any of its words; and what to say of that."""
        search = SearchRequest(
            request.query,
            filters=request.filters,
            prefer_working=request.prefer_working,
            patience=request.patience,
            words_only=request.words_only,
            strengths=True,
        )
        found = self._retrieval.find(search)
        if found.ranked or not found.query.exact or _excludes(found.query.expr) or not found.query.words:
            return found, [*_describe(found)]
        loose = " ".join(word.text for word in found.query.words)
        found = replace(self._retrieval.find(replace(search, query=loose)), strong={})
        return found, ["Nothing matches as written; shown is what holds some of the words.", *_describe(found)]

    def _read(
        self, found: Candidates, notes: Sequence[tuple[NoteToPack, Ranked]], most: int
    ) -> Iterator[NoteToPack]:
        """Yield the first notes with their texts and sections; those that cannot be read this instant are left out."""
        for note, ranked in notes[:most]:
            record = found.records[note.path]
            try:
                file = self._files.read(note.path)
            except MemexError:
                continue
            if file.revision == record.revision:
                places = [
                    (row.ordinal, row.heading_path, Span(row.start, row.end))
                    for row in self._catalogue.find_passages(note.path)
                ]
            else:  # saved since it was indexed
                passages = build_passages(parse_note(file.text), record.title)
                places = [(passage.ordinal, passage.heading_path, passage.span) for passage in passages]
            sections = tuple(_find_sections(file.text, places, found.query, ranked))
            if sections or not record.summary:
                yield replace(note, text=file.text, sections=sections)
            else:  # a note without text says what it is about in its properties
                opening = Section((), Span(0, len(record.summary)), 0.0)
                yield replace(note, text=record.summary, sections=(opening,))


def _find_order(found: Candidates, request: RecallRequest) -> list[tuple[NoteToPack, Ranked]]:
    """Return the notes without their texts, in reading order."""
    ranked = {note.path: note for note in found.ranked}
    strong = found.strong or {}
    notes = [
        _build_note(found.records[path], note, strong.get(path), found.standings, explain=request.explain)
        for path, note in ranked.items()
    ]
    if request.prefer_working or request.max_tokens is not None:
        notes = [replace(note, leads=True) if note.working else note for note in notes]
    return [(note, ranked[note.path]) for note in order_for_reading(notes)]


def _build_note(
    record: NoteRecord, ranked: Ranked, strong: str | None, standings: Standings, *, explain: bool
) -> NoteToPack:
    validity = standings.check(record.path)
    status = "" if validity.holds else validity.status
    why = dict.fromkeys([*([strong] if strong else []), *ranked.why]) if explain else {}
    return NoteToPack(
        path=record.path,
        title=record.title,
        text="",
        sections=(),
        strength="strong" if strong else "weak",
        note_id=record.note_id,
        layer=record.layer,
        updated=record.updated,
        added_by=str(record.properties.get("added_by") or ""),
        working=validity.holds and not record.pending and get_memory_type(record) == "working",
        validity=status or ("waits for approval" if record.pending else ""),
        successor=validity.successor or "",
        why="; ".join(why),
    )


def _find_sections(
    text: str, places: Sequence[tuple[int, tuple[str, ...], Span]], query: Query, ranked: Ranked
) -> Iterator[Section]:
    """Yield the sections with what they have to do with the query: its words, and nearness in meaning."""
    near = {ordinal: NEAR_BONUS / place for place, ordinal in enumerate(ranked.passages, 1)}
    for ordinal, path, span in places:
        if span.end == span.start:
            continue
        relevance = near.get(ordinal, 0.0) + (NAME_BONUS if ranked.exact == 2 else 0.0)
        if span.start < MOST_SCANNED and query.words:
            fields = [analyze(part) for part in (*path, text[span.start : span.end])]
            relevance += count_words(query, fields) / len(query.words)
        yield Section(path, span, relevance)


def _describe(found: Candidates) -> Iterator[str]:
    """Yield what to know about what was found, as sentences."""
    how = "by words" if found.unavailable or found.query.exact else "by words and meaning"
    if not found.ranked:
        yield (
            f"Searched {render_searched(len(found.records), found.notes)} {how}. This does not prove absence: try "
            "other words or fewer filters."
        )
    elif not any(note.path in (found.strong or {}) for note in found.ranked):
        yield f"Nothing matches strongly (searched {how}); what is shown may be about something else."
    if found.unavailable:
        yield f"Words only: {found.unavailable}"
    if found.missing_words:
        yield f"Nowhere in the vault: {shorten(', '.join(found.missing_words), LONGEST_SAID)}."
    if found.unknown_folder:
        yield f"There is no folder {shorten(found.unknown_folder, LONGEST_SAID)!r}; see vocabulary."
    if found.indexing:
        yield found.indexing


def _excludes(expr: Expr | None) -> bool:
    """Whether a part of the query says what a note must not hold."""
    if expr is None or isinstance(expr, Word):
        return False
    return isinstance(expr, Without) or any(map(_excludes, expr.parts))


def _choose_code(notes: Sequence[NoteToPack]) -> str:
    """Return a code that no text of the answer holds; of letters, which take the fewest tokens."""
    while True:
        code = "".join(secrets.choice("bcdfghjklmnpqrstvwxz") for _ in range(6))
        if not any(code in note.text or code in note.path or code in note.title for note in notes):
            return code


def _check(request: RecallRequest) -> None:
    if not any(map(str.isalnum, request.query)):
        raise InvalidArgument("query", "query is empty. Write content words; `search` lists notes without any.")
    for name, value, least, most in (
        ("limit", request.limit, 1, MOST_ITEMS),
        ("max_items", request.max_items, 1, MOST_PACKED),
        ("max_tokens", request.max_tokens, FEWEST_TOKENS, MOST_TOKENS),
    ):
        if value is not None and not least <= value <= most:
            raise InvalidArgument(name, f"{name} = {value}: write {least} to {most}.")
