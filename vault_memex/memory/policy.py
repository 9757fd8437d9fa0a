"""Who may do what to which note. The table is section 7.4 of the requirements; every write passes here.

A record of the past does not change, whoever asks: an amendment is added. Rules are the person's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import stem_of
from vault_memex.errors import NotWritable, PastImmutable, RoleRequired, RuleUserOnly


@dataclass(frozen=True, slots=True)
class Touched:
    """What an edit touches."""

    text: bool = False  # body or patch
    title: bool = False
    layer: str | None = None  # the new layer, when it changes


def check_role(role: str, *, owner_only: str = "") -> None:
    """Refuse writes by readers, and by everybody but the owner what only the owner does."""
    if role == "reader":
        raise RoleRequired("This connection may read only. The person can give it another role.", role="agent")
    if owner_only and role != "owner":
        raise RoleRequired(f"{owner_only} is for the person, on the command line.", role="owner")


def check_edit(note: NoteRecord, touched: Touched, role: str) -> None:
    """Refuse an edit that the note's layer or lock forbids. Raises the narrowest error."""
    check_role(role)
    if role == "owner":
        return
    _check_lock(note)
    if "rule" in (note.layer, touched.layer):
        raise RuleUserOnly(
            f"{note.title!r} is or would become a rule, and only the person changes rules. Propose the wording in the "
            "conversation."
        )
    if note.layer == "past" and (touched.text or touched.title or touched.layer is not None):
        raise PastImmutable(
            f"{note.title!r} records what happened and is not rewritten. Save an amendment instead.",
            suggestion=suggest_amendment(note),
        )


def check_delete(note: NoteRecord, role: str) -> None:
    """Refuse deleting a rule or a locked note."""
    check_role(role)
    if role == "owner":
        return
    _check_lock(note)
    if note.layer == "rule":
        raise RuleUserOnly(
            f"{note.title!r} is a rule; only the person deletes rules. Propose it in the conversation."
        )


def _check_lock(note: NoteRecord) -> None:
    if note.properties.get("locked") is True:
        raise NotWritable(f"{note.title!r} has `locked: true`. The person can take the lock off in the file.")


def suggest_amendment(note: NoteRecord) -> dict[str, Any]:
    """Return a ready `save` call that amends the note."""
    return {
        "tool": "save",
        "title": f"[Amendment] {note.title}",
        "layer": "past",
        "body": f"Amends [[{stem_of(note.path)}]]: …",
        "amends": note.path,
        "amend_kind": "continues",
    }
