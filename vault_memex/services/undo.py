"""Taking a journalled change back, whoever made it, as one change that can itself be undone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from vault_memex.core.changes import Change
from vault_memex.core.text import base_of, render_subject
from vault_memex.errors import DoesNotFit, NotFound
from vault_memex.memory.policy import check_role
from vault_memex.memory.proposals import INBOX_FOLDER, find_number
from vault_memex.services.actor import find_actor
from vault_memex.services.editing import Editing
from vault_memex.services.former import Former
from vault_memex.services.inbox import DETAIL, SUBMITTED, UNDONE
from vault_memex.services.noticing import OUTSIDE
from vault_memex.services.requests import PlannedWrite
from vault_memex.services.reversing import Reversal, Reversing, find_states
from vault_memex.store.journal import JournalEvent, render_moment
from vault_memex.store.trash import Trash

UNDOES = "undoes"  # in an event's details: the number of the event that it takes back
_NEVER = {
    SUBMITTED: "It only waits: reject it with `vault-memex review reject {proposal}`.",
    "erased": "What was erased is gone for good.",
    "not_applied": "It changed no note.",
}


@dataclass(frozen=True, slots=True)
class UndoRow:
    """A change that can be taken back."""

    event: int
    at: str
    kind: str
    path: str
    title: str
    actor: str
    files: int
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back."""

    event: int  # of the undoing, which can be undone too
    undid: int
    title: str
    paths: tuple[str, ...]  # files as they are now
    commit: str = ""
    commit_error: str | None = None


class Undoing:
    """Undoes. Only the person does, and no tool."""

    def __init__(self, editing: Editing, trash: Trash, clock: Callable[[], datetime]) -> None:
        self._config = editing.config
        self._editing = editing
        stores = editing.transactor.stores
        self._journal = stores.journal
        self._reversing = Reversing(editing.files, trash, Former(stores), editing.snapshot)
        self._clock = clock

    def find(self, limit: int = 20) -> tuple[UndoRow, ...]:
        """Return the latest changes of files, newest first."""
        undone = self._find_undone()
        events = [event for event in self._journal.read() if not _find_bar(event) and find_states(event)]
        return tuple(
            UndoRow(
                event.id,
                event.at,
                event.kind,
                event.path,
                event.title,
                event.actor,
                len(find_states(event)),
                undone.get(event.id, False),
            )
            for event in reversed(events[-limit:])
        )

    def undo(self, number: int) -> Undone:
        """Take a change back: all of it, or nothing. What was written since stays.

        Raises NotFound for a number that names no change of files, or whose old texts are not kept any more, and
        DoesNotFit when later changes stand in the way.
        """
        check_role(self._config.role, owner_only="Undoing a change")
        event = self._journal.find_event(number)
        if event is None or not find_states(event):
            raise NotFound(f"Change {number} changed no file. `vault-memex undo` lists those that did.")
        if bar := _find_bar(event):
            raise DoesNotFit(f"Change {number} is not undone. {bar}")
        if self._find_undone().get(number):
            raise DoesNotFit(f"Change {number} has been undone already. `vault-memex undo` lists what can be.")
        planned: list[Reversal] = []

        def plan() -> PlannedWrite:
            found = self._reversing.plan(event, when=render_moment(self._clock()), actor=find_actor(self._config))
            if not found.edits:
                raise DoesNotFit(f"All files are as they were before change {number}: nothing is to be undone.")
            planned[:] = [found]
            title = render_subject(f"Undo: {event.title}")
            change = Change(
                UNDONE,
                event.from_path or event.path,
                title,
                tuple(found.edits),
                find_actor(self._config),
                event.note_id,
            )
            return PlannedWrite(change, _details(event), found.numbers)

        applied = self._editing.write(plan)
        assert applied is not None
        for path, to, revision in planned[0].moves:
            self._editing.numbering.record_move(path, to, revision)
        return Undone(
            applied.event.id,
            number,
            event.title,
            tuple(file.path for file in applied.files),
            applied.commit,
            applied.commit_error or None,
        )

    def _find_undone(self) -> Mapping[int, bool]:
        """Return of each event that was ever taken back whether it is so now: an undoing can be undone."""
        by: dict[int, list[int]] = defaultdict(list)
        for event in self._journal.read_with(UNDOES, {}):
            if isinstance(event.details[UNDOES], int):
                by[event.details[UNDOES]].append(event.id)
        undone: dict[int, bool] = {}
        for number in sorted(by, reverse=True):  # later events first: their own state counts
            undone[number] = any(not undone.get(undoing, False) for undoing in by[number])
        return undone


def _find_bar(event: JournalEvent) -> str:
    """Return why an event is never undone; empty when it can be."""
    if event.op == OUTSIDE:
        return "It was made outside: what was there before is not kept here."
    return _NEVER.get(event.kind, "").format(**event.details)


def _details(event: JournalEvent) -> dict[str, int]:
    """Return what the journal says beside: the event, and a proposal that waits again or no more."""
    inbox = [find_number(base_of(one.path)) for one in find_states(event) if one.path.startswith(INBOX_FOLDER)]
    number = event.details.get(DETAIL) or next((one for one in inbox if one is not None), None)
    return {UNDOES: event.id, **({DETAIL: number} if isinstance(number, int) else {})}
