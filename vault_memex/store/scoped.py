"""The stores as a connection with a scope sees them: what lies outside is not there.

Services are made over these instead of the vault's own, so that none of them has to think of scopes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.errors import NotFound
from vault_memex.memory.scope import Scope
from vault_memex.store.catalogue import (
    Catalogue,
    LinkRow,
    MatchPlan,
    Neighbour,
    PassageRow,
    PropertyLinkRow,
    UnresolvedLink,
    WordHit,
)
from vault_memex.store.catalogue_read import KnownContent
from vault_memex.store.files import VaultFiles
from vault_memex.store.paths import Door, Place

_EQUAL = (1.0, 1.0, 1.0, 1.0, 1.0)
_ALL = 1_000_000


class ScopedFiles(VaultFiles):
    """The vault's files, of which notes outside of the scope are not there. The program's own files are."""

    def __init__(self, files: VaultFiles, scope: Scope) -> None:
        self.__dict__.update(files.__dict__)  # what is known of own writes is shared
        self._scope = scope

    def find_place(self, path: str, door: Door = "read") -> Place:
        """Return where the path leads. Outside, there is nothing to read, and writing is refused."""
        place = super().find_place(path, door)
        if door == "internal" or (self._scope.holds(path) and self._scope.holds(place.path)):
            return place
        if door == "note":
            self._scope.check("")
        raise NotFound(f"There is no file {path!r} in the vault.", path=path)


def narrow_snapshot(whole: Snapshot, scope: Scope, before: tuple[Snapshot, Snapshot] | None) -> Snapshot:
    """Return the notes of the scope; `before` is an earlier whole snapshot and what was returned for it."""
    notes = {path: note for path, note in whole.notes.items() if scope.holds(path)}
    attachments = tuple(path for path in whole.attachments if scope.holds(path))
    if before is None:
        return Snapshot(whole.revision, notes, attachments)
    changes = whole.find_changes(before[0])
    changed = (note.path for note in (*changes.before, *changes.after) if scope.holds(note.path))
    if attachments == before[1].attachments:
        attachments = tuple(before[1].attachments)
    return before[1].follow(whole.revision, notes, attachments, changed)


class ScopedCatalogue(Catalogue):
    """The catalogue, of which notes outside of the scope are not there. Nothing is indexed through it."""

    def __init__(self, catalogue: Catalogue, scope: Scope) -> None:
        self.__dict__.update(catalogue.__dict__)  # connections and kept names are shared
        self._holds = scope.holds

    def load_snapshot(self, previous: Snapshot | None = None) -> Snapshot:
        """Return the notes of the scope; a `Session` follows the vault's own snapshot instead, which is cheaper."""
        whole = super().load_snapshot(None)
        del previous
        notes = {path: note for path, note in whole.notes.items() if self._holds(path)}
        return replace(whole, notes=notes, attachments=tuple(filter(self._holds, whole.attachments)))

    def find_tagged(self, tag: str) -> tuple[NoteRecord, ...]:
        """Return the notes of the scope with a tag, and perhaps some others."""
        return tuple(note for note in super().find_tagged(tag) if self._holds(note.path))

    def count_notes(self) -> int:
        """Return how many notes of the scope there are."""
        return sum(map(self._holds, self.signatures()))

    def get_revisions(self, paths: Iterable[str]) -> dict[str, KnownContent]:
        """Return content hash and frontmatter id of those of the paths that are notes of the scope."""
        return super().get_revisions(filter(self._holds, paths))

    def find_attachments(self) -> tuple[str, ...]:
        """Return the paths of the scope's files that are not notes, sorted."""
        return tuple(filter(self._holds, super().find_attachments()))

    def load_first_headings(self) -> list[tuple[str, str]]:
        """Return (path, heading) of the notes of the scope that begin with a heading, by path."""
        return [row for row in super().load_first_headings() if self._holds(row[0])]

    def load_graphs(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        """Return what entities of the scope say to the knowledge graph, by path."""
        return {path: text for path, text in super().load_graphs(paths).items() if self._holds(path)}

    # -- links

    def find_backlinks(self, path: str) -> tuple[LinkRow, ...]:
        """Return the links of the scope's notes that lead to a file."""
        return tuple(row for row in super().find_backlinks(path) if self._holds(row.source))

    def find_links(self, path: str) -> tuple[LinkRow, ...]:
        """Return the links of a note. Those that lead out of the scope lead nowhere."""
        if not self._holds(path):
            return ()
        return tuple(map(self._cut_link, super().find_links(path)))

    def _cut_link(self, row: LinkRow) -> LinkRow:
        if row.path is None or self._holds(row.path):
            return row
        return replace(row, path=None, ambiguous=False)

    def find_property_links(self, names: Iterable[str]) -> tuple[PropertyLinkRow, ...]:
        """Return the links to notes that stand in these properties, by source."""
        rows = (row for row in super().find_property_links(names) if self._holds(row.source))
        return tuple(
            row if row.target is None or self._holds(row.target) else replace(row, target=None) for row in rows
        )

    def find_unresolved(self) -> tuple[UnresolvedLink, ...]:
        """Return the link targets without a file that the scope's notes use."""
        found = []
        for group in super().find_unresolved():
            sources = tuple(filter(self._holds, group.sources))
            if sources:
                target = (
                    group.target if len(sources) == len(group.sources) else self._find_spelling(group, sources)
                )
                found.append(UnresolvedLink(target, len(sources), sources))
        return tuple(found)

    def _find_spelling(self, group: UnresolvedLink, sources: Sequence[str]) -> str:
        """Return the target as a note of the scope spells it."""
        key = group.target.casefold()
        rows = (row for source in sources for row in super(ScopedCatalogue, self).find_links(source))
        return next((row.target for row in rows if row.target.casefold().removesuffix(".md") == key), "")

    def find_neighbours(self, path: str, depth: int = 1, limit: int = 50) -> tuple[Neighbour, ...]:
        """Return notes within `depth` links in either direction; no way leads through a note outside."""
        seen, edge = {path}, [path] if self._holds(path) else []
        found: list[Neighbour] = []
        for distance in range(1, depth + 1):
            step: dict[str, Neighbour] = {}
            for one in edge:
                for near in super().find_neighbours(one, 1, _ALL):
                    if near.path not in seen and self._holds(near.path):
                        step[near.path] = _joined(near, step.get(near.path), distance)
            found += sorted(step.values(), key=lambda n: n.order)
            edge = list(step)
            seen.update(edge)
        return tuple(found[:limit])

    def load_linked_notes(self) -> dict[str, set[str]]:
        """Return, by note, the other notes that it links to."""
        linked = super().load_linked_notes()
        return {path: set(filter(self._holds, others)) for path, others in linked.items() if self._holds(path)}

    def load_note_links(self) -> list[tuple[str, str, str | None]]:
        """Return (source, target, property) of all links between two notes."""
        return [row for row in super().load_note_links() if self._holds(row[0]) and self._holds(row[1])]

    # -- words

    def search_words(
        self, plan: MatchPlan, weights: Sequence[float] = _EQUAL, limit: int | None = None
    ) -> list[WordHit]:
        """Return the notes of the scope that match, best first."""
        return [hit for hit in super().search_words(plan, weights) if self._holds(hit.path)][:limit]

    def find_matching(self, include: str, paths: Iterable[str]) -> frozenset[str]:
        """Return those of the paths whose notes match."""
        return super().find_matching(include, filter(self._holds, paths))

    def count_term(self, term: str) -> int:
        """Return how many notes of the scope hold the term."""
        return sum(self._holds(path) for path in self._find_holding(term))

    def count_terms(self, terms: Iterable[str]) -> dict[str, int]:
        """Return how many notes of the scope hold each of the terms; those that none holds are left out."""
        counts = {term: self.count_term(term) for term in super().count_terms(terms)}
        return {term: count for term, count in counts.items() if count}

    def find_terms(self, path: str) -> tuple[str, ...]:
        """Return the terms that a note is found by."""
        return super().find_terms(path) if self._holds(path) else ()

    def has_terms(self, terms: Iterable[str]) -> frozenset[str]:
        """Return those of the terms that occur in the scope."""
        return frozenset(
            term for term in super().has_terms(terms) if any(map(self._holds, self._find_holding(term)))
        )

    def _find_holding(self, term: str) -> list[str]:
        return [hit.path for hit in super().search_words(_Term('"' + term.replace('"', '""') + '"'), _EQUAL)]

    # -- passages

    def get_passages(self, hashes: Iterable[str]) -> tuple[PassageRow, ...]:
        """Return the places of these passage hashes in the scope."""
        return tuple(row for row in super().get_passages(hashes) if self._holds(row.path))

    def find_notes(self, hashes: Iterable[str]) -> list[tuple[str, str]]:
        """Return (hash, path) for each note of the scope that has a passage of these hashes."""
        return [row for row in super().find_notes(hashes) if self._holds(row[1])]

    def find_unembedded_notes(self, model: str) -> frozenset[str]:
        """Return the notes of the scope that have a passage without a vector of the model."""
        return frozenset(filter(self._holds, super().find_unembedded_notes(model)))

    def find_passages(self, path: str) -> tuple[PassageRow, ...]:
        """Return the passages of a note in their order."""
        return super().find_passages(path) if self._holds(path) else ()

    def load_note_hashes(self) -> dict[str, tuple[str, ...]]:
        """Return the passage hashes of every note of the scope, by path ascending."""
        return {path: hashes for path, hashes in super().load_note_hashes().items() if self._holds(path)}


def _joined(near: Neighbour, known: Neighbour | None, distance: int) -> Neighbour:
    """Return a neighbour with the links of both, at this distance."""
    if known is None:
        return replace(near, distance=distance)
    return replace(
        known, links=known.links + near.links, ways=known.ways | near.ways, kinds=known.kinds | near.kinds
    )


class _Term:
    exclude = None

    def __init__(self, include: str) -> None:
        self.include: str | None = include
