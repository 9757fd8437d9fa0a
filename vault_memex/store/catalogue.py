"""The catalogue: what the vault's files say, in one SQLite file that can be deleted and comes back the same.

Readers take a connection from a pool and see the last committed state; one writer at a time has its own. Other
processes on the same vault use the same file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from vault_memex.core.changes import Signature
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.store import catalogue_links as links
from vault_memex.store import catalogue_passages as passages
from vault_memex.store import catalogue_read as read
from vault_memex.store import catalogue_words as words
from vault_memex.store import catalogue_write as write
from vault_memex.store.catalogue_links import LinkRow, Neighbour, PropertyLinkRow, UnresolvedLink
from vault_memex.store.catalogue_passages import PassageRow
from vault_memex.store.catalogue_read import KnownContent
from vault_memex.store.catalogue_words import WordHit
from vault_memex.store.connections import Connections
from vault_memex.store.indexed import Applied, Batch

__all__ = [
    "Applied",
    "Batch",
    "Catalogue",
    "LinkRow",
    "Neighbour",
    "PassageRow",
    "PropertyLinkRow",
    "UnresolvedLink",
    "WordHit",
]


class MatchPlan(Protocol):
    """FTS5 expressions as `core.query.build_match` makes them."""

    @property
    def include(self) -> str | None:
        """What notes must match; None for all."""

    @property
    def exclude(self) -> str | None:
        """What they must not match."""


class Catalogue:
    """One vault's catalogue, open. All methods may be called from any thread."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._reading = connections.reading
        self._transaction = connections.transaction
        self._names = links.KeptNames()

    @classmethod
    def open(cls, folder: Path, fingerprint: str = "") -> Catalogue:
        """Open the catalogue in a cache folder; `fingerprint` names the code and settings notes are read with."""
        return cls(Connections(folder, fingerprint))

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    def forget(self) -> None:
        """Throw away what was derived from the files; the next scan brings it back."""
        self._connections.reset()

    # -- state of the vault

    @property
    def revision(self) -> int:
        """The number of the last change by any process."""
        with self._reading() as db:
            return write.get_revision(db)

    def is_complete(self) -> bool:
        """Whether a whole pass over the files has ended since the catalogue was made, or made anew."""
        with self._reading() as db:
            return read.is_complete(db)

    def mark_complete(self) -> None:
        """Remember that a whole pass has ended."""
        with self._transaction() as db:
            write.mark_complete(db)

    def load_snapshot(self, previous: Snapshot | None = None) -> Snapshot:
        """Return all notes as they are now; a previous snapshot makes it a matter of what changed."""
        with self._reading() as db:
            return read.load_snapshot(db, previous)

    def find_tagged(self, tag: str) -> tuple[NoteRecord, ...]:
        """Return the notes with a tag of ASCII letters, and perhaps some others, by path, without loading all."""
        with self._reading() as db:
            return read.find_tagged(db, tag)

    def count_notes(self) -> int:
        """Return how many notes there are, without loading them."""
        with self._reading() as db:
            return read.count_notes(db)

    def signatures(self) -> dict[str, Signature]:
        """Return the stat signature of every note; all zeros for one that was announced and not read."""
        with self._reading() as db:
            return read.load_signatures(db)

    def get_signatures(self, paths: Iterable[str]) -> dict[str, Signature]:
        """Return the signatures of those of the paths that are known; all zeros for attachments."""
        with self._reading() as db:
            return read.get_signatures(db, paths)

    def find_racy(self) -> frozenset[str]:
        """Return the notes whose signature may hide a change."""
        with self._reading() as db:
            return read.find_racy(db)

    def get_revisions(self, paths: Iterable[str]) -> dict[str, KnownContent]:
        """Return content hash and frontmatter id of those of the paths that are notes."""
        with self._reading() as db:
            return read.get_revisions(db, paths)

    def find_attachments(self) -> tuple[str, ...]:
        """Return the paths of all files that are not notes, sorted."""
        with self._reading() as db:
            return read.load_attachments(db)

    def load_graphs(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        """Return what entities say to the knowledge graph, by path: those of the paths that are any, or all."""
        with self._reading() as db:
            return read.load_graphs(db, paths)

    # -- changes

    def apply(self, batch: Batch) -> Applied:
        """Bring the catalogue up to the batch in one transaction, links of other notes included."""
        try:
            with self._transaction() as db:
                return write.apply_batch(db, batch, self._names)
        except BaseException:
            self._names.forget()
            raise

    def announce(self, paths: Iterable[str]) -> None:
        """Make notes known by name before they are read, so that links to them resolve at once."""
        with self._transaction() as db:
            write.announce(db, paths)

    def set_git_times(self, times: Mapping[str, tuple[str | None, str | None]]) -> int:
        """Set the first and last commit times (ISO 8601, UTC) of notes; return the revision.

        They count where the frontmatter has none. A last commit is forgotten when the bytes change.
        """
        with self._transaction() as db:
            return write.set_columns(db, ("git_created", "git_updated"), times)

    def set_note_ids(self, numbers: Mapping[str, int | None]) -> int:
        """Set the numbers that notes are cited by, 0 for none; return the revision. They go before an `id` property."""
        with self._transaction() as db:
            return write.set_columns(db, ("assigned_id",), {path: (number,) for path, number in numbers.items()})

    # -- links

    def find_backlinks(self, path: str) -> tuple[LinkRow, ...]:
        """Return the links that lead to a file, sorted by source, then position."""
        with self._reading() as db:
            return links.find_backlinks(db, path)

    def find_links(self, path: str) -> tuple[LinkRow, ...]:
        """Return the links of a note in their order: frontmatter first, then by position."""
        with self._reading() as db:
            return links.find_links(db, path)

    def find_sources(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the notes that have a link or definition under one of these `core.links.link_key`s, sorted."""
        with self._reading() as db:
            return links.find_sources(db, keys)

    def find_property_links(self, names: Iterable[str]) -> tuple[PropertyLinkRow, ...]:
        """Return the links to notes that stand in these properties, by source."""
        with self._reading() as db:
            return links.find_property_links(db, names)

    def find_unresolved(self) -> tuple[UnresolvedLink, ...]:
        """Return the link targets without a file, the most wanted first."""
        with self._reading() as db:
            return links.find_unresolved(db)

    def find_neighbours(self, path: str, depth: int = 1, limit: int = 50) -> tuple[Neighbour, ...]:
        """Return notes within `depth` links in either direction, nearest first."""
        with self._reading() as db:
            return links.find_neighbours(db, path, depth, limit)

    def load_linked_notes(self) -> dict[str, set[str]]:
        """Return, by note, the other notes that it links to."""
        with self._reading() as db:
            return links.load_linked_notes(db)

    def load_note_links(self) -> list[tuple[str, str, str | None]]:
        """Return (source, target, property) of all links between two notes, in no order."""
        with self._reading() as db:
            return links.load_note_links(db)

    # -- words

    def search_words(
        self, plan: MatchPlan, weights: Sequence[float] = (1.0, 1.0, 1.0, 1.0, 1.0), limit: int | None = None
    ) -> list[WordHit]:
        """Return the notes that match, best first; `weights` are for title, aliases, headings, tags, body."""
        with self._reading() as db:
            return words.search_words(db, plan.include, plan.exclude, weights, limit)

    def find_matching(self, include: str, paths: Iterable[str]) -> frozenset[str]:
        """Return those of the paths whose notes match the FTS5 expression."""
        with self._reading() as db:
            return words.find_matching(db, include, paths)

    def find_common(self, terms: Iterable[str], notes: int) -> frozenset[str]:
        """Return those of the terms that so many notes hold, or more."""
        with self._reading() as db:
            return words.find_common(db, terms, notes)

    def count_term(self, term: str) -> int:
        """Return how many notes hold the term."""
        with self._reading() as db:
            return words.count_term(db, term)

    def count_terms(self, terms: Iterable[str]) -> dict[str, int]:
        """Return how many notes hold each of the terms; those that none holds are left out."""
        with self._reading() as db:
            return words.count_terms(db, terms)

    def find_terms(self, path: str) -> tuple[str, ...]:
        """Return the terms that a note is found by, each once: of title, aliases, headings, tags, body."""
        with self._reading() as db:
            return words.find_terms(db, path)

    def has_terms(self, terms: Iterable[str]) -> frozenset[str]:
        """Return those of the terms that occur anywhere in the vault."""
        with self._reading() as db:
            return words.find_known_terms(db, terms)

    # -- passages

    def get_passages(self, hashes: Iterable[str]) -> tuple[PassageRow, ...]:
        """Return the places of these passage hashes in the order given; one that left the vault has none."""
        with self._reading() as db:
            return passages.get_passages(db, hashes)

    def find_notes(self, hashes: Iterable[str]) -> list[tuple[str, str]]:
        """Return (hash, path) for each note that has a passage of these hashes, in no order."""
        with self._reading() as db:
            return passages.find_notes(db, hashes)

    def load_first_headings(self) -> list[tuple[str, str]]:
        """Return (path, heading) of the notes that begin with a heading, by path."""
        with self._reading() as db:
            return passages.load_first_headings(db)

    def find_passages(self, path: str) -> tuple[PassageRow, ...]:
        """Return the passages of a note in their order."""
        with self._reading() as db:
            return passages.find_passages(db, path)

    def load_note_hashes(self) -> dict[str, tuple[str, ...]]:
        """Return the passage hashes of every note in their order, by path ascending."""
        with self._reading() as db:
            return passages.load_note_hashes(db)

    def find_unembedded_notes(self, model: str) -> frozenset[str]:
        """Return the notes that have a passage without a vector of the model."""
        with self._reading() as db:
            return passages.find_unembedded_notes(db, model)

    def find_unembedded(self, model: str, limit: int) -> tuple[PassageRow, ...]:
        """Return passages without a vector of the model, each hash once, of the last changed notes first."""
        with self._reading() as db:
            return passages.find_unembedded(db, model, limit)

    def find_hashes(self, paths: Iterable[str] | None = None) -> set[str]:
        """Return the hash of every passage of the vault, or of these notes."""
        with self._reading() as db:
            return passages.find_hashes(db, paths)

    def count_embedded(self, model: str) -> tuple[int, int]:
        """Return (done, total) over the distinct passages of the vault."""
        with self._reading() as db:
            return passages.count_embedded(db, model)

    def mark_embedded(self, model: str, hashes: Iterable[str]) -> None:
        """Note that the vectors of these hashes are stored."""
        with self._transaction() as db:
            passages.mark_embedded(db, model, hashes)

    def set_embedded(self, model: str, hashes: Iterable[str]) -> None:
        """Note that these hashes have their vectors and no others."""
        with self._transaction() as db:
            passages.set_embedded(db, model, hashes)

    # -- small states: calibration, heartbeat

    def get_state(self, key: str) -> str | None:
        """Return a state, or None when it was never set."""
        with self._reading() as db:
            row = db.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
            return row[0] if row else None

    def set_state(self, key: str, value: str | None) -> None:
        """Set a state; None removes it."""
        with self._transaction() as db:
            if value is None:
                db.execute("DELETE FROM state WHERE key = ?", (key,))
            else:
                db.execute("INSERT OR REPLACE INTO state VALUES(?, ?)", (key, value))
