"""One run of the meaning process, from the server's side: questions out, answers back."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from vault_memex.index.child import end_child, read_message, start_child, write_message

CHILD = "vault_memex.index.meaning_child"
CLOSE_SECONDS = 1.0


class MeaningUnavailable(Exception):
    """Meaning cannot be had just now; the message says why."""


class MeaningBusy(MeaningUnavailable):
    """The answer may still come; there was no time to wait for it."""


class MeaningProcess:
    """Requests are (number, what, arguments); number 0 wants no answer. Answers are (number, "ok" | "error", value).

    With number 0 the process says that it is "ready", or of a "fault", after which it ends.
    """

    def __init__(self, arguments: Sequence[str], *, leading: bool) -> None:
        try:
            self._process = start_child(CHILD, *arguments)
        except OSError as error:
            raise MeaningUnavailable(f"the meaning process cannot be started: {error.strerror}") from error
        self.started = time.monotonic()
        self.ready: Future[None] = Future()
        self.fault = ""
        self._writing = threading.Lock()
        self._answers: dict[int, Future[Any]] = {}
        self._last = 0
        self._reader = threading.Thread(target=self._read, name="meaning-answers", daemon=True)
        self._reader.start()
        self.tell("lead", leading)

    @property
    def alive(self) -> bool:
        """Whether its end of the pipe is open: that tells of its death sooner than the system does."""
        return self._reader.is_alive()

    @property
    def was_ready(self) -> bool:
        """Whether it could answer at any time."""
        return self.ready.done() and self.ready.exception() is None

    def find_failure(self) -> str:
        """Return why it ended; "" when it was idle or closed."""
        if not self._process.returncode:
            return ""
        return self.fault or "the meaning process ended unexpectedly"

    def ask(self, what: str, *arguments: object) -> Future[Any]:
        """Return the answer to come. Raises MeaningUnavailable, also through the answer."""
        answer: Future[Any] = Future()
        with self._writing:
            self._last += 1
            self._answers[self._last] = answer
            self._send((self._last, what, arguments))
        return answer

    def tell(self, what: str, *arguments: object) -> None:
        """Say something that wants no answer. Raises MeaningUnavailable."""
        with self._writing:
            self._send((0, what, arguments))

    def _send(self, message: object) -> None:
        assert self._process.stdin is not None
        try:
            write_message(self._process.stdin, message)
        except (OSError, ValueError) as error:  # a closed pipe of theirs, or of ours
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
        except (EOFError, ValueError):  # ended, or closed by us
            return
        finally:
            self._give_up()

    def _hear(self, outcome: str, value: str) -> None:
        if outcome == "ready":
            self.ready.set_result(None)
        else:
            self.fault = value

    def _give_up(self) -> None:
        """Tell everybody who waits that there will be no answer."""
        gone = MeaningUnavailable(self.fault or "the meaning process has ended")
        if not self.ready.done():
            self.ready.set_exception(gone)
        while self._answers:
            _, answer = self._answers.popitem()
            answer.set_exception(gone)

    def close(self) -> None:
        """End the process, if it has not ended by itself."""
        if not self._writing.acquire(timeout=CLOSE_SECONDS):
            self._process.kill()  # it does not read; this frees whoever is writing to it
            self._writing.acquire()
        end_child(self._process, CLOSE_SECONDS)
        self._writing.release()
        self._reader.join(CLOSE_SECONDS)
