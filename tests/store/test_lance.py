from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.store.vector_contract import DIMENSION, VectorContract, name, random_rows, unit
from vault_memex.store import lance
from vault_memex.store.lance import LanceTables
from vault_memex.store.vectors import VectorsBroken, VectorStore, VectorsUnavailable, move_aside, open_vectors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index" / "lance"


@pytest.fixture
def tables(folder: Path) -> Iterator[LanceTables]:
    tables = LanceTables(folder)
    yield tables
    tables.close()


class TestLanceVectors(VectorContract):
    @pytest.fixture
    def open_store(self, tables: LanceTables) -> Callable[[], VectorStore]:
        return lambda: tables.open_table("fp", DIMENSION, "model")


class TestLanceVectorsWithoutCopy(VectorContract):
    """The same promises when the table is too large to be copied to memory."""

    @pytest.fixture
    def open_store(self, tables: LanceTables, monkeypatch: pytest.MonkeyPatch) -> Callable[[], VectorStore]:
        monkeypatch.setattr(lance, "EXACT_ROWS", -1)
        return lambda: tables.open_table("fp", DIMENSION, "model")


def test_rows_are_there_after_opening_again(folder: Path) -> None:
    rows = random_rows(20)
    first = LanceTables(folder)
    first.open_table("fp", DIMENSION, "the setting").add([name(n) for n in range(20)], rows)
    first.close()

    again = LanceTables(folder)
    assert [("fp", "the setting", DIMENSION, 20)] == [
        (t.fingerprint, t.model, t.dimension, t.rows) for t in again.tables()
    ]
    store = again.open_table("fp", DIMENSION, "the setting")
    assert name(7) == store.search(rows[7], 1)[0].hash
    assert pytest.approx(rows[7]) == store.get([name(7)])[name(7)]


def test_a_reader_sees_what_another_process_committed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = LanceTables(folder).open_table("fp", DIMENSION, "m")
    reader = LanceTables(folder).open_table("fp", DIMENSION, "m")
    writer.add([name(1)], np.stack([unit(1)]))
    reader._table.checkout_latest()
    reader._checked = float("-inf")  # as if the interval of a second were over

    assert [name(1)] == [near.hash for near in reader.search(unit(1), 5)]
    writer.remove([name(1)])
    reader._table.checkout_latest()
    reader._checked = float("-inf")
    assert [] == reader.search(unit(1), 5)


