"""The knowledge graph of a vault in memory: follows the catalogue, note by note."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from difflib import get_close_matches

from vault_memex.core.links import link_key, resolve_link
from vault_memex.core.snapshot import NoteChanges, NoteRecord, Snapshot
from vault_memex.core.text import base_of, name_key, stem_of
from vault_memex.errors import AmbiguousTitle, NotFound
from vault_memex.memory.knowledge import (
    GraphLink,
    NoteGraph,
    RelationLine,
    find_entity_name,
    find_entity_type,
    is_entity,
    is_loose,
    parse_graphs,
)
from vault_memex.memory.knowledge_graph import Entity, Graph, Relation, Triple, fold
from vault_memex.services.knowledge_order import RelationOrder
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.quiet import without_collections

EMPTY = Snapshot(-1, {})
_NOTHING = NoteGraph()
MOST_NEAR = 5


@dataclass(slots=True)
class _Node:
    """A note that is an entity, or one that holds loose relations."""

    record: NoteRecord
    name: str | None  # None: loose relations
    entity: Entity | None
    lines: tuple[RelationLine, ...]
    relations: tuple[Relation, ...] | None = None  # with names; None until asked for, and after files came or went


@dataclass(slots=True)
class _Index:
    """How nodes are found."""

    nodes: dict[str, _Node] = field(default_factory=dict)  # by path
    by_name: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # paths of entities
    by_key: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # paths, by what they link to


class KnowledgeView:
    """The graph at the catalogue's present revision. Any thread may ask."""

    def __init__(self, catalogue: Catalogue, snapshot: Callable[[], Snapshot], order: RelationOrder) -> None:
        self._catalogue = catalogue
        self._load = snapshot
        self._order = order
        self._lock = threading.RLock()
        self._snapshot = EMPTY
        self._index = _Index()
        self._graph: Graph | None = None

    def read(self) -> Graph:
        """Return the whole graph, what ended included."""
        with self._lock:
            self.follow()
            if self._order.follow():
                self._graph = None
            if self._graph is None:
                self._graph = self._build()
            return self._graph

    def follow(self) -> None:
        """Take over what changed in the vault since the last look."""
        with self._lock:
            snapshot, before = self._load(), self._snapshot
            if snapshot is before:
                return
            changes = snapshot.find_changes(before)
            wanted = [note.path for note in changes.after if _counts(note)]
            with without_collections(keep=True) if before is EMPTY else nullcontext():
                # Read before anything is taken over: where this fails, the next look meets the same changes.
                texts = self._catalogue.load_graphs(None if before is EMPTY else wanted) if wanted else {}
                graphs = dict(zip(texts, parse_graphs(list(texts.values())), strict=True))
                self._snapshot = snapshot
                if self._take(changes, graphs):
                    self._graph = None
                if before is EMPTY:
                    for node in self._index.nodes.values():
                        self._relations(node)

    def get_path(self, name: str) -> str | None:
        """Return the path of the entity with this name, None when there is none.

        Raises AmbiguousTitle when several notes are that entity: only a person can make them, or choose.
        """
        with self._lock:
            paths = self._index.by_name.get(name, ())
            if len(paths) > 1:
                raise AmbiguousTitle(name, sorted(paths))
            return paths[0] if paths else None

    def has_entity(self, name: str) -> bool:
        """Return whether there is an entity of this name."""
        return name in self._index.by_name

    def find_paths(self, name: str) -> tuple[str, ...]:
        """Return the notes that are the entity of this name; more than one only where a person made them."""
        return tuple(self._index.by_name.get(name, ()))

    def find_near(self, name: str) -> list[str]:
        """Return names of entities that are most like a name, best first."""
        key = name_key(name)
        alike = [known for known in list(self._index.by_name) if name_key(known) == key]
        return alike or get_close_matches(name, list(self._index.by_name), MOST_NEAR)

    def get_record(self, path: str) -> NoteRecord:
        """Return what is known of an entity's note. Raises NotFound when it went away this instant."""
        record = self._snapshot.notes.get(path)
        if record is None:
            raise NotFound(f"{path} is gone: somebody deleted or moved it. Nothing was written.", gone=True)
        return record

    def find_loose(self) -> tuple[str, ...]:
        """Return the notes that hold relations of names that are no entities."""
        with self._lock:
            return tuple(sorted(path for path, node in self._index.nodes.items() if node.name is None))

    def find_touching(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the notes that hold a relation from or to one of the names, sorted."""
        wanted = set(names)
        with self._lock:
            return tuple(
                sorted(
                    path
                    for path, node in self._index.nodes.items()
                    if node.lines
                    and any(
                        not wanted.isdisjoint((r.triple.source, r.triple.target)) for r in self._relations(node)
                    )
                )
            )

    def name_relation(self, line: RelationLine, path: str) -> Triple:
        """Return the names that a relation line of a note says."""
        with self._lock:
            node = self._index.nodes.get(path)
            own = node.name if node is not None and node.name is not None else stem_of(path)
            source = own if line.source is None else self._name_of(line.source, path)
            return Triple(source, line.type, self._name_of(line.to, path))

    def resolve(self, target: str, source: str) -> str | None:
        """Return the note that a link's path text leads to."""
        if "/" not in target and target[:1] != "." and target[-3:].casefold() != ".md":
            found = self.find_files(name_key(f"{target}.md"))
            if len(found) < 2:  # as nearly always: no rule has to choose
                return found[0] if found else None
        return resolve_link(target, source, self.find_files).path

    def find_files(self, key: str) -> Sequence[str]:
        """Return the notes whose file name has this key."""
        if not key.endswith(".md"):
            return ()
        found = self._snapshot.by_title_key.get(key[:-3], ())
        return [note.path for note in found if name_key(base_of(note.path)) == key]

    def is_taken(self, stem: str, name: str) -> bool:
        """Return whether a new entity's file of this name would answer to links that mean something else."""
        if self.find_files(f"{name_key(stem)}.md"):
            return True
        key = link_key(stem)
        with self._lock:
            return any(
                link.exact is None and link_key(link.target) == key and self._name_of(link, path) != name
                for path in self._index.by_key.get(key, ())
                for link in _links_of(self._index.nodes[path].lines)
            )

    def find_plain(self, name: str) -> str | None:
        """Return the note that has this very name and is no entity."""
        for note in self._snapshot.by_title_key.get(name_key(name), ()):
            if not is_entity(note.properties) and name in (note.title, stem_of(note.path)):
                return note.path
        return None

    # -- following

    def _take(self, changes: NoteChanges, graphs: Mapping[str, NoteGraph]) -> bool:
        """Replace the nodes of the notes that changed; return whether the graph may differ."""
        index = self._index
        old = {note.path: note for note in changes.before}
        new = {note.path: note for note in changes.after}
        keys: set[str] = set()
        touched = False
        for path in sorted(old | new):
            node = index.nodes.pop(path, None)
            record = new.get(path)
            if node is not None:
                self._forget(path, node)
            made = (
                self._add(path, record, graphs.get(path, _NOTHING))
                if record is not None and _counts(record)
                else None
            )
            touched = touched or node is not None or made is not None
            if (made and made.name) != (node and node.name) or (path in old) != (record is not None):
                keys.add(link_key(path))
        for key in keys:
            for path in index.by_key.get(key, ()):
                index.nodes[path].relations, touched = None, True
        return touched

    def _add(self, path: str, record: NoteRecord, graph: NoteGraph) -> _Node:
        name, entity = None, None
        if is_entity(record.properties):
            name = find_entity_name(path, record.properties)
            kind = find_entity_type(record.properties)
            folded = fold(name, kind, graph.observations)
            entity = Entity(name, kind, graph.observations, path, record.note_id, folded)
            self._index.by_name[name].append(path)
        node = self._index.nodes[path] = _Node(record, name, entity, graph.relations)
        for link in _links_of(node.lines):
            self._index.by_key[link_key(link.target)].add(path)
        return node

    def _forget(self, path: str, node: _Node) -> None:
        if node.name is not None:
            paths = self._index.by_name[node.name]
            paths.remove(path)
            if not paths:
                del self._index.by_name[node.name]
        for link in _links_of(node.lines):
            self._index.by_key[link_key(link.target)].discard(path)

    # -- names

    def _name_of(self, link: GraphLink, path: str) -> str:
        if link.exact is not None:
            return link.exact
        found = self.resolve(link.target, path)
        node = self._index.nodes.get(found) if found is not None else None
        return node.name if node is not None and node.name is not None else link.name

    def _relations(self, node: _Node) -> tuple[Relation, ...]:
        if node.relations is None:
            path = node.record.path
            node.relations = tuple(Relation(self.name_relation(line, path), line.validity) for line in node.lines)
        return node.relations

    def _build(self) -> Graph:
        nodes = sorted(self._index.nodes.values(), key=_rank)
        relations = [relation for node in nodes if node.lines for relation in self._relations(node)]
        return Graph(
            tuple([node.entity for node in nodes if node.entity is not None]), self._order.sort(relations)
        )


def _counts(record: NoteRecord) -> bool:
    return is_entity(record.properties) or is_loose(record.properties)


def _rank(node: _Node) -> tuple[bool, bool, int, str, str]:
    """Order of creation: by number; those without one yet as they will be numbered."""
    record = node.record
    return (node.name is None, record.note_id is None, record.note_id or 0, record.created, record.path)


def _links_of(lines: Iterable[RelationLine]) -> Iterator[GraphLink]:
    for line in lines:
        yield line.to
        if line.source is not None:
            yield line.source
