"""Work that an answer need not wait for: done on a thread of its own, once for all who asked meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

QUICK_SECONDS = 0.025  # work that takes less is waited for
WAIT_SECONDS = 1.0
BREATH_SECONDS = 1.0  # between two runs of work that takes longer


class Behind:
    """Does one piece of work whenever it was asked for; the work handles its own errors."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        self._work = work
        self._name = name
        self._state = threading.Condition()
        self._asked = 0
        self._done = 0
        self._took = 0.0
        self._closing = False
        self._hurried = False
        self._thread: threading.Thread | None = None

    def ask(self) -> None:
        """Have the work done. Returns when it is, if it is quick; else at once, and it is done behind."""
        with self._state:
            self._asked += 1
            mine = self._asked
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._state.notify_all()
            if self._took < QUICK_SECONDS:
                self._state.wait_for(lambda: self._done >= mine, WAIT_SECONDS)

    def flush(self) -> None:
        """Return once all that was asked for is done."""
        with self._state:
            wanted = self._asked
            self._hurried = True
            self._state.notify_all()
            self._state.wait_for(lambda: self._done >= wanted)
            self._hurried = False

    def close(self) -> None:
        """Do what was asked for and end the thread."""
        with self._state:
            self._closing = True
            self._state.notify_all()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._closing or self._asked > self._done)
                if self._asked == self._done:
                    return
                mine = self._asked
            started = time.monotonic()
            self._work()
            with self._state:
                self._done, self._took = mine, time.monotonic() - started
                self._state.notify_all()
                if self._took >= QUICK_SECONDS:
                    self._state.wait_for(lambda: self._closing or self._hurried, BREATH_SECONDS)
