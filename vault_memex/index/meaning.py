"""Meaning, from the server's side: a child process that holds the model and the vectors, started when needed.

The child answers with pickled tuples over its standard input and output: (number, "ok" | "error", value). Only this
program writes to either end.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from vault_memex.errors import ModelUnavailable
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.embedding import find_spec
from vault_memex.store.model_folder import find_model_dir

log = logging.getLogger(__name__)

IDLE_SECONDS = 900.0  # without a question or passages to embed, the child ends and its memory comes back
PATIENCE_SECONDS = 1.5  # a search waits this long for a child that is still starting
ANSWER_SECONDS = 5.0  # a ready child that takes longer is busy; words are the answer then
LONG_SECONDS = 30.0  # for all neighbours of 10,000 notes, a few seconds on two cores
RETRY_SECONDS = 30.0  # after a child that would not start


class MeaningUnavailable(Exception):
    """Meaning cannot be had just now; the message says why."""


@dataclass(frozen=True, slots=True)
class Near:
    """A passage near a query, by its hash."""

    hash: str
    distance: float  # cosine, 0 to 2


@dataclass(frozen=True, slots=True)
class MeaningState:
    """What the child says of itself."""

    model: str
    state: str  # off, idle (not started, or ended after a quiet while), starting, ready, embedding, unavailable
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


def write_message(stream: IO[bytes], message: object) -> None:
    """Write one message: its length in 4 bytes, then its pickle."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(4, "little") + data)
    stream.flush()


def read_message(stream: IO[bytes]) -> Any:
    """Read one message; raises EOFError when the other side has gone."""
    head = stream.read(4)
    if len(head) < 4:
        raise EOFError
    size = int.from_bytes(head, "little")
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301  # from our own child or parent only


class Meaning:
    """The child process as one object. All methods may be called from any thread."""

    def __init__(self, root: Path, cache: Path, model: str, catalogue_fingerprint: str) -> None:
        child = "vault_memex.index.meaning_child"
        self._command = [sys.executable, "-m", child, str(root), str(cache), model, catalogue_fingerprint]
        self.model = model
        self.fingerprint = model
        self._reason = ""
        try:
            spec = find_spec(model, find_model_dir())
            self.model, self.fingerprint = spec.model, spec.fingerprint
        except ModelUnavailable as error:
            self._reason = error.message
        self._lock = threading.RLock()
        self._child: _Child | None = None
        self._leading = False
        self._failed_at: float | None = None
        self._closed = False

    @property
    def enabled(self) -> bool:
        """Whether the person wants meaning at all."""
        return self.model != "none"

    def search(self, query: str, limit: int, patience: float = PATIENCE_SECONDS) -> list[Near]:
        """Return the passages nearest to a query, nearest first; MeaningUnavailable when there is none in time."""
        return [Near(h, d) for h, d in self._ask("search", query, limit, patience=patience)]

    def vectors(self, hashes: Sequence[str], patience: float = PATIENCE_SECONDS) -> dict[str, bytes]:
        """Return the vectors of those hashes that have one, as float32 bytes."""
        found: dict[str, bytes] = self._ask("vectors", list(hashes), patience=patience)
        return found

    def embed(self, texts: Sequence[str], patience: float = PATIENCE_SECONDS) -> list[bytes]:
        """Return the vectors of texts as passages, as float32 bytes."""
        vectors: list[bytes] = self._ask("embed", list(texts), patience=patience)
        return vectors

    def near_notes(
        self, texts: Sequence[str], limit: int, patience: float = PATIENCE_SECONDS
    ) -> list[list[tuple[str, float]]]:
        """Return, for each text as a passage, (path, distance) for the `limit` passages nearest to it.

        Nearest first; a note stands there once for each of its passages. Of more than 16 texts the first count.
        """
        found: list[list[tuple[str, float]]] = self._ask("near_notes", list(texts), limit, patience=patience)
        return found

    def near_of(self, path: str, limit: int, patience: float = PATIENCE_SECONDS) -> list[tuple[str, float]]:
        """Return (path, distance) of the notes nearest to a note of the vault, each once; also of a new note."""
        found: list[tuple[str, float]] = self._ask("near_of", path, limit, patience=patience)
        return found

    def neighbours(self, question: NearQuestion, patience: float = LONG_SECONDS) -> NearAnswer:
        """Return what detection needs to know of the notes' neighbours; work for the changed notes alone.

        What is not done in time goes on, and the next call finds it done.
        """
        found: NearAnswer = self._ask("neighbours", question, patience=patience)
        return found

    def calibrate(self, *, whole: bool = False, patience: float = LONG_SECONDS) -> None:
        """Have the distances of the vault measured where that is due; they are kept in the catalogue."""
        self._ask("calibrate", whole, patience=patience)

    def calibrate_later(self) -> None:
        """Have them measured beside the searches, if the child runs; nobody waits."""
        with self._lock:
            child = self._child
        if child is not None and child.alive and child.ready.done():
            with contextlib.suppress(MeaningUnavailable):
                child.tell("calibrate")

    def count_embedded(self, catalogue: Catalogue) -> tuple[int, int]:
        """Return how many of the vault's passages have their vector, and how many there are."""
        return catalogue.count_embedded(self.fingerprint)

    def state(self) -> MeaningState:
        """Return what the child does, without starting it."""
        if not self.enabled:
            return MeaningState(self.model, "off", "switched off (model = none)")
        with self._lock:
            child = self._child
            if child is None or not child.alive:
                return MeaningState(self.model, "unavailable" if self._reason else "idle", self._reason)
        if not child.ready.done():
            return MeaningState(self.model, "starting")
        try:
            state, reason = child.ask("state").result(timeout=PATIENCE_SECONDS)
        except (FutureTimeout, MeaningUnavailable) as error:
            return MeaningState(self.model, "unavailable", str(error) or "does not answer")
        return MeaningState(self.model, state, reason)

    def lead(self, leading: bool) -> None:
        """Say whether this process leads, and so has its child embed; starts the child when it does."""
        self._leading = leading
        if leading:
            self.wake()
        else:
            with self._lock:
                if self._child is not None and self._child.alive:
                    self._child.tell("lead", False)

    def wake(self) -> None:
        """Start the child if need be (there are passages to embed, or a question will come)."""
        if self.enabled and not self._closed:
            try:
                self._started().tell("wake")
            except MeaningUnavailable as error:
                log.info("meaning: %s", error)

    def close(self) -> None:
        """End the child, waiting at most a second."""
        with self._lock:
            self._closed = True
            child, self._child = self._child, None
        if child is not None:
            child.close()

    def _ask(self, what: str, *arguments: object, patience: float) -> Any:
        if not self.enabled:
            raise MeaningUnavailable("meaning is switched off (model = none)")
        child = self._started()
        # The patience counts from the child's start: while it loads, only the first question waits.
        left = max(0.05, child.started + patience - time.monotonic())
        try:
            child.ready.result(timeout=left)
        except FutureTimeout:
            raise MeaningUnavailable(
                "the embedding model is being loaded; ask again in a few seconds for meaning"
            ) from None
        try:
            return child.ask(what, *arguments).result(timeout=max(patience, ANSWER_SECONDS))
        except FutureTimeout:
            raise MeaningUnavailable("meaning is busy; ask again in a few seconds") from None

    def _started(self) -> _Child:
        with self._lock:
            if self._closed:
                raise MeaningUnavailable("the vault is closing")
            if self._child is not None and self._child.alive:
                return self._child
            if self._child is not None:
                self._reason = self._child.fault or self._reason
                if self._child.failed:
                    self._failed_at = time.monotonic()
                self._child = None
            if self._failed_at is not None and time.monotonic() - self._failed_at < RETRY_SECONDS:
                raise MeaningUnavailable(self._reason or "the meaning process ended unexpectedly")
            self._child = _Child(self._command, leading=self._leading)
            return self._child


