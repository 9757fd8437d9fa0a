"""The queue of commits: a write answers when it is on disk and journalled; its commit follows, in order."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path

from vault_memex.store.disk import remove_quietly
from vault_memex.store.git import CommitFile, CommitRequest, CommitResult, Git
from vault_memex.store.locks import VaultLock

NO_COMMIT = CommitResult(None)
_LOCK_DEADLINE = 60.0  # seconds
_QUIET = 0.1  # seconds without a new write before git starts: it would slow the next write down
_LATEST = 0.6  # seconds after which it starts in any case


@dataclass(frozen=True, slots=True)
class Book:
    """An append-only file that goes along with a commit, as it was at this length."""

    path: str
    size: int  # bytes


@dataclass(slots=True)
class QueuedCommit:
    """A commit that waits. `marker` is the file that says so to the next start."""

    request: CommitRequest
    books: tuple[Book, ...] = ()
    marker: Path | None = None
    queued: float = 0.0  # monotonic seconds
    done: threading.Event = field(default_factory=threading.Event)
    result: CommitResult = NO_COMMIT


class CommitQueue:
    """Commits one operation after another on a background thread; with `batch`, all together when flushed."""

    def __init__(self, git: Git, cache_dir: Path, batch: bool = False) -> None:
        self.git = git
        self._batch = batch
        self._lock = VaultLock(cache_dir, "commit.lock")
        self._waiting: deque[QueuedCommit] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._errors: list[str] = []
        self._flushing = 0
        self._busy = False
        self._closing = False

    def submit(self, item: QueuedCommit) -> QueuedCommit:
        """Put a commit at the end of the queue and return at once."""
        with self._changed:
            item.queued = time.monotonic()
            self._waiting.append(item)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="commits", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return item

    def flush(self, timeout: float = 60.0) -> bool:
        """Wait until everything queued is committed; False when it took longer than `timeout` seconds."""
        until = time.monotonic() + timeout
        with self._changed:
            self._flushing += 1
            self._changed.notify_all()
            try:
                while (self._waiting or self._busy) and (left := until - time.monotonic()) > 0:
                    self._changed.wait(left)
                return not self._waiting and not self._busy
            finally:
                self._flushing -= 1

    def take_errors(self) -> tuple[str, ...]:
        """Return why commits failed since the last call; the next answer should say so."""
        with self._changed:
            taken, self._errors = tuple(self._errors), []
        return taken

    def close(self, timeout: float = 10.0) -> bool:
        """Commit what waits and stop; False when there was no time for all: the next start commits the rest."""
        finished = self.flush(timeout)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        return finished

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closing and (pause := self._pause()) != 0:
                    self._changed.wait(pause)
                if self._closing:
                    return
                items = list(self._waiting) if self._batch else [self._waiting[0]]
                self._busy = True
            result = self._commit(items)
            with self._changed:
                for item in items:
                    self._waiting.popleft()
                    item.result = result
                    item.done.set()
                if result.error:
                    self._errors.append(result.error)
                self._busy = False
                self._changed.notify_all()

    def _pause(self) -> float | None:
        """Return how many seconds to let pass before the next commit; None: until something happens."""
        if self._flushing and self._waiting:
            return 0
        if self._batch or not self._waiting:
            return None
        now = time.monotonic()
        return max(0.0, min(self._waiting[-1].queued + _QUIET, self._waiting[0].queued + _LATEST) - now)

    def _commit(self, items: list[QueuedCommit]) -> CommitResult:
        try:
            with self._lock.hold(_LOCK_DEADLINE):
                # A marker that is gone means: another process found it at its start and made the commit.
                open_items = [i for i in items if i.marker is None or i.marker.exists()]
                if not open_items:
                    return CommitResult(None)
                result = self.git.commit(_merged(open_items, self.git.root))
                if not result.error:
                    for item in open_items:
                        if item.marker is not None:
                            remove_quietly(item.marker)
                return result
        except Exception as error:  # noqa: BLE001 - the thread must live, and the error reaches the next answer
            return CommitResult(None, f"The write is done, but it could not be committed: {error}")


def _merged(items: list[QueuedCommit], root: Path) -> CommitRequest:
    """Return one request for all items: the last bytes of each file, every trailer."""
    files: dict[str, CommitFile] = {}
    for item in items:
        for book in item.books:
            files[book.path] = CommitFile(book.path, _read_start(root / book.path, book.size))
        files |= {f.path: f for f in item.request.files}
    first = items[0].request
    if len(items) == 1:
        return replace(first, files=tuple(files.values()))
    return replace(
        items[-1].request,
        files=tuple(files.values()),
        subject=f"{len(items)} changes",
        body="\n".join(i.request.subject for i in items),
        trailers=tuple(dict.fromkeys(trailer for i in items for trailer in i.request.trailers)),
    )


def _read_start(file: Path, size: int) -> bytes | None:
    try:
        return file.read_bytes()[:size]
    except FileNotFoundError:
        return None
