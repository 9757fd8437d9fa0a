"""The leader's background thread that gives every passage its vector.

The catalogue says which passages wait; texts are read from the files, embedded in small batches of like length,
added to the vector store every few seconds and then marked. As long as the catalogue's revision stays, an empty
queue is not looked at again: that costs 50 ms at 30,000 passages. Whatever fails, search by words goes on: the thread
says what is wrong in its status and tries again later.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from vault_memex.errors import ModelUnavailable
from vault_memex.store.catalogue_passages import PassageRow
from vault_memex.store.fastembed_model import plan_batches
from vault_memex.store.vectors import VectorsBroken, VectorsUnavailable

if TYPE_CHECKING:
    from vault_memex.store.embedding import Embedder
    from vault_memex.store.vectors import SharedTables, Vectors, VectorStore, VectorTables

State = Literal["starting", "working", "idle", "unavailable", "stopped"]
_log = logging.getLogger(__name__)


class PassageQueue(Protocol):
    """What the worker asks of the catalogue, on its own thread. `model` is an embedder's fingerprint."""

    @property
    def revision(self) -> int:
        """What changes with every change of passages."""

    def find_unembedded(self, model: str, limit: int) -> Sequence[PassageRow]:
        """Return passages without a vector, each hash once, those changed last first."""

    def mark_embedded(self, model: str, hashes: Collection[str]) -> None:
        """Note that these have their vectors."""

    def set_embedded(self, model: str, hashes: Collection[str]) -> None:
        """Note that these have their vectors and no others: what the store holds is the truth."""

    def count_embedded(self, model: str) -> tuple[int, int]:
        """Return how many passages have their vector, and how many there are."""

    def find_hashes(self) -> set[str]:
        """Return the hash of every passage in the vault."""


ReadTexts = Callable[[Sequence[PassageRow]], Mapping[str, str]]
"""Returns hash to text; a passage whose file has moved on is missing."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Times in seconds."""

    round_seconds: float = 4.0  # of embedding between two commits of the store
    poll_seconds: float = 2.0  # between two looks at an empty queue that nobody woke
    release_after: float = 300.0  # without use, the model's memory is given back
    retry_after: float = 60.0  # what did not work is tried again
    pause_after: float = 0.05  # after an answer: the same search asks what its best match brings back
    drop_after: float = 10.0  # complete for so long: tables of other models go


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """How far the vectors are."""

    state: State
    done: int = 0
    total: int = 0
    reason: str = ""  # why unavailable
    skipped: int = 0  # passages that the model cannot embed

    @property
    def complete(self) -> bool:
        """Whether every passage that can have a vector has one."""
        return self.state == "idle" and self.done + self.skipped >= self.total


