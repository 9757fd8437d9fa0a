"""The tools of the knowledge graph: graph, graph_edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from vault_memex.core.text import name_key, render_line
from vault_memex.errors import InvalidArgument, NotFound
from vault_memex.memory.knowledge import Observation
from vault_memex.memory.knowledge_graph import (
    Entity,
    Relation,
    Triple,
    find_entities,
    find_entities_by_words,
    find_relations,
)
from vault_memex.memory.knowledge_text import parse_validity
from vault_memex.server.graph_answers import (
    EntityRow,
    GraphAnswer,
    RelationRow,
    build_answer,
    render_graph,
    view_observation,
    view_relation,
)
from vault_memex.server.lines import join_lines, render_names
from vault_memex.server.tool import Answer, Arguments, ToolSpec
from vault_memex.services.knowledge_requests import GraphEdit, GraphEdited, Observed
from vault_memex.vault import Vault

MOST_QUERY = 2_048
MOST_ITEMS = 1_000  # of one kind in a call
MOST_SUGGESTED = 5  # unknown names that others are suggested for: all names are compared with each


class GraphArguments(Arguments):
    """Arguments of `graph`."""

    also: ClassVar = {
        "name": "names",
        "nodes": "names",
        "q": "query",
        "entityType": "entity_type",
        "type": "entity_type",
    }

    query: str = Field(
        "",
        max_length=MOST_QUERY,
        description="Text in a name, type or observation, case aside; when none holds it as it is, all of its words.",
    )
    names: list[str] = Field([], description="Entities by exact name, with what is known of them.")
    entity_type: str = Field("", description="Only entities of this type.")
    relations: Literal["touching", "between"] = Field(
        "touching", description="touching: from or to the entities shown. between: only among those that match."
    )
    include_ended: bool = Field(False, description="Also what held only until a day that is over.")
    max_tokens: int = Field(4_000, ge=200, le=20_000, description="Names come first; texts as far as they fit.")
    limit: int = Field(50, ge=1, le=500)
    offset: int = Field(0, ge=0)


class GraphEditArguments(Arguments):
    """Arguments of `graph_edit`."""

    also: ClassVar = {
        "create_entities": "entities",
        "create_relations": "relations",
        "add_observations": "observations",
        "entityNames": "delete_entities",
        "deletions": "delete_observations",
    }

    entities: list[dict[str, Any]] = Field(
        [],
        description='New ones: {"name", "entity_type", "observations": ["text" or {"text", "valid_from", '
        '"valid_until"}]}. One that exists is left as it is.',
    )
    observations: list[dict[str, Any]] = Field(
        [], description='To add: {"name", "observations": [as above]}. The entity must exist or be created here.'
    )
    relations: list[dict[str, Any]] = Field(
        [],
        description='To add: {"from", "type", "to"}, active voice, and "valid_from", "valid_until" (days). Both ends '
        "must exist.",
    )
    delete_observations: list[dict[str, Any]] = Field([], description='{"name", "observations": ["exact text"]}.')
    delete_relations: list[dict[str, Any]] = Field([], description='{"from", "type", "to"}.')
    delete_entities: list[str] = Field(
        [], description="Exact names; their notes go to the trash, relations from and to them go too."
    )
    allow_dangling: bool = Field(False, description="Relate names that are no entities (yet).")


@dataclass(frozen=True, slots=True)
class GraphEditAnswer:
    """What was done, all in one write."""

    created: tuple[EntityRow, ...] = ()  # new entities with their notes
    skipped_notes: tuple[str, ...] = ()  # notes of such a name that are no entities: give them entity_type
    observed: tuple[EntityRow, ...] = ()  # entities with what is new about them
    related: tuple[RelationRow, ...] = ()  # new relations
    deleted_entities: tuple[str, ...] = ()  # names
    deleted_relations: tuple[RelationRow, ...] = ()  # that were asked for by name
    deleted_observations: int = 0  # how many texts
    not_found: tuple[str, ...] = ()  # what was to be deleted and is not there
    trashed: tuple[str, ...] = ()  # notes that went to the trash
    kept_notes: tuple[str, ...] = ()  # are no entities any more, but stay for the text they hold
    kept_relations: tuple[str, ...] = ()  # notes that may not be changed, with relations to what was deleted
    commit: str = ""  # done, queued, off; nothing when there was nothing to write
    commit_error: str = ""  # why git did not take it
    notes: tuple[str, ...] = ()  # what else to know


# -- graph


def _graph(vault: Vault, a: GraphArguments) -> Answer:
    graph = vault.knowledge.read() if a.include_ended else vault.knowledge.read_present()
    entities: Sequence[Entity] = graph.entities
    remarks: list[str] = []
    if a.names:
        wanted = set(a.names)
        entities = [entity for entity in entities if entity.name in wanted]
    if a.entity_type:
        key = name_key(a.entity_type)
        entities = [entity for entity in entities if name_key(entity.type) == key]
    searched = len(entities)
    if a.query:
        entities, remarks = _search(entities, a.query)
    relations = graph.relations
    if a.relations == "between":
        relations = find_relations(relations, {entity.name for entity in entities}, between=True)
    answer = build_answer(
        entities,
        relations,
        offset=a.offset,
        limit=a.limit,
        max_tokens=a.max_tokens,
    )
    unknown = tuple(name for name in dict.fromkeys(a.names) if not vault.knowledge.view.has_entity(name))
    remarks += [near for name in unknown[:MOST_SUGGESTED] if (near := _suggest(vault, name))]
    answer = replace(answer, searched=searched, unknown_names=unknown, notes=(*remarks, *answer.notes))
    return Answer(render_graph(answer), answer)


def _search(entities: Sequence[Entity], query: str) -> tuple[Sequence[Entity], list[str]]:
    found = find_entities(entities, query)
    if found:
        return found, []
    found = find_entities_by_words(entities, query)
    if found and len(query.split()) > 1:
        return found, ["No entity holds the query as it stands; these hold all of its words."]
    return found, [] if found else [f"Nothing in names, types and observations of {len(entities)} entities."]


def _suggest(vault: Vault, name: str) -> str:
    near = vault.knowledge.view.find_near(name)
    return f"Like {name!r}: {render_names(near)}." if near else ""


# -- graph_edit


def _graph_edit(vault: Vault, a: GraphEditArguments) -> Answer:
    edit = parse_edit(a)
    try:
        done = vault.knowledge.edit(edit)
    except NotFound as error:
        raise NotFound(f"{error.message}.{_find_next_step(vault, edit)}", error.fields["candidates"]) from None
    answer = _view_edit(done)
    return Answer(render_edit(answer), answer)


def _find_next_step(vault: Vault, edit: GraphEdit) -> str:
    """Return what to do about the first name that is no entity, as sentences with a space before."""
    made = {entity.name for entity in edit.entities}
    named = [one.name for one in edit.observations]
    named += [end for r in edit.relations for end in (r.triple.source, r.triple.target)]
    name = next((n for n in named if n not in made and not vault.knowledge.view.has_entity(n)), None)
    notes = vault.snapshot().by_title_key.get(name_key(name), ()) if name is not None else ()
    if notes:
        path = render_line(notes[0].path)
        return f" {path} is an ordinary note: give it the property `entity_type` with `edit`, and it is an entity."
    return " Create it in `entities`, or send allow_dangling: true to relate to what is not there yet."


def parse_edit(a: GraphEditArguments) -> GraphEdit:
    """Return the request, or raise InvalidArgument that names the item and what it lacks."""
    for name in type(a).model_fields:
        rows = getattr(a, name)
        if isinstance(rows, list) and len(rows) > MOST_ITEMS:
            raise InvalidArgument(name, f"{name} has {len(rows)} items; at most {MOST_ITEMS} in a call.")
    edit = GraphEdit(
        entities=tuple(_parse_entity(row, f"entities[{n}]") for n, row in enumerate(a.entities)),
        observations=tuple(
            Observed(_text(row, f"observations[{n}]", *NAMES), _observations(row, f"observations[{n}]"))
            for n, row in enumerate(a.observations)
        ),
        relations=tuple(_parse_relation(row, f"relations[{n}]") for n, row in enumerate(a.relations)),
        delete_observations=tuple(
            (
                _text(row, f"delete_observations[{n}]", *NAMES),
                tuple(one.text for one in _observations(row, f"delete_observations[{n}]", empty=True)),
            )
            for n, row in enumerate(a.delete_observations)
        ),
        delete_relations=tuple(_triple(row, f"delete_relations[{n}]") for n, row in enumerate(a.delete_relations)),
        delete_entities=tuple(a.delete_entities),
        allow_dangling=a.allow_dangling,
    )
    if edit == GraphEdit(allow_dangling=a.allow_dangling):
        raise InvalidArgument(
            "entities", "Nothing to change. Send entities, observations, relations or deletions."
        )
    return edit


NAMES = ("name", "entityName", "entity_name", "entity")
TYPES = ("entity_type", "entityType", "type")
TEXTS = ("observations", "contents", "content")
SOURCES = ("from", "source")
TARGETS = ("to", "target")
KINDS = ("type", "relationType", "relation_type")


def _pick(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _text(row: Mapping[str, Any], place: str, *names: str) -> str:
    value = _pick(row, names)
    if not isinstance(value, str):
        what = "is missing" if value is None else "is no text"
        raise InvalidArgument(place.partition("[")[0], f"{place}.{names[0]} {what}.")
    return value


def _parse_entity(row: Mapping[str, Any], place: str) -> Entity:
    name, kind = _text(row, place, *NAMES), _text(row, place, *TYPES)
    if not name.strip():
        raise InvalidArgument("entities", f"{place}.name is empty.")
    return Entity(name, kind, _observations(row, place) if _pick(row, TEXTS) is not None else ())


def _observations(row: Mapping[str, Any], place: str, *, empty: bool = False) -> tuple[Observation, ...]:
    value = _pick(row, TEXTS)
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list):
        raise InvalidArgument(place.partition("[")[0], f"{place}.observations is missing: a list of texts.")
    found = []
    for number, item in enumerate(items):
        at = f"{place}.observations[{number}]"
        text = item if isinstance(item, str) else _text(item, at, "text") if isinstance(item, dict) else None
        if text is None or not (text.strip() or empty):
            raise InvalidArgument(place.partition("[")[0], f"{at} is empty or no text.")
        found.append(Observation(text, _validity(item)))
    return tuple(found)


def _parse_relation(row: Mapping[str, Any], place: str) -> Relation:
    triple = _triple(row, place)
    if "[[" in triple.type or "]]" in triple.type:
        raise InvalidArgument("relations", f"{place}.type holds a link. Name the relation in plain words.")
    return Relation(triple, _validity(row))


def _triple(row: Mapping[str, Any], place: str) -> Triple:
    return Triple(_text(row, place, *SOURCES), _text(row, place, *KINDS), _text(row, place, *TARGETS))


def _validity(row: Any) -> Any:
    values = row if isinstance(row, dict) else {}
    return parse_validity(str(values.get("valid_from") or ""), str(values.get("valid_until") or ""))


def _view_edit(done: GraphEdited) -> GraphEditAnswer:
    return GraphEditAnswer(
        created=tuple(
            EntityRow(e.name, e.type, e.path, observations_total=len(e.observations)) for e in done.created
        ),
        skipped_notes=done.skipped_notes,
        observed=tuple(
            EntityRow(one.name, "", "", None, tuple(map(view_observation, one.observations)))
            for one in done.added
            if one.observations
        ),
        related=tuple(map(view_relation, done.related)),
        deleted_entities=done.deleted_entities,
        deleted_relations=tuple(view_relation(Relation(triple)) for triple in done.deleted_relations),
        deleted_observations=sum(len(texts) for _, texts in done.deleted_observations),
        not_found=done.not_found,
        trashed=done.trashed,
        kept_notes=done.kept_notes,
        kept_relations=done.kept_relations,
        commit=done.commit,
        commit_error=done.commit_error,
        notes=done.notes,
    )


def render_edit(answer: GraphEditAnswer) -> str:
    """Return what was done as lines."""
    named = [
        ("created", [f"{row.name} ({row.path})" for row in answer.created]),
        ("nothing made; set the property `entity_type` of the note that has this name", answer.skipped_notes),
        ("observed", [f"{row.name} ({len(row.observations)})" for row in answer.observed]),
        ("related", [f"{row.source} → {row.type} → {row.target}" for row in answer.related]),
        ("deleted", answer.deleted_entities),
        ("relations deleted", [f"{row.source} → {row.type} → {row.target}" for row in answer.deleted_relations]),
        ("not found", answer.not_found),
        ("now in the trash", answer.trashed),
        ("no entity any more, kept for its text", answer.kept_notes),
        ("relations stay in notes that may not be changed", answer.kept_relations),
    ]
    lines = [f"{what}: {render_names(names)}" for what, names in named if names]
    if answer.deleted_observations:
        lines.append(f"observations deleted: {answer.deleted_observations}")
    if not answer.commit:
        lines.append("Nothing was to be changed.")
    if answer.commit_error:
        lines.append(f"not committed: {answer.commit_error}")
    return join_lines([*lines, *answer.notes])


GRAPH = ToolSpec(
    name="graph",
    title="Read the knowledge graph",
    description=(
        "Entities (people, projects, things) with observations and relations. Without arguments: which there are, "
        "names first. `query` finds some, `names` shows some whole. Entities are notes: their `path` serves `get`. "
        "For anything else written in the vault use `search`."
    ),
    arguments=GraphArguments,
    run=_graph,
    toolset="graph",
    output=GraphAnswer,
    read_only=True,
)
GRAPH_EDIT = ToolSpec(
    name="graph_edit",
    title="Change the knowledge graph",
    description=(
        "Create entities, add observations and relations, delete them; all of a call or nothing. One fact in each "
        "observation. Look with `graph` before you create: one thing, one entity. What exists already is not "
        "made again, and what is not there is named."
    ),
    arguments=GraphEditArguments,
    run=_graph_edit,
    toolset="graph",
    output=GraphEditAnswer,
    destructive=True,
)
