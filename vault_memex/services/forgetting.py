"""Which note `forget` means: exactly one, by a name that can mean no other."""

from __future__ import annotations

import unicodedata

from vault_memex.core.refs import parse_ref, resolve_ref
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import base_of, stem_of
from vault_memex.errors import InvalidArgument

MOVING = frozenset(("current", "latest", "last", "newest", "recent", "most recent", "this", "previous"))
"""Words that mean another note as soon as one is written."""

_NEXT = "Search, read the note, then name it by its #number or path as the answer shows it."


def resolve_exact(snapshot: Snapshot, target: str) -> NoteRecord:
    """Return the note of this number, path, or title as it is spelled.

    Raises InvalidArgument for an alias, a former title, another spelling and words such as `latest`; NotFound;
    AmbiguousTitle when several notes have the title.
    """
    if target.strip().casefold() in MOVING:
        raise InvalidArgument(
            "target",
            f"target = {target.strip()!r} names no exact note: which one it is can change while you look. {_NEXT}",
        )
    found = resolve_ref(snapshot, target, writing=True)
    bare = unicodedata.normalize("NFC", parse_ref(target))
    note = found.note
    spelled = {note.title, note.path, stem_of(note.path), base_of(note.path), note.path.removesuffix(".md")}
    if found.kind == "id" or bare in {unicodedata.normalize("NFC", name) for name in spelled}:
        return note
    name = f"#{note.note_id}" if note.note_id is not None else note.path
    raise InvalidArgument(
        "target",
        f"target = {target!r} is not the exact name of a note (it would mean {note.path}, by its "
        f"{found.kind.replace('_', ' ')}). Read that note; if it is the one, send target = {name!r}.",
    )