class EmbeddingWorker:
    """Owns the thread. `start` once; `close` ends it within a second, unless it is just loading a model."""

    def __init__(
        self,
        queue: PassageQueue,
        read_texts: ReadTexts,
        embedder: Embedder,
        tables: SharedTables,
        settings: WorkerSettings | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.embedder = embedder
        self._queue = queue
        self._read_texts = read_texts
        self._tables = tables
        self._settings = settings or WorkerSettings()
        self._clock = clock
        self._signal = threading.Condition()
        self._stopping = False
        self._woken = False
        self._pauses = 0
        self._resume_at = 0.0
        self._pruning = False
        self._status = EmbeddingStatus("starting")
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self._store: VectorStore | None = None
        self._known: set[str] = set()
        self._skipped: set[str] = set()  # the model fails on them
        self._absent: set[str] = set()  # their files moved on; the index will see it
        self._failures = 0
        self._round = 64
        self._complete_since: float | None = None
        self._settled: int | None = None  # the revision at which nothing was left to embed
        self._told: int | None = None  # the revision that the figures of the status are of

    def start(self) -> None:
        """Begin in the background; heavy imports happen there."""
        self._thread.start()

    def wake(self) -> None:
        """Say that passages may wait."""
        with self._signal:
            self._woken = True
            self._signal.notify_all()

    def request_prune(self) -> None:
        """Forget, when idle, the vectors of passages that no note has. Ask only after a full scan of the vault."""
        with self._signal:
            self._pruning = True
        self.wake()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Hold the next batches back while the block runs, and a moment longer: a search comes first."""
        with self._signal:
            self._pauses += 1
        try:
            yield
        finally:
            with self._signal:
                self._pauses -= 1
                self._resume_at = self._clock() + self._settings.pause_after
                self._signal.notify_all()

    def status(self) -> EmbeddingStatus:
        """Return the state after the last commit."""
        return self._status

    def wait(self, until: Callable[[EmbeddingStatus], bool], timeout: float) -> bool:
        """Return whether the status came to fulfil the condition in time."""
        with self._signal:
            return self._signal.wait_for(lambda: until(self._status), timeout)

    def close(self, timeout: float = 1.0) -> bool:
        """Stop after the batch under way; return whether the thread has ended."""
        with self._signal:
            self._stopping = True
            self._signal.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping:
            try:
                if not self._work():
                    self._rest()
            except ModelUnavailable as error:
                self._fail(error.message, broken=None)
            except VectorsUnavailable as error:
                self._fail(str(error), broken=None)
            except VectorsBroken as error:
                self._fail(f"the vectors are being made anew: {error}", broken=True)
            except Exception as error:  # noqa: BLE001 - the thread outlives a busy catalogue or a vanished file
                _log.exception("embedding failed")
                self._fail(f"{type(error).__name__}: {error}", broken=False)
        self._say("stopped")

    def _work(self) -> bool:
        """Do one round; return whether there was anything to do."""
        model = self.embedder.fingerprint
        store = self._open()
        revision = self._queue.revision
        if revision == self._settled:
            return False
        passed_over = self._skipped | self._absent
        waiting = self._queue.find_unembedded(model, self._round + len(passed_over))
        keys = [key for key in waiting if key.hash not in passed_over]
        there = [key.hash for key in keys if key.hash in self._known]
        if there:
            self._queue.mark_embedded(model, there)
        missing = [key for key in keys if key.hash not in self._known]
        texts = self._read_texts(missing) if missing else {}
        self._absent.update(key.hash for key in missing if key.hash not in texts)
        self._failures = 0
        if not texts:
            self._settled = None if keys else revision
            return bool(keys)
        self._say("working")
        started = self._clock()
        self._embed_round(store, list(texts.items()))
        took = self._clock() - started
        if took < self._settings.round_seconds / 2:
            self._round = min(self._round * 2, 1024)
        elif took > self._settings.round_seconds * 1.5:
            self._round = max(self._round // 2, 16)
        self._say("working")
        return True

    def _open(self) -> VectorStore:
        if self._store is None:
            store = self._tables.get().open_table(
                self.embedder.fingerprint, self.embedder.dimension, self.embedder.model
            )
            self._known = store.known()
            self._queue.set_embedded(self.embedder.fingerprint, self._known)
            self._store = store
        return self._store

    def _embed_round(self, store: VectorStore, items: Sequence[tuple[str, str]]) -> None:
        """Embed texts and commit what is done, also when stopped half-way."""
        import numpy as np

        hashes: list[str] = []
        rows: list[Vectors] = []
        try:
            for batch in plan_batches([text for _, text in items]):
                if not self._may_go_on():
                    break
                for found, vectors in self._embed([items[i] for i in batch]):
                    hashes += found
                    rows.append(vectors)
        finally:
            if hashes:
                store.add(hashes, np.concatenate(rows))
                self._known.update(hashes)
                self._queue.mark_embedded(self.embedder.fingerprint, hashes)

    def _embed(self, batch: Sequence[tuple[str, str]]) -> Iterator[tuple[list[str], Vectors]]:
        """Yield hashes with their vectors; a text that alone makes the model fail is skipped and named once."""
        try:
            vectors = self.embedder.embed_passages([text for _, text in batch])
        except ModelUnavailable as error:
            if len(batch) > 1:
                for one in batch:
                    yield from self._embed([one])
                return
            self.embedder.embed_query("probe")  # raises again when the model itself is gone
            _log.warning("a passage cannot be embedded and is skipped: %s (%s)", batch[0][0], error.message)
            self._skipped.add(batch[0][0])
            return
        yield [hash_ for hash_, _ in batch], vectors

    def _may_go_on(self) -> bool:
        with self._signal:
            while not self._stopping and (self._pauses or self._clock() < self._resume_at):
                self._signal.wait(None if self._pauses else self._resume_at - self._clock())
            return not self._stopping

    def _rest(self) -> None:
        """Tidy up and wait for work."""
        self._absent.clear()
        if self._status.state != "idle" or self._told != self._settled:
            self._say("idle")
            self._told = self._settled
        if self._store is not None:
            if self._pruning:
                self._pruning = False
                self._prune(self._store)
            self._store.maintain()
        if self._status.complete:
            self._drop_others(self._tables.get())
        else:
            self._complete_since = None
        if self.embedder.ready and self.embedder.idle_seconds > self._settings.release_after:
            self.embedder.release()
        self._pause(self._settings.poll_seconds)

    def _prune(self, store: VectorStore) -> None:
        gone = self._known - self._queue.find_hashes()
        # Where most are gone the catalogue is being made anew, and they will be wanted.
        if gone and len(gone) * 2 <= len(self._known):
            store.remove(gone)
            self._known -= gone

    def _drop_others(self, tables: VectorTables) -> None:
        """Drop other models' tables once ours has been complete long enough for searches to have moved over."""
        now = self._clock()
        if self._complete_since is None:
            self._complete_since = now
        if self._status.total and now - self._complete_since >= self._settings.drop_after:
            for table in tables.tables():
                if table.fingerprint != self.embedder.fingerprint:
                    tables.drop_table(table.fingerprint)

    def _fail(self, reason: str, broken: bool | None) -> None:
        """Say why nothing goes on, forget the store unless it is sound, and wait."""
        self._settled = None
        if broken is not None:
            self._store = None
            self._tables.reset(broken)
        self._failures += 1
        self._say("unavailable", reason)
        self._pause(self._settings.retry_after if self._failures > 1 else min(1.0, self._settings.retry_after))

    def _pause(self, seconds: float) -> None:
        with self._signal:
            if self._signal.wait_for(lambda: self._stopping or self._woken, seconds):
                self._settled = None
            self._woken = False

    def _say(self, state: State, reason: str = "") -> None:
        done, total = self._status.done, self._status.total
        if state != "stopped":
            try:
                done, total = self._queue.count_embedded(self.embedder.fingerprint)
            except Exception:  # noqa: BLE001 - the reason that is being told matters more than the figures
                _log.debug("no counts", exc_info=True)
        with self._signal:
            self._status = EmbeddingStatus(state, done, total, reason, len(self._skipped))
            self._signal.notify_all()
