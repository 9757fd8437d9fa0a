"""A file of the reference memory server beside the vault: taken in at start, written again after each change.

What the file had when it was last taken in or written is known by its hash. A file that is otherwise was changed by
another program: what the vault lacks of it is taken in before anything is written. Lines that say nothing to the graph
are kept.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from vault_memex.core.revision import revision_of
from vault_memex.memory.knowledge_graph import Entity, Graph
from vault_memex.memory.memory_file import Extras, Key, MemoryFile, Rendered, parse_memory_file, render_memory_file
from vault_memex.services.knowledge_requests import GraphEdit, GraphEdited, Observed
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.memory_file import FileSignature, find_signature, read_memory_file, replace_memory_file

log = logging.getLogger(__name__)

PART = 500  # entities or relations in one write
T = TypeVar("T")


def find_missing(graph: Graph, wanted: Graph) -> Iterator[GraphEdit]:
    """Yield the edits that add what a graph lacks of another one, in parts."""
    known = {entity.name: set(entity.texts) for entity in graph.entities}
    new = [entity for entity in wanted.entities if entity.name not in known]
    for part in _parts(new):
        yield GraphEdit(entities=part, keep_repeats=True, imported=True)
    more = [observed for entity in wanted.entities if (observed := _find_more(known, entity)) is not None]
    for added in _parts(more):
        yield GraphEdit(observations=added, imported=True)
    triples = {relation.triple for relation in graph.relations}
    for related in _parts([relation for relation in wanted.relations if relation.triple not in triples]):
        yield GraphEdit(relations=related, allow_dangling=True, imported=True)


def _find_more(known: dict[str, set[str]], entity: Entity) -> Observed | None:
    if entity.name not in known:
        return None
    more = tuple(o for o in entity.observations if o.text not in known[entity.name])
    return Observed(entity.name, more) if more else None


def _parts(items: list[T]) -> Iterator[tuple[T, ...]]:
    rest = iter(items)
    while part := tuple(islice(rest, PART)):
        yield part


class Mirror:
    """The file of one vault, if it has one."""

    def __init__(self, file: Path | None, catalogue: Catalogue) -> None:
        self.file = file
        self._catalogue = catalogue
        self._reported = ""
        self._signature: FileSignature | None = None  # of a file in which nothing is new
        self._revision = ""  # of the file as it was written last
        self._read = MemoryFile()  # what of it is not ours
        self._lines: dict[Key, Rendered] = {}
        self._key = "" if file is None else f"mirror {file}"

    def take_in(self, graph: Callable[[], Graph], edit: Callable[[GraphEdit], GraphEdited]) -> tuple[str, ...]:
        """Add what the vault lacks of the file to it; return what could not be read. Nothing when it is known."""
        if self.file is None:
            return ()
        signature = find_signature(self.file)
        if signature is not None and signature == self._signature:
            return ()
        data = read_memory_file(self.file)
        if data is None:
            return ()
        if revision_of(data) == self._catalogue.get_state(self._key):
            self._signature = signature
            return ()
        read = self._parse(data)
        for part in find_missing(graph(), read.graph):
            done = edit(part)
            if done.skipped_notes:
                log.warning(
                    "%s: no entities were made where notes are: %s", self.file, ", ".join(done.skipped_notes)
                )
        self._catalogue.set_state(self._key, revision_of(data))
        return read.faults

    def write(self, graph: Graph, is_note: Callable[[str], bool]) -> None:
        """Write the graph into the file, with the lines and keys in it that are not ours.

        So stay entities of which none could be made because `is_note` an ordinary note of that name.
        """
        if self.file is None:
            return
        data = read_memory_file(self.file)
        if self._revision != revision_of(data or b""):
            self._read = self._parse(data or b"")
        names = {entity.name for entity in graph.entities}
        kept = tuple(e for e in self._read.graph.entities if e.name not in names and is_note(e.name))
        whole = Graph((*graph.entities, *kept), graph.relations)
        text = render_memory_file(whole, self._read.extras, self._read.foreign, self._lines)
        new = text.encode("utf-8", "surrogateescape")
        if new != data:
            replace_memory_file(self.file, new)
        self._revision = revision_of(new)
        self._read = replace(self._read, graph=Graph(kept), extras=self._find_extras(whole))
        self._catalogue.set_state(self._key, self._revision)

    def _find_extras(self, graph: Graph) -> Extras:
        """Return the unknown keys of what is still in the file."""
        if not self._read.extras:
            return {}
        there: set[Key] = {e.name for e in graph.entities} | {r.triple for r in graph.relations}
        return {key: extra for key, extra in self._read.extras.items() if key in there}

    def _parse(self, data: bytes) -> MemoryFile:
        read = parse_memory_file(data.decode("utf-8", "surrogateescape"))
        report = "; ".join(read.faults)
        if report and report != self._reported:
            log.warning("%s: skipped and kept: %s", self.file, report)
        self._reported = report
        return read
