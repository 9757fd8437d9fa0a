"""Vectors in memory: a real store for tests and for platforms without LanceDB, and the cache that searches run on.

Also an embedder that needs no model: it hashes words, so texts that share words are near each other.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

from vault_memex.store.vectors import Near, TableInfo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vault_memex.store.vectors import Vectors

_ROWS_AT_ONCE = 2_048  # 3 MB of 384 dimensions, which stay in the processor's cache for the next vector
_DECIMALS = 6  # of a distance; what float32 says beyond depends on where a row stands
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Rows:
    """One state of the table; readers keep it while a writer makes the next."""

    hashes: NDArray[np.str_]
    vectors: Vectors
    places: Mapping[str, int]


class EphemeralVectors:
    """See `VectorStore`. Exact: every search looks at every row (3 ms for 30,000 rows of 384)."""

    def __init__(self, dimension: int, hashes: Sequence[str] = (), vectors: Vectors | None = None) -> None:
        """Start with rows whose hashes differ; the matrix is kept as it is, not copied."""
        import numpy as np

        self.dimension = dimension
        matrix = np.empty((0, dimension), np.float32) if vectors is None else vectors
        self._rows = _Rows(np.array(hashes, "U32"), matrix, {h: i for i, h in enumerate(hashes)})
        self._writing = threading.Lock()

    def add(self, hashes: Sequence[str], vectors: Vectors) -> None:
        """Keep one unit vector a hash; a hash that is there already keeps the vector it has."""
        import numpy as np

        with self._writing:
            rows = self._rows
            fresh = {h: i for i, h in reversed(list(enumerate(hashes))) if h not in rows.places}
            if not fresh:
                return
            order = sorted(fresh.values())
            names = [hashes[i] for i in order]
            places = {**rows.places, **{h: len(rows.hashes) + n for n, h in enumerate(names)}}
            self._rows = _Rows(
                np.concatenate([rows.hashes, np.array(names, "U32")]),
                np.concatenate([rows.vectors, np.asarray(vectors, np.float32)[order]]),
                places,
            )

    def search(self, vector: Vectors, limit: int, among: Collection[str] | None = None) -> list[Near]:
        """Return the rows nearest by cosine, nearest first, equals by hash; with `among`, of these hashes only."""
        rows = self._rows
        hashes, vectors = rows.hashes, rows.vectors
        if among is not None:
            places = sorted(rows.places[h] for h in set(among) if h in rows.places)
            hashes, vectors = hashes[places], vectors[places]
        return _find_nearest(hashes, _measure(vectors, [vector])[0], limit)

    def search_each(self, vectors: Sequence[Vectors], limit: int) -> list[list[Near]]:
        """Return for each vector what `search` does, in less time."""
        rows = self._rows
        return [_find_nearest(rows.hashes, distances, limit) for distances in _measure(rows.vectors, vectors)]

    def get(self, hashes: Collection[str]) -> Mapping[str, Vectors]:
        """Return the vectors of those hashes that are there."""
        rows = self._rows
        return {h: rows.vectors[rows.places[h]] for h in hashes if h in rows.places}

    def known(self) -> set[str]:
        """Return every hash that is there."""
        return set(self._rows.places)

    def remove(self, hashes: Collection[str]) -> None:
        """Forget rows; an unknown hash is no error."""
        import numpy as np

        with self._writing:
            rows = self._rows
            gone = [rows.places[h] for h in set(hashes) if h in rows.places]
            if gone:
                kept = np.ones(len(rows.hashes), bool)
                kept[gone] = False
                names = rows.hashes[kept]
                self._rows = _Rows(names, rows.vectors[kept], {str(h): i for i, h in enumerate(names)})

    def count(self) -> int:
        """Return the number of rows."""
        return len(self._rows.places)

    def maintain(self) -> bool:
        """Nothing is ever due."""
        return False

    def close(self) -> None:
        """There is nothing to close."""


def _measure(rows: Vectors, wanted: Sequence[Vectors]) -> NDArray[np.float32]:
    """Return the cosine distances of all rows from each wanted vector, one line a vector."""
    import numpy as np

    distances = np.empty((len(wanted), len(rows)), np.float32)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        block = rows[start : start + _ROWS_AT_ONCE]
        for line, vector in zip(distances, wanted, strict=True):
            line[start : start + len(block)] = block @ np.asarray(vector, np.float32).reshape(-1)
    return np.round(1.0 - distances, _DECIMALS)


def _find_nearest(hashes: NDArray[np.str_], distances: NDArray[np.float32], limit: int) -> list[Near]:
    import numpy as np

    if not len(hashes) or limit < 1:
        return []
    if limit < len(distances):
        border = np.partition(distances, limit - 1)[limit - 1]
        chosen = np.flatnonzero(distances <= border)
    else:
        chosen = np.arange(len(distances))
    order = np.lexsort((hashes[chosen], distances[chosen]))[:limit]
    return [Near(str(hashes[i]), min(2.0, max(0.0, float(distances[i])))) for i in chosen[order]]


class EphemeralTables:
    """See `VectorTables`."""

    def __init__(self) -> None:
        self._stores: dict[str, tuple[str, EphemeralVectors]] = {}

    def tables(self) -> tuple[TableInfo, ...]:
        """Return what there is, in order of fingerprint."""
        return tuple(
            TableInfo(fingerprint, model, store.dimension, store.count())
            for fingerprint, (model, store) in sorted(self._stores.items())
        )

    def open_table(self, fingerprint: str, dimension: int, model: str) -> EphemeralVectors:
        """Return the model's table, made if need be."""
        return self._stores.setdefault(fingerprint, (model, EphemeralVectors(dimension)))[1]

    def drop_table(self, fingerprint: str) -> None:
        """Forget a model's table."""
        self._stores.pop(fingerprint, None)

    def close(self) -> None:
        """There is nothing to close: whoever holds the object finds its tables again."""


class HashEmbedder:
    """See `Embedder`. A text is the sum of directions that its words and word pairs hash to: no model needed."""

    ready = True
    idle_seconds = 0.0

    def __init__(self, dimension: int = 256, version: str = "1") -> None:
        self.model = f"hash-{version}"
        self.fingerprint = f"hash.{dimension}.{version}"
        self.dimension = dimension

    def load(self) -> None:
        """There is nothing to load."""

    def release(self) -> None:
        """There is nothing to release."""

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a text."""
        import numpy as np

        vector = np.zeros(self.dimension, np.float32)
        for place, value in self._features(text):
            vector[place] += value
        norm = float(np.linalg.norm(vector))
        if not norm:
            vector[0] = norm = 1.0
        result: Vectors = (vector / norm).astype(np.float32)
        return result

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([self.embed_query(text) for text in texts])

    def _features(self, text: str) -> Iterator[tuple[int, float]]:
        words = _WORD.findall(text.casefold())
        for feature, weight in [(w, 1.0) for w in words] + [(f"{a} {b}", 0.5) for a, b in pairwise(words)]:
            digest = int.from_bytes(blake2b(f"{self.fingerprint} {feature}".encode(), digest_size=8).digest())
            yield digest % self.dimension, weight if digest >> 63 else -weight
