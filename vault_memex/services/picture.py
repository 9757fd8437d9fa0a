"""The picture of a vault, from its snapshot, the links of its catalogue and the relations of its entities."""

from __future__ import annotations

from collections.abc import Iterator

from vault_memex.core.filters import Filters
from vault_memex.core.snapshot import Snapshot
from vault_memex.memory.knowledge import GraphLink, parse_graphs
from vault_memex.memory.knowledge_text import render_validity
from vault_memex.memory.picture import Picture, TypedLink, build_picture
from vault_memex.services.knowledge_view import KnowledgeView
from vault_memex.store.catalogue import Catalogue


def find_picture(catalogue: Catalogue, view: KnowledgeView, snapshot: Snapshot, filters: Filters) -> Picture:
    """Return the notes that pass the filters, with the links and relations between them."""
    return build_picture(snapshot, (*_find_links(catalogue), *_find_relations(catalogue, view)), filters)


def _find_links(catalogue: Catalogue) -> Iterator[TypedLink]:
    """Yield the links between notes; one in a property has the property's name as its type."""
    for source, target, key in catalogue.load_note_links():
        yield TypedLink(source, target, (key or "").partition(".")[0])


def _find_relations(catalogue: Catalogue, view: KnowledgeView) -> Iterator[TypedLink]:
    """Yield the relations between notes, each type with the time it holds for."""
    view.follow()
    texts = catalogue.load_graphs()
    for path, graph in zip(texts, parse_graphs(list(texts.values())), strict=True):
        for line in graph.relations:
            source = path if line.source is None else _find_note(view, line.source, path)
            target = _find_note(view, line.to, path)
            if source is not None and target is not None and line.type:
                yield TypedLink(source, target, line.type + render_validity(line.validity))


def _find_note(view: KnowledgeView, link: GraphLink, path: str) -> str | None:
    if link.exact is None:
        return view.resolve(link.target, path)
    return min(view.find_paths(link.exact), default=None)
