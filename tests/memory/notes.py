"""Vaults of records for the tests of memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import stem_of
from vault_memex.memory.near_pairs import NoteVectors
from vault_memex.memory.neighbours import KEPT, Neighbours


def note(path: str, note_id: int | None = None, **values: Any) -> NoteRecord:
    fields = {"title": stem_of(path), "revision": blake2b(path.encode(), digest_size=16).hexdigest(), **values}
    return NoteRecord(path, note_id=note_id, **fields)


def vault(*notes: NoteRecord, revision: int = 1) -> Snapshot:
    return Snapshot(revision, {n.path: n for n in sorted(notes, key=lambda n: n.path)})


@dataclass(frozen=True)
class LinkRow:
    source: str
    target: str
    key: str | None = None


def neighbours_of(
    distances: Mapping[tuple[str, str], float], paths: Iterable[str] = (), limit: float = 1.0
) -> Neighbours:
    """Neighbours with the given distances between pairs of notes; all other pairs are far apart."""
    names = tuple(sorted({*paths, *(path for pair in distances for path in pair)}))
    rows: list[list[tuple[float, int]]] = [[] for _ in names]
    for (one, other), distance in distances.items():
        a, b = names.index(one), names.index(other)
        rows[a].append((distance, b))
        rows[b].append((distance, a))
    for row in rows:
        row.sort()
    return Neighbours(
        limit,
        names,
        np.full(len(names), KEPT),
        np.cumsum([0, *map(len, rows)]),
        np.array([other for row in rows for _, other in row], np.int64),
        np.array([distance for row in rows for distance, _ in row], np.float64),
    )


def all_near(*paths: str, distance: float = 0.05) -> dict[tuple[str, str], float]:
    """Each of the notes near each other one."""
    return {(one, other): distance for i, one in enumerate(paths) for other in paths[i + 1 :]}


def vectors_of(passages: Mapping[str, Iterable[Iterable[float]]]) -> NoteVectors:
    """The matrix of the notes' passages, made unit vectors."""
    paths = tuple(sorted(passages))
    rows = [[list(vector) for vector in passages[path]] for path in paths]
    dimension = next((len(vector) for group in rows for vector in group), 2)
    matrix = np.array([v for group in rows for v in group], np.float32).reshape(-1, dimension)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return NoteVectors(paths, np.cumsum([0, *map(len, rows)]), matrix / np.where(lengths, lengths, 1))
