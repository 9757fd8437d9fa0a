"""What the file system hinted at, until it has been quiet for long enough to be looked at.

Hints are never trusted for what they say, only for where to look; so losing one costs time and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

QUIET_CAP = 2.0  # seconds; what never falls quiet is looked at all the same
MANY_PATHS = 5_000  # one scan is cheaper, and the memory stays bounded


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be looked at now."""

    paths: frozenset[str] = frozenset()
    scan: bool = False


class _Times(NamedTuple):
    first: float
    last: float


class Hints:
    """Paths and the wish for a scan, each with the time of its first and last hint. Any thread may mark."""

    def __init__(self, quiet: float, clock: Callable[[], float], wake: Callable[[], None]) -> None:
        self._quiet = quiet
        self._clock = clock
        self._wake = wake
        self._lock = threading.Lock()
        self._paths: dict[str, _Times] = {}
        self._scan: _Times | None = None

    def mark_path(self, path: str) -> None:
        """Note that something happened to the path."""
        now = self._clock()
        with self._lock:
            times = self._paths.get(path)
            self._paths[path] = _Times(times.first if times else now, now)
            if len(self._paths) > MANY_PATHS:
                self._paths.clear()
                self._scan = _Times(self._scan.first if self._scan else now, now)
        self._wake()

    def mark_scan(self) -> None:
        """Note that something happened that paths do not tell: a folder moved, events were lost."""
        now = self._clock()
        with self._lock:
            self._scan = _Times(self._scan.first if self._scan else now, now)
        self._wake()

    def take_due(self) -> Due:
        """Return what has been quiet, and forget it."""
        now = self._clock()
        with self._lock:
            paths = frozenset(path for path, times in self._paths.items() if self._due_at(times) <= now)
            for path in paths:
                del self._paths[path]
            scan = self._scan is not None and self._due_at(self._scan) <= now
            if scan:
                self._scan = None
        return Due(paths, scan)

    def find_next(self) -> float | None:
        """Return when the next thing falls due, by the clock; None when nothing waits."""
        with self._lock:
            waiting = [*self._paths.values(), *([self._scan] if self._scan else [])]
        return min(map(self._due_at, waiting), default=None)

    def _due_at(self, times: _Times) -> float:
        return min(times.last + self._quiet, times.first + QUIET_CAP)
