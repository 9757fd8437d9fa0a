"""Each note's nearest notes: what signals are read from. Brought up to date by the changed notes alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from vault_memex.memory.near_pairs import (
    ALONE,
    Doubles,
    Flags,
    Ints,
    NoteVectors,
    Pairs,
    PairSearch,
    Workers,
    join_pairs,
    keep_nearest,
)

KEPT = 64  # neighbours of a note: mutual nearest need 8, the rest saves looking again when some go
KEPT_OF_STATE = 250  # as many are looked at to see whether a state is stale
MUTUAL = 8
_FORM = 1  # of the kept bytes
_REBUILD_SHARE = 0.4  # with more to look at again than this share of all notes, all at once is quicker


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """For each note its nearest others below `limit`, at most `caps` of them, nearest first, then by path."""

    limit: float
    paths: tuple[str, ...]  # ascending
    caps: Ints
    starts: Ints  # of each note in the two below, and their length at the end
    others: Ints  # index into paths
    distances: Doubles

    def find_near(self, path: str, limit: int | None = None) -> list[tuple[str, float]]:
        """Return the note's neighbours as (path, distance), nearest first; none for a note without vectors."""
        note = self.find_index(path)
        if note is None:
            return []
        start, end = self.starts[note], self.starts[note + 1]
        if limit is not None:
            end = min(end, start + limit)
        return [
            (self.paths[other], float(distance))
            for other, distance in zip(self.others[start:end], self.distances[start:end], strict=True)
        ]

    def find_index(self, path: str) -> int | None:
        """Return where the note stands in `paths`."""
        low, high = 0, len(self.paths)
        while low < high:
            middle = (low + high) // 2
            if self.paths[middle] < path:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self.paths) and self.paths[low] == path else None

    def find_mutual(self, accepts: Callable[[str], bool], distance: float) -> Iterator[tuple[str, str]]:
        """Yield the pairs that are each among the other's 8 nearest accepted notes and nearer than `distance`."""
        accepted = np.fromiter((accepts(path) for path in self.paths), bool, len(self.paths))
        owners = np.repeat(np.arange(len(self.paths)), np.diff(self.starts))
        fits = accepted[owners] & accepted[self.others] & (self.distances < distance)
        ones, others = owners[fits], self.others[fits]
        begins = np.searchsorted(ones, ones, side="left")
        nearest = np.arange(len(ones)) - begins < MUTUAL
        ones, others = ones[nearest], others[nearest]
        size = len(self.paths)
        mutual = np.isin(ones * size + others, others * size + ones) & (ones < others)
        for one, other in zip(ones[mutual], others[mutual], strict=True):
            yield self.paths[one], self.paths[other]

    def find_pairs(self, accepts: Callable[[str], bool], distance: float, most: int) -> list[tuple[str, str]]:
        """Return the pairs of accepted notes at most `distance` apart, nearest first; of more than `most` those.

        Each pair stands once, the smaller path first.
        """
        accepted = np.fromiter((accepts(path) for path in self.paths), bool, len(self.paths))
        owners = np.repeat(np.arange(len(self.paths)), np.diff(self.starts))
        fits = accepted[owners] & accepted[self.others] & (self.distances <= distance)
        ones, others = owners[fits], self.others[fits]
        firsts, seconds = np.minimum(ones, others), np.maximum(ones, others)
        order = np.lexsort((seconds, firsts, self.distances[fits]))
        pairs = dict.fromkeys(zip(firsts[order].tolist(), seconds[order].tolist(), strict=True))
        return [(self.paths[one], self.paths[other]) for one, other in islice(pairs, most)]


def build_neighbours(
    vectors: NoteVectors, limit: float, states: Collection[str] = (), workers: Workers = ALONE
) -> Neighbours:
    """Return the neighbours of all notes. `states` are the notes of which more are kept."""
    caps = _build_caps(vectors, states)
    return _pack(vectors, limit, caps, PairSearch(vectors, limit, caps, workers).search_all())


