"""Search: words and meaning, filters, order, and rows that say where the answer stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from vault_memex.core.expression import Query, Word
from vault_memex.core.filters import check_filters, find_unknown_tags, get_memory_type, is_known_folder
from vault_memex.core.match import check_strong, find_by_place_or_former_title, find_missing_words
from vault_memex.core.match_plan import MatchPlan, build_match
from vault_memex.core.query import parse_query
from vault_memex.core.ranking import MEANING_WEIGHTS, Evidence, Hit, Ranked, ScoredList, Tier, build_weights, fuse
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.index.meaning import Meaning, MeaningUnavailable
from vault_memex.memory.thresholds import Thresholds
from vault_memex.services.flashbacks import Flashbacks
from vault_memex.services.rows import RowBuilder
from vault_memex.services.searches import (
    MOST_ROWS,
    ORDERS,
    Candidates,
    SearchAnswer,
    SearchRequest,
    WaitFlashbacks,
    check_request,
    find_advice,
    render_searched,
)
from vault_memex.services.standing import Standing, Standings
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.vectors import Near

__all__ = ["ORDERS", "Retrieval", "SearchAnswer", "SearchRequest", "order_notes", "put_corrections_first"]

WORD_DEPTH = 500  # notes that hold any of the words
PAGE_DEPTH = (
    200  # of them where relevance orders the pages: only the first fifty weigh, and each takes time to rank
)
FEW_HITS = 20  # by words: the first of so few is likely the best match
COMMON_NOTES = 1_000  # a word that so many notes hold needs no help from words that begin alike
MEANING_DEPTH = 50  # passages
FEW_NOTES = 1_000  # with filters that let so few through, only their passages are compared, so that none is missed
WIDEST_DEPTH = 500  # passages, when filters will drop some of them
COLUMN_WEIGHTS = (6.0, 1.5, 1.2, 1.5, 1.0)  # title, aliases, headings, tags, body
AS_WRITTEN = "matches as written"


@dataclass(frozen=True, slots=True)
class _Found:
    """What a mode found, before order and page."""

    ranked: Sequence[Ranked]
    unavailable: str | None = None
    strong: Mapping[str, str] | None = None  # path to why, where it was asked
    recalled: tuple[str, WaitFlashbacks] | None = None  # path of the likely best match, and its flashbacks
    is_cut: bool = False  # whether more match than are ranked


class _WordLists(NamedTuple):
    """Notes that hold any of the words, and notes with words that begin alike; best first."""

    any_word: Sequence[Hit]
    beginnings: Sequence[Hit]


class Retrieval:
    """Searches of one vault."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        meaning: Meaning,
        rows: RowBuilder,
        standing: Standing,
        look: Callable[[], tuple[Snapshot, str | None]],
        flashbacks: Flashbacks,
        thresholds: Callable[[], Thresholds],
        clock: Callable[[], datetime],
        count_all: Callable[[], int] | None = None,
    ) -> None:
        self._count_all = count_all  # the vault's notes, where the snapshots leave some out
        self._catalogue = catalogue
        self._meaning = meaning
        self._standing = standing
        self._flashbacks = flashbacks
        self._thresholds = thresholds
        self._rows = rows
        self._look = look
        self._clock = clock

    def search(self, request: SearchRequest) -> SearchAnswer:
        """Return the page of notes that match. Raises InvalidArgument naming the argument."""
        found = self.find(request)
        ranked, query = found.ranked, found.query
        limit = max(1, min(request.limit, MOST_ROWS[request.mode]))
        page = ranked[request.offset : request.offset + limit]
        strict = request.mode == "strict"
        strong = found.strong if strict else None
        # What the best match brings back is looked for in the other process while the rows are made here.
        wait_flashbacks = self._begin_flashbacks(request, page, found)
        rows = self._rows.build(
            page, query, found.records, found.standings, explain=request.explain, strong=strong
        )
        return SearchAnswer(
            total=len(ranked),
            total_is_least=found.is_cut,
            returned=len(page),
            offset=request.offset,
            rows=rows,
            exact_match=request.mode == "exact" or query.exact,
            outcome="no_match" if strict and not ranked else "ok",
            weak_candidates=found.weak if strict else None,
            unknown_tags=found.unknown_tags,
            unknown_folder=found.unknown_folder,
            missing_words=found.missing_words,
            semantic_search_unavailable=found.unavailable,
            indexing=found.indexing,
            searched="" if ranked else render_searched(len(found.records), found.notes),
            flashbacks=wait_flashbacks(),
            notes=tuple(find_advice(request, limit, len(ranked), is_cut=found.is_cut)),
        )

    def find(self, request: SearchRequest) -> Candidates:
        """Return all notes that match, in order. Raises InvalidArgument naming the argument."""
        query = parse_query(request.query)
        check_request(request, query)
        snapshot, indexing = self._look()
        tags = {tag for note in snapshot.notes.values() for tag in note.tags} if request.filters.tags else ()
        filters, unknown_tags = find_unknown_tags(request.filters, tags)
        allowed = snapshot.notes
        if not filters.is_empty:
            allowed = {p: n for p, n in snapshot.notes.items() if check_filters(filters, n)}
        if query.is_empty:
            found = _Found([_listed(note) for note in allowed.values()])
        else:
            found = self._find(query, request, allowed, snapshot)
        kept, strong = found.ranked, found.strong
        if strong is not None and request.mode == "strict":
            kept = [note for note in kept if note.path in strong]
        standings = self._standing.find()
        missing: Sequence[Word] = ()
        # A note that holds them all shows it; of an exact query only that one side of an OR is there.
        if query.exact or not any(note.tier == "all_words" for note in found.ranked):
            missing = find_missing_words(query, self._catalogue.has_terms)
        return Candidates(
            query=query,
            ranked=order_notes(kept, request, query, allowed, standings),
            weak=len(found.ranked) - len(kept if strong is None else strong),
            strong=strong,
            records=allowed,
            notes=len(snapshot.notes),
            standings=standings,
            missing_words=tuple(word.text for word in missing),
            unknown_tags=unknown_tags,
            unknown_folder=None if is_known_folder(filters, snapshot.notes) else filters.folder,
            unavailable=found.unavailable,
            indexing=indexing,
            recalled=found.recalled,
            is_cut=found.is_cut,
        )

    def _begin_flashbacks(
        self,
        request: SearchRequest,
        page: Sequence[Ranked],
        found: Candidates,
    ) -> WaitFlashbacks:
        """Return what waits for the best match's flashbacks; none for lists, later pages and strict searches."""
        if not _wants_flashbacks(request) or found.query.is_empty or not page:
            return lambda: ()
        best = page[0].path
        if found.recalled is not None and found.recalled[0] == best:
            return found.recalled[1]
        return self._flashbacks.begin(found.records[best], meaning=found.unavailable is None)

    def _guess_flashbacks(
        self, request: SearchRequest, words: _WordLists, allowed: Mapping[str, NoteRecord]
    ) -> tuple[str, WaitFlashbacks] | None:
        """Ask what the best match by rare words brings back: it mostly stands first, and meaning is still awaited."""
        if not _wants_flashbacks(request) or not 0 < len(words.any_word) <= FEW_HITS:
            return None
        path = words.any_word[0].path
        return path, self._flashbacks.begin(allowed[path], meaning=True)

    # -- finding

    def _find(
        self, query: Query, request: SearchRequest, allowed: Mapping[str, NoteRecord], snapshot: Snapshot
    ) -> _Found:
        if request.mode == "exact" or (query.exact and request.mode == "hybrid"):
            exact = self._find_exact(query, allowed)
            return _Found(
                exact, strong={note.path: AS_WRITTEN for note in exact if not allowed[note.path].pending}
            )
        hits: Sequence[Hit] = ()
        unavailable = request.words_only or None
        recalled = None
        depth = _find_depth(request)
        if query.exact or unavailable is not None:
            words = self._find_words(query, allowed, depth)
        else:
            wait = self._ask_near(request, allowed, self._count_all() if self._count_all else len(snapshot.notes))
            words = self._find_words(query, allowed, depth)  # while the other process looks for meaning
            recalled = self._guess_flashbacks(request, words, allowed)
            try:
                hits = self._place_near(wait(), allowed)
            except MeaningUnavailable as error:
                unavailable = str(error)
        ranked = self._fuse(query, request, allowed, words, hits)
        strong = None
        if request.mode == "strict" or request.strengths:
            known = {note.path for note in ranked}
            named = dict.fromkeys(find_by_place_or_former_title(query, snapshot))
            ranked = [*ranked, *(_listed(allowed[p], "related") for p in named if p in allowed and p not in known)]
            strong = self._find_strong(query, ranked, allowed)
        is_cut = max(len(words.any_word), len(words.beginnings)) >= depth
        return _Found(ranked, unavailable, strong, recalled, is_cut)

    def _find_exact(self, query: Query, allowed: Mapping[str, NoteRecord]) -> Sequence[Ranked]:
        hits = self._catalogue.search_words(build_match(query, "exact"), COLUMN_WEIGHTS)
        kept = [Hit(hit.path, hit.score) for hit in hits if hit.path in allowed]
        if query.negative_only:
            return [_listed(allowed[hit.path]) for hit in kept]
        paths = {hit.path for hit in kept}
        evidence = self._find_evidence(query, allowed, paths, all_words=paths)
        return fuse([ScoredList("words", 1.0, kept)], query, evidence, self._now())

    def _ask_near(
        self, request: SearchRequest, allowed: Mapping[str, NoteRecord], notes: int
    ) -> Callable[[], list[Near]]:
        """Ask for passages near the query in notes that may be shown; `notes` is how many the vault has."""
        depth, among = MEANING_DEPTH, None
        if len(allowed) < notes:
            if len(allowed) <= FEW_NOTES:
                among = self._catalogue.find_hashes(allowed)
            else:
                depth = min(WIDEST_DEPTH, MEANING_DEPTH * notes // len(allowed))
        return self._meaning.begin_search(request.query, depth, among=among, patience=request.patience)

    def _place_near(self, near: Sequence[Near], allowed: Mapping[str, NoteRecord]) -> Sequence[Hit]:
        distances = {n.hash: n.distance for n in near}
        rows = self._catalogue.get_passages(distances)
        cutoff = self._thresholds().query_weak
        return [
            Hit(row.path, 1 - distances[row.hash], row.ordinal)
            for row in rows
            if row.path in allowed and distances[row.hash] <= cutoff
        ]

    def _fuse(
        self,
        query: Query,
        request: SearchRequest,
        allowed: Mapping[str, NoteRecord],
        words: _WordLists,
        near: Sequence[Hit],
    ) -> Sequence[Ranked]:
        weights = build_weights(MEANING_WEIGHTS["known"] if near else MEANING_WEIGHTS["none"])
        lists = [
            ScoredList("words", weights["words"], words.any_word),
            ScoredList("prefix", weights["prefix"], words.beginnings),
        ]
        if near:
            lists.append(ScoredList("meaning", weights["meaning"], near))
        found = {hit.path for one in lists for hit in one.hits}
        all_words = self._find_matching(query, "all", found)
        evidence = self._find_evidence(query, allowed, found, all_words)
        return fuse(lists, query, evidence, self._now(), explain=request.explain)

    def _find_words(self, query: Query, allowed: Mapping[str, NoteRecord], depth: int) -> _WordLists:
        any_word = self._search_words(build_match(query, "any"), allowed, depth)
        common: frozenset[str] = frozenset()
        if len(any_word) == depth:
            common = self._catalogue.find_common(query.terms, COMMON_NOTES)
        beginnings = self._search_words(build_match(query, "prefix", common=common), allowed, depth)
        return _WordLists(any_word, beginnings)

    def _search_words(self, match: MatchPlan, allowed: Mapping[str, NoteRecord], depth: int) -> list[Hit]:
        """Return the best notes that may be shown."""
        hits = self._catalogue.search_words(match, COLUMN_WEIGHTS, depth)
        kept = [Hit(hit.path, hit.score) for hit in hits if hit.path in allowed]
        if len(hits) == depth > len(kept):  # filters dropped some, and others may stand behind them
            hits = self._catalogue.search_words(match, COLUMN_WEIGHTS)
            kept = [Hit(hit.path, hit.score) for hit in hits if hit.path in allowed][:depth]
        return kept

    def _find_matching(
        self, query: Query, plan: Literal["all", "phrases"], paths: Collection[str]
    ) -> frozenset[str]:
        include = build_match(query, plan).include
        return self._catalogue.find_matching(include, paths) if include and paths else frozenset()

    def _find_evidence(
        self, query: Query, allowed: Mapping[str, NoteRecord], found: Collection[str], all_words: Collection[str]
    ) -> Evidence:
        phrases = frozenset[str]()
        if query.phrases or query.identifiers:
            phrases = self._find_matching(query, "phrases", found)
        return Evidence(
            records=allowed,
            all_words=all_words,
            phrases=phrases,
            demoted=self._standing.find().fallen,
        )

    def _find_strong(
        self, query: Query, ranked: Sequence[Ranked], allowed: Mapping[str, NoteRecord]
    ) -> Mapping[str, str]:
        missing = find_missing_words(query, self._catalogue.has_terms)
        matching: Collection[str] = ()
        if query.exact:
            matching = {hit.path for hit in self._catalogue.search_words(build_match(query, "exact"))}
        query_strong = self._thresholds().query_strong
        strong = {}
        for note in ranked:
            if allowed[note.path].pending or (query.exact and note.path not in matching):
                continue
            reason = check_strong(
                query,
                allowed[note.path],
                all_words=note.tier == "all_words",
                phrases=note.exact == 1,
                distance=note.distance,
                query_strong=query_strong,
                missing_words=missing,
            )
            if reason is not None or query.exact:
                strong[note.path] = reason.why if reason else AS_WRITTEN
        return strong

    def _now(self) -> str:
        return self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")


def _wants_flashbacks(request: SearchRequest) -> bool:
    return request.flashbacks and not request.offset and request.mode != "strict"


def _find_depth(request: SearchRequest) -> int:
    """Return how many notes a list of words gives, the same for each page: fewer where no other order needs them."""
    reordered = request.prefer_working or request.order not in {"", "relevance"}
    return WORD_DEPTH if reordered or request.strengths or request.mode == "strict" else PAGE_DEPTH


def order_notes(
    notes: Sequence[Ranked],
    request: SearchRequest,
    query: Query,
    records: Mapping[str, NoteRecord],
    standings: Standings,
) -> list[Ranked]:
    """Return the notes in the order asked for: by default relevance with a query, newest change without.

    Every order ends in the path, so that pages never skip or repeat. Working memory that holds comes first if wanted.
    """
    order = request.order or ("updated_desc" if query.is_empty or query.negative_only else "relevance")
    ordered = list(notes)
    if order != "relevance":
        by, _, direction = order.partition("_")
        ordered.sort(key=lambda note: note.path)
        ordered.sort(key=lambda note: str(getattr(records[note.path], by)), reverse=direction == "desc")
    elif not query.is_empty:
        ordered = put_corrections_first(ordered, standings)
    if request.prefer_working:
        working = [n for n in ordered if _is_working(records[n.path], standings)]
        working.sort(key=lambda note: records[note.path].updated, reverse=True)
        first = {note.path for note in working}
        ordered = [*working, *(note for note in ordered if note.path not in first)]
    return ordered


def put_corrections_first(notes: Sequence[Ranked], standings: Standings) -> list[Ranked]:
    """Return the notes with each correction that was found before what it corrects."""
    found = {note.path: note for note in notes}
    ordered: dict[str, Ranked] = {}
    for note in notes:
        successor = standings.check(note.path).successor
        if successor in found:
            ordered.setdefault(successor, found[successor])
        ordered.setdefault(note.path, note)
    return list(ordered.values())


def _is_working(note: NoteRecord, standings: Standings) -> bool:
    return get_memory_type(note) == "working" and standings.check(note.path).holds


def _listed(note: NoteRecord, tier: Tier = "all_words") -> Ranked:
    """Return a note that was not searched for but listed."""
    return Ranked(note.path, 0.0, tier, 0, {}, {}, (), ())
