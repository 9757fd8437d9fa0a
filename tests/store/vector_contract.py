"""What every vector store does. A backend's test module subclasses this and gives `open_store`."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from vault_memex.store.vectors import VectorStore

DIMENSION = 8


def name(number: int) -> str:
    return f"{number:032x}"


def unit(*values: float) -> np.ndarray:
    vector = np.zeros(DIMENSION, np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def random_rows(count: int, seed: int = 1) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class VectorContract:
    @pytest.fixture
    def open_store(self) -> Callable[[], VectorStore]:
        raise NotImplementedError

    @pytest.fixture
    def store(self, open_store: Callable[[], VectorStore]) -> VectorStore:
        return open_store()

    def test_an_empty_store_finds_nothing(self, store: VectorStore) -> None:
        assert [] == store.search(unit(1), 5)
        assert 0 == store.count()
        assert set() == store.known()
        assert {} == dict(store.get([name(1)]))

    def test_search_returns_the_nearest_first_with_cosine_distance(self, store: VectorStore) -> None:
        store.add([name(1), name(2), name(3)], np.stack([unit(0, 1), unit(1, 1), unit(-1)]))

        found = store.search(unit(1), 3)

        assert [name(2), name(1), name(3)] == [near.hash for near in found]
        assert pytest.approx([1 - 0.5**0.5, 1.0, 2.0], abs=1e-5) == [near.distance for near in found]

    def test_search_orders_equal_distances_by_hash_and_keeps_the_limit(self, store: VectorStore) -> None:
        store.add([name(n) for n in (4, 2, 3, 1)], np.stack([unit(1)] * 4))

        assert [name(1), name(2), name(3), name(4)] == [near.hash for near in store.search(unit(1), 10)]
        assert 2 == len(store.search(unit(1), 2))
        assert [] == store.search(unit(1), 0)

    def test_each_of_several_vectors_finds_what_it_finds_alone(self, store: VectorStore) -> None:
        store.add([name(n) for n in range(5_000)], random_rows(5_000))
        wanted = list(random_rows(3, seed=2))

        assert [store.search(vector, 20) for vector in wanted] == store.search_each(wanted, 20)
        assert [] == store.search_each([], 20)

    def test_a_hash_that_is_there_keeps_its_vector(self, store: VectorStore) -> None:
        store.add([name(1), name(1)], np.stack([unit(1), unit(0, 1)]))
        store.add([name(1), name(2)], np.stack([unit(0, 0, 1), unit(0, 1)]))

        assert 2 == store.count()
        assert pytest.approx(unit(1)) == store.get([name(1)])[name(1)]

    def test_get_returns_only_what_is_there(self, store: VectorStore) -> None:
        rows = random_rows(3)
        store.add([name(n) for n in range(3)], rows)

        found = store.get([name(2), name(7)])

        assert [name(2)] == list(found)
        assert pytest.approx(rows[2]) == found[name(2)]

    def test_removed_rows_are_not_found_again(self, store: VectorStore) -> None:
        store.add([name(n) for n in range(5)], random_rows(5))
        store.remove([name(1), name(3), name(99)])
        store.remove([])

        assert {name(0), name(2), name(4)} == store.known()
        assert {name(0), name(2), name(4)} == {near.hash for near in store.search(unit(1), 9)}
        assert 3 == store.count()

    def test_an_empty_batch_changes_nothing(self, store: VectorStore) -> None:
        store.add([], np.empty((0, DIMENSION), np.float32))

        assert 0 == store.count()

    def test_maintenance_keeps_every_row(self, store: VectorStore) -> None:
        for n in range(60):
            store.add([name(n)], random_rows(1, seed=n))
        before = store.search(unit(1), 10)
        store.maintain()

        assert {name(n) for n in range(60)} == store.known()
        assert before == store.search(unit(1), 10)

    def test_search_among_some_hashes_finds_the_nearest_of_these(self, store: VectorStore) -> None:
        store.add([name(n) for n in range(5)], np.stack([unit(1), unit(1, 0.1), unit(1, 1), unit(0, 1), unit(-1)]))

        found = store.search(unit(1), 2, [name(4), name(2), name(3), name(77), name(2)])

        assert [name(2), name(3)] == [near.hash for near in found]
        assert pytest.approx(1 - 0.5**0.5, abs=1e-5) == found[0].distance
        assert [] == store.search(unit(1), 2, [])
        assert [] == store.search(unit(1), 2, [name(77)])

    @pytest.mark.parametrize("seed", range(12))
    def test_any_sequence_ends_as_a_dictionary_would(self, store: VectorStore, seed: int) -> None:
        chance = random.Random(seed)
        oracle: dict[str, np.ndarray] = {}
        for step in range(8):
            names = [name(n) for n in sorted(chance.sample(range(13), chance.randrange(7)))]
            kind = chance.choice(["add", "add", "remove", "maintain"])
            if kind == "add":
                rows = random_rows(len(names), seed=step)
                store.add(names, rows)
                oracle = dict(zip(names, rows, strict=True)) | oracle
            elif kind == "remove":
                store.remove(names)
                oracle = {h: v for h, v in oracle.items() if h not in names}
            else:
                store.maintain()

        query = unit(1, 2, 3)
        expected = {h: pytest.approx(float(1 - v @ query), abs=1e-5) for h, v in oracle.items()}
        assert set(oracle) == store.known()
        assert expected == {near.hash: near.distance for near in store.search(query, 99)}
