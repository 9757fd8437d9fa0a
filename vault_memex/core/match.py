"""Where and how well a note answers a query: the text around the words, and whether the match is strong."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from vault_memex.core.analyzer import analyze, find_runs, find_terms, is_paired
from vault_memex.core.expression import Query, Word, check_terms, is_open_ended, join_fields
from vault_memex.core.note import ParsedNote
from vault_memex.core.outline import Outline
from vault_memex.core.sections import find_section_at
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import Span, find_safe_cut, name_key, stem_of, without_md

MOST_SCANNED = 200_000  # characters of one note in which words are looked for
_AROUND = 1_000  # characters that a stretch has before the word it is about

StrongKind = Literal["name", "words", "phrase", "meaning"]


@dataclass(frozen=True, slots=True)
class MatchedText:
    """The stretch of a note that holds most of the words, white space folded."""

    text: str
    heading_path: tuple[str, ...]  # of its first word found
    span: Span  # in the note's text


@dataclass(frozen=True, slots=True)
class StrongReason:
    """Which condition makes a match strong, and in words."""

    kind: StrongKind
    why: str


class _Place(NamedTuple):
    """Where a term stands."""

    start: int
    end: int
    term: str


def find_matched_text(note: Outline | ParsedNote, terms: Sequence[str], limit: int = 300) -> MatchedText | None:
    """Return at most `limit` characters of the body with most different terms, the first such; None without any.

    Words stay whole where a script has spaces. The stretch does not reach into another section than its words do.
    """
    places = list(_find_places(note.text, note.body_start, frozenset(terms)))
    if not places:
        return None
    start, end = _find_best(places, limit)
    above = [h.span for h in note.headings if h.span.start <= start]
    low = max((s.end if s.end <= start else s.start for s in above), default=note.body_start)
    high = min((h.span.start for h in note.headings if h.span.start >= end), default=len(note.text))
    span = _widen(note.text, Span(start, end), Span(max(low, note.body_start), high), limit)
    text = " ".join(note.text[span.start : span.end].split())
    return MatchedText(text, find_section_at(note.headings, start), span)


def find_stretch(text: str, words: Iterable[str]) -> str:
    """Return of a very large text what is worth looking at: around the first of the words, else the beginning.

    Words are looked for as written, whatever their case; what follows from other forms of them is not worth the time.
    """
    lowered = text.lower()
    places = (lowered.find(word.lower()) for word in words)
    start = max(0, min((at for at in places if at >= 0), default=0) - _AROUND)
    return text[start : start + MOST_SCANNED]


def find_same_name(query: Query, record: NoteRecord, path_segments: bool = False) -> str | None:
    """Return what of the note is called like the query: title, alias, former title, tag (or a path segment)."""
    wanted = _name_of_query(query.text)
    if not wanted:
        return None
    names: tuple[tuple[str, Sequence[str]], ...] = (
        ("title", (record.title, stem_of(record.path))),
        ("alias", record.aliases),
        ("former title", record.former_titles),
        ("tag", record.tags),
        ("path segment", without_md(record.path).split("/") if path_segments else ()),
    )
    return next((kind for kind, written in names if any(_name(one) == wanted for one in written)), None)


def find_by_place_or_former_title(query: Query, snapshot: Snapshot) -> Iterator[str]:
    """Yield the notes with a folder, file or former title that is called like the query.

    No search by words finds them for that.
    """
    wanted = _name_of_query(query.text)
    if not wanted:
        return
    for names in (snapshot.by_former_title_key, snapshot.by_title_key):
        yield from (note.path for note in names.get(wanted, ()))
    folders = {path.rpartition("/")[0] for path in snapshot.notes}
    called = {folder for folder in folders if wanted in map(_name, folder.split("/"))}
    if called:
        yield from (path for path in snapshot.notes if path.rpartition("/")[0] in called)


def count_words(query: Query, fields: Iterable[Sequence[str]]) -> int:
    """Return how many of the query's words occur in a note given as the terms of its fields."""
    joined = join_fields(fields)
    return sum(check_terms(word.loose_terms, joined) for word in query.words)


def build_name_check(query: Query) -> Callable[[NoteRecord], tuple[str | None, bool]]:
    """Return what tells of a note `find_same_name`, and whether title and aliases hold every word of the query."""
    # Most notes are ruled out by how their names are written: reading one takes marks out at most, and a stem is its
    # word's beginning but for the last letters. Other scripts than ASCII are read: they have several ways to write.
    words = _name_of_query(query.text).split()
    stems = () if query.only_stop_words else [term for word in query.words for term in word.loose_terms]
    hints = {term[: max(1, min(3, len(term) - 2))] for term in stems}

    def check(record: NoteRecord) -> tuple[str | None, bool]:
        written = "\n".join((record.title, record.path, *_other_names(record))).casefold()
        plain = written.isascii()
        name = in_name = None
        if not plain or all(word in written for word in words):
            name = find_same_name(query, record)
        if hints and (not plain or all(hint in written for hint in hints)):
            in_name = count_words(query, map(find_terms, (record.title, *record.aliases))) == len(query.words)
        return name, bool(in_name)

    return check


