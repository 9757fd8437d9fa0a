"""Joining what several searches found into one order that can be explained.

Each search is a list of hits with a score of its own kind. Per list the scores of the first fifty are measured in
standard deviations above the list's floor, weighted and added; a note that a list lacks stands at the floor. This
is the order of plain z-scores (a constant is added to each list), measured best on judged sets in five languages.

A list of words that ran out before its fiftieth hit is complete: every other note scores zero in it. So its floor
is zero, and a rare word found in one note weighs much, as it should.

Before fusion come exact hits: a note that is called like the query, then one that holds the quoted phrase or the
identifier. After it, a note whose title and aliases hold every word of the query gains 30 %, a current `state` note
up to 6 % by freshness, and what is superseded or expired loses half.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from vault_memex.core.dates import MICROSECONDS_PER_DAY, find_period
from vault_memex.core.expression import Query
from vault_memex.core.match import build_name_check
from vault_memex.core.snapshot import NoteRecord

Tier = Literal["all_words", "related"]
Arm = Literal["words", "prefix", "meaning"]

DEPTH = 50
MEANING_WEIGHTS = {"known": 0.5, "unknown": 0.3, "none": 0.0}
"""Of the meaning list: for the model that was measured, for any other, and without vectors."""
PREFIX_SHARE = 0.3  # of the weight of the words list
DEMOTION = 0.5
IN_NAME = 1.3
FRESHNESS, FRESHNESS_DAYS = 0.06, 120.0
_LAST_RESORT = 1e-6  # keeps the order of hits that stand at a list's floor
_NEVER = -(1 << 62)


@dataclass(frozen=True, slots=True)
class Hit:
    """One note, or one passage of it, in a list. A larger score is better."""

    path: str
    score: float
    passage: int | None = None  # its ordinal in the note


@dataclass(frozen=True, slots=True)
class ScoredList:
    """What one search found, best first."""

    arm: Arm
    weight: float
    hits: Sequence[Hit]

    @property
    def is_complete(self) -> bool:
        """Whether a note that is not in it scores zero: words that stand nowhere else."""
        return self.arm != "meaning" and len(self.hits) < DEPTH


@dataclass(frozen=True, slots=True)
class Ranked:
    """One note of the answer, with what put it there."""

    path: str
    score: float
    tier: Tier
    exact: int  # 2: is called so; 1: holds the phrase or identifier; 0: neither
    scores: Mapping[str, float]  # by arm, as the search gave it; "meaning" is the cosine similarity
    ranks: Mapping[str, int]  # by arm, from 1
    passages: tuple[int, ...]  # ordinals of the nearest ones, best first
    why: tuple[str, ...]

    @property
    def distance(self) -> float | None:
        """The cosine distance of the nearest passage, if meaning found the note."""
        return 1 - self.scores["meaning"] if "meaning" in self.scores else None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of the candidates beside the lists, by path."""

    records: Mapping[str, NoteRecord]
    all_words: Collection[str] = ()  # hold every word of the query
    phrases: Collection[str] = ()  # hold every quoted phrase and identifier of the query
    found_words: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))  # how many, where counted
    demoted: Collection[str] = ()  # superseded or expired


def build_weights(meaning: float) -> Mapping[Arm, float]:
    """Return the weight of each list when meaning has this one."""
    return {"words": 1 - meaning, "prefix": PREFIX_SHARE * (1 - meaning), "meaning": meaning}


def fuse(
    lists: Sequence[ScoredList],
    query: Query,
    evidence: Evidence,
    now: str,
    passages_per_note: int = 3,
    *,
    explain: bool = True,
) -> list[Ranked]:
    """Return the notes of all lists, best first. `now` is a date or moment in ISO 8601; paths without a record go.

    Equal ones stand with the latest change first, then by path. Without `explain` no note says why it is there.
    """
    grouped = [_keep_best_passage(one) for one in lists]
    places: dict[str, dict[Arm, tuple[int, float]]] = {}
    for one in grouped:
        for rank, hit in enumerate(one.hits, 1):
            places.setdefault(hit.path, {})[one.arm] = (rank, hit.score)
    passages = _find_passages(lists, passages_per_note)
    fused = fuse_scores(grouped)
    check_name = build_name_check(query)
    ranked = [
        _rank(
            evidence.records[path],
            score=score,
            places=places[path],
            passages=passages.get(path, ()),
            query=query,
            evidence=evidence,
            check_name=check_name,
            now=now,
            explain=explain,
        )
        for path, score in sorted(fused.items())
        if path in evidence.records
    ]
    ranked.sort(key=lambda note: _find_start(evidence.records[note.path].updated), reverse=True)
    ranked.sort(key=lambda note: (note.exact, note.score), reverse=True)
    return ranked


