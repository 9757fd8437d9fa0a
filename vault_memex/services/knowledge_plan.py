"""From a `GraphEdit` to the notes as they will be. Nothing here writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from vault_memex.errors import MemexError, NotFound
from vault_memex.memory.knowledge import GraphLine, Observation, RelationLine
from vault_memex.memory.knowledge_graph import Entity, Relation, Triple
from vault_memex.memory.policy import check_at_once
from vault_memex.services.knowledge_draft import Draft, DraftNote
from vault_memex.services.knowledge_requests import GraphEdit, GraphEdited, Observed
from vault_memex.services.knowledge_view import KnowledgeView

LOOSE_NOTE = Entity("Loose relations", "")


@dataclass(slots=True)
class _Done:
    """What the plan comes to, as it grows."""

    created: list[Entity] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    added: list[Observed] = field(default_factory=list)
    related: list[Relation] = field(default_factory=list)
    deleted_observations: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    deleted_relations: list[Triple] = field(default_factory=list)
    deleted_entities: list[str] = field(default_factory=list)
    not_found: list[str] = field(default_factory=list)
    kept_relations: list[str] = field(default_factory=list)


class Planner:
    """Plans one edit of the graph on a draft."""

    def __init__(self, view: KnowledgeView, draft: Draft, edit: GraphEdit, role: str) -> None:
        self._view = view
        self._edit = edit
        self._role = role
        self._done = _Done()
        self._triples: dict[str, set[Triple]] = {}  # relations from a name, as far as they were looked up
        self.draft = draft
        self.dropped: list[str] = []  # paths of notes that are entities no more
        self.loose: list[RelationLine] = []  # for the note of loose relations, when there is none yet
        self.loose_path = ""

    def plan(self) -> GraphEdited:
        """Fill the draft; return what it comes to. Raises, having planned nothing useful, what forbids a part."""
        edit = self._edit
        self._create(edit.entities)
        self._observe(edit.observations)
        self._relate(edit.relations)
        for name, texts in edit.delete_observations:
            self._delete_observations(name, texts)
        self._delete_relations(edit.delete_relations)
        self._delete_entities(edit.delete_entities)
        done = self._done
        created = tuple(replace(e, path=self.draft.created[e.name].path) for e in done.created)
        return GraphEdited(
            created=created,
            skipped_notes=tuple(done.skipped),
            added=tuple(done.added),
            related=tuple(done.related),
            deleted_observations=tuple(done.deleted_observations),
            deleted_relations=tuple(done.deleted_relations),
            deleted_entities=tuple(done.deleted_entities),
            not_found=tuple(done.not_found),
            kept_relations=tuple(done.kept_relations),
        )

    # -- making

    def _create(self, entities: Iterable[Entity]) -> None:
        for entity in entities:
            if entity.name in self.draft.created or self._view.has_entity(entity.name):
                continue
            plain = self._view.find_plain(entity.name)
            if plain is not None:
                self._done.skipped.append(plain)
                continue
            if not self._edit.keep_repeats:
                entity = replace(entity, observations=tuple(dict.fromkeys(entity.observations)))  # noqa: PLW2901
            self.draft.create(entity)
            self._done.created.append(entity)

    def _observe(self, requests: Iterable[Observed]) -> None:
        for request in requests:
            new = self.draft.created.get(request.name)
            note = None if new is not None else self._open_entity(request.name)
            values = new.values if new is not None else [line.value for line in note.lines] if note else []
            known = {value.text for value in values if isinstance(value, Observation)}
            fresh: list[Observation] = []
            for observation in request.observations:
                if observation.text not in known:
                    fresh.append(observation)
                    if not self._edit.keep_repeats:
                        known.add(observation.text)
            if new is not None:
                new.values += fresh
            elif note is not None and fresh:
                note.set_lines(fresh)
            self._done.added.append(Observed(request.name, tuple(fresh)))

    def _open_entity(self, name: str) -> DraftNote:
        path = self._view.get_path(name)
        if path is None:
            raise NotFound(f"Entity with name {name} not found", self._view.find_near(name))
        return self.draft.open(path)

    def _relate(self, relations: Sequence[Relation]) -> None:
        if not self._edit.allow_dangling:
            for relation in relations:
                for end in (relation.triple.source, relation.triple.target):
                    if end not in self.draft.created and not self._view.has_entity(end):
                        raise NotFound(f"Entity with name {end} not found", self._view.find_near(end))
        fresh: dict[str, list[Relation]] = {}  # by source: a note's lines are put in together
        for relation in relations:
            known = self._find_triples(relation.triple.source)
            if relation.triple not in known:
                known.add(relation.triple)
                fresh.setdefault(relation.triple.source, []).append(relation)
                self._done.related.append(relation)
        for source, mine in fresh.items():
            self._write_relations(source, mine)

    def _find_triples(self, name: str) -> set[Triple]:
        if name not in self._triples:
            paths = [*self._view.find_paths(name), *self._view.find_loose()]
            self._triples[name] = {
                triple
                for path in paths
                for _, triple in self._named(self._peek(path), path)
                if triple.source == name
            }
        return self._triples[name]

    def _peek(self, path: str) -> Sequence[GraphLine]:
        """Return a note's lines as planned so far, without meaning to change it."""
        note = self.draft.notes.get(path)
        return note.lines if note is not None else self.draft.read_lines(path)

    def _write_relations(self, source: str, relations: Sequence[Relation]) -> None:
        new = self.draft.created.get(source)
        path = new.path if new is not None else self._view.get_path(source)
        if path is None:
            self._write_loose(relations)
            return
        lines = [self.draft.relate(r.triple, r.validity, path, loose=False) for r in relations]
        if new is not None:
            new.values += lines
        else:
            self.draft.open(path).set_lines(lines)

    def _write_loose(self, relations: Sequence[Relation]) -> None:
        found = self._view.find_loose()
        self.loose_path = self.loose_path or self.draft.find_path(LOOSE_NOTE)
        path = found[0] if found else self.loose_path
        lines = [self.draft.relate(r.triple, r.validity, path, loose=True) for r in relations]
        if found:
            self.draft.open(path).set_lines(lines)
        else:
            self.loose += lines

    # -- deleting

    def _delete_observations(self, name: str, texts: Sequence[str]) -> None:
        wanted = set(texts)
        new = self.draft.created.get(name)
        path = None if new is not None else self._view.get_path(name)
        found: set[str] = set()
        if new is not None:
            gone = [v for v in new.values if isinstance(v, Observation) and v.text in wanted]
            found = {value.text for value in gone}
            new.values = [value for value in new.values if value not in gone]
        elif path is not None:
            mine = [(line, line.value) for line in self._peek(path) if isinstance(line.value, Observation)]
            found = {value.text for _, value in mine if value.text in wanted}
            if found:
                note = self.draft.open(path)
                note.set_lines(
                    remove=[x for x in note.lines if isinstance(x.value, Observation) and x.value.text in found]
                )
        self._done.deleted_observations.append((name, tuple(text for text in texts if text in found)))
        self._done.not_found += [f"{name}: {text}" for text in dict.fromkeys(texts) if text not in found]

    def _delete_relations(self, triples: Sequence[Triple]) -> None:
        if not triples:
            return
        wanted = dict.fromkeys(triples)
        found = self._remove_relations(wanted.__contains__, {triple.source for triple in wanted})
        self._done.deleted_relations += [triple for triple in wanted if triple in found]
        self._done.not_found += [" → ".join(triple) for triple in wanted if triple not in found]

    def _remove_relations(
        self, wanted: Callable[[Triple], bool], names: set[str], *, lenient: bool = False
    ) -> set[Triple]:
        """Take relations out of every note that has one from or to these names; return those that were there.

        `lenient` passes over notes that may not be changed, and remembers them.
        """
        found: set[Triple] = set()
        for path in {*self._view.find_touching(names), *self.draft.notes}:
            if path in self.dropped:
                continue
            mine = {triple for _, triple in self._named(self._peek(path), path) if wanted(triple)}
            if not mine:
                continue
            try:
                note = self.draft.open(path)
            except MemexError:
                if not lenient:
                    raise
                self._done.kept_relations.append(path)
                continue
            note.set_lines(remove=[line for line, triple in self._named(note.lines, path) if triple in mine])
            found |= mine
        found |= self._remove_new(wanted)
        for known in self._triples.values():
            known.difference_update(found)
        return found

    def _remove_new(self, wanted: Callable[[Triple], bool]) -> set[Triple]:
        """Take relations out of notes that are only planned."""
        found: set[Triple] = set()

        def left(values: Sequence[Observation | RelationLine], path: str) -> list[Observation | RelationLine]:
            named = [(v, self.draft.name(v, path) if isinstance(v, RelationLine) else None) for v in values]
            found.update(triple for _, triple in named if triple is not None and wanted(triple))
            return [value for value, triple in named if triple is None or not wanted(triple)]

        for new in self.draft.created.values():
            new.values = left(new.values, new.path)
        self.loose = [value for value in left(self.loose, self.loose_path) if isinstance(value, RelationLine)]
        return found

    def _named(self, lines: Iterable[GraphLine], path: str) -> list[tuple[GraphLine, Triple]]:
        return [
            (line, self.draft.name(line.value, path)) for line in lines if isinstance(line.value, RelationLine)
        ]

    def _delete_entities(self, names: Sequence[str]) -> None:
        wanted = dict.fromkeys(names)
        for name in wanted:
            path = self._view.get_path(name)
            if name in self.draft.created:
                self.draft.cancel(name)
                self._done.created = [entity for entity in self._done.created if entity.name != name]
                self._done.deleted_entities.append(name)
            elif path is None:
                self._done.not_found.append(name)
            else:
                check_at_once("delete", self._view.get_record(path), self._role)
                self.dropped.append(path)
                self._done.deleted_entities.append(name)
        if wanted:
            self._remove_relations(
                lambda triple: triple.source in wanted or triple.target in wanted, set(wanted), lenient=True
            )
