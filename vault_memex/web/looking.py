"""Looking for new signals while a page is shown: it takes seconds in a large vault, and no page waits that long."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread

from vault_memex.services.signals import SignalsFound


class Looking:
    """One look at a time, on a thread that keeps no process from ending."""

    def __init__(self, look: Callable[[], SignalsFound]) -> None:
        self._look = look
        self._lock = Lock()
        self._done: Event | None = None
        self.unavailable = ""  # of the last look: why signals that need meaning are missing
        self.problem = ""  # why the last look came to nothing

    def wait(self, seconds: float) -> bool:
        """Begin a look unless one is under way; return whether it ended within so many seconds."""
        with self._lock:
            if self._done is None:
                self._done = Event()
                Thread(target=self._run, args=(self._done,), name="signals-look", daemon=True).start()
            done = self._done
        return done.wait(seconds)

    def _run(self, done: Event) -> None:
        try:
            self.unavailable, self.problem = self._look().unavailable, ""
        except Exception as error:  # noqa: BLE001 -- the page tells; also what comes of a vault closed meanwhile
            self.problem = str(error) or type(error).__name__
        finally:
            with self._lock:
                self._done = None
            done.set()
