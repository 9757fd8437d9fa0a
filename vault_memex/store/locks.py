"""The write lock of a vault: short, between processes and between threads, with a deadline."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from vault_memex.errors import VaultError, VaultLocked

DEFAULT_DEADLINE = 10.0  # seconds
_POLL = 0.002  # seconds; a write takes about as long


class VaultLock:
    """Held around one write, never for a process's life. The same thread may take it again inside."""

    def __init__(self, cache_dir: Path, name: str = "write.lock") -> None:
        cache_dir.mkdir(parents=True, exist_ok=True)
        self._file = cache_dir / name
        self._lock = FileLock(self._file, thread_local=False, poll_interval=_POLL)
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def hold(self, deadline: float = DEFAULT_DEADLINE) -> Iterator[None]:
        """Hold the lock. Raises VaultLocked when it is not free within `deadline` seconds."""
        until = time.monotonic() + deadline
        if not self._threads.acquire(timeout=deadline):
            raise self._locked(deadline)
        try:
            if self._depth == 0:
                self._acquire(until, deadline)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._lock.release()
        finally:
            self._threads.release()

    def _acquire(self, until: float, deadline: float) -> None:
        while True:
            try:
                self._lock.acquire(timeout=max(0.0, until - time.monotonic()))
            except Timeout:
                raise self._locked(deadline) from None
            except OSError as error:
                raise VaultError(
                    f"The write lock in the cache folder cannot be taken ({error.strerror}). Nothing was written. "
                    "Free space or mend permissions there, or choose another folder with VAULT_MEMEX_CACHE_DIR."
                ) from error
            if self._same_file():
                return
            self._lock.release()  # the file was deleted or replaced meanwhile: that lock excludes nobody
            if time.monotonic() >= until:
                raise self._locked(deadline)

    def _same_file(self) -> bool:
        descriptor = self._lock._context.lock_file_fd
        if descriptor is None:
            return False
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self._file))
        except OSError:
            return False

    def _locked(self, deadline: float) -> VaultLocked:
        return VaultLocked(
            f"Another process has been writing to this vault for {deadline:g} s. Try again; if it stays so, "
            f"look for a hanging vault-memex process and end it (its lock: {self._file.name} in the cache folder)."
        )