def find_missing_words(query: Query, has_terms: Callable[[Collection[str]], Collection[str]]) -> tuple[Word, ...]:
    """Return the words that occur nowhere in the vault; `has_terms` tells which of some terms do.

    A word of one Chinese, Japanese or Korean letter stands for all that begin with it and never counts as missing.
    """
    needed = {word: _closed_terms(word) for word in query.words}
    present = set(has_terms({term for terms in needed.values() for term in terms}))
    return tuple(word for word, terms in needed.items() if not present.issuperset(terms))


def check_strong(
    query: Query,
    record: NoteRecord,
    *,
    all_words: bool,
    phrases: bool,
    distance: float | None = None,
    query_strong: float | None = None,
    missing_words: Sequence[Word] = (),
) -> StrongReason | None:
    """Return why the note is a strong match, else None: it is weak.

    Strong is: the query is the note's title, alias, former title, tag or a segment of its path; every content word
    occurs in the note (`all_words`); every quoted phrase and identifier does (`phrases`); or a passage is as near
    as `query_strong` and no word is missing from the whole vault. Do not ask for what a query excludes.
    """
    name = find_same_name(query, record, path_segments=True)
    if name:
        return StrongReason("name", f"{name} equals the query")
    if all_words and query.words and not query.only_stop_words:
        return StrongReason("words", "all words occur")
    if phrases and query.phrases:
        return StrongReason("phrase", "the quoted phrase occurs")
    if distance is None or query_strong is None or missing_words or query.exact or not query.words:
        return None
    if distance <= query_strong:
        return StrongReason("meaning", f"meaning distance {distance:.3f} is within {query_strong:.3f}")
    return None


def _other_names(record: NoteRecord) -> tuple[str, ...]:
    return (*record.aliases, *record.former_titles, *record.tags)


def _name(text: str) -> str:
    plain = text.strip().removeprefix("[[").removesuffix("]]").removeprefix("#").strip('"')
    return " ".join(name_key(plain).split())


_name_of_query = lru_cache(maxsize=8)(_name)  # asked for each candidate


def _closed_terms(word: Word) -> tuple[str, ...]:
    terms = word.loose_terms
    return terms[:-1] if is_open_ended(terms) else terms


# --- the window


def _find_places(text: str, start: int, wanted: frozenset[str]) -> Iterator[_Place]:
    letters = {term for term in wanted if len(term) == 1 and is_paired(term)}
    end = start + MOST_SCANNED
    for run in find_runs(text, start, end):
        written = run[0]
        if not written.isascii() and is_paired(written) and unicodedata.is_normalized("NFKC", written):
            yield from _find_pairs(written, run.start(), wanted, letters)
            continue
        for term in _find_run_terms(written):
            if term in wanted or term[0] in letters:
                yield _Place(run.start(), run.end(), term)


@lru_cache(maxsize=1 << 14)
def _find_run_terms(written: str) -> tuple[str, ...]:
    return tuple(analyze(written))


def _find_pairs(run: str, start: int, wanted: frozenset[str], letters: Collection[str]) -> Iterator[_Place]:
    for i, letter in enumerate(run):
        if letter in letters:
            yield _Place(start + i, start + i + 1, letter)
        if run[i : i + 2] in wanted and i + 1 < len(run):
            yield _Place(start + i, start + i + 2, run[i : i + 2])


def _find_best(places: Sequence[_Place], limit: int) -> tuple[int, int]:
    """Return the range of at most `limit` characters with most different terms, then most terms: the first."""
    best, best_score = (places[0].start, places[0].end), (0, 0)
    counts: dict[str, int] = {}
    first = 0
    for last, place in enumerate(places):
        counts[place.term] = counts.get(place.term, 0) + 1
        while first < last and place.end - places[first].start > limit:
            gone = places[first].term
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            first += 1
        score = (len(counts), last - first)
        if score > best_score or last == 0:
            best, best_score = (places[first].start, place.end), score
    return best


def _widen(text: str, found: Span, bounds: Span, limit: int) -> Span:
    """Return the range with text around it: a third of what is free before, the rest behind; words whole."""
    end = min(found.end, found.start + limit)
    free = limit - (end - found.start)
    low = max(bounds.start, found.start - free // 3)
    line = text.find("\n", low, found.start) + 1
    start = line if line and low > bounds.start else low
    while start < found.start and _splits_word(text, start):
        start += 1
    high = min(bounds.end, start + limit)
    stop = high
    while stop > end and _splits_word(text, stop):
        stop -= 1
    return Span(start, max(stop, end))


def find_word_cut(text: str, start: int, end: int) -> int:
    """Return the last place in (start, end] where cutting splits no word; where all is one word, no character."""
    at = min(end, len(text))
    while at > start and _splits_word(text, at):
        at -= 1
    return at if at > start else find_safe_cut(text, end)


def _splits_word(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    return before.isalnum() and after.isalnum() and not is_paired(before) and not is_paired(after)
