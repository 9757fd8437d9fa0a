"""Pairs of notes of which one says the other: exact, and the same as by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.notes import vectors_of
from vault_memex.index.pairing import find_closest
from vault_memex.memory.calibration import measure_copy
from vault_memex.memory.neighbours import build_neighbours
from vault_memex.store.ephemeral import EphemeralTables

Passages = dict[str, list[tuple[float, float, float]]]
PASSAGE = st.tuples(*[st.integers(-4, 4).map(float)] * 3).filter(any)
VAULTS = st.dictionaries(st.sampled_from([f"{n}.md" for n in "abcdefgh"]), st.lists(PASSAGE, max_size=3))


def find(passages: Passages, distance: float, nearest: int = 99) -> list[tuple[str, str, float]]:
    vectors = vectors_of(passages)
    store = EphemeralTables().open_table("test", 3, "test")
    hashes = {}
    for number, path in enumerate(vectors.paths):
        rows = vectors.rows_of(number)
        hashes[path] = tuple(f"{number:016x}{row:016x}" for row in range(len(rows)))
        if len(rows):
            store.add(list(hashes[path]), list(rows))
    near = build_neighbours(vectors, distance + 1e-6)
    candidates = near.find_pairs(lambda path: path != "h.md", distance, 1_000)
    return find_closest(store, hashes, candidates, distance, nearest)


def by_hand(passages: Passages, distance: float) -> dict[tuple[str, str], float]:
    vectors = vectors_of(passages)
    rows = {path: vectors.rows_of(i) for i, path in enumerate(vectors.paths)}
    found = {}
    for one, other in combinations(sorted(rows), 2):
        if len(rows[one]) and len(rows[other]) and "h.md" not in (one, other):
            ways = measure_copy(rows[one], rows[other]), measure_copy(rows[other], rows[one])
            if min(ways) <= distance:
                found[one, other] = min(ways)
    return found


@given(VAULTS, st.sampled_from([0.02, 0.3, 1.1]))
def test_each_pair_of_accepted_notes_stands_once_with_the_smaller_of_both_ways(
    passages: Passages, distance: float
) -> None:
    found = {(one, other): measured for one, other, measured in find(passages, distance)}
    expected = by_hand(passages, distance)

    edge = {pair for pair, d in expected.items() if abs(d - distance) < 1e-5}  # float32 may see it on either side
    assert expected.keys() - edge == found.keys() - edge
    assert all(abs(expected.get(pair, distance) - d) < 1e-5 for pair, d in found.items())


@given(VAULTS, st.integers(1, 3))
def test_of_each_note_its_nearest_come_and_the_nearest_pair_first(passages: Passages, nearest: int) -> None:
    whole, some = find(passages, 1.1), find(passages, 1.1, nearest)

    assert some == [pair for pair in whole if pair in some]
    assert [d for *_, d in whole] == sorted(d for *_, d in whole)
    for path in passages:
        own = [pair for pair in whole if path in pair[:2]]
        assert own[:nearest] == [pair for pair in some if path in pair[:2]][: len(own[:nearest])]


def test_a_note_inside_another_is_nearer_than_one_that_shares_a_section() -> None:
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

    assert [("part.md", "whole.md", 0.0)] == find({"part.md": [x], "whole.md": [x, y]}, 0.1)
    assert [] == find({"one.md": [x, y], "other.md": [x, z]}, 0.1)
    assert np.isclose(0.5, find({"one.md": [x, y], "other.md": [x, z]}, 0.6)[0][2])
