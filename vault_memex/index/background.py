"""What runs beside the answers: watching, scanning, embedding. One object to start, ask and stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from vault_memex.index.indexer import Indexer, PathReport, ScanReport
from vault_memex.index.leader import Leadership, find_heartbeat
from vault_memex.index.meaning import Meaning
from vault_memex.index.watcher import Watcher

COMPLETE_SECONDS = 20.0  # what needs all notes waits this long for a first pass


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the catalogue is."""

    state: str  # ready, indexing, stale
    leader: bool  # whether this process keeps it
    watching: str  # events, scanning, or why neither
    done: int = 0  # while indexing
    to_do: int = 0
    notices: tuple[str, ...] = ()


class Background:
    """Watcher and meaning of one process."""

    def __init__(
        self,
        indexer: Indexer,
        leadership: Leadership,
        meaning: Meaning,
        *,
        before_scan: Callable[[], object],
        after_report: Callable[[ScanReport | PathReport], object],
        notices: tuple[str, ...] = (),
    ) -> None:
        self._indexer = indexer
        self._meaning = meaning
        self._before_scan = before_scan
        self._after_report = after_report
        self._notices = notices
        self._watcher = Watcher(
            indexer,
            leadership,
            on_report=self._hear,
            # A change that the index has already is another process's own write, whose passages wait here.
            on_known=self.embed_if_needed,
            on_leading=self._on_leading,
        )
        self._started = False
        self._scanned = threading.Event()

    def start(self, delay: float = 0.0) -> None:
        """Begin; returns at once. An index that has been complete may wait so many seconds, or until `hurry`."""
        if not self._started:
            self._started = True
            self._watcher.start(delay if self._indexer.catalogue.is_complete() else 0.0)

    def hurry(self) -> None:
        """Begin now what waits to begin."""
        if self._started and not self._scanned.is_set():
            self._watcher.hurry()

    def wait_scanned(self, timeout: float) -> bool:
        """Return whether a first pass is over, after at most `timeout` seconds."""
        self.hurry()
        return self._scanned.wait(timeout)

    def wait_complete(self) -> str | None:
        """Return what is missing in the index once a first pass had time to end; None when all notes are in it."""
        catalogue = self._indexer.catalogue
        complete = catalogue.is_complete()
        if complete and self.find_remark() is None:
            return None
        self.wait_scanned(COMPLETE_SECONDS)
        if complete or catalogue.is_complete():
            return None  # a later pass only follows what changed meanwhile
        return self.find_remark()

    def request_scan(self) -> None:
        """Ask for a scan as soon as possible."""
        self._watcher.request_scan()

    def state(self) -> IndexState:
        """Return the state now."""
        status = self._watcher.status
        done, to_do = self._indexer.progress
        notices = [*([f"index: {status.error}"] if status.error else []), *self._notices]
        if status.held_back:
            notices.append(
                f"{status.held_back} notes vanished at once; they stay in the index until a second scan agrees"
            )
        notices += [f"cannot be read: {path}" for path in status.unreadable[:10]]
        notices += [f"name is not text, skipped: {path}" for path in status.skipped[:10]]
        if to_do > done:
            return IndexState("indexing", status.leading, self._watching(), done, to_do, tuple(notices))
        looked = status.scanned or not self._started or self._followed()
        state = "ready" if looked and self._indexer.catalogue.is_complete() else "indexing"
        if status.error or status.held_back:
            state = "stale"
        return IndexState(state, status.leading, self._watching(), notices=tuple(notices))

    def _followed(self) -> bool:
        """Whether another process keeps the index and is alive."""
        beat = None if self._watcher.status.leading else find_heartbeat(self._indexer.catalogue)
        return beat is not None and not beat.is_frozen(time.time())

    def _watching(self) -> str:
        if not self._started:
            return "not watching (one command)"
        status = self._watcher.status
        if not status.leading:
            return "another process watches"
        return f"scanning every few seconds: {status.deaf}" if status.deaf else "watching for changes"

    def find_remark(self) -> str | None:
        """Return what an answer should say of the index, or None when all is well."""
        state = self.state()
        if state.state == "indexing" and state.to_do:
            return f"Still indexing: {state.done} of {state.to_do} notes; more may match in a moment."
        if state.state == "indexing":
            return "The index is being checked against the files; more may match in a moment."
        if state.state == "stale":
            reason = self._watcher.status.error or "most notes vanished at once"
            return f"The index may be stale: {reason}"
        return None

    def _hear(self, report: ScanReport | PathReport) -> None:
        self._scanned.set()
        self._after_report(report)
        self.embed_if_needed()
        if isinstance(report, ScanReport) and not report.held_back:
            self._meaning.prune()

    def embed_if_needed(self) -> None:
        """Have passages embedded that have no vector; called in the process that leads."""
        if self._indexer.catalogue.find_unembedded(self._meaning.fingerprint, 1):
            self._meaning.lead(True)

    def _on_leading(self, leading: bool) -> None:
        if leading:
            self._before_scan()
        else:
            self._meaning.lead(False)

    def stop(self) -> None:
        """End the threads and the meaning process."""
        if self._started:
            self._watcher.stop()
        self._meaning.close()
