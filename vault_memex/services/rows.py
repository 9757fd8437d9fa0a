"""Rows of a search answer: what the catalogue knows of a note, and the text that matched, from its file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from vault_memex.core.expression import Query
from vault_memex.core.match import find_matched_text, find_stretch, find_word_cut
from vault_memex.core.note import RESERVED_PROPERTIES
from vault_memex.core.outline import Outline, build_outline
from vault_memex.core.ranking import Ranked
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import shorten
from vault_memex.errors import MemexError
from vault_memex.index.document import WHOLE_LIMIT
from vault_memex.memory.amendments import SUPERSEDED_BY, Validity
from vault_memex.services.standing import Standings
from vault_memex.store.catalogue import Catalogue, PassageRow
from vault_memex.store.files import VaultFiles

MATCHED_CHARS = 300
STRICT_CHARS = 1_200
ROW_CHARS = 600  # of all texts of a row but its path; with a strict search's longer text so many more
SUMMARY_CHARS = 200
SECTION_CHARS = 200
PROPERTIES_CHARS = 200
MOST_TAGS = 20
LEAST_CHARS = 20  # of a summary; less says nothing


@dataclass(frozen=True, slots=True)
class SearchRow:
    """One note of the answer."""

    path: str
    title: str
    updated: str
    created: str
    chars: int
    note_id: int | None = None
    layer: str | None = None
    tags: tuple[str, ...] = ()
    summary: str | None = None
    source_url: str | None = None
    properties: dict[str, Any] | None = None
    review: str | None = None  # pending, when it waits for approval
    validity: str | None = None  # superseded, expired or not_yet_valid; None while it holds
    superseded_by: str | None = None  # path of the newest correction
    tier: str | None = None  # all_words or related; None in a list
    matched_section: tuple[str, ...] = ()
    matched_text: str | None = None
    why: str | None = None  # with explain
    distance: float | None = None  # with explain: cosine distance of the nearest passage


class RowBuilder:
    """Builds rows; reads only the files of the page that is shown."""

    def __init__(self, files: VaultFiles, catalogue: Catalogue) -> None:
        self._files = files
        self._catalogue = catalogue

    def build(
        self,
        page: Sequence[Ranked],
        query: Query,
        records: Mapping[str, NoteRecord],
        standings: Standings,
        *,
        explain: bool,
        strong: Mapping[str, str] | None,
    ) -> tuple[SearchRow, ...]:
        """Return a row for each note of the page, in order."""
        rows = []
        for note in page:
            section, text = self._find_text(note, query, STRICT_CHARS if strong is not None else MATCHED_CHARS)
            text = _without_heading(text, section)
            why = [*([strong[note.path]] if strong else []), *note.why] if explain and not query.is_empty else []
            rows.append(
                _build_row(
                    records[note.path],
                    standings.check(note.path),
                    tier=None if query.is_empty else note.tier,
                    section=section,
                    text=text,
                    why="; ".join(dict.fromkeys(why)) or None,
                    distance=note.distance if explain else None,
                )
            )
        return tuple(rows)

    def _find_text(self, note: Ranked, query: Query, limit: int) -> tuple[tuple[str, ...], str | None]:
        """Return the section and the text that answer best: around the words, the nearest passage, the beginning."""
        if query.is_empty:
            return (), None
        try:
            text = self._files.read(note.path).text
        except MemexError:
            return (), None  # deleted or unreadable this instant; the row still says what was found
        passage = self._find_passage(note)
        if len(text) > WHOLE_LIMIT:  # passages lie in the first part of such a note
            words = () if passage and note.tier == "related" else (word.text for word in query.words)
            stretch = find_stretch(text, words)
            passage = passage if text.startswith(stretch) else None
            text = stretch
        parsed = build_outline(text)
        matched = find_matched_text(parsed, query.terms, limit)
        if passage is not None and (matched is None or note.tier == "related"):
            start, end = passage.start, min(passage.end, len(parsed.text))
            inside = matched is not None and start <= matched.span.start < end
            if matched is None or not inside:
                cut = find_word_cut(parsed.text, start, min(end, start + limit))
                return passage.heading_path, " ".join(parsed.text[start:cut].split()) or None
        return (matched.heading_path, matched.text) if matched is not None else _find_opening(parsed, limit)

    def _find_passage(self, note: Ranked) -> PassageRow | None:
        if not note.passages:
            return None
        rows = self._catalogue.find_passages(note.path)
        return next((row for row in rows if row.ordinal == note.passages[0]), None)


def _find_opening(note: Outline, limit: int) -> tuple[tuple[str, ...], str | None]:
    """Return how the note begins: it was found by its name or a tag, and a row must say what it is about."""
    path: tuple[str, ...] = ()
    start = note.body_start
    for heading in note.headings:
        if note.text[start : heading.span.start].strip():
            limit = min(limit, heading.span.start - start)
            break
        path, start = heading.path, heading.span.end
    text = " ".join(note.text[start : find_word_cut(note.text, start, start + limit)].split())
    return path, text or None


def _build_row(
    record: NoteRecord,
    validity: Validity,
    *,
    tier: str | None,
    section: tuple[str, ...],
    text: str | None,
    why: str | None,
    distance: float | None,
) -> SearchRow:
    named = record.properties.get(SUPERSEDED_BY)
    room = _Room(ROW_CHARS + max(0, len(text or "") - MATCHED_CHARS))
    title = room.cut(record.title, SUMMARY_CHARS) or ""
    text = room.cut(text, len(text)) if text else None
    return SearchRow(
        path=record.path,
        title=title,
        updated=record.updated,
        created=record.created,
        chars=record.chars,
        note_id=record.note_id,
        layer=record.layer,
        source_url=room.keep_whole(record.properties.get("source_url")),
        matched_section=room.keep_last(section, SECTION_CHARS),
        tags=room.keep_first(record.tags[:MOST_TAGS]),
        summary=room.cut(record.summary, SUMMARY_CHARS) if record.summary is not None else None,
        properties=room.keep_properties(record),
        review="pending" if record.pending else None,
        validity=None if validity.holds else validity.status,
        superseded_by=validity.successor or (shorten(str(named), SUMMARY_CHARS) if named else None),
        tier=tier,
        matched_text=text,
        why=why,
        distance=round(distance, 3) if distance is not None else None,
    )


_HEADING_MARKS = re.compile(r"#{1,6} ")


def _without_heading(text: str | None, section: tuple[str, ...]) -> str | None:
    """Return the text without the heading it begins with: the row names the section already."""
    marks = _HEADING_MARKS.match(text) if text and section else None
    if text is None or marks is None or not text.startswith(section[-1], marks.end()):
        return text
    return text[marks.end() + len(section[-1]) :].strip() or text


class _Room:
    """How many code points of text a row has left. What matters most is taken first; the rest gets what remains."""

    def __init__(self, chars: int) -> None:
        self._left = chars

    def cut(self, text: str, most: int) -> str | None:
        """Return the text, cut to what is left; None where that would say nothing."""
        kept = shorten(text, min(most, self._left)) if min(len(text), LEAST_CHARS) <= self._left else None
        self._left -= len(kept or "")
        return kept

    def keep_whole(self, text: object) -> str | None:
        """Return the text if there is room for all of it: an address that was cut leads nowhere."""
        if not isinstance(text, str) or len(text) > self._left:
            return None
        self._left -= len(text)
        return text

    def keep_first(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return as many of the first texts as there is room for."""
        return tuple(takewhile(lambda text: self.keep_whole(text) is not None, texts))

    def keep_last(self, texts: Sequence[str], most: int) -> tuple[str, ...]:
        """Return the last text and as many before it as there is room for: of a section's path the nearest."""
        if not texts:
            return ()
        last = self.cut(texts[-1], most)
        above = self.keep_first(texts[-2::-1]) if last == texts[-1] else ()
        return (*reversed(above), last) if last is not None else ()

    def keep_properties(self, record: NoteRecord) -> dict[str, Any] | None:
        """Return the person's own properties, as many as fit."""
        shown: dict[str, Any] = {}
        left = min(self._left, PROPERTIES_CHARS)
        for name, value in record.properties.items():
            if name in RESERVED_PROPERTIES or value is None:
                continue
            size = len(name) + len(json.dumps(value, ensure_ascii=False, default=str))
            if size <= left:
                shown[name] = value
                left -= size
        return shown or None
