"""Meaning, from the server's side: a child process that holds the model and the vectors, started when needed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vault_memex.errors import ModelUnavailable
from vault_memex.index.meaning_process import MeaningBusy, MeaningProcess, MeaningUnavailable
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.embedding import find_spec
from vault_memex.store.model_folder import find_model_dir
from vault_memex.store.vectors import Near

__all__ = [
    "Meaning",
    "MeaningBusy",
    "MeaningState",
    "MeaningUnavailable",
    "NearAnswer",
    "NearQuestion",
    "is_nearly_complete",
]

log = logging.getLogger(__name__)

IDLE_SECONDS = 300.0  # without a question or passages to embed, the child ends and its memory comes back
PATIENCE_SECONDS = 1.5  # a search waits this long for a child that is still starting
ANSWER_SECONDS = 5.0  # a ready child that takes longer is busy; words are the answer then
LONG_SECONDS = 30.0  # for all neighbours of 10,000 notes, a few seconds on two cores
RETRY_SECONDS = 30.0  # after a child that failed; twice as long after each further one
LONGEST_RETRY_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class MeaningState:
    """What the child does."""

    model: str
    state: str  # off, idle (starts when needed), starting, ready, embedding, unavailable
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NearQuestion:
    """What detection asks of the notes' neighbours."""

    arc_distance: float
    state_distance: float
    states: tuple[str, ...]  # notes of which up to 250 neighbours are wanted
    excluded: frozenset[str]  # notes that are nobody's mutual neighbour


@dataclass(frozen=True, slots=True)
class NearAnswer:
    """Plain values, since the server loads no numpy."""

    mutual: list[tuple[str, str]]  # each among the other's 8 nearest
    near: dict[str, list[tuple[str, float]]]  # by state, nearest first

    def find_near(self, path: str) -> list[tuple[str, float]]:
        """Return what is near to a state."""
        return self.near.get(path, [])

    def find_mutual(
        self,
        accepts: Callable[[str], bool],
        distance: float,  # noqa: ARG002 - it was in the question
    ) -> Iterator[tuple[str, str]]:
        """Yield the mutual neighbours that are accepted, below the distance that was asked for."""
        return (pair for pair in self.mutual if accepts(pair[0]) and accepts(pair[1]))