def test_two_writers_keep_each_others_rows_and_make_no_duplicates(folder: Path) -> None:
    one = LanceTables(folder).open_table("fp", DIMENSION, "m")
    two = LanceTables(folder).open_table("fp", DIMENSION, "m")
    rows = random_rows(40)

    def write(store: VectorStore, first: int) -> None:
        for n in range(first, first + 20):
            store.add([name(n)], rows[n : n + 1])

    threads = [threading.Thread(target=write, args=(store, first)) for store, first in ((one, 0), (two, 10))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    fresh = LanceTables(folder).open_table("fp", DIMENSION, "m")
    assert 30 == fresh.count()
    assert {name(n) for n in range(30)} == fresh.known()
    assert {name(n) for n in range(30)} == {near.hash for near in one.search(unit(1), 99)} | {
        near.hash for near in two.search(unit(1), 99)
    }


def test_many_commits_are_compacted(tables: LanceTables, folder: Path) -> None:
    store = tables.open_table("fp", DIMENSION, "m")
    assert not store.maintain()
    for n in range(25):
        store.add([name(n)], random_rows(1, seed=n))

    assert store.maintain()
    assert 1 == store._table.stats()["fragment_stats"]["num_fragments"]
    assert not store.maintain()
    assert 25 == len(store.search(unit(1), 99))


def test_a_store_that_has_become_quiet_is_tidied_once(
    tables: LanceTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tables.open_table("fp", DIMENSION, "m")
    for n in range(3):
        store.add([name(n)], random_rows(1, seed=n))
    assert not store.maintain()
    monkeypatch.setattr(lance, "_QUIET_SECONDS", 0.0)

    assert store.maintain()
    assert 1 == store._table.stats()["fragment_stats"]["num_fragments"]
    assert not store.maintain()


def test_a_large_table_gets_an_index_and_finds_the_same(
    tables: LanceTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = random_rows(2000)
    store = tables.open_table("fp", DIMENSION, "m")
    store.add([name(n) for n in range(2000)], rows)
    exact = [near.hash for near in store.search(unit(1, 2), 10)]
    monkeypatch.setattr(lance, "EXACT_ROWS", 1000)

    assert store.maintain()
    assert ["IvfSq"] == [index.index_type for index in store._table.list_indices()]
    assert store._copy is None
    assert exact == [near.hash for near in store.search(unit(1, 2), 10)]
    store.add([name(9999)], np.stack([unit(1, 2)]))
    assert name(9999) == store.search(unit(1, 2), 1)[0].hash


def test_a_table_of_another_dimension_is_made_anew(tables: LanceTables) -> None:
    tables.open_table("fp", DIMENSION, "m").add([name(1)], random_rows(1))
    tables.close()

    assert 0 == tables.open_table("fp", 4, "m").count()


def test_dropping_a_table_leaves_the_others(tables: LanceTables) -> None:
    tables.open_table("old", 4, "m")
    tables.open_table("new", DIMENSION, "m").add([name(1)], random_rows(1))
    tables.drop_table("old")
    tables.drop_table("never")

    assert ["new"] == [t.fingerprint for t in tables.tables()]


def assert_no_place(error: Exception, folder: Path) -> None:
    """A reason may be shown to anybody: it does not say where on this machine the cache is."""
    assert folder.parent.name not in str(error)
    assert "/" not in str(error)


def test_damage_is_vectors_broken_and_a_new_folder_works(folder: Path) -> None:
    first = LanceTables(folder)
    first.open_table("fp", DIMENSION, "m").add([name(1)], random_rows(1))
    first.close()
    for file in folder.rglob("*.lance"):
        if file.is_file():
            file.write_bytes(b"not lance data")

    with pytest.raises(VectorsBroken) as caught:
        LanceTables(folder).open_table("fp", DIMENSION, "m")
    assert_no_place(caught.value, folder)
    again = open_vectors(folder, broken=True)
    assert () == again.tables()
    assert folder.with_name("lance.broken").is_dir()
    again.open_table("fp", DIMENSION, "m").add([name(1)], random_rows(1))


def test_a_vanished_folder_is_vectors_broken(folder: Path) -> None:
    tables = LanceTables(folder)
    store = tables.open_table("fp", DIMENSION, "m")
    store.add([name(1)], random_rows(1))
    shutil.rmtree(folder)

    with pytest.raises(VectorsBroken) as caught:
        store.known()
    assert_no_place(caught.value, folder)


CRASH = """
import os, sys
from pathlib import Path
from vault_memex.store import lance
class Dying(lance.LanceVectors):
    def __init__(self, *args): os.abort()
lance.LanceVectors = Dying
lance.LanceTables(Path(sys.argv[1])).open_table("fp", 8, "m")
"""


def test_an_opening_that_killed_its_process_moves_the_folder_aside(folder: Path) -> None:
    first = LanceTables(folder)
    store = first.open_table("fp", DIMENSION, "m")
    store.add([name(1)], random_rows(1))
    died = subprocess.run([sys.executable, "-c", CRASH, str(folder)], capture_output=True, check=False)
    assert died.returncode != 0

    with pytest.raises(VectorsBroken) as caught:
        first.open_table("other", DIMENSION, "m")
    assert_no_place(caught.value, folder)
    second = LanceTables(folder)
    assert () == second.tables()
    assert 0 == second.open_table("fp", DIMENSION, "m").count()
    assert folder.with_name("lance.broken").is_dir()
    second.close()
    assert 0 == LanceTables(folder).open_table("fp", DIMENSION, "m").count()


def test_an_opening_elsewhere_that_does_not_end_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance, "_OPEN_SECONDS", 0.05)
    tables = LanceTables(folder)
    with LanceTables(folder)._lock, pytest.raises(VectorsUnavailable) as caught:
        tables.open_table("fp", DIMENSION, "m")
    assert_no_place(caught.value, folder)

    assert 0 == tables.open_table("fp", DIMENSION, "m").count()


def test_moving_aside_what_is_not_there_is_no_error(folder: Path) -> None:
    move_aside(folder)

    assert not folder.exists()
