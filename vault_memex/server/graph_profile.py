"""Profile `knowledge-graph`: the nine tools of the reference memory server, over entities that are notes.

Names, schemas, answers and error texts are the reference's own. `docs/knowledge-graph.md` lists where an answer
differs on purpose.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mcp.types import Tool, ToolAnnotations

from vault_memex.core.text import render_line
from vault_memex.errors import InvalidArgument
from vault_memex.memory.knowledge import Observation
from vault_memex.memory.knowledge_graph import (
    Entity,
    Graph,
    Relation,
    Triple,
    find_entities,
    find_relations,
)
from vault_memex.server.lines import LONGEST_NAME, cut
from vault_memex.server.tool import MOST_FAULTS, Answer, Arguments, ToolSpec
from vault_memex.services.knowledge_requests import GraphEdit, GraphEdited, Observed
from vault_memex.vault import Vault

MOST_NAMED = 20  # things not found, in one message

Schema = dict[str, Any]


def _object(closed: bool = False, /, **properties: Schema) -> Schema:
    shape: Schema = {"type": "object", "properties": properties}
    if properties:
        shape["required"] = list(properties)
    return {**shape, "additionalProperties": False} if closed else shape


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


TEXT: Schema = {"type": "string"}
TEXTS = _list(TEXT)


def _entities(closed: bool = False) -> Schema:
    return _list(_object(closed, name=TEXT, entityType=TEXT, observations=TEXTS))


def _relations(closed: bool = False) -> Schema:
    return _list(_object(closed, **{"from": TEXT, "to": TEXT, "relationType": TEXT}))


OUT_GRAPH = _object(True, entities=_entities(True), relations=_relations(True))
OUT_DONE = _object(True, success={"type": "boolean"}, message=TEXT)
OUT_ADDED = _object(True, results=_list(_object(True, entityName=TEXT, addedObservations=TEXTS)))


class Raw(Arguments):
    """Arguments as they were sent, checked against the tool's schema."""

    sent_values: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.sent_values[name]


@dataclass(frozen=True)
class ReferenceTool(ToolSpec[Raw]):
    """A tool whose schemas are given as they are listed."""

    takes: Schema = field(default_factory=dict)
    gives: Schema = field(default_factory=dict)

    @cached_property
    def listed(self) -> Tool:
        """The tool as the reference lists it."""
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.takes,
            output_schema=self.gives,
            annotations=ToolAnnotations(
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent,
                open_world_hint=False,
            ),
        )

    def parse_arguments(self, raw: Mapping[str, Any]) -> Raw:
        """Return what the schema knows of the arguments; unknown names are dropped, as the reference does."""
        faults: list[str] = []
        kept = _checked(self.takes, dict(raw), "", faults)
        if faults:
            raise InvalidArgument(
                self.name,
                f"MCP error -32602: Input validation error: Invalid arguments for tool {self.name}: "
                + "\n".join(faults[:MOST_FAULTS]),
            )
        return Raw(sent_values=kept)

    def render_value(self, value: object) -> dict[str, Any]:
        """Return the value, which is JSON already."""
        assert isinstance(value, dict)
        return value


_MISSING = object()
_TYPES = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "array"}


def _checked(shape: Schema, value: Any, place: str, faults: list[str]) -> Any:
    """Return the value without what the schema does not know; say what is of the wrong type."""
    expected = shape["type"]
    received = "undefined" if value is _MISSING else _TYPES.get(type(value), "null")
    if received != expected:
        faults.append(f"Invalid input: expected {expected}, received {received} at {place}")
        return None
    if expected == "array":
        return [_checked(shape["items"], one, f"{place}[{n}]", faults) for n, one in enumerate(value)]
    if expected == "object":
        dot = "." if place else ""
        return {
            name: _checked(inner, value.get(name, _MISSING), f"{place}{dot}{name}", faults)
            for name, inner in shape["properties"].items()
        }
    return value


# -- answers


def view_entity(entity: Entity) -> dict[str, Any]:
    """Return an entity as the reference writes it."""
    return {"name": entity.name, "entityType": entity.type, "observations": list(entity.texts)}


def view_relation(relation: Relation) -> dict[str, Any]:
    """Return a relation as the reference writes it."""
    source, kind, target = relation.triple
    return {"from": source, "to": target, "relationType": kind}


def view_graph(graph: Graph) -> dict[str, Any]:
    """Return a graph as the reference writes it."""
    return {
        "entities": [view_entity(entity) for entity in graph.entities],
        "relations": [view_relation(relation) for relation in graph.relations],
    }


def render_json(value: object) -> str:
    """Return the value as the reference prints it."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _answer_graph(graph: Graph) -> Answer:
    value = view_graph(graph)
    return Answer(render_json(value), value)


def _answer_list(name: str, rows: list[dict[str, Any]]) -> Answer:
    return Answer(render_json(rows), {name: rows})


def _answer_deleted(kind: str, total: int, not_found: Sequence[str], done: GraphEdited) -> Answer:
    """Return the reference's sentence; another one when something was not there or may not be changed."""
    message = f"{kind[:1].upper()}{kind[1:]} deleted successfully"
    if not_found:
        named = ", ".join(render_line(cut(name, LONGEST_NAME)) for name in not_found[:MOST_NAMED])
        more = f" and {len(not_found) - MOST_NAMED} more" if len(not_found) > MOST_NAMED else ""
        message = f"Deleted {total - len(not_found)} of {total} {kind}. Not found: {named}{more}"
    if done.kept_notes:
        message += f". Kept as notes, for the text they hold: {', '.join(map(render_line, done.kept_notes))}"
    if done.kept_relations:
        kept = ", ".join(map(render_line, done.kept_relations))
        message += f". Relations in notes that may not be changed stay: {kept}"
    return Answer(message, {"success": True, "message": message})


