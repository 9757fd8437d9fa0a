"""Which notes lie near a text or a note. Runs in the meaning process, which holds the vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from vault_memex.index.embedding_queue import ReadTexts
from vault_memex.store.catalogue import Catalogue, PassageRow
from vault_memex.store.embedding import Embedder
from vault_memex.store.vectors import VectorStore

if TYPE_CHECKING:
    from vault_memex.store.vectors import Vectors

Active = Callable[[], tuple[VectorStore, Embedder]]
Hits = list[tuple[str, float]]  # (path of a note, cosine distance), nearest first

FARTHEST = 3.0  # no cosine distance is above 2
MOST_TEXTS = 16  # passages that are embedded while somebody waits, some 30 ms each


class Closeness:
    """Answers about the notes of one vault. `active` gives the vectors to look at and their model."""

    def __init__(self, catalogue: Catalogue, read_texts: ReadTexts, active: Active) -> None:
        self._catalogue = catalogue
        self._read_texts = read_texts
        self._active = active

    def near_notes(self, texts: Sequence[str], limit: int) -> list[Hits]:
        """Return, for each text as a passage, the notes of the `limit` passages nearest to it.

        A note may stand there several times, once for each of its passages. Of more than 16 texts the first count.
        """
        if not texts:
            return []
        store, embedder = self._active()
        found = store.search_each(list(embedder.embed_passages(texts[:MOST_TEXTS])), limit)
        return [self._find_notes({near.hash: near.distance for near in hits}) for hits in found]

    def near_of(self, path: str, limit: int, below: float = FARTHEST) -> Hits:
        """Return the notes nearer than `below`, each once, by the nearest pair of passages; at most `limit`.

        A note that was written a moment ago has no vectors yet: it is embedded on the way.
        """
        rows = self._catalogue.find_passages(path)
        if not rows:
            return []
        store, embedder = self._active()
        known = store.get([row.hash for row in rows])
        vectors = [known[row.hash] for row in rows if row.hash in known]
        vectors += self._embed_missing(embedder, [row for row in rows if row.hash not in known])
        distances: dict[str, float] = {}
        for found in store.search_each(vectors, limit + len(rows)):
            for near in found:
                if near.distance >= below:
                    break
                distances[near.hash] = min(near.distance, distances.get(near.hash, FARTHEST))
        nearest: dict[str, float] = {}
        for other, distance in self._find_notes(distances):
            if other != path:
                nearest.setdefault(other, distance)
        return list(nearest.items())[:limit]

    def _embed_missing(self, embedder: Embedder, rows: Sequence[PassageRow]) -> Iterable[Vectors]:
        texts = self._read_texts(rows[:MOST_TEXTS]) if rows else {}
        return list(embedder.embed_passages(list(texts.values()))) if texts else []

    def _find_notes(self, distances: Mapping[str, float]) -> Hits:
        return sort_hits((path, distances[key]) for key, path in self._catalogue.find_notes(distances))


def sort_hits(hits: Iterable[tuple[str, float]]) -> Hits:
    """Return hits by distance, then by path."""
    return sorted(hits, key=lambda hit: (hit[1], hit[0]))
