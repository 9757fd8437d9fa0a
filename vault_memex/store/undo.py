"""Bytes files had before we changed them, and without git afterwards, by revision, for 30 days, in the cache folder.

They serve undo and review. Safety does not rest on them: until a write is finished its old bytes are in the
vault's own `.memex/pending`.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from vault_memex.core.revision import revision_of

KEEP_SECONDS = 30 * 24 * 3600


class UndoStore:
    """Bytes by revision. The folder may be deleted at any time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> bool:
        """Keep the bytes; False when the disk would not take them, which must not stop a write."""
        file = self._file_of(revision_of(data))
        try:
            if file.stat().st_size == len(data):
                os.utime(file)  # wanted again: the 30 days start anew
                return True
        except FileNotFoundError:
            pass
        except OSError:
            return False
        try:
            try:
                file.write_bytes(data)
            except FileNotFoundError:
                self.folder.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        except OSError:
            with contextlib.suppress(OSError):
                file.unlink()
            return False
        return True

    def get(self, revision: str) -> bytes | None:
        """Return the bytes with this revision, or None when they are gone, or torn by a crash."""
        try:
            data = self._file_of(revision).read_bytes()
        except OSError:
            return None
        return data if revision_of(data) == revision else None

    def remove(self, revision: str) -> None:
        """Forget the bytes with this revision: what is erased is not kept here."""
        with contextlib.suppress(OSError):
            self._file_of(revision).unlink()

    def expire(self, now: float) -> int:
        """Remove what nobody wanted for 30 days before `now` (seconds since 1970); return how many."""
        gone = 0
        for file in self.folder.glob("*"):
            with contextlib.suppress(OSError):
                if file.stat().st_mtime < now - KEEP_SECONDS:
                    file.unlink()
                    gone += 1
        return gone

    def _file_of(self, revision: str) -> Path:
        return self.folder / revision
