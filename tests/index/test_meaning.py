"""The meaning process from the server's side: a real child, ended, killed, stopped and flooded."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.index.indexed_vault import IndexedVault, wait_until
from vault_memex.index import meaning as module
from vault_memex.index import meaning_process
from vault_memex.index.meaning import Meaning, MeaningUnavailable

PATIENCE = 20.0
LONG_TEXTS = [f"{number} {'x' * 2_000}" for number in range(500)]  # a megabyte, many times what a pipe holds
MakeMeaning = Callable[..., Meaning]


@pytest.fixture
def notes(vault: IndexedVault) -> IndexedVault:
    """Two notes, indexed and not embedded."""
    vault.write("kiln.md", "the kiln was fired for nine hours")
    vault.write("boat.md", "the engine of the boat wants oil")
    vault.indexer.reconcile()
    return vault


@pytest.fixture
def make_meaning(vault: IndexedVault, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeMeaning]:
    monkeypatch.setattr(meaning_process, "CHILD", "tests.index.hash_child")
    made: list[Meaning] = []

    def make(model: str = "hash", idle_seconds: float = 900.0) -> Meaning:
        made.append(Meaning(vault.root, vault.cache, model, "", idle_seconds=idle_seconds))
        return made[-1]

    yield make
    for meaning in made:
        meaning.close()
    assert [] == find_children()


def find_children() -> list[psutil.Process]:
    """Return the processes that this one started, dead ones that nobody asked for included."""
    return psutil.Process().children()


def embed_all(meaning: Meaning, vault: IndexedVault) -> None:
    meaning.lead(True)
    wait_until(lambda: meaning.state().state == "ready")
    done, total = meaning.count_embedded(vault.catalogue)
    assert done == total > 0


def find_nearest(meaning: Meaning, vault: IndexedVault, query: str) -> str:
    near = meaning.search(query, 1, patience=PATIENCE)
    return vault.catalogue.get_passages([near[0].hash])[0].path


def test_passages_are_embedded_and_found(notes: IndexedVault, make_meaning: MakeMeaning) -> None:
    meaning = make_meaning()
    embed_all(meaning, notes)

    assert "kiln.md" == find_nearest(meaning, notes, "kiln fired")
    assert "boat.md" == find_nearest(meaning, notes, "engine oil")


def test_a_process_that_searched_begins_to_embed_when_it_comes_to_lead(
    notes: IndexedVault, make_meaning: MakeMeaning
) -> None:
    meaning = make_meaning()
    with pytest.raises(MeaningUnavailable, match="No passage has been embedded yet"):
        meaning.search("kiln", 1, patience=PATIENCE)

    embed_all(meaning, notes)

    assert "kiln.md" == find_nearest(meaning, notes, "kiln fired")


def test_search_among_some_hashes_passes_over_the_others(notes: IndexedVault, make_meaning: MakeMeaning) -> None:
    meaning = make_meaning()
    embed_all(meaning, notes)
    boat = notes.catalogue.find_passages("boat.md")[0].hash

    assert [boat] == [near.hash for near in meaning.search("kiln fired", 5, among=[boat], patience=PATIENCE)]


def test_vectors_that_no_note_needs_go_when_asked(notes: IndexedVault, make_meaning: MakeMeaning) -> None:
    for number in range(4):
        notes.write(f"{number}.md", f"note number {number}")
    notes.indexer.reconcile()
    meaning = make_meaning()
    embed_all(meaning, notes)
    hashes = [row.hash for row in notes.catalogue.find_passages("boat.md")]
    assert hashes == list(meaning.vectors(hashes, patience=PATIENCE))
    (notes.root / "boat.md").unlink()
    notes.indexer.reconcile()
    meaning.prune()

    wait_until(lambda: not meaning.vectors(hashes, patience=PATIENCE))


def test_nothing_is_started_for_a_model_that_is_switched_off(make_meaning: MakeMeaning) -> None:
    meaning = make_meaning("none")
    meaning.lead(True)
    meaning.wake()

    with pytest.raises(MeaningUnavailable, match="switched off"):
        meaning.search("kiln", 1)
    assert "off" == meaning.state().state
    assert [] == find_children()


def test_nothing_is_started_for_a_folder_without_a_model(make_meaning: MakeMeaning, tmp_path: Path) -> None:
    meaning = make_meaning(str(tmp_path))
    meaning.lead(True)

    with pytest.raises(MeaningUnavailable, match="No ONNX model in"):
        meaning.search("kiln", 1)
    assert "unavailable" == meaning.state().state
    assert "No ONNX model in" in meaning.state().reason
    assert [] == find_children()


def test_what_only_a_ready_process_is_asked_starts_none(notes: IndexedVault, make_meaning: MakeMeaning) -> None:
    meaning = make_meaning()

    with pytest.raises(MeaningUnavailable, match="not loaded"):
        meaning.begin_near_of("kiln.md", 5, below=1.0, answer_within=1.0)

    assert [] == find_children()
    embed_all(meaning, notes)
    assert ["boat.md"] == [p for p, _ in meaning.begin_near_of("kiln.md", 5, below=2.0, answer_within=5.0)()]


def test_a_model_that_does_not_load_says_why_and_is_not_tried_at_each_search(
    notes: IndexedVault, make_meaning: MakeMeaning
) -> None:
    meaning = make_meaning("torn")
    for _ in range(2):
        with pytest.raises(MeaningUnavailable, match="the weights are torn"):
            meaning.search("kiln", 1, patience=PATIENCE)

    assert ("unavailable", "the weights are torn") == (meaning.state().state, meaning.state().reason)
    meaning.lead(True)
    assert [] == find_children()


def test_pauses_between_attempts_grow_to_an_hour() -> None:
    assert [30.0, 60.0, 120.0] == [module._find_pause(n) for n in (1, 2, 3)]
    assert 3600.0 == module._find_pause(99)


def test_a_search_waits_no_longer_than_its_patience_for_a_model_that_loads(make_meaning: MakeMeaning) -> None:
    meaning = make_meaning("endless")
    started = time.monotonic()

    with pytest.raises(MeaningUnavailable, match="being loaded"):
        meaning.search("kiln", 1, patience=0.2)
    assert time.monotonic() - started < 5.0
    assert "starting" == meaning.state().state


def test_a_model_that_is_busy_is_said_to_be(
    notes: IndexedVault, make_meaning: MakeMeaning, monkeypatch: pytest.MonkeyPatch
) -> None:
    meaning = make_meaning()
    embed_all(meaning, notes)
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.1)

    with pytest.raises(MeaningUnavailable, match="busy"):
        meaning.search("hang", 1, patience=0.1)


def test_a_process_killed_in_a_search_costs_that_search_and_comes_back(
    notes: IndexedVault, make_meaning: MakeMeaning, monkeypatch: pytest.MonkeyPatch
) -> None:
    meaning = make_meaning()
    embed_all(meaning, notes)
    (child,) = find_children()
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(meaning.search, "hang", 1, patience=PATIENCE)
        wait_until(lambda: bool(meaning._child and meaning._child._answers))
        child.send_signal(signal.SIGKILL)

        with pytest.raises(MeaningUnavailable, match="has ended"):
            search.result(timeout=PATIENCE)
    wait_until(lambda: meaning.state().state == "unavailable")
    with pytest.raises(MeaningUnavailable, match="ended unexpectedly"):
        meaning.search("kiln", 1)
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)
    embed_all(meaning, notes)

    assert "kiln.md" == find_nearest(meaning, notes, "kiln fired")


def test_a_process_without_work_ends_and_the_next_search_starts_another(
    notes: IndexedVault, make_meaning: MakeMeaning
) -> None:
    meaning = make_meaning(idle_seconds=0.5)
    embed_all(meaning, notes)
    wait_until(lambda: ("idle", "") == (meaning.state().state, meaning.state().reason))

    assert [] == find_children()  # not even a zombie
    embed_all(meaning, notes)
    assert "kiln.md" == find_nearest(meaning, notes, "kiln fired")


def test_large_messages_from_many_threads_are_all_answered(notes: IndexedVault, make_meaning: MakeMeaning) -> None:
    meaning = make_meaning()
    embed_all(meaning, notes)

    with ThreadPoolExecutor(6) as pool:
        embedded: list[Future[list[bytes]]] = [pool.submit(meaning.embed, LONG_TEXTS, PATIENCE) for _ in range(4)]
        searches = [pool.submit(find_nearest, meaning, notes, "kiln fired") for _ in range(20)]

    assert [500] * 4 == [len(answer.result()) for answer in embedded]
    assert ["kiln.md"] * 20 == [answer.result() for answer in searches]
    assert 256 * 4 == len(np.frombuffer(embedded[0].result()[0], np.uint8))


def test_closing_while_the_model_loads_leaves_no_process(make_meaning: MakeMeaning) -> None:
    meaning = make_meaning("endless")
    meaning.lead(True)
    assert "starting" == meaning.state().state
    meaning.close()

    assert [] == find_children()
    with pytest.raises(MeaningUnavailable, match="closing"):
        meaning.search("kiln", 1)


def test_closing_a_process_that_does_not_read_frees_whoever_writes_to_it(
    notes: IndexedVault, make_meaning: MakeMeaning
) -> None:
    meaning = make_meaning()
    embed_all(meaning, notes)
    (child,) = find_children()
    child.send_signal(signal.SIGSTOP)
    writing = threading.Event()

    def flood() -> None:
        writing.set()
        meaning.embed(LONG_TEXTS, PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        flooding = pool.submit(flood)
        assert writing.wait(PATIENCE)
        wait_until(lambda: bool(meaning._child and meaning._child._writing.locked()))
        meaning.close()

        with pytest.raises(MeaningUnavailable):
            flooding.result(timeout=PATIENCE)
    assert [] == find_children()


def test_the_vault_as_working_folder_is_no_place_to_import_from(
    notes: IndexedVault, make_meaning: MakeMeaning, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("vault_memex", "numpy", "json"):
        notes.write(f"{name}.py", "raise SystemExit('ran code of the vault')\n")
    monkeypatch.chdir(notes.root)
    meaning = make_meaning()
    embed_all(meaning, notes)

    assert "kiln.md" == find_nearest(meaning, notes, "kiln fired")
