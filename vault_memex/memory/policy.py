"""Who may do what to which note. The table is section 7.4 of the requirements; every write passes here.

A record of the past does not change, whoever asks: an amendment is added. Rules are the person's own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import stem_of
from vault_memex.errors import NotWritable, PastImmutable, RoleRequired, RuleUserOnly
from vault_memex.memory.system_tags import PROFILE, SKILL, has_tag


@dataclass(frozen=True, slots=True)
class Touched:
    """What an edit touches."""

    text: bool = False  # body or patch
    whole: bool = False  # the whole body, which overwrites silently what others wrote meanwhile
    title: bool = False
    layer: str | None = None  # the new layer, when it changes


WriteKind = Literal["create", "edit", "delete", "merge", "report", "mint"]
Decided = Literal["apply", "pending", "hold"]
GUARDED_TAGS = frozenset((SKILL, PROFILE))  # such notes steer assistants


@dataclass(frozen=True, slots=True)
class Writing:
    """A write that somebody asks for, as far as the table of 7.4 looks at it."""

    kind: WriteKind
    note: NoteRecord | None = None  # None: a new one
    touched: Touched = Touched()
    layer: str = ""  # of a new note
    tags: Collection[str] = ()  # the note's tags afterwards
    own_draft: bool = False  # the note waits for approval, and its author asks
    hold: bool = False  # the caller wants the person to decide
    into: NoteRecord | None = None  # of a merge: the note that stays; `touched` is of this one


def decide_write(writing: Writing, role: str, policy: str) -> Decided:
    """Return what becomes of a write: done at once, a note that waits, or a proposal. Raises what is refused.

    Every cell of the table in section 7.4 is a case of tests/memory/test_policy.py.
    """
    check_role(role)
    kind, note, touched = writing.kind, writing.note, writing.touched
    if note is not None and kind == "edit":
        check_edit(note, touched, role)
    if note is not None and kind == "delete" and not (writing.hold and note.layer == "rule"):
        check_delete(note, role)  # that a rule go may be proposed
    if note is not None and writing.into is not None:
        _check_merge(note, writing.into, touched, role)
    if kind == "mint":
        return "apply"
    if kind == "report":
        return "hold"
    if kind == "create":
        return "pending" if writing.hold or _must_wait(writing, role, policy) else "apply"
    if writing.own_draft and kind == "edit":
        return "apply"  # the person has not approved the note yet: it is the draft
    return "hold" if writing.hold or _must_wait(writing, role, policy) else "apply"


def check_at_once(kind: WriteKind, note: NoteRecord | None, role: str, policy: str = "personal") -> None:
    """Refuse a write of several notes at once of which one would have to wait for the person."""
    if decide_write(Writing(kind, note, Touched(text=True)), role, policy) != "apply":
        where = f"{note.title!r} changes" if note is not None else "New notes stay"
        raise RoleRequired(
            f"{where} only with the person's consent, and this tool writes at once. Propose it with `edit` or `save`.",
            role="curator",
        )


def _must_wait(writing: Writing, role: str, policy: str) -> bool:
    if role == "owner":
        return False
    if is_guarded(writing.tags) or (writing.note is not None and is_guarded(writing.note.tags)):
        return True
    if writing.kind == "merge":
        return True
    if writing.kind == "delete":
        return policy == "reviewed"
    if writing.touched.whole and role == "curator":
        return True
    return policy == "reviewed" and role == "agent"


def is_guarded(tags: Collection[str]) -> bool:
    """Return whether a note with these tags changes only with the person's consent."""
    return any(has_tag(tags, guarded) for guarded in GUARDED_TAGS)


def check_role(role: str, *, owner_only: str = "") -> None:
    """Refuse writes by readers, and by everybody but the owner what only the owner does."""
    if role == "reader":
        raise RoleRequired("This connection may read only. The person can give it another role.", role="agent")
    if owner_only and role != "owner":
        raise RoleRequired(f"{owner_only} is for the person, on the command line.", role="owner")


def is_curator(role: str) -> bool:
    """Return whether a role may do what curators do."""
    return role in ("curator", "owner")


def check_curator(role: str, what: str) -> None:
    """Refuse what only curators and the person do. `what` begins the sentence."""
    if not is_curator(role):
        raise RoleRequired(
            f"{what} is for connections with the role of a curator, which the person gives.", role="curator"
        )


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
            f"{note.title!r} is a rule; only the person deletes rules. Propose it in the conversation, "
            "or with hold: true where the tool takes that."
        )


def _check_merge(note: NoteRecord, into: NoteRecord, touched: Touched, role: str) -> None:
    """Refuse what no merge may do. It always waits for the person, so that a rule go may be proposed."""
    if role != "owner":
        _check_lock(note)
    check_edit(into, touched, role)


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
