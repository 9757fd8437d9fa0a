"""One lock held through an open file: free again the moment its process ends, however it ends.

`fcntl.flock` rather than `lockf`, which any close of the file in this process would drop.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@dataclass(frozen=True, slots=True)
class FileLock:
    """A lock that is held. The file stays when it is released, so that all who wait mean the same file."""

    path: Path
    descriptor: int

    def is_valid(self) -> bool:
        """Whether the path still names the locked file; after a delete somebody else can get "the" lock too."""
        try:
            found, held = self.path.stat(), os.fstat(self.descriptor)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)

    def release(self) -> None:
        """Give the lock back. Closing the file is what frees it."""
        os.close(self.descriptor)


def find_lock(path: Path) -> FileLock | None:
    """Take the lock without waiting, or return None when somebody else (this process included) holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    lock = FileLock(path, descriptor)
    if _try_lock(descriptor) and lock.is_valid():
        return lock
    with suppress(OSError):
        os.close(descriptor)
    return None


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
