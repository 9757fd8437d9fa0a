"""File system events into hints: watchdog, with its ways of going deaf watched in turn."""

from __future__ import annotations

import logging
import os
import warnings
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from vault_memex.index.hints import Hints
from vault_memex.index.scan import is_in_scope

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

# File systems where changes made elsewhere cause no events.
_REMOTE = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "drvfs", "vboxsf", "prl_fs", "afs", "ceph", "davfs")
)
_INOTIFY_LOGGER = "watchdog.observers.inotify_c"
_EMITTER_LOGGER = "watchdog.observers.inotify"


class VaultObserver:
    """Marks what happens below the vault folder. `find_fault` says why that cannot be relied on."""

    def __init__(self, root: Path, ignore: tuple[str, ...], hints: Hints) -> None:
        self._root = os.fspath(root)
        self._ignore = ignore
        self._hints = hints
        self._observer: BaseObserver | None = None
        self._inode: int | None = None
        self._overflow = _OverflowListener(hints)
        self._failure = ""

    def start(self) -> None:
        """Begin to watch. A failure is no error: `find_fault` tells it."""
        self.stop()
        self._failure = ""
        try:
            self._inode = os.stat(self._root).st_ino
            self._observer = _open_observer(self._root, self._ignore, self._hints)
        except OSError as error:
            self._failure = f"the system refuses to watch: {error.strerror or error}"
        else:
            logging.getLogger(_INOTIFY_LOGGER).addHandler(self._overflow)

    def stop(self) -> None:
        """End the watching and its threads."""
        logging.getLogger(_INOTIFY_LOGGER).removeHandler(self._overflow)
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join(1.0)

    def is_dead(self) -> bool:
        """Whether a thread of it ended, or the folder it watches is not the vault any more: start it again."""
        if self._observer is None:
            return True
        threads: list[Thread | None] = [self._observer, *self._observer.emitters]
        # On Linux a third thread reads the events; it has no public name.
        threads.append(getattr(self._observer, "_inotify_fd", None))
        if not all(thread.is_alive() for thread in threads if thread is not None):
            return True
        try:
            return os.stat(self._root).st_ino != self._inode
        except OSError:
            return True

    def find_fault(self, folders: int) -> str:
        """Return why events may be missing with this many folders in the vault; "" when they may be relied on."""
        if self._failure or self._observer is None:
            return self._failure or "not watching"
        if (kind := _find_remote_kind(self._root)) is not None:
            return f"a {kind} file system reports no changes made elsewhere"
        watched = _count_watches(self._observer)
        if watched is not None and watched < folders:
            return f"only {watched} of {folders} folders could be watched (fs.inotify.max_user_watches)"
        return ""


class _OverflowListener(logging.Handler):
    """watchdog says in one log line only that the system dropped events."""

    def __init__(self, hints: Hints) -> None:
        super().__init__(logging.WARNING)
        self._hints = hints

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002 -- any warning of that module means loss
        self._hints.mark_scan()


def _is_no_farewell(record: logging.LogRecord) -> bool:
    """Whether a record says more than that a thread met its end, which `stop` asked for and `is_dead` looks for."""
    return "called when the thread is inactive" not in record.getMessage()


def _open_observer(root: str, ignore: tuple[str, ...], hints: Hints) -> BaseObserver:
    from watchdog import events
    from watchdog.observers import Observer

    class Handler(events.FileSystemEventHandler):
        """Only marks, and never raises: an exception would end watchdog's thread for good."""

        def dispatch(self, event: FileSystemEvent) -> None:
            try:
                _mark_event(event, root, ignore, hints)
            except Exception:
                logging.getLogger(__name__).exception("a file system event could not be read")
                hints.mark_scan()

    wanted: list[type[FileSystemEvent]] = [
        events.FileClosedEvent,
        events.FileCreatedEvent,
        events.FileDeletedEvent,
        events.FileMovedEvent,
        events.DirCreatedEvent,
        events.DirDeletedEvent,
        events.DirMovedEvent,
    ]
    # Folders made quickly inside each other are registered twice, harmlessly; a warning is all that says so, and
    # where warnings are errors it would end the thread.
    warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
    logging.getLogger(_EMITTER_LOGGER).addFilter(_is_no_farewell)  # once, however often it is added
    observer = Observer()
    if type(observer).__module__ != "watchdog.observers.inotify":
        wanted.append(events.FileModifiedEvent)  # where no event tells that a file was closed
    try:
        observer.schedule(Handler(), root, recursive=True, event_filter=wanted, follow_symlink=False)
        observer.start()
    except OSError:
        observer.stop()
        raise
    return observer


def _mark_event(event: FileSystemEvent, root: str, ignore: tuple[str, ...], hints: Hints) -> None:
    """Mark both ends of the event, whatever its type claims: an editor's move may be half of a save."""
    for end in (event.src_path, event.dest_path):
        if not end:
            continue
        path = os.fsdecode(end)
        relative = path[len(root) :].lstrip(os.sep).replace(os.sep, "/") if path.startswith(root) else ""
        if not relative:
            hints.mark_scan()  # the vault folder itself
        elif is_in_scope(relative, ignore):
            if event.is_directory or not relative.isprintable():
                hints.mark_scan()
            else:
                hints.mark_path(relative)


def _count_watches(observer: BaseObserver) -> int | None:
    # watchdog starts without a word over the system's limit; no public name tells how many watches it got.
    counts = []
    for emitter in observer.emitters:
        group: Any = getattr(emitter, "_inotify", None)
        watched = getattr(group, "_active_callbacks_by_path", None)
        if watched is None:
            return None
        counts.append(len(watched))
    return sum(counts)


def _find_remote_kind(root: str) -> str | None:
    """Return the type of the file system when it is one that other machines write to; Linux only."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
            lines = [line.split(" ") for line in mounts]
    except OSError:
        return None
    real = os.path.realpath(root)
    best, kind = "", ""
    for line in lines:
        place = line[1].replace("\\040", " ")
        inside = real == place or real.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best):
            best, kind = place, line[2]
    return kind if kind in _REMOTE or kind.startswith("fuse.sshfs") else None
