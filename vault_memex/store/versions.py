"""What notes said before, where git does not keep it: `.memex/history/<number>/<event>.md`, the last 20 of each note.

The event is the one in the journal whose write replaced the text. Nothing rests on these files: a disk that refuses
one does not stop a write, and the folder may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from vault_memex.store.disk import remove_quietly
from vault_memex.store.journal import JournalEvent
from vault_memex.store.steps import Step

KEPT = 20
_NAME = re.compile(r"(\d+)\.md")


class Versions:
    """Older texts by note number and event. Writing needs the vault lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def follow(self, event: JournalEvent, steps: Sequence[Step], number_of: Callable[[str], int | None]) -> None:
        """Keep what the steps of an event replaced, or forget the note that it erased."""
        if event.op == "erased" and event.note_id is not None:
            self.forget(event.note_id)
        for step in steps:
            number = number_of(step.path) if step.old and step.kind != "move" else None
            if number is not None:
                self.keep(number, event.id, step.old)

    def keep(self, note: int, event: int, data: bytes) -> None:
        """Keep what the note said before the event, and of this note no more than the last 20."""
        folder = self.folder / str(note)
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            fresh = folder / f".{event}.tmp"
            try:
                fresh.write_bytes(data)
                os.replace(fresh, folder / f"{event}.md")
            except OSError:
                remove_quietly(fresh)
                raise
            for old in self.find_events(note)[KEPT:]:
                remove_quietly(folder / f"{old}.md")

    def find_events(self, note: int) -> tuple[int, ...]:
        """Return the events before which a text of the note is kept, newest first."""
        try:
            names = os.listdir(self.folder / str(note))
        except OSError:
            return ()
        return tuple(sorted((int(m[1]) for name in names if (m := _NAME.fullmatch(name))), reverse=True))

    def read(self, note: int, event: int) -> bytes | None:
        """Return the text before an event, or None when it is not kept."""
        try:
            return (self.folder / str(note) / f"{event}.md").read_bytes()
        except OSError:
            return None

    def forget(self, note: int) -> None:
        """Remove all texts of a note that is erased for good. Raises OSError when that fails."""
        if (self.folder / str(note)).exists():
            shutil.rmtree(self.folder / str(note))
