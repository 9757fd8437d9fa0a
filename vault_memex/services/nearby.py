"""What lies near a draft or a note: by meaning when it can be had at once, else by the rare words they share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from vault_memex.core.analyzer import find_terms, is_stop_term
from vault_memex.core.chunking import build_passages
from vault_memex.core.markdown import parse_note
from vault_memex.index.meaning import Meaning, MeaningBusy, MeaningUnavailable
from vault_memex.memory.duplicates import join_hits
from vault_memex.memory.flashbacks import CANDIDATES, find_lexical_neighbours
from vault_memex.memory.scope import Scope
from vault_memex.store.catalogue import Catalogue

ALONE_SECONDS = 0.07  # a save waits so long for the model before it also looks at the words
WRITE_SECONDS = 0.11  # and so long in all
MOST_BYTES = 1_300  # of passages that are embedded while an author waits: about 300 tokens, 50 ms on two cores
SEARCH_SECONDS = 0.2
MOST_CHARS = 40_000  # of a draft that are looked at
MOST_TERMS = 200
RAREST = 12  # terms that candidates are looked for by
WORD_CANDIDATES = 50
MOST_LIKELY = 5
RARE = 50  # notes; a term in more of them is common
MOST_COMMON = 20_000

_NO_WEIGHTS = (1.0, 1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Near:
    """Notes near a draft or a note, best first."""

    hits: tuple[
        tuple[str, float], ...
    ]  # (path, cosine distance of the nearest pair of passages); by words: a score
    measured: bool  # whether the numbers are distances
    copies: tuple[tuple[str, float], ...] = ()  # of a draft: how far all of it is from each note
    whole: bool = True  # whether every passage was compared
    likely: tuple[str, ...] = ()  # of a draft: notes whose text is worth comparing word for word
    remark: str = ""  # why words decided, when they did


@dataclass(frozen=True, slots=True)
class _AnyOf:
    include: str
    exclude: None = None


class Nearby:
    """Looks around in one vault."""

    def __init__(self, catalogue: Catalogue, meaning: Meaning, scope: Scope) -> None:
        self._scope = scope
        self._catalogue = catalogue
        self._meaning = meaning
        self._common: dict[str, int] = {}

    def find_near_draft(self, title: str, text: str, notes: int) -> Near:
        """Return what lies near a text that is not in the vault yet; `notes` is the vault's size."""
        text = text[:MOST_CHARS]
        passages = build_passages(parse_note(text), title)
        chosen = _choose([passage.text for passage in passages])
        begun = time.monotonic()
        try:
            wait = self._meaning.begin_near_notes(chosen, CANDIDATES, patience=0.0)
            try:
                hits = wait(ALONE_SECONDS)
            except MeaningBusy as busy:  # the words are looked at while it works; the first to be there is taken
                words = self._find_by_words(find_terms(f"{title}\n{text}"), notes, str(busy))
                try:
                    hits = wait(max(0.0, begun + WRITE_SECONDS - time.monotonic()))
                except MeaningBusy:
                    return words
        except MeaningUnavailable as error:
            return self._find_by_words(find_terms(f"{title}\n{text}"), notes, str(error))
        hits = [[hit for hit in passage if self._scope.holds(hit[0])] for passage in hits]
        copies = tuple(join_hits(hits))
        likely = tuple(path for path, _ in copies[:MOST_LIKELY])
        return Near(_join_nearest(hits), True, copies, len(chosen) == len(passages), likely)

    def begin_near_note(self, path: str, notes: int, *, meaning: bool, below: float) -> Callable[[], Near]:
        """Return what waits for the notes near a note of the vault; by meaning only those nearer than `below`.

        By words when there is no model that is ready. One that is busy finds nothing: that costs no second search.
        """
        if meaning:
            try:
                asked = self._meaning.begin_near_of(path, CANDIDATES, below=below, answer_within=SEARCH_SECONDS)
            except MeaningUnavailable:
                pass
            else:
                return partial(_wait_measured, asked, self._scope)
        return lambda: self._find_by_words(self._catalogue.find_terms(path), notes, "", without=path)

    def _find_by_words(self, terms: Iterable[str], notes: int, remark: str, without: str = "") -> Near:
        wanted = list(dict.fromkeys(term for term in terms if not is_stop_term(term)))[:MOST_TERMS]
        counts = self._count(wanted)
        if without:  # the note's own use of a word brings nothing near
            counts = {term: count - 1 for term, count in counts.items() if count > 1}
        found = [path for path in self._find_sharing(counts) if path != without]
        near = find_lexical_neighbours(
            wanted, {path: self._catalogue.find_terms(path) for path in found}, counts, notes
        )
        return Near(tuple(near), measured=False, likely=tuple(found[: 2 * MOST_LIKELY]), remark=remark)

    def _count(self, terms: Sequence[str]) -> dict[str, int]:
        """Return how many notes hold each term. Counts of common ones may be some writes old: they take longest."""
        if len(self._common) > MOST_COMMON:
            self._common.clear()
        counts = self._catalogue.count_terms([term for term in terms if term not in self._common])
        counts |= {term: self._common[term] for term in terms if term in self._common}
        self._common.update({term: count for term, count in counts.items() if count > RARE})
        return counts

    def _find_sharing(self, counts: Mapping[str, int]) -> list[str]:
        """Return the notes that share the rarest of these terms, best first."""
        rarest = sorted(counts, key=lambda term: (counts[term], term))[:RAREST]
        if not rarest:
            return []
        plan = _AnyOf(" OR ".join(f'"{term}"' for term in rarest))
        return [hit.path for hit in self._catalogue.search_words(plan, _NO_WEIGHTS, WORD_CANDIDATES)]


def _wait_measured(asked: Callable[[], list[tuple[str, float]]], scope: Scope) -> Near:
    try:
        return Near(tuple(hit for hit in asked() if scope.holds(hit[0])), measured=True)
    except MeaningUnavailable:
        return Near((), measured=True)


def _join_nearest(hits: Iterable[Iterable[tuple[str, float]]]) -> tuple[tuple[str, float], ...]:
    """Return each note once, by the nearest pair of passages, nearest first."""
    nearest: dict[str, float] = {}
    for passage in hits:
        for path, distance in passage:
            nearest[path] = min(distance, nearest.get(path, distance))
    return tuple(sorted(nearest.items(), key=lambda hit: (hit[1], hit[0])))


def _choose(texts: Sequence[str]) -> list[str]:
    """Return the first text, and of the others as many as may be embedded, from first to last at even distances."""
    for most in range(len(texts), 1, -1):
        chosen = [texts[round(place * (len(texts) - 1) / (most - 1))] for place in range(most)]
        if sum(len(text.encode()) for text in chosen) <= MOST_BYTES:
            return chosen
    return list(texts[:1])
