"""The trash as its owner handles it: what is in it, back into the vault, or gone for good. No tool does this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from vault_memex.config import Config
from vault_memex.core.changes import Change, MoveFile
from vault_memex.core.text import parse_number
from vault_memex.memory.policy import check_role
from vault_memex.services.actor import find_actor
from vault_memex.services.editing import Editing
from vault_memex.services.numbering import Numbering
from vault_memex.services.requests import PlannedWrite
from vault_memex.store.journal import render_moment
from vault_memex.store.trash import Tombstone, Trash

KEPT_DAYS = 30  # a deleted note can be restored at least so long
_WHO = "Restoring and erasing deleted notes"


@dataclass(frozen=True, slots=True)
class Trashed:
    """A note in the trash."""

    note_id: int | None
    title: str
    path: str  # where it was
    deleted: str  # UTC
    by: str
    reason: str
    file: str  # its name in the trash folder
    days_left: int  # until `purge --old` erases it; 0: it does now


class Trashing:
    """Restores and erases, through the one door for writes."""

    def __init__(
        self,
        *,
        config: Config,
        trash: Trash,
        editing: Editing,
        numbering: Numbering,
        clock: Callable[[], datetime],
    ) -> None:
        self._config = config
        self._trash = trash
        self._editing = editing
        self._numbering = numbering
        self._clock = clock

    def find(self) -> tuple[Trashed, ...]:
        """Return what is in the trash, last deleted first."""
        stones = self._trash.find_tombstones(waiting_only=True)
        return tuple(self._view(stone) for stone in reversed(stones))

    def restore(self, ref: str, to: str | None = None) -> Trashed:
        """Put a note back where it was, or at `to`; its number comes back with it.

        `ref` is its number, former path, title or file name in the trash. Raises NotFound, or AlreadyExists when its
        place is taken.
        """
        return self._apply(ref, lambda stone: self._trash.plan_restore(stone, find_actor(self._config), to))

    def purge(self, ref: str) -> Trashed:
        """Erase a note from the trash for good; its tombstone stays, so that its number is never given again."""
        now = render_moment(self._clock())
        return self._apply(ref, lambda stone: self._trash.plan_purge(stone, find_actor(self._config), now))

    def purge_old(self) -> tuple[Trashed, ...]:
        """Erase what was deleted more than thirty days ago."""
        return tuple(self.purge(one.file) for one in self.find() if one.days_left == 0)

    def _apply(self, ref: str, plan: Callable[[Tombstone], Change]) -> Trashed:
        check_role(self._config.role, owner_only=_WHO)
        number = parse_number(ref.strip().removeprefix("#"))
        stone = self._trash.get_tombstone(ref.strip() if number is None else number)
        self._editing.write(lambda: self._with_number(stone, plan(stone)))
        return self._view(stone)

    def _with_number(self, stone: Tombstone, change: Change) -> PlannedWrite:
        """Return the write; a note that comes back has its number at once, wherever it comes back to."""
        if change.op != "restored" or stone.id is None:
            return PlannedWrite(change)
        if change.path != stone.path:
            moved = next(edit.before for edit in change.edits if isinstance(edit, MoveFile))
            self._numbering.record_move(stone.path, change.path, moved)
        return PlannedWrite(change, numbers={change.path: stone.id})

    def _view(self, stone: Tombstone) -> Trashed:
        return Trashed(
            stone.id,
            stone.title,
            stone.path,
            stone.when,
            stone.by,
            stone.reason,
            stone.file,
            self._days_left(stone),
        )

    def _days_left(self, stone: Tombstone) -> int:
        try:
            deleted = datetime.fromisoformat(stone.when)
        except ValueError:  # a line that a person edited: never erased for its age
            return KEPT_DAYS
        deleted = deleted if deleted.tzinfo else deleted.replace(tzinfo=UTC)
        return max(0, KEPT_DAYS - (self._clock() - deleted).days)
