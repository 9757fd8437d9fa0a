"""What the meaning process does for one vault: embeds, searches, compares."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from vault_memex.errors import ModelUnavailable
from vault_memex.index.calibrating import Calibrator
from vault_memex.index.closeness import FARTHEST, Closeness, Hits
from vault_memex.index.embedding_queue import EmbeddingWorker
from vault_memex.index.meaning import NearAnswer, NearQuestion, is_nearly_complete
from vault_memex.index.neighbourhood import Neighbourhood
from vault_memex.index.pairing import Pair, find_closest
from vault_memex.index.passage_texts import read_passage_texts
from vault_memex.index.turns import Turns
from vault_memex.memory.neighbours import Neighbours
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.embedding import Embedder, find_embedder
from vault_memex.store.model_folder import find_model_dir
from vault_memex.store.vectors import Near, SharedTables, VectorStore, choose_active, open_vectors

MOST_CANDIDATES = 20_000  # pairs that are measured, half a second
SLACK = 1e-6  # neighbours are those below a distance, pairs those up to one


class Engine:
    """Model, vectors and worker of one vault. Any thread may call."""

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
        self.model_dir = find_model_dir()
        self.embedder = embedder or find_embedder(model, self.model_dir)
        self.tables = tables or SharedTables(partial(open_vectors, cache / "lance"))
        self.read_texts = partial(read_passage_texts, root)
        self.worker: EmbeddingWorker | None = None
        self._old: Embedder | None = None  # of another model, whose vectors are searched until ours are complete
        self._is_settled = False  # our model's vectors are searched from now on, whatever comes to be embedded
        self._closeness = Closeness(self.catalogue, self.read_texts, self._find_active)
        self._neighbourhood = Neighbourhood(cache)
        self._comparing = threading.Lock()
        self._turns = Turns()
        self._calibrator = Calibrator(root, self.catalogue, self._comparing, self._turns.give_way)

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
            "near_pairs": self.near_pairs,
            "calibrate": self.calibrate,
            "calibrate_all": self.calibrate_all,
        }

    def load(self) -> None:
        """Load model and vectors so that the next search is fast."""
        self.tables.get()
        self.embedder.load()

    def lead(self, leading: bool) -> None:
        """Look for passages to embed, or stop doing so."""
        if not leading:
            worker, self.worker = self.worker, None
            if worker is not None:
                worker.close()
        elif self.worker is None:
            self.worker = EmbeddingWorker(self.catalogue, self.read_texts, self.embedder, self.tables)
            self.worker.start()
        else:
            self.worker.wake()

    def prune(self) -> None:
        """Forget vectors that no passage needs, once there is nothing else to do."""
        if self.worker is not None:
            self.worker.request_prune()

    def search(self, query: str, limit: int, among: Collection[str] | None) -> list[Near]:
        """Return the nearest passages, nearest first; with `among`, of these hashes only."""
        with self._undisturbed():
            store, embedder = self._find_active()
            return store.search(embedder.embed_query(query), limit, among)

    def vectors(self, hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors of those hashes that have one, as float32 bytes."""
        store, _ = self._find_active()
        return {key: value.tobytes() for key, value in store.get(hashes).items()}

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts as passages, as float32 bytes."""
        _, embedder = self._find_active()
        return [row.tobytes() for row in embedder.embed_passages(texts)]

    def near_notes(self, texts: Sequence[str], limit: int) -> list[Hits]:
        """See `Closeness.near_notes`."""
        with self._undisturbed():
            return self._closeness.near_notes(texts, limit)

    def near_of(self, path: str, limit: int, below: float = FARTHEST) -> Hits:
        """See `Closeness.near_of`."""
        with self._undisturbed():
            return self._closeness.near_of(path, limit, below)

    def neighbours(self, question: NearQuestion) -> NearAnswer:
        """Return the mutual neighbours among the notes and what is near to the states; seconds the first time."""
        store = self._complete()
        with self._comparing, self._undisturbed():
            found = self._find_neighbours(store, question, self.catalogue.load_note_hashes())
        excluded = question.excluded
        return NearAnswer(
            list(found.find_mutual(lambda path: path not in excluded, question.arc_distance)),
            {
                path: [hit for hit in found.find_near(path) if hit[1] < question.state_distance]
                for path in question.states
            },
        )

    def near_pairs(self, question: NearQuestion, distance: float, nearest: int) -> list[Pair]:
        """Return the pairs of notes that are not excluded and of which one says nearly all of the other.

        See `find_closest`. The rest of the question is detection's, so that one set of neighbours serves both.
        """
        store, excluded = self._complete(), question.excluded
        with self._comparing, self._undisturbed():
            hashes = self.catalogue.load_note_hashes()
            found = self._find_neighbours(store, question, hashes, distance)
            candidates = found.find_pairs(lambda path: path not in excluded, distance, MOST_CANDIDATES)
            return find_closest(store, hashes, candidates, distance, nearest)

    def _find_neighbours(
        self,
        store: VectorStore,
        question: NearQuestion,
        hashes: Mapping[str, tuple[str, ...]],
        distance: float = 0.0,
    ) -> Neighbours:
        reach = max(question.arc_distance, question.state_distance, distance + SLACK)
        return self._neighbourhood.find(
            store, self.embedder.fingerprint, hashes, reach=reach, states=question.states
        )

    def calibrate(self) -> None:
        """Measure the distances between notes where that is due."""
        with self._undisturbed():
            self._calibrator.measure_notes(self.embedder.model, self._complete)

    def calibrate_all(self) -> None:
        """Measure copies and queries too: they have to be embedded, which takes many seconds beside the searches."""
        self._calibrator.measure_all(self.embedder, self._complete)

    def _complete(self) -> VectorStore:
        """Return the vectors of the present model, once nearly every passage has one."""
        done, total = self.catalogue.count_embedded(self.embedder.fingerprint)
        if not is_nearly_complete(done, total):
            raise ModelUnavailable(f"{done} of {total} passages are embedded so far.")
        return self.tables.get().open_table(
            self.embedder.fingerprint, self.embedder.dimension, self.embedder.model
        )

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """Hold embedding back while somebody waits for an answer."""
        worker = self.worker
        with self._turns.answering(), nullcontext() if worker is None else worker.paused():
            yield

    def reset(self) -> None:
        """Open the vectors anew after they broke; who leads moves them aside first."""
        self._is_settled = False
        self.tables.reset(broken=self.worker is not None)

    def _find_active(self) -> tuple[VectorStore, Embedder]:
        """Return the table to search now and the model it was made with."""
        tables, ours = self.tables.get(), self.embedder
        if self._is_settled:
            return tables.open_table(ours.fingerprint, ours.dimension, ours.model), ours
        found = tables.tables()
        complete = all(t.fingerprint == ours.fingerprint or not t.rows for t in found) or self._is_complete()
        active = choose_active(found, ours.fingerprint, complete=complete)
        if active is None:
            raise ModelUnavailable("No passage has been embedded yet.")
        store = tables.open_table(active.fingerprint, active.dimension, active.model)
        if active.fingerprint == ours.fingerprint:
            self._is_settled = complete
            return store, ours
        if self._old is None or self._old.fingerprint != active.fingerprint:
            self._old = find_embedder(active.model, self.model_dir)
        return store, self._old

    def _is_complete(self) -> bool:
        done, total = self.catalogue.count_embedded(self.embedder.fingerprint)
        return done >= total

    def state(self) -> tuple[str, str]:
        """Return what is going on, and why if nothing is."""
        worker = self.worker
        if worker is None:
            return "ready", ""
        status = worker.status()
        if status.state == "unavailable":
            return "unavailable", status.reason
        return ("ready" if status.complete else "embedding"), ""

    @property
    def busy(self) -> bool:
        """Whether there is embedding going on."""
        worker = self.worker
        return worker is not None and worker.status().state in {"starting", "working"}

    def close(self) -> None:
        """Stop the worker and close the stores."""
        self.lead(False)
        self.tables.reset(broken=False)
        self.catalogue.close()