def fuse_scores(lists: Sequence[ScoredList]) -> dict[str, float]:
    """Return the weighted sum of standard scores of each path; lists are best first and hold a path once.

    Hits after the fiftieth stand at the floor, in their order.
    """
    union = len({hit.path for one in lists for hit in one.hits[:DEPTH]})
    fused: dict[str, float] = {}
    for one in lists:
        scores = [hit.score for hit in one.hits[:DEPTH]]
        zeros = max(0, min(DEPTH, union) - len(scores)) if one.is_complete else 0
        floor, deviation = _find_scale(scores, zeros) if scores else (0.0, 1.0)
        for hit in one.hits:
            gain = max(0.0, hit.score - floor) / deviation + _LAST_RESORT * hit.score
            fused[hit.path] = fused.get(hit.path, 0.0) + one.weight * gain
    return fused


def find_freshness(record: NoteRecord, now: str) -> float:
    """Return the factor for a current `state` note: 1.06 today, towards 1 with age. Any other note: 1."""
    if record.layer != "state":
        return 1.0
    age = (_find_start(now) - _find_start(record.updated)) / MICROSECONDS_PER_DAY
    return 1 + FRESHNESS * math.exp(-max(0.0, age) / FRESHNESS_DAYS)


def _find_scale(scores: Sequence[float], zeros: int) -> tuple[float, float]:
    """Return the floor and the standard deviation of a list with so many zeros after it."""
    count = len(scores) + zeros
    mean = sum(scores) / count
    variance = (sum((score - mean) ** 2 for score in scores) + zeros * mean * mean) / count
    return 0.0 if zeros else min(scores), math.sqrt(variance) + 1e-9


def _keep_best_passage(one: ScoredList) -> ScoredList:
    best: dict[str, Hit] = {}
    for hit in _sort_hits(one.hits):
        best.setdefault(hit.path, hit)
    return replace(one, hits=tuple(best.values()))


def _find_passages(lists: Sequence[ScoredList], limit: int) -> Mapping[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for one in lists:
        for hit in _sort_hits([hit for hit in one.hits if hit.passage is not None]):
            if hit.passage is not None:
                found.setdefault(hit.path, []).append(hit.passage)
    return {path: tuple(dict.fromkeys(ordinals))[:limit] for path, ordinals in found.items()}


def _sort_hits(hits: Sequence[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.passage or 0))


def _rank(
    record: NoteRecord,
    *,
    score: float,
    places: Mapping[Arm, tuple[int, float]],
    passages: tuple[int, ...],
    query: Query,
    evidence: Evidence,
    check_name: Callable[[NoteRecord], tuple[str | None, bool]],
    now: str,
    explain: bool,
) -> Ranked:
    path = record.path
    name, in_name = check_name(record)
    demoted = path in evidence.demoted
    return Ranked(
        path=path,
        score=score * find_freshness(record, now) * (DEMOTION if demoted else 1) * (IN_NAME if in_name else 1),
        tier="all_words" if path in evidence.all_words else "related",
        exact=2 if name else int(path in evidence.phrases),
        scores=MappingProxyType({arm: at[1] for arm, at in places.items()}),
        ranks=MappingProxyType({arm: at[0] for arm, at in places.items()}),
        passages=passages,
        why=tuple(_explain(path, name, places, query, evidence)) if explain else (),
    )


def _explain(
    path: str, name: str | None, places: Mapping[Arm, tuple[int, float]], query: Query, evidence: Evidence
) -> Iterator[str]:
    if name:
        yield f"{name} equals the query"
    if path in evidence.phrases:
        yield "quoted phrase occurs" if query.phrases else "identifier occurs"
    if path in evidence.all_words:
        yield "all words"
    elif path in evidence.found_words:
        yield f"words {evidence.found_words[path]} of {len(query.words)}"
    elif "words" in places:
        yield "some words"
    elif "prefix" in places:
        yield "words that begin alike"
    if "meaning" in places:
        yield f"meaning distance {1 - places['meaning'][1]:.3f}"  # no share: each model has a scale of its own
    if path in evidence.demoted:
        yield "superseded or expired"


def _find_start(date: str) -> int:
    """Return the start of the date in microseconds; before everything for text that is no date."""
    period = find_period(date)
    return period.start if period else _NEVER
