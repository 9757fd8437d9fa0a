"""The file of the reference memory server: JSON Lines of entities and relations, read with patience.

Also read: the single JSON object of early versions, a byte order mark, two objects on one line. What is neither an
entity nor a relation is kept as it stands, and so are keys that are not known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vault_memex.core.text import BOM
from vault_memex.memory.knowledge import Observation
from vault_memex.memory.knowledge_graph import Entity, Graph, Relation, Triple

_KNOWN = {
    "entity": ("type", "name", "entityType", "observations"),
    "relation": ("type", "from", "to", "relationType"),
}
_NAMES = ("name", "entityType", "from", "relationType", "to")
_NEITHER = "is neither an entity nor a relation"
LONGEST_NAME = 10_000  # code points of a name or type: a note says them in its properties, which are 64 KB at most
_DECODER = json.JSONDecoder()
Key = str | Triple
Extras = Mapping[Key, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """What such a file holds."""

    graph: Graph = field(default_factory=Graph)
    extras: Extras = field(default_factory=dict)  # keys that are not known, by entity name or relation
    foreign: tuple[str, ...] = ()  # lines that are neither an entity nor a relation
    faults: tuple[str, ...] = ()  # where they stand and what is wrong with them


@dataclass(slots=True)
class _Reading:
    entities: dict[str, Entity] = field(default_factory=dict)
    relations: dict[Triple, Relation] = field(default_factory=dict)
    extras: dict[Key, Mapping[str, Any]] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def parse_memory_file(text: str) -> MemoryFile:
    """Return what the file holds. Of several entities of one name the first counts, as with the reference."""
    reading = _Reading()
    text = text.removeprefix(BOM)
    whole = _parse_whole(text)
    if whole is not None:
        for place, value in whole:
            _take(reading, value, json.dumps(value, ensure_ascii=False), place)
    else:
        for number, line in enumerate(text.split("\n"), 1):
            _take_line(reading, line.strip(" \t\r"), f"line {number}")
    return MemoryFile(
        Graph(tuple(reading.entities.values()), tuple(reading.relations.values())),
        reading.extras,
        tuple(reading.foreign),
        tuple(reading.faults),
    )


def _parse_whole(text: str) -> list[tuple[str, Any]] | None:
    """Return the items of the old format, one object with two lists; None when the text is something else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or "type" in value or not ("entities" in value or "relations" in value):
        return None
    found: list[tuple[str, Any]] = []
    for name, kind in (("entities", "entity"), ("relations", "relation")):
        items = value.get(name)
        for number, item in enumerate(items if isinstance(items, list) else []):
            found.append((f"{name}[{number}]", {**item, "type": kind} if isinstance(item, dict) else item))
    return found


def _take_line(reading: _Reading, line: str, place: str) -> None:
    if not line:
        return
    values: list[tuple[Any, str]] = []
    at = 0
    try:
        while at < len(line):
            value, end = _DECODER.raw_decode(line, at)
            values.append((value, line[at:end]))
            at = end + len(line[end:]) - len(line[end:].lstrip())
    except (ValueError, RecursionError):
        reading.foreign.append(line)
        reading.faults.append(f"{place} is no JSON")
        return
    for value, written in values:
        _take(reading, value, written, place)


def _take(reading: _Reading, value: Any, written: str, place: str) -> None:
    entity = _parse_entity(value)
    relation = None if entity is not None else _parse_relation(value)
    if entity is not None:
        reading.entities.setdefault(entity.name, entity)
        _keep_extras(reading, entity.name, value, "entity")
    elif relation is not None:
        reading.relations.setdefault(relation.triple, relation)
        _keep_extras(reading, relation.triple, value, "relation")
    else:
        reading.foreign.append(written)
        names = [value.get(key) for key in _NAMES] if isinstance(value, dict) else []
        is_long = any(_is_text(name) and not _is_name(name) for name in names)
        reading.faults.append(f"{place} {'has a name that is too long' if is_long else _NEITHER}")


def _keep_extras(reading: _Reading, key: Key, value: Mapping[str, Any], kind: str) -> None:
    extras = {name: one for name, one in value.items() if name not in _KNOWN[kind]}
    if extras:
        reading.extras.setdefault(key, extras)


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False  # half of a character, which no note can hold
    return True


def _is_name(value: Any) -> bool:
    return _is_text(value) and len(value) <= LONGEST_NAME


def _parse_entity(value: Any) -> Entity | None:
    if not isinstance(value, dict) or value.get("type") != "entity":
        return None
    name, kind, texts = value.get("name"), value.get("entityType"), value.get("observations", [])
    if not (_is_name(name) and _is_name(kind) and isinstance(texts, list) and all(map(_is_text, texts))):
        return None
    return Entity(str(name), str(kind), tuple(map(Observation, texts)))


def _parse_relation(value: Any) -> Relation | None:
    if not isinstance(value, dict) or value.get("type") != "relation":
        return None
    parts = [value.get(name) for name in ("from", "relationType", "to")]
    return Relation(Triple(*map(str, parts))) if all(map(_is_name, parts)) else None


class Rendered(NamedTuple):
    """A line, and what it was made from."""

    of: Entity | Relation
    extra: Mapping[str, Any] | None
    line: str


def render_memory_file(
    graph: Graph,
    extras: Extras | None = None,
    foreign: Sequence[str] = (),
    known: dict[Key, Rendered] | None = None,
) -> str:
    """Return the file's text: a line for each entity, each relation, then the lines that are neither.

    `known` keeps lines from one time to the next: what is the same object as then is not rendered again.
    """
    known = {} if known is None else known
    given = extras or {}
    keyed: list[tuple[Key, Entity | Relation]] = [(entity.name, entity) for entity in graph.entities]
    keyed += [(relation.triple, relation) for relation in graph.relations]
    lines: list[str] = []
    for key, value in keyed:
        extra, made = given.get(key), known.get(key)
        if made is None or made.of is not value or made.extra is not extra:
            made = known[key] = Rendered(value, extra, _render({**_build_row(value), **(extra or {})}))
        lines.append(made.line)
    if len(known) > 2 * len(keyed):
        known.clear()  # mostly of what is gone
    return "".join([f"{line}\n" for line in (*lines, *foreign)])


def _build_row(value: Entity | Relation) -> dict[str, Any]:
    if isinstance(value, Entity):
        return {"type": "entity", "name": value.name, "entityType": value.type, "observations": value.texts}
    source, kind, target = value.triple
    return {"type": "relation", "from": source, "to": target, "relationType": kind}


def _render(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))
