"""Pairs of notes of which one says nearly all of what the other says. Runs in the meaning process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vault_memex.memory.near_pairs import Floats
from vault_memex.store.vectors import VectorStore

Pair = tuple[str, str, float]
"""Two paths, the smaller first, and their distance."""

_DECIMALS = 6


def find_closest(
    store: VectorStore,
    hashes: Mapping[str, tuple[str, ...]],
    candidates: Sequence[tuple[str, str]],
    distance: float,
    nearest: int,
) -> list[Pair]:
    """Return the candidates at most `distance` apart, of each note its `nearest`, nearest first, then by path.

    A pair is as far apart as the one note is from the other by `calibration.measure_copy`, the smaller of both
    ways: a section that two notes share makes them near, but no duplicates.
    """
    vectors = _load(store, hashes, {path for pair in candidates for path in pair})
    measured = [
        (one, other, _measure(vectors[one], vectors[other]))
        for one, other in candidates
        if len(vectors[one]) and len(vectors[other])
    ]
    found: list[Pair] = []
    counts: dict[str, int] = {}
    for pair in sorted((p for p in measured if p[2] <= distance), key=lambda p: (p[2], p[0], p[1])):
        ranks = [counts.get(path, 0) for path in pair[:2]]
        for path in pair[:2]:
            counts[path] = counts.get(path, 0) + 1
        if min(ranks) < nearest:
            found.append(pair)
    return found


def _measure(one: Floats, other: Floats) -> float:
    products = one @ other.T
    nearer = max(float(products.max(axis=1).mean()), float(products.max(axis=0).mean()))
    return max(0.0, round(1.0 - nearer, _DECIMALS))


def _load(store: VectorStore, hashes: Mapping[str, tuple[str, ...]], paths: set[str]) -> dict[str, Floats]:
    wanted = list(dict.fromkeys(value for path in paths for value in hashes.get(path, ())))
    known = store.get(wanted) if wanted else {}
    return {
        path: np.array([known[value] for value in hashes.get(path, ()) if value in known], np.float32)
        for path in paths
    }