# -- what they do


def _create_entities(vault: Vault, a: Raw) -> Answer:
    wanted = tuple(
        Entity(row["name"], row["entityType"], tuple(map(Observation, row["observations"])))
        for row in a["entities"]
    )
    done = vault.knowledge.edit(GraphEdit(entities=wanted, keep_repeats=True))
    return _answer_list("entities", [view_entity(entity) for entity in done.created])


def _create_relations(vault: Vault, a: Raw) -> Answer:
    wanted = tuple(Relation(triple) for triple in _triples(a["relations"]))
    done = vault.knowledge.edit(GraphEdit(relations=wanted, allow_dangling=True))
    return _answer_list("relations", [view_relation(relation) for relation in done.related])


def _triples(rows: Sequence[Mapping[str, str]]) -> Iterator[Triple]:
    return (Triple(row["from"], row["relationType"], row["to"]) for row in rows)


def _add_observations(vault: Vault, a: Raw) -> Answer:
    wanted = tuple(
        Observed(row["entityName"], tuple(map(Observation, row["contents"]))) for row in a["observations"]
    )
    done = vault.knowledge.edit(GraphEdit(observations=wanted, keep_repeats=True))
    rows = [
        {"entityName": one.name, "addedObservations": [observation.text for observation in one.observations]}
        for one in done.added
    ]
    return _answer_list("results", rows)


def _delete_entities(vault: Vault, a: Raw) -> Answer:
    names = tuple(dict.fromkeys(a["entityNames"]))
    done = vault.knowledge.edit(GraphEdit(delete_entities=names))
    return _answer_deleted("entities", len(names), done.not_found, done)


def _delete_observations(vault: Vault, a: Raw) -> Answer:
    wanted = tuple((row["entityName"], tuple(dict.fromkeys(row["observations"]))) for row in a["deletions"])
    done = vault.knowledge.edit(GraphEdit(delete_observations=wanted))
    return _answer_deleted("observations", sum(len(texts) for _, texts in wanted), done.not_found, done)


def _delete_relations(vault: Vault, a: Raw) -> Answer:
    wanted = tuple(dict.fromkeys(_triples(a["relations"])))
    done = vault.knowledge.edit(GraphEdit(delete_relations=wanted))
    return _answer_deleted("relations", len(wanted), done.not_found, done)


def _read_graph(vault: Vault, _: Raw) -> Answer:
    return _answer_graph(vault.knowledge.read_present())


def _search_nodes(vault: Vault, a: Raw) -> Answer:
    graph = vault.knowledge.read_present()
    return _answer_part(graph, find_entities(graph.entities, a["query"]))


def _open_nodes(vault: Vault, a: Raw) -> Answer:
    graph = vault.knowledge.read_present()
    names = set(a["names"])
    return _answer_part(graph, tuple(entity for entity in graph.entities if entity.name in names))


def _answer_part(graph: Graph, entities: tuple[Entity, ...]) -> Answer:
    names = {entity.name for entity in entities}
    return _answer_graph(Graph(entities, find_relations(graph.relations, names)))


def _tool(
    run: Callable[[Vault, Raw], Answer], title: str, description: str, takes: Schema, gives: Schema
) -> ReferenceTool:
    reads = title.startswith(("Read", "Search", "Open"))
    deletes = title.startswith("Delete")
    return ReferenceTool(
        name=title.lower().replace(" ", "_"),
        title=title,
        description=description,
        arguments=Raw,
        run=run,
        toolset="knowledge-graph",
        read_only=reads,
        destructive=deletes,
        idempotent=reads or deletes,
        plain_errors=True,
        takes=takes,
        gives=gives,
    )


TOOLS: tuple[ReferenceTool, ...] = (
    _tool(
        _create_entities,
        "Create Entities",
        "Create new entities in the knowledge graph: people, projects, things. One that exists is left as it is.",
        _object(entities=_entities()),
        _object(True, entities=_entities(True)),
    ),
    _tool(
        _create_relations,
        "Create Relations",
        "Relate entities to each other, in the active voice (`works_at`, `knows`). A relation that exists is skipped.",
        _object(relations=_relations()),
        _object(True, relations=_relations(True)),
    ),
    _tool(
        _add_observations,
        "Add Observations",
        "Add what was learnt about entities that exist, one fact in each text. Fails when an entity is missing.",
        _object(observations=_list(_object(entityName=TEXT, contents=TEXTS))),
        OUT_ADDED,
    ),
    _tool(
        _delete_entities,
        "Delete Entities",
        "Delete entities with all relations from and to them. Their notes go to the vault's trash.",
        _object(entityNames=TEXTS),
        OUT_DONE,
    ),
    _tool(
        _delete_observations,
        "Delete Observations",
        "Delete observations of entities, by their exact texts.",
        _object(deletions=_list(_object(entityName=TEXT, observations=TEXTS))),
        OUT_DONE,
    ),
    _tool(
        _delete_relations,
        "Delete Relations",
        "Delete relations, by both ends and type.",
        _object(relations=_relations()),
        OUT_DONE,
    ),
    _tool(_read_graph, "Read Graph", "Read the whole knowledge graph.", _object(), OUT_GRAPH),
    _tool(
        _search_nodes,
        "Search Nodes",
        "Find entities whose name, type or observations hold a text, with the relations from and to them.",
        _object(query=TEXT),
        OUT_GRAPH,
    ),
    _tool(
        _open_nodes,
        "Open Nodes",
        "Read entities by their exact names, with the relations from and to them.",
        _object(names=TEXTS),
        OUT_GRAPH,
    ),
)