class _Child:
    """One run of the child process."""

    def __init__(self, command: Sequence[str], *, leading: bool) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.started = time.monotonic()
        self._writing = threading.Lock()
        self._answers: dict[int, Future[Any]] = {}
        self._next = 1
        self.ready: Future[None] = Future()
        self.fault = ""
        threading.Thread(target=self._read, name="meaning-answers", daemon=True).start()
        self.tell("lead", leading)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise than by being idle or closed."""
        return bool(self._process.poll())

    def ask(self, what: str, *arguments: object) -> Future[Any]:
        answer: Future[Any] = Future()
        with self._writing:
            number, self._next = self._next, self._next + 1
            self._answers[number] = answer
            self._send((number, what, arguments))
        return answer

    def tell(self, what: str, *arguments: object) -> None:
        with self._writing:
            self._send((0, what, arguments))

    def _send(self, message: object) -> None:
        assert self._process.stdin is not None
        try:
            write_message(self._process.stdin, message)
        except (BrokenPipeError, ValueError) as error:
            raise MeaningUnavailable(self.fault or "the meaning process has ended") from error

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while True:
                number, outcome, value = read_message(self._process.stdout)
                if number == 0:
                    self._hear(outcome, value)
                    continue
                answer = self._answers.pop(number, None)
                if answer is not None and outcome == "ok":
                    answer.set_result(value)
                elif answer is not None:
                    answer.set_exception(MeaningUnavailable(value))
        except (EOFError, OSError, pickle.UnpicklingError):
            self._end()

    def _hear(self, outcome: str, value: str) -> None:
        if outcome == "ready" and not self.ready.done():
            self.ready.set_result(None)
        elif outcome == "fault":
            self.fault = value
            if not self.ready.done():
                self.ready.set_exception(MeaningUnavailable(value))

    def _end(self) -> None:
        gone = MeaningUnavailable(self.fault or "the meaning process has ended")
        if not self.ready.done():
            self.ready.set_exception(gone)
        while self._answers:
            _, answer = self._answers.popitem()
            if not answer.done():
                answer.set_exception(gone)

    def close(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
