"""What of the signals and inferences a connection may be shown: those about notes of its scope alone. The inbox too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from vault_memex.core.snapshot import Snapshot
from vault_memex.memory.dangling import hide_trash
from vault_memex.memory.inferences import Inference
from vault_memex.memory.proposals import Proposal
from vault_memex.memory.scope import Scope
from vault_memex.memory.triage import SignalRow, SignalTable


@dataclass(frozen=True, slots=True)
class Sight:
    """The scope of a connection, and all notes, by which a note that moved is known."""

    scope: Scope
    snapshot: Callable[[], Snapshot]

    @property
    def is_whole(self) -> bool:
        """Whether all of them may be shown."""
        return self.scope.is_whole

    def shows_signal(self, row: SignalRow) -> bool:
        """Return whether all notes of a signal are in the scope."""
        return self.is_whole or all(self.holds(ref.path, ref.note_id) for ref in row.notes)

    def shows_inference(self, inference: Inference) -> bool:
        """Return whether all sources of an inference are in the scope."""
        return self.is_whole or all(self.holds(one.path, one.note_id) for one in inference.evidence)

    def shows_proposal(self, one: Proposal) -> bool:
        """Return whether the note that a proposal is about is in the scope, and of a merge both."""
        return self.holds(one.path, one.note_id) and (
            one.into is None or self.holds(one.into.path, one.into.note_id)
        )

    def narrow(self, table: SignalTable) -> SignalTable:
        """Return the table with the signals that may be shown, without what they say of the trash: it has no scope."""
        if self.is_whole:
            return table
        return replace(table, rows=tuple(_hide_trash(row) for row in table.rows if self.shows_signal(row)))

    def holds(self, path: str, number: int | None) -> bool:
        """Return whether a note is in the scope: by its number, which follows a move, else by its path."""
        note = self.snapshot().by_id.get(number) if number is not None else None
        return self.scope.holds(note.path if note is not None else path)


def _hide_trash(row: SignalRow) -> SignalRow:
    return replace(row, reason=hide_trash(row.reason), detail="forward") if row.detail == "trashed" else row
