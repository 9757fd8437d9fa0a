from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from vault_memex.errors import ModelUnavailable
from vault_memex.index.embedding_queue import EmbeddingStatus, EmbeddingWorker, WorkerSettings
from vault_memex.store.catalogue_passages import PassageRow
from vault_memex.store.ephemeral import EphemeralTables, EphemeralVectors, HashEmbedder
from vault_memex.store.vectors import SharedTables, VectorsBroken, VectorsUnavailable

QUICK = WorkerSettings(round_seconds=0.2, poll_seconds=0.02, retry_after=0.02, drop_after=0.0)
SECONDS = 10.0  # the longest a test waits for what should take milliseconds


@dataclass
class MemorySource:
    """A PassageQueue over a dictionary, hash to text; and the texts."""

    texts: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)  # in the index, but not in the files any more
    embedded: dict[str, set[str]] = field(default_factory=dict)
    fail: Exception | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    looks: int = 0  # how often it was asked what waits

    @property
    def revision(self) -> int:
        return len(self.texts)

    def find_unembedded(self, model: str, limit: int) -> Sequence[PassageRow]:
        self.looks += 1
        if self.fail:
            raise self.fail
        with self.lock:
            done = self.embedded.get(model, set())
            waiting = [h for h in self.texts if h not in done]
            return [
                PassageRow(h, "note.md", 0, (), 0, len(self.texts[h]), len(self.texts[h])) for h in waiting[:limit]
            ]

    def read_texts(self, keys: Sequence[PassageRow]) -> Mapping[str, str]:
        with self.lock:
            return {k.hash: self.texts[k.hash] for k in keys if k.hash in self.texts and k.hash not in self.gone}

    def mark_embedded(self, model: str, hashes: Collection[str]) -> None:
        with self.lock:
            self.embedded.setdefault(model, set()).update(hashes)

    def set_embedded(self, model: str, hashes: Collection[str]) -> None:
        with self.lock:
            self.embedded[model] = set(hashes)

    def count_embedded(self, model: str) -> tuple[int, int]:
        with self.lock:
            return len(self.embedded.get(model, set()) & self.texts.keys()), len(self.texts)

    def find_hashes(self) -> set[str]:
        with self.lock:
            return set(self.texts)


