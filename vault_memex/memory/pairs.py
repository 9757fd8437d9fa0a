"""Pairs of notes that somebody looked at and found to be no duplicates: true until the text of one of them changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DETAIL = "pair"  # in an event's details
MOST_PAIRS = 100


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two notes by number, the smaller first, with the hash of each one's text when they were judged."""

    ids: tuple[int, int]
    hashes: tuple[str, str]


def build_pair(one: tuple[int, str], other: tuple[int, str]) -> JudgedPair:
    """Return the pair of two notes, each with the hash of its text."""
    first, second = sorted((one, other))
    return JudgedPair((first[0], second[0]), (first[1], second[1]))


def render_pair(pair: JudgedPair) -> Mapping[str, Any]:
    """Return what the journal keeps of it, as a detail of an event."""
    return {DETAIL: {"ids": list(pair.ids), "hashes": list(pair.hashes)}}


def parse_pair(details: Mapping[str, Any]) -> JudgedPair | None:
    """Return the pair that an event is about; None when it is about none, or damaged."""
    raw = details.get(DETAIL)
    try:
        (first, second), (one, other) = raw["ids"], raw["hashes"]  # type: ignore[index]
        return build_pair((int(first), str(one)), (int(second), str(other)))
    except (KeyError, TypeError, ValueError):
        return None
