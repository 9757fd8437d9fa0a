"""Notes as they will be after a change of the knowledge graph. Nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vault_memex.core.link_text import LinkSettings, render_target
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import base_of, name_key, stem_of
from vault_memex.errors import AlreadyExists, InvalidArgument, NotFound, NotWritable
from vault_memex.memory.knowledge import GraphLine, GraphLink, Observation, RelationLine
from vault_memex.memory.knowledge_edit import find_graph_lines, plan_lines
from vault_memex.memory.knowledge_graph import Entity, Triple
from vault_memex.memory.knowledge_text import Validity
from vault_memex.memory.policy import check_at_once
from vault_memex.services.knowledge_view import KnowledgeView
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.names import file_name_for_title, numbered_name

FOLDER = "entities"
MOST_NAMESAKES = 10_000


@dataclass(slots=True)
class DraftNote:
    """A note that is to change: its file as it is, and its text as it will be."""

    record: NoteRecord
    file: FileText
    text: str
    lines: tuple[GraphLine, ...]

    def set_lines(self, add: Sequence[Observation | RelationLine] = (), remove: Sequence[GraphLine] = ()) -> None:
        """Put values in and take lines out."""
        self.text = plan_lines(self.text, add, [line.item.span for line in remove])
        self.lines = find_graph_lines(self.text)


@dataclass(slots=True)
class NewNote:
    """An entity that is to get a note."""

    entity: Entity
    path: str
    values: list[Observation | RelationLine] = field(default_factory=list)


class Draft:
    """The notes that one change touches."""

    def __init__(self, files: VaultFiles, view: KnowledgeView, role: str) -> None:
        self._files = files
        self._view = view
        self._role = role
        self.notes: dict[str, DraftNote] = {}  # by path
        self.created: dict[str, NewNote] = {}  # by name
        self._said: dict[tuple[str, RelationLine], Triple] = {}  # by what is written, until it is in the vault
        self._new_files: dict[str, list[str]] = {}  # paths of new notes, by the key of their file name

    def open(self, path: str) -> DraftNote:
        """Return an existing note to be changed. Raises what forbids it: its layer, its lock, its encoding."""
        known = self.notes.get(path)
        if known is None:
            record = self._view.get_record(path)
            check_at_once("edit", record, self._role)
            file = self._files.read(path)
            if file.not_writable:
                raise NotWritable(f"{path}: {file.not_writable}", path=path)
            known = self.notes[path] = DraftNote(record, file, file.text, find_graph_lines(file.text))
        return known

    def read_lines(self, path: str) -> tuple[GraphLine, ...]:
        """Return the lines of a note that may not be meant to change; none when it is gone."""
        try:
            return find_graph_lines(self._files.read(path).text)
        except NotFound:
            return ()

    def create(self, entity: Entity) -> NewNote:
        """Return a new note for an entity that has none."""
        new = NewNote(entity, self.find_path(entity), list(entity.observations))
        self.created[entity.name] = new
        self._new_files.setdefault(name_key(base_of(new.path)), []).append(new.path)
        return new

    def cancel(self, name: str) -> None:
        """Make no note for this entity after all."""
        new = self.created.pop(name)
        self._new_files[name_key(base_of(new.path))].remove(new.path)

    def name(self, line: RelationLine, path: str) -> Triple:
        """Return the names that a relation line says."""
        return self._said.get((path, line)) or self._view.name_relation(line, path)

    def relate(self, triple: Triple, validity: Validity, path: str, *, loose: bool) -> RelationLine:
        """Return the line that says a relation in the note at `path`; `loose` names both of its ends."""
        source = self.render_link(triple.source, path) if loose else None
        line = RelationLine(triple.type, self.render_link(triple.target, path), validity, source)
        self._said[path, line] = triple
        return line

    def render_link(self, name: str, source: str) -> GraphLink:
        """Return a link from the note `source` to the entity of this name, or to the name where there is none."""
        new = self.created.get(name)
        path = new.path if new is not None else self._view.get_path(name)
        plain = stem_of(file_name_for_title(name))
        if path is not None:
            try:
                return GraphLink(render_target(path, source, "", self._find_files, LinkSettings(), markdown=False))
            except InvalidArgument:
                return GraphLink(plain, name)  # a file name that no link can say
        if plain == name and not name.casefold().endswith(".md") and self._leads_to_no_entity(name, source):
            return GraphLink(name)
        return GraphLink(plain, name)

    def _leads_to_no_entity(self, name: str, source: str) -> bool:
        if self._new_files.get(name_key(f"{name}.md")):
            return False
        triple = self._view.name_relation(RelationLine("", GraphLink(name)), source)
        return triple.target == name

    def _find_files(self, key: str) -> Sequence[str]:
        return [*self._view.find_files(key), *self._new_files.get(key, ())]

    def find_path(self, entity: Entity) -> str:
        """Return a path in the folder of its type: a file name that no other note has and no link means otherwise."""
        kind = stem_of(file_name_for_title(entity.type)) if entity.type.strip() else ""
        folder = f"{FOLDER}/{kind}" if kind and kind != "untitled" else FOLDER
        name = file_name_for_title(entity.name)
        for number in range(1, MOST_NAMESAKES):
            candidate = name if number == 1 else numbered_name(name, number)
            if self._new_files.get(name_key(candidate)) or self._view.is_taken(stem_of(candidate), entity.name):
                continue
            place = self._files.find_place(f"{folder}/{candidate}", "note")
            if not place.exists:
                return place.path  # folders as they are spelled on disk
        raise AlreadyExists(f"There are too many notes named {name!r}. Choose another name.")
