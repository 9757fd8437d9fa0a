"""Measuring a vault: which distances lie between its notes, between a note and a copy, and between query and note.

How many pairs of notes belong together depends on the vault's size: a note has a handful of related notes whether
there are fifty others or ten thousand. So `related` is the percentile 100 / notes of the background, the distance
below which a note has about one other. It is held between 0.1 (from 1,000 notes on) and 2 (up to 50 notes: in the
sample vault the percentile 0.1 is the nearest pair of all, and nothing would ever be found; 2 finds its threads).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, Protocol

import numpy as np

from vault_memex.memory.near_pairs import NoteVectors
from vault_memex.memory.thresholds import (
    MIN_NOTES,
    Calibration,
    Distribution,
    Thresholds,
    check_fixed,
    get_shipped,
    is_known,
)

BACKGROUND_PAIRS = 10_000  # a percentile of 0.1 is then the tenth smallest, not a stray one
COPIES = 200
QUERIES = 200
QUERY_PASSAGES = 200  # other notes' passages that each title is compared with

_STRICTEST, _WIDEST = 0.1, 2.0  # percentiles of `related`
_NEAR_FACTOR = 2.5
_CERTAIN_SHARE = 0.7  # of `duplicate` at most: where copies lie as far as related notes, few saves are refused
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")

Edit = Literal["title", "sentence", "fifth", "words"]
EDITS: tuple[Edit, ...] = ("title", "sentence", "fifth", "words")


class Dice(Protocol):
    """The randomness that is needed; `random.Random(seed)` has it."""

    def randrange(self, stop: int, /) -> int:
        """Return a number from 0 to below `stop`."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Distances measured in one vault."""

    background: Sequence[float]  # between random notes: `measure_background`
    copies: Sequence[float] = ()  # of lightly edited copies to their notes: `measure_copy`
    queries: Sequence[float] = ()  # of titles to passages of other notes: `measure_queries`


def build_calibration(
    model: str, notes: int, samples: Samples, fixed: Mapping[str, object] | None = None
) -> Calibration:
    """Return the thresholds of a vault with `notes` notes. An empty sample leaves what is shipped for the model.

    What answers a query is always as shipped for a model we know: that rests on judged questions, while a vault's
    titles held against its other notes tell only what is unlike.

    `fixed` holds values that the person set: they win. Raises InvalidArgument for one that is no distance.
    """
    shipped = get_shipped(model)
    measured = notes >= MIN_NOTES and len(samples.background) > 0
    found = _measure(shipped, notes, samples) if measured else shipped
    if is_known(model):
        found = replace(found, query_weak=shipped.query_weak, query_strong=shipped.query_strong)
    values = check_fixed(fixed or {})
    return Calibration(model, notes, replace(found, **values), measured, tuple(sorted(values)))


def _measure(shipped: Thresholds, notes: int, samples: Samples) -> Thresholds:
    share = min(_WIDEST, max(_STRICTEST, 100 / notes))
    related = _percentile(samples.background, share)
    near = _percentile(samples.background, max(1.0, _NEAR_FACTOR * share))
    copies, queries = samples.copies, samples.queries
    duplicate = min(related, _percentile(copies, 90) if copies else shipped.duplicate)
    certain = min(_CERTAIN_SHARE * duplicate, _percentile(copies, 70) if copies else shipped.certain)
    weak = _percentile(queries, 5) if queries else shipped.query_weak
    strong = _percentile(queries, 0.5) if queries else shipped.query_strong
    return Thresholds(near, related, duplicate, round(certain, 6), weak, strong)


def _percentile(values: Sequence[float], percent: float) -> float:
    return round(max(0.0, float(np.percentile(np.asarray(values, float), percent))), 6)


def measure_background(vectors: NoteVectors, dice: Dice) -> list[float]:
    """Return the distances of up to 10,000 random pairs of notes; of all pairs when there are no more."""
    filled = [note for note in range(len(vectors.paths)) if vectors.starts[note] < vectors.starts[note + 1]]
    return [
        _measure_notes(vectors, filled[a], filled[b]) for a, b in draw_pairs(len(filled), BACKGROUND_PAIRS, dice)
    ]


def _measure_notes(vectors: NoteVectors, one: int, other: int) -> float:
    nearest = float((vectors.rows_of(one) @ vectors.rows_of(other).T).max())
    return max(0.0, 1.0 - nearest)


def draw_notes(paths: Sequence[str], limit: int, dice: Dice) -> list[str]:
    """Return up to `limit` different notes in random order: for copies (with EDITS in turn) and title queries."""
    drawn = list(paths)
    for place in range(min(limit, len(drawn))):
        other = place + dice.randrange(len(drawn) - place)
        drawn[place], drawn[other] = drawn[other], drawn[place]
    return drawn[:limit]


def draw_pairs(size: int, limit: int, dice: Dice) -> list[tuple[int, int]]:
    """Return up to `limit` different pairs of numbers below `size`; all of them when there are no more."""
    if size * (size - 1) // 2 <= limit:
        return [(a, b) for a in range(size) for b in range(a + 1, size)]
    pairs: dict[tuple[int, int], None] = {}
    while len(pairs) < limit:
        a, b = dice.randrange(size), dice.randrange(size)
        if a != b:
            pairs[min(a, b), max(a, b)] = None
    return list(pairs)


def measure_queries(vectors: NoteVectors, queries: Mapping[str, Sequence[float]], dice: Dice) -> list[float]:
    """Return distances of title queries (by the path of their note) to random passages of other notes."""
    total, owners = len(vectors.matrix), vectors.owners
    found: list[float] = []
    for path, query in queries.items():
        rows = [dice.randrange(total) for _ in range(QUERY_PASSAGES if total else 0)]
        others = [row for row in rows if vectors.paths[owners[row]] != path]
        products = vectors.matrix[others] @ np.asarray(query, np.float32)
        found += [max(0.0, 1.0 - float(product)) for product in products]
    return found


def render_copy(title: str, body: str, edit: Edit, dice: Dice) -> tuple[str, str] | None:
    """Return title and body of a lightly edited copy; None when the note is too short for that edit."""
    if edit == "title":
        return "", body
    if edit == "fifth":
        return (title, body[: len(body) * 4 // 5]) if len(body) >= 40 else None
    if edit == "words":
        words = body.split(" ")
        return (title, " ".join(w for w in words if dice.randrange(10))) if len(words) >= 10 else None
    ends = [0, *(m.end() for m in _SENTENCE_END.finditer(body)), len(body)]
    sentences = [(a, b) for a, b in pairwise(ends) if body[a:b].strip()]
    if len(sentences) < 3:
        return None
    start, end = sentences[dice.randrange(len(sentences))]
    return title, body[:start] + body[end:]


def measure_copy(copy: Sequence[Sequence[float]], original: Sequence[Sequence[float]]) -> float:
    """Return how far a draft is from a note: the mean, over its passages, of the nearest passage's distance.

    Unlike the distance of two notes it asks for all of the draft: a section that two notes share is no duplicate.
    """
    products = np.asarray(copy, np.float32) @ np.asarray(original, np.float32).T
    return max(0.0, float((1.0 - products.max(axis=1)).mean()))


def describe(values: Sequence[float], percents: Sequence[float] = (0.1, 1, 5, 50, 95)) -> Distribution:
    """Return the percentiles of a sample, for `doctor --calibration`."""
    if not values:
        return Distribution(0, ())
    return Distribution(len(values), tuple((float(p), _percentile(values, p)) for p in percents))