def is_nearly_complete(done: int, total: int) -> bool:
    """Whether so many passages are embedded that the vault as a whole can be judged.

    A few may wait: somebody always writes. Judged again when they have their vectors, they are not missed for long.
    """
    return 2 * done >= total and total - done <= max(16, total // 20)


class Meaning:
    """The child process as one object. All methods may be called from any thread."""

    def __init__(
        self,
        root: Path,
        cache: Path,
        model: str,
        catalogue_fingerprint: str,
        *,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.model = model
        self.fingerprint = model
        self._arguments = (str(root), str(cache), model, catalogue_fingerprint, str(idle_seconds))
        self._lock = threading.RLock()
        self._child: MeaningProcess | None = None
        self._leading = False
        self._closed = False
        self._failures = 0  # in a row
        self._failed_at = 0.0
        self._reason = ""  # of the last failure
        self._wrong = ""  # with the setting: then no process is worth starting
        try:
            spec = find_spec(model, find_model_dir())
            self.model, self.fingerprint = spec.model, spec.fingerprint
        except ModelUnavailable as error:
            self._wrong = error.message if self.enabled else "switched off (model = none)"

    @property
    def enabled(self) -> bool:
        """Whether the person wants meaning at all."""
        return self.model != "none"

    def search(
        self, query: str, limit: int, *, among: Collection[str] | None = None, patience: float = PATIENCE_SECONDS
    ) -> list[Near]:
        """Return the passages nearest to a query, nearest first; with `among`, of these hashes only.

        Raises MeaningUnavailable when there is no answer in time.
        """
        return self.begin_search(query, limit, among=among, patience=patience)()

    def begin_search(
        self, query: str, limit: int, *, among: Collection[str] | None = None, patience: float = PATIENCE_SECONDS
    ) -> Callable[[], list[Near]]:
        """Do as `search`, but return what waits for the answer: two processes then work at the same time."""
        try:
            return self._begin("search", query, limit, among, patience=patience)
        except MeaningUnavailable as error:
            return partial(_refuse, str(error))

    def vectors(self, hashes: Sequence[str], patience: float = PATIENCE_SECONDS) -> dict[str, bytes]:
        """Return the vectors of those hashes that have one, as float32 bytes."""
        found: dict[str, bytes] = self._ask("vectors", list(hashes), patience=patience)
        return found

    def embed(self, texts: Sequence[str], patience: float = PATIENCE_SECONDS) -> list[bytes]:
        """Return the vectors of texts as passages, as float32 bytes."""
        vectors: list[bytes] = self._ask("embed", list(texts), patience=patience)
        return vectors

    def near_notes(self, texts: Sequence[str], limit: int) -> list[list[tuple[str, float]]]:
        """Return, for each text as a passage, (path, distance) for the `limit` passages nearest to it.

        Nearest first; a note stands there once for each of its passages. Of more than 16 texts the first count.
        """
        return self.begin_near_notes(texts, limit, patience=PATIENCE_SECONDS)(ANSWER_SECONDS)

    def begin_near_notes(
        self, texts: Sequence[str], limit: int, *, patience: float
    ) -> Callable[[float], list[list[tuple[str, float]]]]:
        """Ask as `near_notes`, and return what waits for the answer so many seconds.

        It may be asked again after MeaningBusy.
        """
        return self._begin("near_notes", list(texts), limit, patience=patience)

    def near_of(
        self, path: str, limit: int, patience: float = PATIENCE_SECONDS, answer_within: float = ANSWER_SECONDS
    ) -> list[tuple[str, float]]:
        """Return (path, distance) of the notes nearest to a note of the vault, each once; also of a new note."""
        found: list[tuple[str, float]] = self._ask(
            "near_of", path, limit, patience=patience, answer_within=answer_within
        )
        return found

    def begin_near_of(
        self, path: str, limit: int, *, below: float, answer_within: float
    ) -> Callable[[], list[tuple[str, float]]]:
        """Ask as `near_of` for notes nearer than `below`, and return what waits for the answer.

        Raises MeaningUnavailable when the child is not ready: it is not started for this.
        """
        return self._begin("near_of", path, limit, below, patience=0.0, answer_within=answer_within, start=False)

    def neighbours(self, question: NearQuestion, patience: float = LONG_SECONDS) -> NearAnswer:
        """Return what detection needs to know of the notes' neighbours; work for the changed notes alone.

        What is not done in time goes on, and the next call finds it done.
        """
        found: NearAnswer = self._ask("neighbours", question, patience=patience)
        return found

    def near_pairs(
        self, question: NearQuestion, distance: float, nearest: int, patience: float = LONG_SECONDS
    ) -> list[tuple[str, str, float]]:
        """Return the pairs of notes, none excluded, that are at most `distance` apart; of each note its `nearest`.

        A pair's distance says how nearly all of the one note is in the other. Nearest first.
        """
        found: list[tuple[str, str, float]] = self._ask(
            "near_pairs", question, distance, nearest, patience=patience
        )
        return found

    def calibrate(self, *, whole: bool = False, patience: float = LONG_SECONDS) -> None:
        """Have the distances of the vault measured where that is due; they are kept in the catalogue."""
        self._ask("calibrate_all" if whole else "calibrate", patience=patience)

    def calibrate_later(self) -> bool:
        """Have them measured beside the searches, if the child is ready; nobody waits. Return whether it is."""
        with self._lock:
            child = self._find_child()
        if child is None or not child.was_ready:
            return False
        self._tell("calibrate_all", start=False)
        return True

    def count_embedded(self, catalogue: Catalogue) -> tuple[int, int]:
        """Return how many of the vault's passages have their vector, and how many there are."""
        return catalogue.count_embedded(self.fingerprint)

    def embed_waiting(self, catalogue: Catalogue, progress: Callable[[int, int], None]) -> tuple[int, int, str]:
        """Embed all passages that have no vector, and wait for it; return (embedded, passages, remark)."""
        done, total = self.count_embedded(catalogue)
        if not self.enabled:
            return done, total, "Switched off (model = none)."
        self.lead(True)
        while done < total:
            progress(done, total)
            time.sleep(0.2)
            state = self.state()
            done, total = self.count_embedded(catalogue)
            if state.state == "unavailable":
                return done, total, f"Not available: {state.reason}"
            if state.state == "ready":
                break
        return done, total, ""

    def state(self) -> MeaningState:
        """Return what the child does, without starting it."""
        if self._wrong:
            return MeaningState(self.model, "unavailable" if self.enabled else "off", self._wrong)
        with self._lock:
            child = self._find_child()
            if child is None:
                return MeaningState(self.model, "unavailable" if self._failures else "idle", self._reason)
        if not child.ready.done():
            return MeaningState(self.model, "starting")
        try:
            state, reason = child.ask("state").result(timeout=PATIENCE_SECONDS)
        except (FutureTimeout, MeaningUnavailable) as error:
            return MeaningState(self.model, "unavailable", str(error) or "does not answer")
        return MeaningState(self.model, state, reason)

    def lead(self, leading: bool) -> None:
        """Have passages embedded that have no vector, starting the child if need be; or no more of it."""
        with self._lock:
            self._leading = leading
        self._tell("lead", leading, start=leading)

    def prune(self) -> None:
        """Have vectors forgotten that no passage needs. Ask only when the catalogue is complete."""
        self._tell("prune", start=False)

    def wake(self) -> None:
        """Start the child if need be: a question will come."""
        self._tell("lead", self._leading, start=True)

    def close(self) -> None:
        """End the child, waiting at most a second."""
        with self._lock:
            self._closed = True
            child, self._child = self._child, None
        if child is not None:
            child.close()

    def _tell(self, what: str, *arguments: object, start: bool) -> None:
        try:
            with self._lock:
                child = self._get_child() if start and not self._closed else self._find_child()
            if child is not None:
                child.tell(what, *arguments)
        except MeaningUnavailable as error:
            log.info("meaning: %s", error)

    def _ask(self, what: str, *arguments: object, patience: float, answer_within: float = ANSWER_SECONDS) -> Any:
        return self._begin(what, *arguments, patience=patience, answer_within=answer_within)()

    def _begin(
        self,
        what: str,
        *arguments: object,
        patience: float,
        answer_within: float = ANSWER_SECONDS,
        start: bool = True,
    ) -> Callable[..., Any]:
        """Ask, if the child can hear already; return what waits for the answer. Without `start` it must be ready.

        What waits may be told another time than `answer_within`.
        """
        child = self._get_child() if start else self._get_ready()
        asked = child.ask(what, *arguments) if child.was_ready else None

        def wait(seconds: float = max(patience, answer_within)) -> Any:
            # The patience counts from the child's start: while it loads, only the first question waits.
            left = max(0.05, child.started + patience - time.monotonic())
            try:
                child.ready.result(timeout=left)
            except FutureTimeout:
                raise MeaningUnavailable(
                    "the embedding model is being loaded; ask again in a few seconds for meaning"
                ) from None
            return _wait_for(asked or child.ask(what, *arguments), seconds)

        return wait

    def _find_child(self) -> MeaningProcess | None:
        """Return the child that runs; remember why the last one ended, if it failed. Needs the lock."""
        child = self._child
        if child is None or child.alive:
            return child
        self._child = None
        child.close()
        self._reason = child.find_failure()
        if not self._reason:
            self._failures = 0
        else:
            self._failures = 1 if child.was_ready else self._failures + 1
            self._failed_at = time.monotonic()
        return None

    def _get_ready(self) -> MeaningProcess:
        with self._lock:
            child = self._find_child()
        if child is None or not child.was_ready:
            raise MeaningUnavailable("the embedding model is not loaded")
        return child

    def _get_child(self) -> MeaningProcess:
        """Return the child, started if need be. Raises MeaningUnavailable for as long as a failure is fresh."""
        if self._wrong:
            raise MeaningUnavailable(self._wrong)
        with self._lock:
            if self._closed:
                raise MeaningUnavailable("the vault is closing")
            child = self._find_child()
            if child is None:
                if self._failures and time.monotonic() - self._failed_at < _find_pause(self._failures):
                    raise MeaningUnavailable(self._reason)
                child = self._child = MeaningProcess(self._arguments, leading=self._leading)
            return child


def _wait_for(answer: Future[Any], seconds: float) -> Any:
    try:
        return answer.result(timeout=seconds)
    except FutureTimeout:
        raise MeaningBusy("the embedding model is busy; ask again in a moment for meaning") from None


def _refuse(reason: str) -> list[Near]:
    raise MeaningUnavailable(reason)


def _find_pause(failures: int) -> float:
    """Return how long after so many failures in a row the child is not started again, in seconds."""
    return min(RETRY_SECONDS * (1 << min(failures - 1, 10)), LONGEST_RETRY_SECONDS)
