"""Who keeps the index: one leader a vault. The others read the same stores and index only their own writes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vault_memex.store.catalogue import Catalogue
from vault_memex.store.file_lock import FileLock, find_lock

RETRY_SECONDS = 2.0  # a follower asks this often
FROZEN_SECONDS = (
    30.0  # a heart that has not beaten for so long is reported; nobody takes over from a living process
)
HEARTBEAT = "heartbeat"


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What the leader last said of itself."""

    process: int
    beat: int  # counts up
    at: float  # seconds since 1970, by the leader's clock
    activity: str

    def is_frozen(self, now: float) -> bool:
        """Whether the leader should be reported as stuck."""
        return now - self.at > FROZEN_SECONDS


class Leadership:
    """The leader's lock. It is free the moment its holder ends, also by kill -9; a stopped holder keeps it."""

    def __init__(self, folder: Path, *, wall_clock: Callable[[], float] = time.time) -> None:
        self._file = folder / "leader.lock"
        self._lock: FileLock | None = None
        self._wall_clock = wall_clock
        self._beat = 0

    def try_lead(self) -> bool:
        """Return whether this process leads, now or already. Never waits.

        A lock whose file was deleted or replaced is worth nothing and given up.
        """
        if self._lock is not None and not self._lock.is_valid():
            self.resign()
        if self._lock is None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._lock = find_lock(self._file)
        return self._lock is not None

    @property
    def is_leader(self) -> bool:
        """Whether the lock is held and is still the lock."""
        return self._lock is not None and self._lock.is_valid()

    def resign(self) -> None:
        """Give the lock back, if it is held."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    def beat(self, catalogue: Catalogue, activity: str) -> None:
        """Write the leader's heartbeat."""
        self._beat += 1
        value = [os.getpid(), self._beat, self._wall_clock(), activity]
        catalogue.set_state(HEARTBEAT, json.dumps(value))


def find_heartbeat(catalogue: Catalogue) -> Heartbeat | None:
    """Return the last heartbeat of any leader."""
    text = catalogue.get_state(HEARTBEAT)
    if text is None:
        return None
    process, beat, at, activity = json.loads(text)
    return Heartbeat(process, beat, at, activity)
