"""The vault as every read sees it: metadata of all notes at one catalogue revision, without bodies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

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

REMEMBERED_STEPS = 32  # from one snapshot to the next
_COMPARED_FROM = 2_000  # remembered changes; comparing all notes is then as fast


class SnapshotStep(NamedTuple):
    """What became another on the way from a revision to the next one that was loaded."""

    revision: int
    paths: frozenset[str]


class NoteChanges(NamedTuple):
    """What is between two snapshots. A note that changed stands in both."""

    before: tuple[NoteRecord, ...] = ()  # as they were: changed or gone
    after: tuple[NoteRecord, ...] = ()  # as they are: changed or new


@dataclass(frozen=True)
class Snapshot:
    """All notes at one catalogue revision. Immutable; readers keep it as long as they like."""

    revision: int
    notes: Mapping[str, NoteRecord]  # by path, in order of path
    attachments: Sequence[str] = ()  # paths of the other files links may point to
    steps: tuple[SnapshotStep, ...] = field(default=(), repr=False, compare=False)  # the latest that led here

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
        return _build_names(self.notes.values(), find_title_keys)

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
        paths = frozenset(changed)
        steps = (*self.steps[1 - REMEMBERED_STEPS :], SnapshotStep(self.revision, paths))
        following = Snapshot(revision, notes, attachments, steps)
        before, after = _find_changes(self.notes, notes, paths)
        for name, find_keys in _LOOK_UPS.items():
            made = self.__dict__.get(name)
            if made is not None:
                following.__dict__[name] = _follow_names(made, before, after, find_keys)
        numbers = self.__dict__.get("by_id")
        if numbers is not None and (followed := _follow_numbers(numbers, before, after)) is not None:
            following.__dict__["by_id"] = followed
        return following

    def find_changes(self, since: Snapshot | None) -> NoteChanges:
        """Return which notes changed since an earlier snapshot of the vault; without one, all are new.

        A matter of the changed notes alone when the snapshots are not far apart.
        """
        if since is self:
            return NoteChanges()
        if since is None:
            return NoteChanges(after=tuple(self.notes.values()))
        return _find_changes(since.notes, self.notes, self._find_paths(since))

    def _find_paths(self, since: Snapshot) -> Iterable[str]:
        """Return the paths at which something may be different, some of them perhaps twice gone and back."""
        paths: set[str] = set()
        for step in reversed(self.steps):
            paths |= step.paths
            if len(paths) > _COMPARED_FROM:
                break
            if step.revision == since.revision:
                return paths
        gone = [path for path, note in since.notes.items() if self.notes.get(path) is not note]
        return [*gone, *(path for path in self.notes if path not in since.notes)]


def _find_changes(
    before: Mapping[str, NoteRecord], after: Mapping[str, NoteRecord], paths: Iterable[str]
) -> NoteChanges:
    pairs = [(before.get(path), after.get(path)) for path in paths]
    return NoteChanges(
        tuple(old for old, new in pairs if old is not None and old is not new),
        tuple(new for old, new in pairs if new is not None and old is not new),
    )


def _find_path_keys(note: NoteRecord) -> set[str]:
    return {name_key(without_md(note.path))}


def find_title_keys(note: NoteRecord) -> set[str]:
    """Return what a note is found by in `by_title_key`."""
    return {name_key(note.title), name_key(stem_of(note.path))}


def _find_alias_keys(note: NoteRecord) -> set[str]:
    return set(map(name_key, note.aliases))


def _find_former_title_keys(note: NoteRecord) -> set[str]:
    return set(map(name_key, note.former_titles))


_LOOK_UPS: Mapping[str, FindKeys] = {
    "by_path_key": _find_path_keys,
    "by_title_key": find_title_keys,
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


def _follow_numbers(
    numbers: Mapping[int, NoteRecord], before: Iterable[NoteRecord], after: Iterable[NoteRecord]
) -> Mapping[int, NoteRecord] | None:
    """Return the look-up by number after a change; None when a number went, or may be another note's as well."""
    left = {note.path: note.note_id for note in before if note.note_id is not None}
    following = dict(numbers)
    for note in after:
        if note.note_id is None:
            continue
        known = following.get(note.note_id)
        if known is not None and known.path != note.path:
            return None
        if left.get(note.path, note.note_id) == note.note_id:
            left.pop(note.path, None)
        following[note.note_id] = note
    return None if left else following
