"""The words the person already uses: tags, folders, properties, types."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vault_memex.core.note import RESERVED_PROPERTIES
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import name_key
from vault_memex.memory.retired_tags import RetiredTag, find_successor
from vault_memex.memory.system_tags import SYSTEM_TAGS

Kind = Literal["all", "tags", "folders", "properties", "types"]
TOP = 25  # rows of each kind when all are asked for
MOST_VALUES = 10
VALUE_CHARS = 80
_DATE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ][0-9:.]+(Z|[+-][0-9:]+)?)?")


@dataclass(frozen=True, slots=True)
class TagRow:
    """A tag in its commonest spelling."""

    name: str
    notes: int
    meaning: str = ""  # to the program
    instead: str = ""  # what to write instead of a retired one


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A folder; the root is `/`."""

    path: str
    notes: int  # directly in it
    total: int  # with its subfolders


@dataclass(frozen=True, slots=True)
class PropertyRow:
    """A property, dotted for a value inside a grouped one."""

    name: str
    notes: int
    type: str
    values: tuple[str, ...]  # commonest first
    more_values: int = 0


@dataclass(frozen=True, slots=True)
class VocabularyAnswer:
    """What was asked for, with the total of each kind."""

    total: dict[str, int]
    tags: tuple[TagRow, ...] = ()
    folders: tuple[FolderRow, ...] = ()
    properties: tuple[PropertyRow, ...] = ()
    types: tuple[TagRow, ...] = ()
    system_tags: tuple[TagRow, ...] = ()  # that mean something to the program, used or not
    retired_tags: tuple[TagRow, ...] = ()  # out of use by the person's word


class Vocabulary:
    """Counts over the snapshot."""

    def __init__(self, snapshot: Callable[[], Snapshot], retired: Callable[[], Mapping[str, RetiredTag]]) -> None:
        self._snapshot = snapshot
        self._retired = retired

    def list(self, kind: Kind, *, limit: int, offset: int = 0) -> VocabularyAnswer:
        """Return one kind, paged, or the top of all."""
        notes = tuple(self._snapshot().notes.values())
        if kind == "all":
            limit, offset = min(limit, TOP), 0
        page = slice(offset, offset + limit)
        answer: dict[str, Any] = {}
        total: dict[str, int] = {}
        for name, count in (
            ("tags", count_tags),
            ("folders", count_folders),
            ("properties", count_properties),
            ("types", count_types),
        ):
            if kind in ("all", name):
                rows = count(notes)
                total[name] = len(rows)
                answer[name] = rows[page]
        if "tags" in total:
            answer["system_tags"] = _find_system_tags(notes)
            answer["retired_tags"] = _find_retired_tags(notes, self._retired())
        return VocabularyAnswer(total=total, **answer)


def count_tags(notes: Iterable[NoteRecord]) -> tuple[TagRow, ...]:
    """Return tags by count, then name; spellings that differ only in case are one tag."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for note in notes:
        for tag in note.tags:
            spellings[name_key(tag)][tag] += 1
    rows = [TagRow(_commonest(counts), counts.total()) for counts in spellings.values()]
    return tuple(sorted(rows, key=lambda r: (-r.notes, r.name)))


def _find_system_tags(notes: Iterable[NoteRecord]) -> tuple[TagRow, ...]:
    counts = Counter(name_key(tag) for note in notes for tag in note.tags)
    return tuple(TagRow(name, counts[name], meaning) for name, meaning in SYSTEM_TAGS.items())


def _find_retired_tags(notes: Iterable[NoteRecord], retired: Mapping[str, RetiredTag]) -> tuple[TagRow, ...]:
    counts = Counter(name_key(tag) for note in notes for tag in note.tags)
    return tuple(
        TagRow(tag.name, counts[key], instead=find_successor(retired, key)) for key, tag in retired.items()
    )


def count_types(notes: Iterable[NoteRecord]) -> tuple[TagRow, ...]:
    """Return entity types by count, then name."""
    counts = Counter(str(t) for n in notes if isinstance(t := n.properties.get("entity_type"), str) and t)
    return tuple(sorted((TagRow(*item) for item in counts.items()), key=lambda r: (-r.notes, r.name)))


def count_folders(notes: Iterable[NoteRecord]) -> tuple[FolderRow, ...]:
    """Return folders that hold notes, and their parents, by path."""
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for note in notes:
        own[note.folder] += 1
        parts = note.folder.split("/") if note.folder else []
        total.update({"", *("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))})
    return tuple(FolderRow(path or "/", own[path], count) for path, count in sorted(total.items()))


def count_properties(notes: Iterable[NoteRecord]) -> tuple[PropertyRow, ...]:
    """Return properties that are not reserved, and `type`, by count, then name; list items are counted singly."""
    notes_with: Counter[str] = Counter()
    values: dict[str, Counter[str]] = defaultdict(Counter)
    types: dict[str, Counter[str]] = defaultdict(Counter)
    for note in notes:
        own = {k: v for k, v in note.properties.items() if k == "type" or k not in RESERVED_PROPERTIES}
        for name, value in _flat(own):
            items = value if isinstance(value, list) else [value]
            notes_with[name] += 1
            types[name][_type_of(value)] += 1
            values[name].update({_shown(item) for item in items if not isinstance(item, dict | list)})
    rows = [
        PropertyRow(
            name,
            count,
            _commonest(types[name]),
            tuple(v for v, _ in sorted(values[name].items(), key=lambda i: (-i[1], i[0]))[:MOST_VALUES]),
            max(0, len(values[name]) - MOST_VALUES),
        )
        for name, count in notes_with.items()
    ]
    return tuple(sorted(rows, key=lambda r: (-r.notes, r.name)))


def _flat(properties: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in properties.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _type_of(value: object) -> str:
    if isinstance(value, str):
        return "date" if _DATE.fullmatch(value) else "text"
    kinds = {bool: "checkbox", int: "number", float: "number", list: "list", dict: "group", type(None): "empty"}
    return kinds.get(type(value), "text")


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 1]}…"


def _commonest(counts: Counter[str]) -> str:
    return min(counts, key=lambda name: (-counts[name], name))
