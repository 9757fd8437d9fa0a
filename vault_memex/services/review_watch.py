"""Looks at the inbox while a server runs, so that what the person decides in a file is done within two seconds."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable

from vault_memex.errors import MemexError
from vault_memex.services.inbox import Stamp
from vault_memex.services.review import Review

SECONDS = 0.6
STOP_SECONDS = 1.0  # for a decision that is just being carried out
SCAN_SECONDS = 2.0  # decisions made before the start wait so long for the first pass

_log = logging.getLogger(__name__)


class ReviewWatch:
    """One thread; it reads no file as long as none changed."""

    def __init__(self, review: Review, wait_scanned: Callable[[float], object]) -> None:
        self._review = review
        self._wait_scanned = wait_scanned
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen: Stamp | None = None

    def start(self) -> None:
        """Begin; returns at once. May be called twice."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="review-watch", daemon=True)
            self._thread.start()

    @property
    def looked(self) -> bool:
        """Whether it has looked at the inbox once."""
        return self._seen is not None

    def stop(self) -> None:
        """End the thread; one that waits for the vault lock ends with the process."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._stopping.wait(SECONDS):
            try:
                self._look()
            except (MemexError, OSError, sqlite3.Error) as error:
                if not self._stopping.is_set():  # else the index is closed already
                    _log.warning("the inbox could not be looked at: %s", error)

    def _look(self) -> None:
        now = self._review.inbox.find_stamp()
        if now == self._seen and not self._review.unsettled:
            return
        if self._seen is None and now:
            self._wait_scanned(SCAN_SECONDS)
        self._review.apply_files(patient=True)
        self._seen = now
