"""The vault as every read sees it: metadata of all notes at one catalogue revision, without bodies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from vault_memex.core.note import PropertyValue
from vault_memex.core.text import folder_of, name_key, stem_of, without_md


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """What the catalogue knows of one note."""

    path: str
    title: str  # property `title`, else the file's stem
    revision: str  # content hash: 32 hex digits of BLAKE2b-128 over the file's bytes
    note_id: int | None = None  # None until the first write after the note appeared
    aliases: tuple[str, ...] = ()
    former_titles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    properties: Mapping[str, PropertyValue] = field(default_factory=lambda: MappingProxyType({}))
    layer: str | None = None  # past, state, rule or None for a plain note; frontmatter, else config's folders
    summary: str | None = None
    created: str = ""  # ISO 8601: a date, or a moment in UTC
    updated: str = ""
    chars: int = 0  # length of the body in code points
    links_out: int = 0
    notices: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The folder, without a final slash; "" at the root."""
        return folder_of(self.path)

    @property
    def pending(self) -> bool:
        """Whether the note waits for approval."""
        return self.properties.get("review") == "pending"


Names = Mapping[str, tuple[NoteRecord, ...]]
"""Notes by a name's key, those of one name in order of path."""
FindKeys = Callable[[NoteRecord], Collection[str]]


@dataclass(frozen=True)
class Snapshot:
    """All notes at one catalogue revision. Immutable; readers keep it as long as they like."""

    revision: int
    notes: Mapping[str, NoteRecord]  # by path, in order of path
    attachments: Sequence[str] = ()  # paths of the other files links may point to

    @cached_property
    def by_id(self) -> Mapping[int, NoteRecord]:
        """Notes by their number."""
        return {n.note_id: n for n in self.notes.values() if n.note_id is not None}

    @cached_property
    def by_path_key(self) -> Names:
        """Notes by their path without `.md`, compared as names are."""
        return _build_names(self.notes.values(), _find_path_keys)

    @cached_property
    def by_title_key(self) -> Names:
        """Notes by title and by file stem."""
        return _build_names(self.notes.values(), _find_title_keys)

    @cached_property
    def by_alias_key(self) -> Names:
        """Notes by alias."""
        return _build_names(self.notes.values(), _find_alias_keys)

    @cached_property
    def by_former_title_key(self) -> Names:
        """Notes by titles they had."""
        return _build_names(self.notes.values(), _find_former_title_keys)

    def follow(
        self, revision: int, notes: Mapping[str, NoteRecord], attachments: Sequence[str], changed: Iterable[str]
    ) -> Snapshot:
        """Return the snapshot after this one, of which the `changed` paths differ or are gone or new.

        Look-ups by name that this one has made are carried over: with 10,000 notes each takes 20 ms to make anew.
        """
        following = Snapshot(revision, notes, attachments)
        paths = list(changed)
        before = [self.notes[path] for path in paths if path in self.notes]
        after = [notes[path] for path in paths if path in notes]
        for name, find_keys in _LOOK_UPS.items():
            made = self.__dict__.get(name)
            if made is not None:
                following.__dict__[name] = _follow_names(made, before, after, find_keys)
        return following


def _find_path_keys(note: NoteRecord) -> set[str]:
    return {name_key(without_md(note.path))}


def _find_title_keys(note: NoteRecord) -> set[str]:
    return {name_key(note.title), name_key(stem_of(note.path))}


def _find_alias_keys(note: NoteRecord) -> set[str]:
    return set(map(name_key, note.aliases))


def _find_former_title_keys(note: NoteRecord) -> set[str]:
    return set(map(name_key, note.former_titles))


_LOOK_UPS: Mapping[str, FindKeys] = {
    "by_path_key": _find_path_keys,
    "by_title_key": _find_title_keys,
    "by_alias_key": _find_alias_keys,
    "by_former_title_key": _find_former_title_keys,
}


def _build_names(notes: Iterable[NoteRecord], find_keys: FindKeys) -> Names:
    groups: dict[str, list[NoteRecord]] = {}
    for note in notes:
        for key in find_keys(note):
            groups.setdefault(key, []).append(note)
    return {key: tuple(notes) for key, notes in groups.items()}


def _follow_names(
    names: Names, before: Iterable[NoteRecord], after: Iterable[NoteRecord], find_keys: FindKeys
) -> Names:
    """Return the look-up with some notes taken out and others put in; the notes of a name stay in order of path."""
    following = dict(names)
    for note in before:
        for key in find_keys(note):
            left = tuple(other for other in following[key] if other.path != note.path)
            if left:
                following[key] = left
            else:
                del following[key]
    for note in after:
        for key in find_keys(note):
            following[key] = tuple(sorted((*following.get(key, ()), note), key=lambda other: other.path))
    return following
