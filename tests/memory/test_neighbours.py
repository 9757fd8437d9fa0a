"""Each note's nearest notes: exact, and the same however they were found."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.notes import all_near, neighbours_of, vectors_of
from vault_memex.memory import near_pairs, neighbours
from vault_memex.memory.near_pairs import NoteVectors
from vault_memex.memory.neighbours import (
    Neighbours,
    build_neighbours,
    parse_neighbours,
    render_neighbours,
    update_neighbours,
)

Passages = dict[str, list[tuple[float, float, float]]]

PASSAGE = st.tuples(*[st.integers(-4, 4).map(float)] * 3).filter(any)
VAULTS = st.dictionaries(st.sampled_from([f"{n}.md" for n in "abcdefghijkl"]), st.lists(PASSAGE, max_size=3))


def as_dict(found: Neighbours) -> dict[str, list[tuple[str, float]]]:
    return {path: found.find_near(path) for path in found.paths}


def nearest_by_hand(passages: Passages, limit: float, cap: int) -> dict[str, list[tuple[str, float]]]:
    vectors = vectors_of(passages)
    rows = {path: vectors.rows_of(i).astype(float) for i, path in enumerate(vectors.paths)}
    found: dict[str, list[tuple[str, float]]] = {}
    for one, own in rows.items():
        near = [
            (other, round(float((1 - own @ theirs.T).min()), 6))
            for other, theirs in rows.items()
            if other != one and len(own) and len(theirs)
        ]
        found[one] = sorted(((o, d) for o, d in near if d < limit), key=lambda p: (p[1], p[0]))[:cap]
    return found


@given(VAULTS, st.sampled_from([0.02, 0.3, 1.1, 2.5]), st.integers(1, 5))
def test_neighbours_are_the_nearest_below_the_limit(passages: Passages, limit: float, cap: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "KEPT", cap)
        found = as_dict(build_neighbours(vectors_of(passages), limit))

    for path, near in nearest_by_hand(passages, limit, cap).items():
        assert [d for _, d in near] == pytest.approx([d for _, d in found[path]], abs=2e-6)


@given(VAULTS, VAULTS, st.sets(st.sampled_from("abcdefghijkl")), st.integers(1, 4), st.booleans())
def test_an_update_equals_a_full_run(
    before: Passages, after: Passages, kept: set[str], cap: int, as_state: bool
) -> None:
    """Notes in `kept` keep their passages, all others change, appear or go."""
    for path in (f"{name}.md" for name in kept):
        if path in before:
            after[path] = before[path]
        else:
            after.pop(path, None)
    changed = [path for path in after if before.get(path) != after[path]]
    states = ["a.md", "b.md"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "KEPT", cap)
        patch.setattr(neighbours, "KEPT_OF_STATE", cap + 2)
        patch.setattr(neighbours, "_REBUILD_SHARE", 1.0)
        old = build_neighbours(vectors_of(before), 0.8, states[:1])
        updated = update_neighbours(old, vectors_of(after), changed, states if as_state else states[:1])
        full = build_neighbours(vectors_of(after), 0.8, states if as_state else states[:1])

    assert as_dict(full) == as_dict(updated)


def random_vectors(notes: int, seed: int) -> NoteVectors:
    """About two passages a note, in loose groups."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, notes)
    groups = rng.standard_normal((max(1, notes // 8), 48))
    own = np.repeat(rng.integers(0, len(groups), notes), counts)
    matrix = (groups[own] + rng.standard_normal((int(counts.sum()), 48))).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return NoteVectors(tuple(f"{i:05}.md" for i in range(notes)), np.concatenate([[0], np.cumsum(counts)]), matrix)


def test_blocks_of_any_size_give_the_same_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = random_vectors(700, seed=3)
    whole = as_dict(build_neighbours(vectors, 0.7))
    monkeypatch.setattr(near_pairs, "_ROWS", 37)
    monkeypatch.setattr(near_pairs, "_COLUMNS", 101)
    monkeypatch.setattr(near_pairs, "_PAIRS_AT_ONCE", 53)

    assert whole == as_dict(build_neighbours(vectors, 0.7))


def test_a_limit_so_wide_that_all_are_near_keeps_the_nearest_and_little_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = random_vectors(500, seed=4)
    monkeypatch.setattr(near_pairs, "_ROWS", 64)
    monkeypatch.setattr(near_pairs, "_COLUMNS", 128)
    expected = as_dict(build_neighbours(vectors, 2.5))
    tracemalloc.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_pairs, "_PAIRS_KEPT", 1_000)
        found = as_dict(build_neighbours(vectors, 2.5))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert expected == found
    assert peak < 20_000_000


def test_vectors_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="ascend"):
        NoteVectors(("b.md", "a.md"), np.array([0, 1, 2]), np.eye(2, dtype=np.float32))
    with pytest.raises(ValueError, match="starts"):
        NoteVectors(("a.md", "b.md"), np.array([0, 1]), np.eye(2, dtype=np.float32))


def test_a_note_without_vectors_has_no_neighbours() -> None:
    found = build_neighbours(vectors_of({"a.md": [(1, 0, 0)], "b.md": [], "c.md": [(1, 0, 0)]}), 0.5)

    assert {"a.md": [("c.md", 0.0)], "b.md": [], "c.md": [("a.md", 0.0)]} == as_dict(found)
    assert [] == found.find_near("unknown.md")
    assert [("c.md", 0.0)] == found.find_near("a.md", limit=1)


@given(VAULTS)
def test_what_is_kept_is_read(passages: Passages) -> None:
    found = build_neighbours(vectors_of(passages), 0.7, ["a.md"])
    kept = render_neighbours(found)

    read = parse_neighbours(kept)

    assert read is not None
    assert (as_dict(found), found.limit, found.caps.tolist()) == (as_dict(read), read.limit, read.caps.tolist())
    assert kept == render_neighbours(read)


@given(st.binary(max_size=64), st.integers(0, 300))
def test_what_was_damaged_is_made_again_or_of_the_right_form(inserted: bytes, at: int) -> None:
    kept = render_neighbours(build_neighbours(vectors_of({"a.md": [(1, 0, 0)], "b.md": [(1, 0, 0)]}), 0.7))

    read = parse_neighbours(kept[:at] + inserted)

    assert read is None or len(read.others) == len(read.distances) == read.starts[-1]


def test_a_change_in_a_vault_where_all_are_near_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = random_vectors(200, seed=5)
    monkeypatch.setattr(near_pairs, "_PAIRS_KEPT", 1)
    monkeypatch.setattr(near_pairs, "_COLUMNS", 16)
    monkeypatch.setattr(neighbours, "KEPT", 3)
    found = build_neighbours(vectors, 2.5)
    turned = NoteVectors(vectors.paths, vectors.starts, np.roll(vectors.matrix, 5, axis=0))

    updated = update_neighbours(found, turned, vectors.paths)
    few = update_neighbours(found, NoteVectors(vectors.paths, vectors.starts, vectors.matrix), vectors.paths[:9])

    assert as_dict(build_neighbours(turned, 2.5)) == as_dict(updated)
    assert as_dict(found) == as_dict(few)


def test_mutual_pairs_need_each_among_the_eight_nearest_of_the_other() -> None:
    hub = {("hub.md", f"{n}.md"): 0.01 * n for n in range(1, 10)}
    found = neighbours_of(hub)

    pairs = set(found.find_mutual(lambda path: True, 0.5))

    assert {tuple(sorted(("hub.md", f"{n}.md"))) for n in range(1, 9)} == pairs


def test_notes_that_are_not_accepted_take_no_place_among_the_eight() -> None:
    hub = {("hub.md", f"{n}.md"): 0.01 * n for n in range(1, 10)}

    pairs = set(neighbours_of(hub).find_mutual(lambda path: path != "1.md", 0.5))

    assert ("9.md", "hub.md") in pairs
    assert not any("1.md" in pair for pair in pairs)


def test_mutual_pairs_are_nearer_than_the_distance() -> None:
    found = neighbours_of(all_near("a.md", "b.md", distance=0.3))

    assert [] == list(found.find_mutual(lambda path: True, 0.3))
    assert [("a.md", "b.md")] == list(found.find_mutual(lambda path: True, 0.31))


def test_updates_one_after_the_other_end_where_a_full_run_does() -> None:
    vectors = random_vectors(300, seed=9)
    found = build_neighbours(vectors, 0.8)
    dice = random.Random(7)
    for _ in range(12):
        matrix = vectors.matrix.copy()
        changed = dice.sample(range(300), 3)
        for index in changed:
            rows = slice(vectors.starts[index], vectors.starts[index + 1])
            matrix[rows] = matrix[[dice.randrange(len(matrix))]]
        vectors = NoteVectors(vectors.paths, vectors.starts, matrix)
        found = update_neighbours(found, vectors, [vectors.paths[i] for i in changed])

    assert as_dict(build_neighbours(vectors, 0.8)) == as_dict(found)


@pytest.mark.slow
@pytest.mark.no_cover
def test_ten_thousand_notes_take_seconds_and_a_change_a_fraction() -> None:
    from time import perf_counter

    vectors = random_vectors(10_000, seed=1)
    start = perf_counter()
    found = build_neighbours(vectors, 0.35)
    full = perf_counter() - start
    start = perf_counter()
    update_neighbours(found, vectors, vectors.paths[:5])
    part = perf_counter() - start

    assert full < 20  # 5 on two free cores
    assert part < full / 3
