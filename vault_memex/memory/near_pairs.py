"""Pairs of notes that lie near each other, found by products of blocks of one matrix.

The distance of two notes is the smallest cosine distance between a passage of one and one of the other. Means of
passages were tried: a long note's mean drifts to the middle of the vault and so near to everything (in the sample
vault the index note and the long project note led the list), and one section on a subject drowns in it. With
means the pair of notes on damp lies at percentile 2.0 of all pairs, with nearest passages at 1.2.

Products are computed in float32, whose last bits depend on the shape of the block. So they only choose candidates,
with a margin; the distance itself is computed for each pair by itself, and is the same however it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_MARGIN = np.float32(1e-4)  # float32 sums of 1,000 products of unit vectors are off by less
_ROWS = 512  # passages of a block; a product is 4 MB with these two
_COLUMNS = 2048
_PAIRS_AT_ONCE = 4096  # 25 MB of float64 rows for 384 dimensions
_PAIRS_KEPT = 500_000  # before those that are nobody's neighbours are forgotten
_DECIMALS = 6


@dataclass(frozen=True, slots=True, eq=False)
class NoteVectors:
    """The vectors of all notes' passages as one matrix. A note's rows stand together, notes in order of path."""

    paths: tuple[str, ...]  # ascending
    starts: Ints  # row of each note's first passage, and the number of rows at the end
    matrix: Floats  # unit vectors

    def __post_init__(self) -> None:
        if any(one >= other for one, other in zip(self.paths, self.paths[1:], strict=False)):
            raise ValueError("paths must ascend and each stand once")
        if len(self.starts) != len(self.paths) + 1 or self.starts[0] != 0 or self.starts[-1] != len(self.matrix):
            raise ValueError("starts must run from 0 to the number of rows, with one more entry than paths")

    @property
    def owners(self) -> Ints:
        """The note's index for each row."""
        return np.repeat(np.arange(len(self.paths)), np.diff(self.starts))

    def rows_of(self, note: int) -> Floats:
        """Return the vectors of one note's passages."""
        return self.matrix[self.starts[note] : self.starts[note + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Directed pairs of notes by index, in no order; a pair of passages may make the same pair of notes twice."""

    ones: Ints
    others: Ints
    distances: Doubles

    def __len__(self) -> int:
        return len(self.ones)


def join_pairs(groups: Sequence[Pairs]) -> Pairs:
    """Return all pairs of the groups."""
    if not groups:
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return Pairs(
        np.concatenate([g.ones for g in groups]),
        np.concatenate([g.others for g in groups]),
        np.concatenate([g.distances for g in groups]),
    )


def keep_nearest(pairs: Pairs, caps: Ints) -> Pairs:
    """Return the pairs sorted by note, distance, other note; each once, and of each note its `caps` nearest."""
    if not len(pairs):
        return pairs
    order = np.lexsort((pairs.distances, pairs.others, pairs.ones))
    ones, others = pairs.ones[order], pairs.others[order]
    first = np.ones(len(ones), bool)
    first[1:] = (ones[1:] != ones[:-1]) | (others[1:] != others[:-1])
    order = order[first]
    order = order[np.lexsort((pairs.others[order], pairs.distances[order], pairs.ones[order]))]
    ones = pairs.ones[order]
    begins = np.searchsorted(ones, ones, side="left")
    order = order[np.arange(len(ones)) - begins < caps[ones]]
    return Pairs(pairs.ones[order], pairs.others[order], pairs.distances[order])


class Block(NamedTuple):
    """Passages to be multiplied with a run of others."""

    rows: Ints
    start: int
    end: int
    both: bool  # whether each pair counts for both, and so is looked at once


Found = tuple[Ints, Ints]  # rows of the passages of each candidate
RunAll = Callable[[Callable[[Block, Floats], Found], Sequence[Block], Sequence[Floats]], Iterable[Found]]


def run_in_turn(
    work: Callable[[Block, Floats], Found], blocks: Sequence[Block], memory: Sequence[Floats]
) -> Iterator[Found]:
    """Yield what each block gives, one after the other."""
    return map(work, blocks, memory)


@dataclass(frozen=True, slots=True)
class Workers:
    """Who multiplies: so many at once, by `run`, which is as `run_in_turn` or the `map` of a pool of threads."""

    count: int = 1
    run: RunAll = run_in_turn


ALONE = Workers()


class PairSearch:
    """Finds the pairs below a distance block by block, and forgets what can be nobody's neighbour any more."""

    def __init__(self, vectors: NoteVectors, limit: float, caps: Ints, workers: Workers = ALONE) -> None:
        self._vectors = vectors
        self._owners = vectors.owners
        self._limit = limit
        self._caps = caps
        self._workers = workers
        self._reach: Doubles = np.full(len(vectors.paths), limit)  # farther ones are no neighbours of the note
        self._found: list[Pairs] = []
        self._size = 0
        self._bound = max(_PAIRS_KEPT, 2 * int(caps.sum()))  # keeps memory small when the limit is wide

    def search_all(self) -> Pairs:
        """Return each note's neighbours among all."""
        total = len(self._owners)
        return self._search(
            [
                Block(np.arange(row, min(row + _ROWS, total)), column, min(column + _COLUMNS, total), True)
                for row in range(0, total, _ROWS)
                for column in range(row, total, _COLUMNS)
            ]
        )

    def search_notes(self, notes: Sequence[int]) -> Pairs:
        """Return the neighbours of some notes among all; `ones` are those notes."""
        starts = self._vectors.starts
        rows = np.concatenate([np.arange(starts[n], starts[n + 1]) for n in notes] or [np.empty(0, np.int64)])
        total = len(self._owners)
        return self._search(
            [
                Block(rows[at : at + _ROWS], column, min(column + _COLUMNS, total), False)
                for at in range(0, len(rows), _ROWS)
                for column in range(0, total, _COLUMNS)
            ]
        )

    def _search(self, blocks: Sequence[Block]) -> Pairs:
        count = self._workers.count
        memory = [np.empty(_ROWS * _COLUMNS, np.float32) for _ in range(min(count, len(blocks)))]
        for at in range(0, len(blocks), count):
            some = blocks[at : at + count]
            for block, (ones, others) in zip(
                some, self._workers.run(self._find, some, memory[: len(some)]), strict=True
            ):
                self._add(ones, others, both=block.both)
        return keep_nearest(join_pairs(self._found), self._caps)

    def _find(self, block: Block, memory: Floats) -> Found:
        """Return the pairs of a block that may be near. Any thread may call it, with memory of its own."""
        rows, start, end, both = block
        products = memory[: len(rows) * (end - start)].reshape(len(rows), end - start)
        np.matmul(self._vectors.matrix[rows], self._vectors.matrix[start:end].T, out=products)
        near = np.flatnonzero(products >= self._floor(rows, start, end, both=both))
        ones, others = rows[near // (end - start)], near % (end - start) + start
        keep = self._owners[ones] != self._owners[others]
        if both:
            keep &= ones < others
        return ones[keep], others[keep]

    def _floor(self, rows: Ints, start: int, end: int, *, both: bool) -> Floats | np.float32:
        """Return the least product that may still make a neighbour; a reach that is a moment old is only wider."""
        if not self._found or self._reach.min() == self._limit:
            return np.float32(1 - self._limit) - _MARGIN
        floors: Floats = (1 - self._reach[self._owners[rows]]).astype(np.float32)[:, None] - _MARGIN
        if not both:
            return floors
        columns: Floats = (1 - self._reach[self._owners[start:end]]).astype(np.float32)[None, :] - _MARGIN
        return np.minimum(floors, columns)

    def _add(self, ones: Ints, others: Ints, *, both: bool) -> None:
        for at in range(0, len(ones), _PAIRS_AT_ONCE):
            one, other = ones[at : at + _PAIRS_AT_ONCE], others[at : at + _PAIRS_AT_ONCE]
            distances = measure_pairs(self._vectors.matrix, one, other)
            near = distances < self._limit
            pairs = Pairs(self._owners[one[near]], self._owners[other[near]], distances[near])
            self._found.append(pairs)
            if both:
                self._found.append(Pairs(pairs.others, pairs.ones, pairs.distances))
            self._size += len(pairs) * (2 if both else 1)
            if self._size > self._bound:
                self._prune()

    def _prune(self) -> None:
        kept = keep_nearest(join_pairs(self._found), self._caps)
        self._found = [kept]
        self._size = len(kept)
        counts = np.bincount(kept.ones, minlength=len(self._caps))
        last = np.cumsum(counts) - 1
        full = (counts > 0) & (counts >= self._caps)
        self._reach[full] = kept.distances[last[full]]


def measure_pairs(matrix: Floats, ones: Ints, others: Ints) -> Doubles:
    """Return the cosine distance of each pair of rows, to six decimals, whatever else is asked with it."""
    products = matrix[ones].astype(np.float64)
    products *= matrix[others]
    distances: Doubles = np.round(1.0 - products.sum(axis=1), _DECIMALS)
    return distances
