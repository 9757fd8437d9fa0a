"""Files that a swap displaced: kept hidden for a second, because an editor may still write into them.

After that they are hashed again. Unchanged ones go; a changed one becomes a conflict copy beside its note, so that
what the editor saved is not lost.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vault_memex.core.revision import revision_of
from vault_memex.store.atomic import keep_conflict_copy
from vault_memex.store.disk import read_bytes, remove_quietly

KEEP_SECONDS = 1.0
ORPHAN_SECONDS = 10.0  # older hidden files belong to a process that is gone
_TEMP_NAME = re.compile(r"\.vmx-k?[0-9a-f]{6}-(new|[0-9a-f]{32})\.tmp")


@dataclass(frozen=True, slots=True)
class DisplacedFile:
    """A hidden file that held the revision `before` of a note when it was displaced."""

    kept: Path
    note: Path
    before: str
    due: float  # monotonic seconds


class Sweeper:
    """Looks at displaced files when their time has come; on a background thread once started."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, now: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._now = now  # seconds since 1970, for the names of conflict copies
        self._waiting: list[DisplacedFile] = []
        self._conflicts: list[Path] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False

    def keep(self, kept: Path, note: Path, before: str) -> None:
        """Look at the hidden file again a second from now."""
        with self._changed:
            self._waiting.append(DisplacedFile(kept, note, before, self._clock() + KEEP_SECONDS))
            self._changed.notify()

    def sweep(self, everything: bool = False) -> tuple[Path, ...]:
        """Check what is due (or everything); return the conflict copies this made."""
        with self._changed:
            now = self._clock()
            due = [d for d in self._waiting if everything or d.due <= now]
            self._waiting = [d for d in self._waiting if not everything and d.due > now]
        copies = [
            copy for d in due if (copy := check_displaced(d.kept, d.note, d.before, self._now())) is not None
        ]
        with self._changed:
            self._conflicts += copies
        return tuple(copies)

    def take_conflicts(self) -> tuple[Path, ...]:
        """Return conflict copies made since the last call; the next answer should name them."""
        with self._changed:
            taken, self._conflicts = tuple(self._conflicts), []
        return taken

    def start(self) -> None:
        """Sweep on a background thread from now on."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="displaced files", daemon=True)
            self._thread.start()

    def close(self, wait: bool = True) -> None:
        """Stop. With `wait`, what is kept gets its second first; without, the next start's clean-up finds it."""
        with self._changed:
            self._closing = True
            if not wait:
                self._waiting = []
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(KEEP_SECONDS + 5)
        elif wait:
            self.sweep(everything=True)

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._waiting:
                    pause = min(d.due for d in self._waiting) - self._clock()
                    if pause > 0:
                        self._changed.wait(pause)
                elif self._closing:
                    return
                else:
                    self._changed.wait()
            with contextlib.suppress(OSError):  # the file stays; the next start's clean-up looks again
                self.sweep()


def check_displaced(kept: Path, note: Path, before: str, moment: float) -> Path | None:
    """Remove a displaced file that is as it was; make a conflict copy of a changed one and return its path."""
    try:
        unchanged = revision_of(read_bytes(kept)) == before
    except OSError:
        return None  # another process dealt with it
    if unchanged:
        remove_quietly(kept)
        return None
    with contextlib.suppress(FileNotFoundError):
        return keep_conflict_copy(kept, note, moment)
    return None


def find_temps(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield our hidden files in a folder, each with the revision its name says it held ("new" for none)."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in sorted(names):
        match = _TEMP_NAME.fullmatch(name)
        if match:
            yield folder / name, match[1]


def remove_orphans(root: Path, note_of: Callable[[str], str | None], moment: float) -> tuple[Path, ...]:
    """Deal with hidden files a crash left anywhere in the vault; return conflict copies made.

    `note_of` gives the vault path of the note that had a revision, if known. Needs the vault lock, and pending
    intents dealt with before. `moment` is seconds since 1970.
    """
    copies: list[Path] = []
    for folder in _walk(root):
        for temp, before in find_temps(folder):
            with contextlib.suppress(OSError):
                if moment - os.lstat(temp).st_ctime < ORPHAN_SECONDS:
                    continue
                if before == "new":
                    remove_quietly(temp)
                    continue
                path = note_of(before)
                note = root / path if path and (root / path).parent == folder else folder / "Recovered.md"
                copy = check_displaced(temp, note, before, moment)
                if copy is not None:
                    copies.append(copy)
    return tuple(copies)


def _walk(root: Path) -> Iterator[Path]:
    """Yield the root and every folder below that is neither hidden nor a link."""
    folders = [root]
    while folders:
        folder = folders.pop()
        yield folder
        try:
            with os.scandir(folder) as entries:
                folders += [
                    Path(e.path) for e in entries if not e.name.startswith(".") and e.is_dir(follow_symlinks=False)
                ]
        except OSError:
            continue
