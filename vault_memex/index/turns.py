"""Whose turn it is in the meaning process: answers go before work that nobody waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIET_SECONDS = 1.0  # without a question, before work goes on that nobody waits for
LONGEST_SECONDS = 10.0  # that a step of such work waits: in the end it has to be done


class Turns:
    """Counts the answers under way. Any thread may call."""

    def __init__(
        self,
        quiet_seconds: float = QUIET_SECONDS,
        longest_seconds: float = LONGEST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._quiet_seconds = quiet_seconds
        self._longest_seconds = longest_seconds
        self._clock = clock
        self._changed = threading.Condition()
        self._answering = 0
        self._quiet_from = 0.0

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Go before whoever gives way while the block runs, and a moment longer."""
        with self._changed:
            self._answering += 1
        try:
            yield
        finally:
            with self._changed:
                self._answering -= 1
                self._quiet_from = self._clock() + self._quiet_seconds
                self._changed.notify_all()

    def give_way(self) -> None:
        """Return when nobody has asked anything for a moment, after some seconds in any case."""
        until = self._clock() + self._longest_seconds
        with self._changed:
            while (now := self._clock()) < until and (self._answering or now < self._quiet_from):
                self._changed.wait(until - now if self._answering else min(until, self._quiet_from) - now)