class FussyEmbedder(HashEmbedder):
    """Fails on texts with the word "poison", or on everything while `down`; waits at the gate before each batch."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.embedded: list[str] = []
        self.released = threading.Event()
        self.gate = threading.Event()
        self.gate.set()

    def embed_query(self, text: str) -> np.ndarray:
        if self.down or "poison" in text:
            raise ModelUnavailable("the model is out of order")
        return super().embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        self.gate.wait(SECONDS)
        rows = super().embed_passages(texts)
        self.embedded += texts
        return rows

    def release(self) -> None:
        self.released.set()


def name(number: int) -> str:
    return f"{number:032x}"


def make_texts(count: int) -> dict[str, str]:
    return {name(n): f"passage number {n} " + "word " * (n % 40) for n in range(count)}


class World:
    def __init__(self) -> None:
        self.source = MemorySource()
        self.embedder = FussyEmbedder()
        self.stored = EphemeralTables()
        self.opened: list[bool] = []
        self.shared = SharedTables(self._open)
        self.workers: list[EmbeddingWorker] = []

    def _open(self, broken: bool) -> EphemeralTables:
        self.opened.append(broken)
        if broken:
            self.stored = EphemeralTables()
        return self.stored

    @property
    def store(self) -> EphemeralVectors:
        return self.stored.open_table(self.embedder.fingerprint, self.embedder.dimension, "hash")

    def make_worker(self, settings: WorkerSettings = QUICK) -> EmbeddingWorker:
        worker = EmbeddingWorker(self.source, self.source.read_texts, self.embedder, self.shared, settings)
        self.workers.append(worker)
        return worker

    def start(self, settings: WorkerSettings = QUICK) -> EmbeddingWorker:
        worker = self.make_worker(settings)
        worker.start()
        return worker


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.embedder.gate.set()
    assert all(worker.close(SECONDS) for worker in world.workers)


def is_complete(total: int) -> Callable[[EmbeddingStatus], bool]:
    return lambda status: status.complete and status.total == total


def test_every_passage_gets_its_vector_once(world: World) -> None:
    world.source.texts = make_texts(300)
    worker = world.start()

    assert worker.wait(is_complete(300), SECONDS)
    assert (300, 300, 0) == (worker.status().done, worker.status().total, worker.status().skipped)
    assert world.store.known() == set(world.source.texts)
    assert 300 == len(world.embedder.embedded)
    for hash_ in (name(0), name(77), name(299)):
        query = world.embedder.embed_query(world.source.texts[hash_])
        assert hash_ == world.store.search(query, 1)[0].hash


def test_a_new_passage_is_embedded_when_woken(world: World) -> None:
    worker = world.start(WorkerSettings(poll_seconds=3600))
    assert worker.wait(lambda s: s.state == "idle", SECONDS)
    world.source.texts[name(1)] = "late"
    worker.wake()

    assert worker.wait(is_complete(1), SECONDS)
    assert {name(1)} == world.store.known()


def test_a_queue_that_was_empty_is_looked_at_again_only_when_the_catalogue_changed(world: World) -> None:
    world.source.texts = make_texts(3)
    worker = world.start(WorkerSettings(poll_seconds=0.001))
    assert worker.wait(is_complete(3), SECONDS)
    polls = threading.Event()
    maintained = 0

    def maintain(_: EphemeralVectors) -> bool:
        nonlocal maintained
        maintained += 1
        if maintained == 20:
            polls.set()
        return False

    looks = world.source.looks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EphemeralVectors, "maintain", maintain)
        assert polls.wait(SECONDS)

    assert world.source.looks <= looks + 1  # one may have been under way
    world.source.texts[name(9)] = "by another process"
    assert worker.wait(is_complete(4), SECONDS)


def test_most_vectors_unwanted_at_once_are_kept(world: World) -> None:
    world.source.texts = make_texts(10)
    worker = world.start()
    assert worker.wait(is_complete(10), SECONDS)
    world.source.texts = make_texts(1)  # a catalogue that is being made anew
    worker.request_prune()

    assert worker.wait(is_complete(1), SECONDS)
    assert 10 == world.store.count()


def test_vectors_that_are_there_are_not_made_again(world: World) -> None:
    world.source.texts = make_texts(50)
    rows = world.embedder.embed_passages(list(world.source.texts.values())[:30])
    world.store.add(list(world.source.texts)[:30], rows)
    world.embedder.embedded.clear()

    assert world.start().wait(is_complete(50), SECONDS)
    assert 20 == len(world.embedder.embedded)


def test_what_the_store_lost_is_embedded_again(world: World) -> None:
    world.source.texts = make_texts(20)
    world.source.mark_embedded(world.embedder.fingerprint, list(world.source.texts))

    assert world.start().wait(is_complete(20), SECONDS)
    assert set(world.source.texts) == world.store.known()


def test_a_passage_the_model_fails_on_is_skipped_and_named_once(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.source.texts = make_texts(30) | {name(500): "poison"}
    worker = world.start()

    assert worker.wait(lambda s: s.complete and s.skipped == 1, SECONDS)
    assert (30, 31) == (worker.status().done, worker.status().total)
    world.source.texts[name(31)] = "one more"
    worker.wake()
    assert worker.wait(lambda s: s.complete and s.done == 31, SECONDS)
    assert 1 == sum(name(500) in record.getMessage() for record in caplog.records)


def test_passages_whose_file_moved_on_do_not_hold_up_the_others(world: World) -> None:
    world.source.texts = make_texts(200)
    world.source.gone = set(list(world.source.texts)[:100])
    worker = world.start()

    assert worker.wait(lambda s: s.state == "idle" and s.done == 100, SECONDS)
    world.source.gone = set()
    worker.wake()
    assert worker.wait(is_complete(200), SECONDS)


def test_without_a_model_the_reason_is_told_and_work_resumes_when_it_is_there(world: World) -> None:
    world.source.texts = make_texts(10)
    world.embedder.down = True
    worker = world.start()

    assert worker.wait(lambda s: s.state == "unavailable" and "out of order" in s.reason, SECONDS)
    assert 10 == worker.status().total
    world.embedder.down = False
    assert worker.wait(is_complete(10), SECONDS)


def test_an_error_of_the_catalogue_is_survived(world: World) -> None:
    world.source.texts = make_texts(10)
    world.source.fail = RuntimeError("database is locked")
    worker = world.start()

    assert worker.wait(lambda s: "database is locked" in s.reason, SECONDS)
    world.source.fail = None
    assert worker.wait(is_complete(10), SECONDS)


def test_a_broken_store_is_opened_anew_and_filled_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.source.texts = make_texts(20)
    worker = world.start()
    assert worker.wait(is_complete(20), SECONDS)
    add = EphemeralVectors.add

    def fail_once(self: EphemeralVectors, hashes: Sequence[str], vectors: np.ndarray) -> None:
        monkeypatch.setattr(EphemeralVectors, "add", add)
        raise VectorsBroken("no such file")

    monkeypatch.setattr(EphemeralVectors, "add", fail_once)
    world.source.texts[name(900)] = "one more"
    worker.wake()

    assert worker.wait(is_complete(21), SECONDS)
    assert [False, True] == world.opened
    assert set(world.source.texts) == world.store.known()


def test_a_full_disk_keeps_the_store(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.source.texts = make_texts(5)

    def fail(self: EphemeralVectors, hashes: Sequence[str], vectors: np.ndarray) -> None:
        raise VectorsUnavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(EphemeralVectors, "add", fail)
        worker = world.start()
        assert worker.wait(lambda s: s.reason == "the disk is full", SECONDS)
    assert worker.wait(is_complete(5), SECONDS)
    assert [False] == world.opened


def test_a_search_in_progress_holds_batches_back(world: World) -> None:
    world.source.texts = make_texts(100)
    worker = world.make_worker()
    with worker.paused():
        worker.start()
        assert worker.wait(lambda s: s.state == "working", SECONDS)
        assert [] == world.embedder.embedded

    assert worker.wait(is_complete(100), SECONDS)


def test_what_follows_an_answer_within_a_moment_finds_no_batch_under_way(world: World) -> None:
    world.source.texts = make_texts(100)
    worker = world.make_worker(replace(QUICK, pause_after=3600.0))
    with worker.paused():
        worker.start()
        assert worker.wait(lambda s: s.state == "working", SECONDS)
    with worker.paused():
        assert [] == world.embedder.embedded

    assert not worker.wait(lambda s: s.done > 0, 0.1)
    assert worker.close(SECONDS)
    assert [] == world.embedder.embedded


def test_closing_keeps_what_is_done_and_ends_the_thread(world: World) -> None:
    world.source.texts = make_texts(100)
    world.embedder.gate.clear()
    worker = world.start()
    assert worker.wait(lambda s: s.state == "working", SECONDS)
    assert not worker.close(0.0)  # it sits in a batch
    world.embedder.gate.set()

    assert worker.close(SECONDS)
    assert "stopped" == worker.status().state
    assert world.store.known() == world.source.embedded[world.embedder.fingerprint]
    assert world.store.count() < 100


def test_the_model_is_released_when_nobody_needs_it(world: World) -> None:
    world.embedder.idle_seconds = 1e9
    world.start()

    assert world.embedder.released.wait(SECONDS)


def test_tables_of_other_models_go_once_this_one_is_complete(world: World) -> None:
    world.source.texts = make_texts(10)
    world.stored.open_table("old", 8, "old model").add([name(1)], np.ones((1, 8), np.float32))
    world.embedder.gate.clear()
    worker = world.start()
    assert worker.wait(lambda s: s.state == "working", SECONDS)
    assert "old" in [t.fingerprint for t in world.stored.tables()]
    world.embedder.gate.set()

    assert worker.wait(
        lambda _: [world.embedder.fingerprint] == [t.fingerprint for t in world.stored.tables()], SECONDS
    )
    assert 10 == world.store.count()


def test_pruning_forgets_vectors_that_no_note_has(world: World) -> None:
    world.source.texts = make_texts(10)
    worker = world.start()
    assert worker.wait(is_complete(10), SECONDS)
    del world.source.texts[name(3)]
    worker.wake()
    assert worker.wait(is_complete(9), SECONDS)
    assert 10 == world.store.count()
    worker.request_prune()

    assert worker.wait(lambda _: world.store.count() == 9, SECONDS)
    assert name(3) not in world.store.known()
