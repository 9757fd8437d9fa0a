"""The knowledge graph as values: entities with observations, relations between names, and parts of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from vault_memex.memory.knowledge import Observation
from vault_memex.memory.knowledge_text import ALWAYS, Validity

_APART = "\0"


class Triple(NamedTuple):
    """What a relation is known by."""

    source: str
    type: str
    target: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing, and what is known of it."""

    name: str
    type: str
    observations: tuple[Observation, ...] = ()
    path: str = ""  # of its note
    note_id: int | None = None
    folded: str = field(default="", compare=False, repr=False)  # all of its texts in lower case, where known

    @property
    def texts(self) -> tuple[str, ...]:
        """Its observations without their spans."""
        return tuple([observation.text for observation in self.observations])


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed relation between two names, whether or not there are such entities."""

    triple: Triple
    validity: Validity = ALWAYS


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities in order of creation, relations in the order they were made in."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()


def says_the_same(one: Graph, other: Graph) -> bool:
    """Return whether two graphs show the same names, types, texts and relations in the same order."""
    return (
        len(one.entities) == len(other.entities)
        and [r.triple for r in one.relations] == [r.triple for r in other.relations]
        and all(
            a is b or (a.name, a.type, a.texts) == (b.name, b.type, b.texts)
            for a, b in zip(one.entities, other.entities, strict=True)
        )
    )


def without_ended(graph: Graph, today: str) -> Graph:
    """Return the graph without what ended before this day."""
    entities = graph.entities
    if any(o.validity.until for entity in entities for o in entity.observations):
        entities = tuple(_without_ended(entity, today) for entity in entities)
    return Graph(entities, tuple(r for r in graph.relations if not r.validity.has_ended(today)))


def _without_ended(entity: Entity, today: str) -> Entity:
    left = tuple(o for o in entity.observations if not o.validity.has_ended(today))
    return entity if len(left) == len(entity.observations) else replace(entity, observations=left, folded="")


def find_entities(entities: Iterable[Entity], query: str) -> tuple[Entity, ...]:
    """Return the entities that hold the query in name, type or an observation, case aside. It is one text."""
    wanted = query.lower()
    return tuple(entity for entity in entities if _holds(entity, wanted))


def find_entities_by_words(entities: Iterable[Entity], query: str) -> tuple[Entity, ...]:
    """Return the entities that hold every word of the query somewhere, case aside."""
    words = query.lower().split()
    return tuple(e for e in entities if words and all(_holds(e, word) for word in words))


def fold(name: str, kind: str, observations: Iterable[Observation]) -> str:
    """Return what makes an entity with these texts ready to be searched often."""
    return _APART.join([name, kind, *[observation.text for observation in observations]]).lower()


def _holds(entity: Entity, wanted: str) -> bool:
    if entity.folded and _APART not in wanted:
        return wanted in entity.folded
    if wanted in entity.name.lower() or wanted in entity.type.lower():
        return True
    return any(wanted in observation.text.lower() for observation in entity.observations)


def find_relations(
    relations: Iterable[Relation], names: Collection[str], *, between: bool = False
) -> tuple[Relation, ...]:
    """Return the relations that touch one of the names or, with `between`, lead from one of them to another."""
    if between:
        return tuple(r for r in relations if r.triple.source in names and r.triple.target in names)
    return tuple(r for r in relations if r.triple.source in names or r.triple.target in names)
