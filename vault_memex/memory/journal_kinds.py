"""How a line of the journal is called in `changes`, and which of them are the history of tidying."""

from __future__ import annotations

from vault_memex.memory.runs import RUN_KINDS

IMPORTED = "imported"  # also in an event's details: the notes came from a file
CHANGE_KINDS = (
    "added",
    "submitted",
    "changed",
    "renamed",
    "deleted",
    "restored",
    "erased",
    "approved",
    "rejected",
    "acknowledged",
    IMPORTED,
    "tag_removed",
    "tag_merged",
    "tag_restored",
    "flag_raised",
    "flag_resolved",
    "edited_outside",
    "undone",
)
"""All that can happen to a note."""

PAIR_REJECTED = "pair_rejected"
CURATION_KINDS = (*RUN_KINDS, PAIR_REJECTED)
"""What is written down about tidying, and changes no note."""

TIDYING_KINDS = frozenset(
    (
        *CURATION_KINDS,
        "approved",
        "rejected",
        "acknowledged",
        "tag_removed",
        "tag_merged",
        "tag_restored",
        "flag_raised",
        "flag_resolved",
    )
)
"""What is tidying whoever did it; a curator's other writes are, too."""

KINDS = (*CHANGE_KINDS, *CURATION_KINDS)


def find_shown_kind(kind: str, *, imported: bool, changes_note: bool) -> str | None:
    """Return what a line is called; None for the program's own bookkeeping."""
    if imported:
        return IMPORTED
    if kind in KINDS:
        return kind
    return "changed" if changes_note else None
