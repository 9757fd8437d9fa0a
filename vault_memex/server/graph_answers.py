"""What the graph tools answer: as much as fits into so many tokens, names before texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from vault_memex.core.budget import count_quarters
from vault_memex.memory.knowledge import Observation
from vault_memex.memory.knowledge_graph import Entity, Relation, find_relations
from vault_memex.memory.knowledge_text import Validity, render_validity
from vault_memex.server.lines import LONGEST_NAME, cut, join_lines

ROW_QUARTERS = 48  # tokens times four that a row costs beside its texts
RELATIONS_SHARE = 0.3  # of the tokens; what relations do not use, observations get


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """Something known of an entity."""

    text: str  # exactly as it is deleted by
    valid_from: str = ""  # first day on which it holds
    valid_until: str = ""  # last day


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity; its observations as far as they fit."""

    name: str  # exact, case and blanks included
    type: str  # what kind of thing it is
    path: str  # its note
    note_id: int | None = None  # number of the note
    observations: tuple[ObservationRow, ...] = ()  # in the order of the note
    observations_total: int = 0  # more than are shown: ask for the entity by name
    relations_total: int = 0  # from and to it


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A directed relation."""

    source: str  # name of the entity that it leads from
    type: str  # in the active voice
    target: str  # name that it leads to; it need not be an entity
    valid_from: str = ""  # first day on which it holds
    valid_until: str = ""  # last day


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """A part of the knowledge graph."""

    total: int  # entities that match
    returned: int  # entities shown
    offset: int = 0  # of the first one shown
    next_offset: int | None = None  # where to go on
    searched: int = 0  # entities looked through
    entities: tuple[EntityRow, ...] = ()  # in order of creation
    relations: tuple[RelationRow, ...] = ()  # of the entities shown
    relations_total: int = 0  # more than are shown: ask for fewer entities
    unknown_names: tuple[str, ...] = ()  # asked for and not there
    notes: tuple[str, ...] = ()  # what was cut, or how the query was understood


def build_answer(
    entities: Sequence[Entity],
    relations: Sequence[Relation],
    *,
    offset: int,
    limit: int,
    max_tokens: int,
) -> GraphAnswer:
    """Return a page of entities: names first, then relations, then observations, within the tokens."""
    left = 4 * max_tokens
    rows: list[EntityRow] = []
    for entity in entities[offset : offset + limit]:
        left -= ROW_QUARTERS + count_quarters(f"{entity.name}{entity.type}{entity.path}")
        if left < 0 and rows:
            break
        rows.append(_name_row(entity))
    mine = find_relations(relations, {row.name for row in rows})
    counts = Counter(name for r in mine for name in {r.triple.source, r.triple.target})
    rows = [replace(row, relations_total=counts[row.name]) for row in rows]
    kept, used = _take_relations(mine, int(max(0, left) * RELATIONS_SHARE))
    page = entities[offset : offset + len(rows)]
    filled, left = _fill(rows, page, left - used)
    if len(kept) < len(mine):
        more, _ = _take_relations(mine[len(kept) :], left)
        kept += more
    following = offset + len(rows)
    return GraphAnswer(
        total=len(entities),
        returned=len(rows),
        offset=offset,
        next_offset=following if following < len(entities) else None,
        entities=tuple(filled),
        relations=tuple(map(view_relation, kept)),
        relations_total=len(mine),
        notes=tuple(_find_cuts(filled, len(kept), len(mine), max_tokens)),
    )


def _name_row(entity: Entity) -> EntityRow:
    total = len(entity.observations)
    return EntityRow(entity.name, entity.type, entity.path, entity.note_id, observations_total=total)


def _take_relations(relations: Iterable[Relation], quarters: int) -> tuple[list[Relation], int]:
    taken: list[Relation] = []
    used = 0
    for relation in relations:
        cost = ROW_QUARTERS + count_quarters("".join(relation.triple))
        if used + cost > quarters:
            break
        taken.append(relation)
        used += cost
    return taken, used


def _fill(rows: Sequence[EntityRow], entities: Sequence[Entity], left: int) -> tuple[list[EntityRow], int]:
    filled: list[EntityRow] = []
    for row, entity in zip(rows, entities, strict=True):
        taken: list[ObservationRow] = []
        for observation in entity.observations:
            left -= ROW_QUARTERS // 2 + count_quarters(observation.text)
            if left < 0:
                break
            taken.append(view_observation(observation))
        filled.append(replace(row, observations=tuple(taken)))
    return filled, max(0, left)


def _find_cuts(rows: Sequence[EntityRow], relations: int, wanted: int, max_tokens: int) -> Iterator[str]:
    hidden = sum(row.observations_total - len(row.observations) for row in rows)
    if hidden:
        yield f"{hidden} observations left out to stay within {max_tokens} tokens: ask for entities by `names`."
    if relations < wanted:
        yield f"{wanted - relations} relations left out to stay within {max_tokens} tokens."


def view_observation(observation: Observation) -> ObservationRow:
    """Return an observation as a row."""
    return ObservationRow(observation.text, observation.validity.start, observation.validity.until)


def view_relation(relation: Relation) -> RelationRow:
    """Return a relation as a row."""
    source, kind, target = relation.triple
    return RelationRow(source, kind, target, relation.validity.start, relation.validity.until)


def render_graph(answer: GraphAnswer) -> str:
    """Return the page as lines."""
    lines = [f"{answer.returned} of {answer.total} entities."]
    lines += [f"No entity is called {cut(name, LONGEST_NAME)!r}." for name in answer.unknown_names]
    lines += answer.notes
    for row in answer.entities:
        lines += _render_entity(row)
    if answer.relations:
        lines.append("relations:")
        lines += [f"   {_render_relation(relation)}" for relation in answer.relations]
    if answer.next_offset is not None:
        lines.append(f"{answer.total - answer.next_offset} more: offset={answer.next_offset}.")
    return join_lines(lines)


def _render_entity(row: EntityRow) -> Iterator[str]:
    number = f"#{row.note_id} " if row.note_id is not None else ""
    counts = f"{row.observations_total} observations, {row.relations_total} relations"
    yield f"{row.name or '(no name)'} · {row.type or '(no type)'} · {number}{row.path} · {counts}"
    for one in row.observations:
        yield f"   - {one.text}{render_validity(Validity(one.valid_from, one.valid_until))}"


def _render_relation(row: RelationRow) -> str:
    span = render_validity(Validity(row.valid_from, row.valid_until))
    return f"{row.source} → {row.type} → {row.target}{span}"
