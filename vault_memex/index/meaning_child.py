"""The meaning process: holds the embedding model and LanceDB, embeds for the leader, answers searches.

Started by `index.meaning.Meaning`. Ends when its standard input closes, so never outlives its server, and when
nothing was asked for a while.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import IO, Any

from vault_memex.errors import MemexError, ModelUnavailable
from vault_memex.index.calibrating import Calibrator
from vault_memex.index.closeness import Closeness, Hits
from vault_memex.index.embedding_queue import EmbeddingWorker
from vault_memex.index.meaning import (
    IDLE_SECONDS,
    NearAnswer,
    NearQuestion,
    is_nearly_complete,
    read_message,
    write_message,
)
from vault_memex.index.neighbourhood import Neighbourhood
from vault_memex.index.passage_source import VaultPassages
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.embedding import Embedder, find_embedder
from vault_memex.store.model_folder import find_model_dir
from vault_memex.store.vectors import (
    SharedTables,
    VectorsBroken,
    VectorStore,
    VectorsUnavailable,
    choose_active,
    open_vectors,
)

log = logging.getLogger(__name__)

SEARCHERS = 2
LONG_CALLS = ("neighbours", "calibrate")  # seconds; they wait for each other and not before a search


class Engine:
    """Model, vectors and worker of one vault."""

    def __init__(
        self,
        root: Path,
        cache: Path,
        model: str,
        catalogue_fingerprint: str,
        *,
        embedder: Embedder | None = None,
        tables: SharedTables | None = None,
    ) -> None:
        self.catalogue = Catalogue.open(cache, catalogue_fingerprint)
        self.source = VaultPassages(root, self.catalogue)
        self.model_dir = find_model_dir()
        self.embedder = embedder or find_embedder(model, self.model_dir)
        self.tables = tables or SharedTables(partial(open_vectors, cache / "lance"))
        self.worker: EmbeddingWorker | None = None
        self._others: dict[str, Embedder] = {}
        self._closeness = Closeness(self.catalogue, self.source, self._active)
        self._neighbourhood = Neighbourhood(cache)
        self._calibrator = Calibrator(root, self.catalogue)

    def lead(self, leading: bool) -> None:
        """Start or stop embedding."""
        if leading and self.worker is None:
            self.worker = EmbeddingWorker(self.source, self.embedder, self.tables)
            self.worker.start()
        elif not leading and self.worker is not None:
            self.worker.close()
            self.worker = None

    def wake(self) -> None:
        """Look for passages to embed."""
        if self.worker is not None:
            self.worker.wake()

    def load(self) -> None:
        """Load model and vectors so that the next search is fast."""
        self.tables.get()
        self.embedder.load()

    @property
    def calls(self) -> Mapping[str, Callable[..., object]]:
        """What may be asked, by name."""
        return {
            "search": self.search,
            "vectors": self.vectors,
            "embed": self.embed,
            "near_notes": self.near_notes,
            "near_of": self.near_of,
            "neighbours": self.neighbours,
            "calibrate": self.calibrate,
        }

    def search(self, query: str, limit: int) -> list[tuple[str, float]]:
        """Return (hash, distance), nearest first."""
        store, embedder = self._active()
        with self._undisturbed():
            return [(near.hash, near.distance) for near in store.search(embedder.embed_query(query), limit)]

    def near_notes(self, texts: Sequence[str], limit: int) -> list[Hits]:
        """See `Closeness.near_notes`."""
        with self._undisturbed():
            return self._closeness.near_notes(texts, limit)

    def near_of(self, path: str, limit: int) -> Hits:
        """See `Closeness.near_of`."""
        with self._undisturbed():
            return self._closeness.near_of(path, limit)

    def neighbours(self, question: NearQuestion) -> NearAnswer:
        """Return the mutual neighbours among the notes and what is near to the states; seconds the first time."""
        store = self._complete()
        with self._undisturbed():
            found = self._neighbourhood.find(
                store,
                self.embedder.fingerprint,
                self.catalogue.load_note_hashes(),
                reach=max(question.arc_distance, question.state_distance),
                states=question.states,
            )
        excluded = question.excluded
        return NearAnswer(
            list(found.find_mutual(lambda path: path not in excluded, question.arc_distance)),
            {
                path: [hit for hit in found.find_near(path) if hit[1] < question.state_distance]
                for path in question.states
            },
        )

    def calibrate(self, whole: bool) -> None:
        """Measure the vault's distances where that is due; `whole` takes seconds: copies of notes are embedded."""
        self._calibrator.measure(self.embedder, self._complete, whole=whole)

    def _complete(self) -> VectorStore:
        """Return the vectors of the present model, once nearly every passage has one."""
        done, total = self.source.counts(self.embedder.fingerprint)
        if not is_nearly_complete(done, total):
            raise ModelUnavailable(f"{done} of {total} passages are embedded so far.")
        return self.tables.get().open_table(
            self.embedder.fingerprint, self.embedder.dimension, self.embedder.model
        )

    def _undisturbed(self) -> AbstractContextManager[None]:
        """Hold embedding back while somebody waits for an answer."""
        return nullcontext() if self.worker is None else self.worker.paused()

    def vectors(self, hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors of those hashes that have one, as float32 bytes."""
        store, _ = self._active()
        return {key: value.tobytes() for key, value in store.get(hashes).items()}

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts as passages, as float32 bytes."""
        _, embedder = self._active()
        return [row.tobytes() for row in embedder.embed_passages(texts)]

    def _active(self) -> tuple[VectorStore, Embedder]:
        """Return the table to search now and the model it was made with."""
        tables = self.tables.get()
        done, total = self.source.counts(self.embedder.fingerprint)
        active = choose_active(tables.tables(), self.embedder.fingerprint, complete=done >= total)
        if active is None:
            raise ModelUnavailable("No passage has been embedded yet.")
        embedder = self.embedder
        if active.fingerprint != self.embedder.fingerprint:
            embedder = self._others.setdefault(active.model, find_embedder(active.model, self.model_dir))
        return tables.open_table(active.fingerprint, active.dimension, active.model), embedder

    def state(self) -> tuple[str, str]:
        """Return what is going on, and why if nothing is."""
        if self.worker is None:
            return ("ready" if self.embedder.ready else "starting"), ""
        status = self.worker.status()
        if status.state == "unavailable":
            return "unavailable", status.reason
        if status.complete:
            return "ready", ""
        return ("embedding" if status.state in {"working", "idle"} else "starting"), ""

    @property
    def busy(self) -> bool:
        """Whether there is embedding going on."""
        return self.worker is not None and self.worker.status().state in {"starting", "working"}

    def close(self) -> None:
        """Stop the worker and close the stores."""
        if self.worker is not None:
            self.worker.close()
        self.tables.reset(broken=False)
        self.catalogue.close()


class Host:
    """Reads requests, answers them; searches run beside the embedding."""

    def __init__(self, engine: Engine, answers: IO[bytes]) -> None:
        self._engine = engine
        self._answers = answers
        self._writing = threading.Lock()
        self._pool = ThreadPoolExecutor(SEARCHERS, thread_name_prefix="search")
        self._long = ThreadPoolExecutor(1, thread_name_prefix="long")
        self._last = time.monotonic()

    def run(self, requests: IO[bytes]) -> None:
        """Serve until standard input closes."""
        threading.Thread(target=self._watch_idle, name="idle", daemon=True).start()
        self._pool.submit(self._load)
        while True:
            try:
                number, what, arguments = read_message(requests)
            except EOFError:
                return
            self._last = time.monotonic()
            if number == 0:
                self._obey(what, arguments)
            elif what == "state":
                self._answer(number, "ok", self._engine.state())
            else:
                pool = self._long if what in LONG_CALLS else self._pool
                pool.submit(self._serve, number, what, arguments)

    def _load(self) -> None:
        try:
            self._engine.load()
        except Exception as error:
            log.exception("meaning cannot be had")
            self._answer(0, "fault", _reason(error))
            return
        self._answer(0, "ready", "")

    def _obey(self, what: str, arguments: tuple[Any, ...]) -> None:
        if what == "lead":
            self._engine.lead(*arguments)
        elif what == "wake":
            self._engine.wake()
        elif what == "calibrate":
            self._long.submit(self._calibrate)

    def _calibrate(self) -> None:
        try:
            self._engine.calibrate(whole=True)
        except Exception as error:  # noqa: BLE001 - nobody waits for it; it is asked for again
            log.info("distances are not measured: %s", _reason(error))

    def _serve(self, number: int, what: str, arguments: tuple[Any, ...]) -> None:
        try:
            value = self._engine.calls[what](*arguments)
        except VectorsBroken as error:
            self._engine.tables.reset(broken=self._engine.worker is not None)
            self._answer(number, "error", f"the vectors are being made anew: {error}")
        except Exception as error:  # noqa: BLE001 - as above
            self._answer(number, "error", _reason(error))
        else:
            self._answer(number, "ok", value)

    def _answer(self, number: int, outcome: str, value: object) -> None:
        with self._writing:
            try:
                write_message(self._answers, (number, outcome, value))
            except (BrokenPipeError, ValueError):
                os._exit(0)  # the server has gone

    def _watch_idle(self) -> None:
        while True:
            threading.Event().wait(IDLE_SECONDS / 10)
            if self._engine.busy:
                self._last = time.monotonic()
            elif time.monotonic() - self._last > IDLE_SECONDS:
                os._exit(0)  # nothing is lost: the stores commit what they hold


def _reason(error: Exception) -> str:
    if isinstance(error, MemexError):
        return error.message
    if isinstance(error, VectorsUnavailable):
        return str(error)
    return f"{type(error).__name__}: {error}"


def main(arguments: Sequence[str]) -> None:
    """Run the process: ROOT CACHE MODEL CATALOGUE-FINGERPRINT."""
    root, cache, model, fingerprint = arguments
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    # What libraries print must not get between our answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        engine = Engine(Path(root), Path(cache), model, fingerprint)
    except MemexError as error:
        write_message(answers, (0, "fault", error.message))
        return
    Host(engine, answers).run(sys.stdin.buffer)
    engine.close()
    os._exit(0)  # threads of native libraries must not keep the process


if __name__ == "__main__":
    main(sys.argv[1:])
