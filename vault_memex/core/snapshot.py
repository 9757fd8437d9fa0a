"""The vault as every read sees it: metadata of all notes at one catalogue revision, without bodies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    def by_path_key(self) -> Mapping[str, tuple[NoteRecord, ...]]:
        """Notes by their path without `.md`, compared as names are."""
        return _group((name_key(without_md(n.path)), n) for n in self.notes.values())

    @cached_property
    def by_title_key(self) -> Mapping[str, tuple[NoteRecord, ...]]:
        """Notes by title and by file stem."""
        return _group(
            (key, n) for n in self.notes.values() for key in {name_key(n.title), name_key(stem_of(n.path))}
        )

    @cached_property
    def by_alias_key(self) -> Mapping[str, tuple[NoteRecord, ...]]:
        """Notes by alias."""
        return _group((key, n) for n in self.notes.values() for key in {name_key(a) for a in n.aliases})

    @cached_property
    def by_former_title_key(self) -> Mapping[str, tuple[NoteRecord, ...]]:
        """Notes by titles they had."""
        return _group((key, n) for n in self.notes.values() for key in {name_key(a) for a in n.former_titles})


def _group(pairs: Iterable[tuple[str, NoteRecord]]) -> Mapping[str, tuple[NoteRecord, ...]]:
    groups: dict[str, list[NoteRecord]] = {}
    for key, note in pairs:
        groups.setdefault(key, []).append(note)
    return {key: tuple(notes) for key, notes in groups.items()}
