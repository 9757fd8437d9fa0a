"""Refs: what a caller may write for a note, and which note that is.

Precedence: number, path, title (or file stem), alias, former title. Reading takes the note with the lowest
number among equals and names the others; writing refuses to choose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nlargest
from typing import Literal

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import name_key, render_line, stem_of, without_md
from vault_memex.errors import AmbiguousTitle, InvalidArgument, NotFound

RefKind = Literal["id", "path", "title", "alias", "former_title"]

_NUMBER = re.compile(r"#?(\d{1,12})\Z")
_SCHEMES = ("vault://notes/", "memory://", "memex://")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The note a ref means."""

    note: NoteRecord
    kind: RefKind
    same_title: tuple[NoteRecord, ...] = ()  # other notes the ref could mean


def parse_ref(ref: str) -> str:
    """Return the bare name of a ref: without brackets, display text, heading, scheme."""
    bare = ref.strip()
    if bare.startswith("![["):
        bare = bare[1:]
    if bare.startswith("[[") and bare.endswith("]]"):
        bare = bare[2:-2].partition("|")[0].partition("#")[0].strip()
    for scheme in _SCHEMES:
        bare = bare.removeprefix(scheme)
    if not bare:
        raise InvalidArgument("ref", "ref is empty. Write a title, a path, or a number such as #142.")
    return bare


def resolve_ref(snapshot: Snapshot, ref: str, *, writing: bool = False) -> Resolved:
    """Return the note a ref means.

    Raises NotFound with near names, or AmbiguousTitle when `writing` and several notes answer.
    """
    bare = parse_ref(ref)
    number = _NUMBER.match(bare)
    if number and (note := snapshot.by_id.get(int(number[1]))):
        return Resolved(note, "id")
    is_path = "/" in bare or without_md(bare) != bare  # a bare name may be meant as a title too
    exact = snapshot.notes.get(bare) or snapshot.notes.get(f"{bare}.md")
    if exact is not None:
        twins = () if is_path else _find_twins(snapshot, bare, (exact,))
        return _chosen(ref, "path", (exact,), twins, writing=writing)
    key = name_key(bare)
    groups: tuple[tuple[RefKind, Sequence[NoteRecord]], ...] = (
        ("path", snapshot.by_path_key.get(name_key(without_md(bare)), ())),
        ("title", snapshot.by_title_key.get(key) or snapshot.by_title_key.get(name_key(without_md(bare)), ())),
        ("alias", snapshot.by_alias_key.get(key, ())),
        ("former_title", snapshot.by_former_title_key.get(key, ())),
    )
    for kind, group in groups:
        if group:
            twins = _find_twins(snapshot, bare, group) if kind == "path" and not is_path else ()
            return _chosen(ref, kind, group, twins, writing=writing)
    if "\\" in bare:  # a name with a line break in it, as answers show it
        shown = [
            note for note in snapshot.notes.values() if bare in (render_line(note.path), render_line(note.title))
        ]
        if shown:
            return _chosen(ref, "path", shown, (), writing=writing)
    near = find_near_names(snapshot, bare)
    hint = f" Near: {', '.join(near)}." if near else " Use search to find it."
    raise NotFound(f"No note {ref!r}.{hint}", near)


def _find_twins(snapshot: Snapshot, name: str, found: Sequence[NoteRecord]) -> tuple[NoteRecord, ...]:
    """Return the notes of that title besides those that were found by path."""
    return tuple(n for n in snapshot.by_title_key.get(name_key(name), ()) if all(n is not one for one in found))


def _chosen(
    ref: str, kind: RefKind, group: Sequence[NoteRecord], twins: Sequence[NoteRecord], *, writing: bool
) -> Resolved:
    ordered = sorted(group, key=lambda n: (n.note_id is None, n.note_id or 0, n.path))
    others = (*ordered[1:], *twins)
    if writing and others:
        raise AmbiguousTitle(ref, [n.path for n in (ordered[0], *others)])
    return Resolved(ordered[0], kind, others)


def find_near_names(snapshot: Snapshot, name: str, limit: int = 5) -> list[str]:
    """Return paths of the notes whose name is most like `name`, best first; none that is unlike."""
    key = name_key(stem_of(name))
    if not key:
        return []
    words = set(key.split())

    def likeness(note: NoteRecord) -> float:
        other = name_key(note.title)
        if key in other or other in key:
            return 1.0 + min(len(key), len(other)) / max(len(key), len(other))
        shared = len(words & set(other.split()))
        if not shared and (abs(len(other) - len(key)) > 3 or other[:1] != key[:1]):
            return 0.0
        return SequenceMatcher(None, key, other, autojunk=False).ratio() + shared / 10

    scored = nlargest(limit, ((likeness(n), n.path) for n in snapshot.notes.values()))
    return [path for score, path in scored if score >= 0.6]
