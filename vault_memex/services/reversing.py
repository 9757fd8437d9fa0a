"""The edits that take a journalled change back. What was written since stays, or nothing is taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from vault_memex.core.canvas import is_canvas
from vault_memex.core.changes import FileEdit, MoveFile, RemoveFile, WriteFile
from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.snapshot import Snapshot
from vault_memex.core.text import base_of, name_key
from vault_memex.errors import DoesNotFit, NotFound
from vault_memex.memory.hunks import apply_hunks, plan_hunks
from vault_memex.services.former import Former
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.journal import FileState, JournalEvent
from vault_memex.store.layout import TRASH_FOLDER
from vault_memex.store.paths import Door
from vault_memex.store.trash import RESTORED, TOMBSTONES, Trash

INTERNAL = "_memex/"
_SHOWN = 60  # code points of words that are in the way


@dataclass(slots=True)
class Reversal:
    """What taking a change back does."""

    edits: list[FileEdit] = field(default_factory=list)
    moves: list[tuple[str, str, str]] = field(default_factory=list)  # of notes: path, to, revision
    numbers: dict[str, int] = field(default_factory=dict)  # of notes that come back from the trash, by path


def find_states(event: JournalEvent) -> tuple[FileState, ...]:
    """Return what an event did to each file; an event that only says something has none."""
    return tuple(one for one in event.states if one.before != one.after or one.from_path is not None)


class Reversing:
    """Plans reversals on the files as they are. Needs the vault lock."""

    def __init__(self, files: VaultFiles, trash: Trash, former: Former, snapshot: Callable[[], Snapshot]) -> None:
        self._files = files
        self._trash = trash
        self._former = former
        self._snapshot = snapshot

    def plan(self, event: JournalEvent, *, when: str, actor: str) -> Reversal:
        """Return the edits that make the files of a change as they were before it, last first.

        Where a text has changed since, the words of this change are put back and the others stay. Raises DoesNotFit
        when that cannot be, and NotFound when the old text is not kept any more.
        """
        reversal = Reversal()
        buried: list[tuple[FileText, str, int | None]] = []
        back: list[tuple[str, str]] = []  # names in the trash, and what becomes of them
        for state in reversed(find_states(event)):
            if state.path == TOMBSTONES:
                continue
            if state.before is None and state.from_path is None and not state.path.startswith(INTERNAL):
                buried.append(self._find_unchanged(event, state))
            elif state.before is None and state.from_path is None:
                reversal.edits.append(RemoveFile(state.path, state.after or ""))
            elif state.after is None:
                data = self._former.get(event, state.path, state.before or "")
                reversal.edits.append(WriteFile(state.path, data, None, in_canvas=is_canvas(state.path)))
            else:
                back += self._plan_back(event, state, reversal)
        reason = f"undoing change {event.id}"
        known = {stone.file: stone for stone in self._trash.find_tombstones()}
        also = [(known[name], purged) for name, purged in back if name in known]
        reversal.edits += self._trash.plan_delete_all(buried, when=when, actor=actor, reason=reason, also=also)
        return reversal

    def _find_unchanged(self, event: JournalEvent, state: FileState) -> tuple[FileText, str, int | None]:
        """Return a note that the change made, to go into the trash; nobody's later words go with it."""
        file = self._find_present(event, state)
        if file.revision != state.after:
            raise DoesNotFit(
                f"{file.path} was written by this change and has been edited since. If it is to go, delete it: it is "
                "kept in the trash as it is now."
            )
        note = self._snapshot().notes.get(file.path)
        return file, note.title if note else base_of(file.path), note.note_id if note else None

    def _plan_back(self, event: JournalEvent, state: FileState, reversal: Reversal) -> list[tuple[str, str]]:
        """Add the edits of one file; return its name in the trash with what becomes of it, if it is there."""
        present = self._find_present(event, state)
        data = present.data if state.before == state.after else self._find_data(event, state, present)
        path, names = present.path, []
        if state.from_path is not None:
            path = state.from_path
            self._check_free(path, present.path)
            reversal.edits.append(MoveFile(present.path, path, present.revision))
            names = self._follow_move(present, path, reversal)
        if data != present.data:
            reversal.edits.append(WriteFile(path, data, present.revision, in_canvas=is_canvas(path)))
        return names

    def _follow_move(self, present: FileText, path: str, reversal: Reversal) -> list[tuple[str, str]]:
        trash = f"{TRASH_FOLDER}/"
        if present.path.startswith(trash):
            number = self._former.number_of(path)
            if number is not None:
                reversal.numbers[path] = number
            return [(base_of(present.path), RESTORED)]
        if path.startswith(trash):
            return [(base_of(path), "")]
        reversal.moves.append((present.path, path, present.revision))
        return []

    def _find_present(self, event: JournalEvent, state: FileState) -> FileText:
        """Return the file as it is, wherever its note is now. Raises DoesNotFit when it is gone."""
        door: Door = "internal" if state.path.startswith(INTERNAL) else "read"
        file = self._read(state.path, door)
        if file is None and (moved := self._find_moved(event, state)) is not None:
            file = self._read(moved, door)
        if file is None:
            raise DoesNotFit(
                f"{state.path} is not there any more: it was deleted or moved since. Undo that first, or put it back."
            )
        if file.not_writable:
            raise DoesNotFit(f"{file.path} cannot be put back: {file.not_writable}")
        return file

    def _read(self, path: str, door: Door) -> FileText | None:
        try:
            return self._files.read(path, door)
        except NotFound:
            return None

    def _find_moved(self, event: JournalEvent, state: FileState) -> str | None:
        """Return where the note of a path is now, by its number. A move that is to be undone starts where it ended."""
        if state.from_path is not None or state.path.startswith(INTERNAL):
            return None
        notes = self._snapshot().by_id
        number = event.note_id if state.path == event.path else self._former.number_of(state.path)
        return notes[number].path if number is not None and number in notes else None

    def _find_data(self, event: JournalEvent, state: FileState, present: FileText) -> bytes:
        """Return what the file is to hold: its old bytes, or the present ones with the words of the change put back."""
        if present.revision == state.before:
            return present.data  # somebody has done it already
        former = self._former.get(event, state.from_path or state.path, state.before or "")
        if present.revision == state.after:
            return former
        left = self._former.find_left(event, state.path, state.after or "")
        if left is None:
            raise DoesNotFit(
                f"{present.path} was changed outside since, and what this change left of it is kept nowhere: what "
                "to put back cannot be told. Put it right in the file."
            )
        merged = apply_hunks(present.text, plan_hunks(left.decode("utf-8"), former.decode("utf-8")))
        broken = split_frontmatter(merged.text).error is not None
        if merged.failed or merged.whole_failed or broken:
            words = " ".join(merged.failed[0].new.split())[:_SHOWN] if merged.failed else ""
            what = f" ({words!r} cannot be put back)" if words else ""
            raise DoesNotFit(
                f"{present.path} was changed since in the same place{what}. Undo the later change first, or put it "
                "right in the file."
            )
        return merged.text.encode("utf-8")

    def _check_free(self, path: str, present: str) -> None:
        if self._files.find_place(path).exists and name_key(path) != name_key(present):
            raise DoesNotFit(f"{path} is another file now. Rename that one first, then undo.")
