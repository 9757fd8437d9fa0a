"""The background thread that keeps the catalogue equal to the files, in the process that leads.

Events say where to look soon; a scan every minute, and whenever events cannot be trusted, says what is true.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from vault_memex.errors import VaultError
from vault_memex.index.hints import Due, Hints
from vault_memex.index.indexer import Indexer, PassStopped, PathReport, ScanReport
from vault_memex.index.leader import RETRY_SECONDS, Leadership
from vault_memex.index.observer import VaultObserver

DELETE_WAIT = 1.0  # seconds; git and editors delete a note in order to write it
SCAN_MODE_SECONDS = 5.0  # between scans while events cannot be relied on
FAILED_SECONDS = 5.0  # before a pass that failed is tried again
BEAT_SECONDS = 10.0
RESUME_JUMP = 5.0  # seconds that the wall clock gains on the monotonic one: the machine slept
SCAN_SHARE = 0.01  # of one core that periodic scans may take

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """What the thread can say of itself."""

    leading: bool = False
    deaf: str = ""  # why events are not relied on, so that changes show after some seconds; "" when they are
    scanned: int = 0  # passes so far
    error: str = ""  # why the last pass failed
    held_back: int = 0  # removals that wait to be confirmed
    unreadable: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class Watcher:
    """One background thread. `start` returns at once.

    What it finds goes to `on_report`; `on_known` hears of changes that the catalogue had already.
    """

    def __init__(
        self,
        indexer: Indexer,
        leadership: Leadership,
        *,
        on_report: Callable[[ScanReport | PathReport], None] | None = None,
        on_known: Callable[[], None] | None = None,
        on_leading: Callable[[bool], None] | None = None,
        observe: bool = True,
        retry_seconds: float = FAILED_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._indexer = indexer
        self._config = indexer.config
        self._leadership = leadership
        self._on_report = on_report
        self._on_known = on_known
        self._on_leading = on_leading
        self._retry_seconds = retry_seconds
        self._clock, self._wall_clock = clock, wall_clock
        self._wake = threading.Condition()
        self._woken = False
        self._stopping = threading.Event()
        self._hints = Hints(self._config.debounce_seconds, clock, self._notify)
        self._observer = VaultObserver(indexer.root, self._config.ignore, self._hints) if observe else None
        self._missing: dict[str, float] = {}  # gone paths, since when
        self._next_scan = self._next_beat = self._next_check = 0.0
        self._slept = wall_clock() - clock()
        self._delay = 0.0
        self._thread: threading.Thread | None = None
        self.status = WatchStatus()

    def start(self, delay: float = 0.0) -> None:
        """Start the thread: it tries to lead at once, or after so many seconds, but then at `hurry`."""
        self._delay = delay
        self._thread = threading.Thread(target=self._run, name="vault-watcher", daemon=True)
        self._thread.start()

    def hurry(self) -> None:
        """Do what is due now, the first pass included."""
        self._notify()

    def stop(self) -> None:
        """End the thread, in the middle of a pass if need be, and stop leading."""
        self._stopping.set()
        self._notify()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def request_scan(self) -> None:
        """Ask for a scan as soon as possible."""
        self._hints.mark_scan()

    def _run(self) -> None:
        try:
            self._wait(self._delay)
            while not self._stopping.is_set():
                self._wait(self._step())
        finally:
            self._end_leading()

    def _step(self) -> float:
        """Do what is due; return the seconds until something else may be."""
        try:
            if not self._leadership.is_leader:
                self._end_leading()
                if not self._leadership.try_lead():
                    return RETRY_SECONDS
            if not self.status.leading:
                self._begin_leading()
            return self._lead()
        except PassStopped:
            return 0.0
        except VaultError as error:
            self._fail(str(error))
        except Exception as error:  # noqa: BLE001 -- see below
            # The thread is all that keeps the index true: whatever failed is told and tried again.
            _log.exception("the index could not be brought up to date")
            self._fail(f"{type(error).__name__}: {error}")
        return self._retry_seconds

    def _begin_leading(self) -> None:
        self.status = replace(self.status, leading=True)
        self._next_scan = self._next_beat = self._next_check = 0.0
        if self._observer is not None:
            self._observer.start()
        if self._on_leading:
            self._on_leading(True)

    def _end_leading(self) -> None:
        if self._observer is not None:
            self._observer.stop()
        self._leadership.resign()
        if self.status.leading:
            self.status = replace(self.status, leading=False)
            if self._on_leading:
                self._on_leading(False)

    def _lead(self) -> float:
        now = self._clock()
        if now >= self._next_beat:
            self._beat("watching")
        if now >= self._next_check:
            self._check_ears()
        due = self._hints.take_due()
        if due.scan or now >= self._next_scan:
            self._scan()
        else:
            self._look(due)
        return self._find_pause()

    def _check_ears(self) -> None:
        """Look for what no event tells: a dead thread, another folder in the vault's place, a sleep, a lost index."""
        self._next_check = self._clock() + RETRY_SECONDS
        slept = self._wall_clock() - self._clock()
        if abs(slept - self._slept) > RESUME_JUMP:
            self._hints.mark_scan()
        self._slept = slept
        if self._observer is not None and self._observer.is_dead():
            self._observer.start()
            self._next_scan = 0.0
        if not self._indexer.catalogue.is_complete():
            self._next_scan = 0.0

    def _scan(self) -> None:
        report = self._indexer.reconcile(self._make_progress(), stopped=self._stopping.is_set)
        for path in report.busy:
            self._hints.mark_path(path)
        deaf = "events are off" if self._observer is None else self._observer.find_fault(report.folders)
        self.status = replace(
            self.status,
            deaf=deaf,
            scanned=self.status.scanned + 1,
            error="",
            held_back=report.held_back,
            unreadable=report.unreadable,
            skipped=report.skipped,
        )
        pause = SCAN_MODE_SECONDS if deaf and self._observer is not None else self._config.reconcile_seconds
        if report.held_back:
            pause = min(pause, report.confirm_after)
        self._next_scan = self._clock() + max(pause, report.scan_seconds / SCAN_SHARE)
        self._missing.clear()  # the scan has settled them
        self._report(report)

    def _look(self, due: Due) -> None:
        now = self._clock()
        waited = {path for path, since in self._missing.items() if now - since >= DELETE_WAIT}
        if not due.paths and not waited:
            return
        # The other missing ones come along: a new note may be one of them under its new name.
        paths = due.paths | self._missing.keys()
        report = self._indexer.index_paths(paths, patient=paths - waited)
        self._missing = {path: self._missing.get(path, now) for path in report.missing}
        for path in report.busy:
            self._hints.mark_path(path)
        if report.changed or report.removed or report.moved:
            self._report(report)
        elif self._on_known:
            self._on_known()

    def _report(self, report: ScanReport | PathReport) -> None:
        if self._on_report:
            self._on_report(report)

    def _make_progress(self) -> Callable[[int, int], None]:
        def progress(done: int, total: int) -> None:
            if self._clock() >= self._next_beat:
                self._beat(f"indexing {done} of {total}")

        return progress

    def _beat(self, activity: str) -> None:
        self._next_beat = self._clock() + BEAT_SECONDS
        self._leadership.beat(self._indexer.catalogue, activity)

    def _fail(self, error: str) -> None:
        self.status = replace(self.status, error=error)
        self._next_scan = self._clock() + self._retry_seconds

    def _find_pause(self) -> float:
        times = [self._next_scan, self._next_beat, self._next_check]
        times += [since + DELETE_WAIT for since in self._missing.values()]
        hinted = self._hints.find_next()
        return max(0.0, min(times if hinted is None else [*times, hinted]) - self._clock())

    def _notify(self) -> None:
        with self._wake:
            self._woken = True
            self._wake.notify_all()

    def _wait(self, seconds: float) -> None:
        """Wait for the time or for a new hint, whichever comes first."""
        with self._wake:
            if not self._woken:
                self._wake.wait(seconds)
            self._woken = False
