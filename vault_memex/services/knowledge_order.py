"""In which order relations were made: the journal knows. Those a person wrote come after, by entity and line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vault_memex.memory.knowledge_graph import Relation, Triple
from vault_memex.store.journal import Journal

KIND = "related"
DETAIL = "relations"


class RelationOrder:
    """Which relation came when."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen: Mapping[str, int] = {}
        self._places: dict[Triple, int] = {}
        self._next = 0

    def follow(self) -> bool:
        """Read what the journal got since the last look; return whether any relation was among it."""
        sizes = self._journal.find_sizes()
        if sizes == self._seen:
            return False
        before = self._next
        for event in self._journal.read_kind(KIND, self._seen):
            for row in event.details.get(DETAIL, ()):
                if isinstance(row, list) and len(row) == 3 and all(isinstance(part, str) for part in row):
                    self._places[Triple(*row)] = self._next
                    self._next += 1
        self._seen = sizes
        return self._next > before

    def sort(self, relations: Iterable[Relation]) -> tuple[Relation, ...]:
        """Return the relations in the order they were made in, as far as it is known."""
        places = self._places
        return tuple(sorted(relations, key=lambda relation: places.get(relation.triple, self._next)))