def update_neighbours(
    previous: Neighbours,
    vectors: NoteVectors,
    changed: Collection[str],
    states: Collection[str] = (),
    workers: Workers = ALONE,
) -> Neighbours:
    """Return what `build_neighbours` would, with work for the changed notes alone.

    `changed` are the notes whose vectors are not those that `previous` was made from; new ones may be left out,
    and notes that went are those missing from `vectors`. A full list that loses a neighbour is made again.
    """
    if not previous.paths or not vectors.paths:
        return build_neighbours(vectors, previous.limit, states, workers)
    caps = _build_caps(vectors, states)
    places = _find_places(previous.paths, vectors.paths)
    fresh = _find_fresh(places, vectors.paths, changed)
    owners = np.repeat(np.arange(len(previous.paths)), np.diff(previous.starts))
    ones, others = places[owners], places[previous.others]
    lost = (others < 0) | fresh[others]
    again = fresh | _find_short(previous, places, caps, owners[lost])
    if again.sum() > _REBUILD_SHARE * len(vectors.paths):
        return build_neighbours(vectors, previous.limit, states, workers)
    keep = (ones >= 0) & ~lost & ~again[ones]
    kept = Pairs(ones[keep], others[keep], previous.distances[keep])
    found = PairSearch(vectors, previous.limit, caps, workers).search_notes(np.flatnonzero(again).tolist())
    back = _find_back(vectors, previous.limit, fresh, again)
    return _pack(vectors, previous.limit, caps, keep_nearest(join_pairs([kept, found, back]), caps))


def _find_fresh(places: Ints, paths: tuple[str, ...], changed: Collection[str]) -> Flags:
    """Return which notes are new or have other vectors."""
    fresh = np.ones(len(paths), bool)
    fresh[places[places >= 0]] = False
    at = {path: index for index, path in enumerate(paths)}
    fresh[[at[path] for path in changed if path in at]] = True
    return fresh


def _find_short(previous: Neighbours, places: Ints, caps: Ints, losers: Ints) -> Flags:
    """Return which notes may have neighbours that were left out: a full list that lost some, or may grow."""
    full = np.diff(previous.starts) >= previous.caps
    full[places < 0] = False
    wanting = np.zeros(len(places), bool)
    wanting[losers] = True
    wanting |= caps[places] > previous.caps
    short = np.zeros(len(caps), bool)
    short[places[full & wanting]] = True
    return short


def _find_back(vectors: NoteVectors, limit: float, fresh: Flags, again: Flags) -> Pairs:
    """Return the pairs from notes that are not looked at again to those that changed."""
    unbounded = np.full(len(vectors.paths), len(vectors.paths), np.int64)
    pairs = PairSearch(vectors, limit, unbounded).search_notes(np.flatnonzero(fresh).tolist())
    wanted = ~again[pairs.others]
    return Pairs(pairs.others[wanted], pairs.ones[wanted], pairs.distances[wanted])


def _build_caps(vectors: NoteVectors, states: Collection[str]) -> Ints:
    chosen = frozenset(states)
    return np.fromiter(
        (KEPT_OF_STATE if p in chosen else KEPT for p in vectors.paths), np.int64, len(vectors.paths)
    )


def _find_places(old: tuple[str, ...], new: tuple[str, ...]) -> Ints:
    at = {path: index for index, path in enumerate(new)}
    return np.fromiter((at.get(path, -1) for path in old), np.int64, len(old))


def _pack(vectors: NoteVectors, limit: float, caps: Ints, pairs: Pairs) -> Neighbours:
    counts = np.bincount(pairs.ones, minlength=len(vectors.paths))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return Neighbours(limit, vectors.paths, caps, starts, pairs.others, pairs.distances)


def render_neighbours(neighbours: Neighbours) -> bytes:
    """Return the neighbours as bytes to keep in the cache."""
    head = json.dumps({"form": _FORM, "limit": neighbours.limit, "paths": neighbours.paths}).encode()
    arrays = (neighbours.caps, neighbours.starts, neighbours.others)
    numbers = b"".join(array.astype("<i8").tobytes() for array in arrays)
    return len(head).to_bytes(8, "little") + head + numbers + neighbours.distances.astype("<f8").tobytes()


def parse_neighbours(data: bytes) -> Neighbours | None:
    """Return the neighbours that were kept; None when the bytes are of another form, and have to be made again."""
    try:
        size = 8 + int.from_bytes(data[:8], "little")
        head = json.loads(data[8:size])
        limit, paths = float(head["limit"]), tuple(map(str, head["paths"]))
        numbers = np.frombuffer(data[size:], "<i8").astype(np.int64)
    except (ValueError, KeyError, TypeError):
        return None
    count = len(paths)
    pairs, odd = divmod(len(numbers) - 2 * count - 1, 2)
    if head.get("form") != _FORM or pairs < 0 or odd:
        return None
    caps, starts, others, _ = np.split(numbers, [count, 2 * count + 1, 2 * count + 1 + pairs])
    distances = np.frombuffer(data[len(data) - 8 * pairs :], "<f8").astype(np.float64)
    if (
        starts[0] != 0
        or starts[-1] != pairs
        or (np.diff(starts) < 0).any()
        or (pairs and not 0 <= others.min() <= others.max() < count)
    ):
        return None
    return Neighbours(limit, paths, caps, starts, others, distances)
