"""What a note says to the knowledge graph: its observations and relations, as a view over its Markdown.

A note is an entity when it has the property `entity_type`. Its observations are the list items under a heading
`Observations`, its relations the items `- type [[Target]]` under `Relations`. A note with the property
`knowledge_graph: relations` holds relations of names that are no entities: `- [[From]] type [[To]]`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vault_memex.core.links import WIKILINK, parse_wikilink
from vault_memex.core.note import ParsedNote, PropertyValue
from vault_memex.core.sections import build_sections
from vault_memex.core.text import Span, name_key, stem_of
from vault_memex.memory.knowledge_items import ListItem, find_items
from vault_memex.memory.knowledge_text import (
    ALWAYS,
    Validity,
    parse_exact_name,
    parse_text,
    render_exact_name,
    render_text,
    render_type,
    render_validity,
    split_validity,
    unescape,
)

ENTITY_TYPE = "entity_type"
LOOSE = "knowledge_graph"
LOOSE_VALUE = "relations"
OBSERVATIONS = "Observations"
RELATIONS = "Relations"


@dataclass(frozen=True, slots=True)
class Observation:
    """Something known of an entity."""

    text: str
    validity: Validity = ALWAYS


@dataclass(frozen=True, slots=True)
class GraphLink:
    """One end of a relation as a note writes it."""

    target: str  # the path part of the link
    exact: str | None = None  # the name itself, where no link could say it

    def render(self) -> str:
        """Return the link as it is written."""
        return f"[[{self.target}]]" if self.exact is None else f"[[{self.target}|{render_exact_name(self.exact)}]]"

    @property
    def name(self) -> str:
        """The name it says, unless a file answers to the link and says another."""
        return stem_of(self.target) if self.exact is None else self.exact


@dataclass(frozen=True, slots=True)
class RelationLine:
    """A relation as a note writes it; `source` None means the note itself."""

    type: str
    to: GraphLink
    validity: Validity = ALWAYS
    source: GraphLink | None = None


@dataclass(frozen=True, slots=True)
class GraphLine:
    """A list item that says something to the graph."""

    value: Observation | RelationLine
    item: ListItem


@dataclass(frozen=True, slots=True)
class NoteGraph:
    """All that a note says to the graph, in the order of its lines."""

    observations: tuple[Observation, ...] = ()
    relations: tuple[RelationLine, ...] = ()


def is_entity(properties: Mapping[str, PropertyValue]) -> bool:
    """Return whether a note with these properties is an entity."""
    return ENTITY_TYPE in properties


def is_loose(properties: Mapping[str, PropertyValue]) -> bool:
    """Return whether a note with these properties holds relations of names that are no entities."""
    return not is_entity(properties) and properties.get(LOOSE) == LOOSE_VALUE


def find_entity_name(path: str, properties: Mapping[str, PropertyValue]) -> str:
    """Return an entity's name: the property `title` to the letter, else the file's name."""
    title = properties.get("title")
    if isinstance(title, str):
        return title
    return str(title) if isinstance(title, int | float) and not isinstance(title, bool) else stem_of(path)


def find_entity_type(properties: Mapping[str, PropertyValue]) -> str:
    """Return an entity's type as one text; several in a list are joined by commas."""
    value = properties.get(ENTITY_TYPE)
    if isinstance(value, list):
        return ", ".join(str(part) for part in value if isinstance(part, str | int | float))
    return str(value) if isinstance(value, str | int | float) else ""


def find_lines(note: ParsedNote) -> tuple[GraphLine, ...]:
    """Return the list items that say something to the graph, in order. Items that say nothing are prose."""
    loose = is_loose(note.properties)
    if not loose and not is_entity(note.properties):
        return ()
    found: list[GraphLine] = []
    for section in build_sections(note):
        heading = name_key(section.heading.text)
        if heading == name_key(OBSERVATIONS) and not loose:
            items = find_items(note.text, section.own)
            found += (GraphLine(parse_observation(i), i) for i in items if any(map(str.strip, i.lines)))
        elif heading == name_key(RELATIONS):
            found += _find_relations(note.text, section.own, loose=loose)
    return tuple(found)


def _find_relations(text: str, span: Span, *, loose: bool) -> Iterator[GraphLine]:
    for item in find_items(text, span):
        relation = parse_relation(item, loose=loose)
        if relation is not None:
            yield GraphLine(relation, item)


def parse_note_graph(note: ParsedNote) -> NoteGraph:
    """Return all that a note says to the graph."""
    values = [line.value for line in find_lines(note)]
    return NoteGraph(
        tuple(value for value in values if isinstance(value, Observation)),
        tuple(value for value in values if isinstance(value, RelationLine)),
    )


def parse_observation(item: ListItem) -> Observation:
    """Return what an item under `Observations` says."""
    return Observation(*parse_text(item.lines))


def parse_relation(item: ListItem, *, loose: bool = False) -> RelationLine | None:
    """Return the relation that an item says in its first line; None when no link stands in it."""
    line = item.lines[0].rstrip(" \t")
    source: GraphLink | None = None
    start = 0
    for found in WIKILINK.finditer(line):
        before = line[start : found.start()]
        if before.endswith(("\\", "!")):
            continue  # escaped, or an embed
        link = parse_wikilink(line, Span(*found.span()), "wiki")
        if link is None or not link.target:
            continue
        end = GraphLink(link.target, parse_exact_name(link.display))
        if loose and source is None:
            source, start = end, found.end()
            continue
        rest, validity = split_validity(f"]]{line[found.end() :]}")
        del rest
        return RelationLine(unescape(before.strip(" \t")), end, validity, source)
    return None


def render_observation(observation: Observation) -> list[str]:
    """Return the lines of an item that says this."""
    return render_text(observation.text, observation.validity)


def render_relation(relation: RelationLine) -> list[str]:
    """Return the line of an item that says this."""
    source = f"{relation.source.render()} " if relation.source is not None else ""
    span = render_validity(relation.validity)
    return [f"{source}{render_type(relation.type)}{relation.to.render()}{span}"]


# -- as kept beside the note in the catalogue


def render_graph(graph: NoteGraph) -> str:
    """Return what a note says as one line of JSON."""
    observations = [[o.text, o.validity.start, o.validity.until] for o in graph.observations]
    relations = [
        [r.type, r.to.target, r.to.exact, r.validity.start, r.validity.until]
        + ([r.source.target, r.source.exact] if r.source is not None else [])
        for r in graph.relations
    ]
    return json.dumps([observations, relations], ensure_ascii=False, separators=(",", ":"))


def parse_graphs(texts: Sequence[str]) -> list[NoteGraph]:
    """Return what `render_graph` made the texts of. They are read as one: of thousands, that takes half the time."""
    return [
        NoteGraph(
            tuple([Observation(text, _validity(start, until)) for text, start, until in observations]),
            tuple([_parse_relation_row(row) for row in relations]),
        )
        for observations, relations in json.loads(f"[{','.join(texts)}]")
    ]


def _parse_relation_row(row: Sequence[str]) -> RelationLine:
    source = GraphLink(row[5], row[6]) if len(row) > 5 else None
    return RelationLine(row[0], GraphLink(row[1], row[2]), _validity(row[3], row[4]), source)


def _validity(start: str, until: str) -> Validity:
    return Validity(start, until) if start or until else ALWAYS
