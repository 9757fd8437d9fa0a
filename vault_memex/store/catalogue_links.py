"""The link graph in the catalogue: resolving, resolving again, and walking."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from vault_memex.core.links import resolve_link
from vault_memex.core.text import base_of, folder_of, name_key, without_md
from vault_memex.store.indexed import IndexedNote


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link with both of its ends."""

    source: str
    path: str | None  # the file it leads to; None while unresolved
    kind: str
    target: str  # as written
    subpath: str
    display: str | None
    property: str | None  # frontmatter key; None in the body
    start: int
    end: int
    ambiguous: bool  # other files answer equally well


Way = Literal["out", "in"]


@dataclass(frozen=True, slots=True)
class UnresolvedLink:
    """A name that links use and no file has."""

    target: str  # without subpath and .md, as it is written first
    count: int
    sources: tuple[str, ...]  # sorted, each once


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note some links away, in either direction."""

    path: str
    distance: int
    links: int  # how many links tie it to what is one step nearer
    ways: frozenset[Way] = frozenset()  # those of the links, seen from there
    kinds: frozenset[str] = frozenset()
    note_id: int | None = None

    @property
    def order(self) -> tuple[int, int, float, str]:
        """What neighbours are sorted by: nearest first, then the most links, then the lowest number."""
        return self.distance, -self.links, math.inf if self.note_id is None else self.note_id, self.path


@dataclass(frozen=True, slots=True)
class PropertyLinkRow:
    """A link that stands in a property."""

    source: str
    target: str | None  # the note it leads to; None when none answers
    key: str  # the property: "amends", or "amends.0" for an item of a list


class LinkResolver:
    """`core.links.resolve_link` with the catalogue's files; each name is looked up once."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._paths: dict[str, Sequence[str]] = {}
        self._ids: dict[str, int] = {}
        self._found: dict[tuple[str, str], tuple[int | None, bool]] = {}  # by target and folder of the source

    def use(self, db: sqlite3.Connection) -> None:
        """Look names up through this connection from now on."""
        self._db = db

    def find_files(self, key: str) -> Sequence[str]:
        """Return the paths of all files whose base name has the key."""
        if key not in self._paths:
            rows = self._db.execute("SELECT path, id FROM files WHERE name_key = ?", (key,)).fetchall()
            self._ids.update(rows)
            self._paths[key] = [path for path, _ in rows]
        return self._paths[key]

    def resolve(self, target: str, source: str) -> tuple[int | None, bool]:
        """Return the id of the file that the link leads to, if any, and whether others answer as well."""
        if not target:
            return self._resolve(target, source)
        place = target, folder_of(source)
        found = self._found.get(place)
        if found is None:
            found = self._found[place] = self._resolve(target, source)
        return found

    def _resolve(self, target: str, source: str) -> tuple[int | None, bool]:
        found = resolve_link(target, source, self.find_files)
        if found.path is None:
            return None, False
        if found.path not in self._ids:  # a link to its own note
            self._ids.update(self._db.execute("SELECT path, id FROM files WHERE path = ?", (found.path,)))
        return self._ids.get(found.path), bool(found.candidates)


class KeptNames:
    """A resolver from one large batch to the next, for as long as no file comes, goes or gets another name."""

    def __init__(self) -> None:
        self._resolver: LinkResolver | None = None
        self._state: tuple[int, int] | None = None

    def take(self, db: sqlite3.Connection, revision: int) -> LinkResolver:
        """Return the resolver that was kept, if the catalogue is still as it was; else a new one."""
        kept, state = self._resolver, self._state
        self.forget()
        if kept is not None and state == (revision, _find_last_file(db)):
            kept.use(db)
            return kept
        return LinkResolver(db)

    def keep(self, db: sqlite3.Connection, revision: int, resolver: LinkResolver) -> None:
        """Keep a resolver that was made after the last change of names up to this revision."""
        self._resolver, self._state = resolver, (revision, _find_last_file(db))

    def forget(self) -> None:
        """Keep nothing."""
        self._resolver = self._state = None


def _find_last_file(db: sqlite3.Connection) -> int:
    """Return the highest number of a file: announced ones make no revision."""
    return int(db.execute("SELECT ifnull(max(id), 0) FROM files").fetchone()[0])


def find_names(path: str) -> set[str]:
    """Return the link keys under which links to this file are kept: `a.md.md` answers to three."""
    name = base_of(path)
    names = {name_key(name)}
    while (shorter := without_md(name)) != name:
        names.add(name_key(shorter))
        name = shorter
    return names


def insert_links(db: sqlite3.Connection, note_id: int, note: IndexedNote, resolver: LinkResolver) -> None:
    """Write the note's links, resolved."""
    rows = []
    for ordinal, link in enumerate(note.links):
        resolved, ambiguous = resolver.resolve(link.target, note.path)
        rows.append((note_id, ordinal, *link, resolved, ambiguous))
    db.executemany(
        "INSERT INTO links(source, ordinal, kind, target, subpath, display, property, start, end, link_key,"
        " resolved, ambiguous) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
        rows,
    )
    keys = sorted(note.definitions)
    db.executemany("INSERT INTO definitions(link_key, source) VALUES(?,?)", [(key, note_id) for key in keys])


def resolve_again(db: sqlite3.Connection, names: Iterable[str], resolver: LinkResolver) -> None:
    """Resolve the links kept under these keys; rows that stay as they are are not written."""
    changed = []
    for name in names:
        rows = db.execute(
            "SELECT source, ordinal, target, resolved, ambiguous, path FROM links JOIN files ON files.id = source"
            " WHERE link_key = ?",
            (name,),
        ).fetchall()
        for source, ordinal, target, resolved, ambiguous, path in rows:
            found = resolver.resolve(target, path)
            if found != (resolved, bool(ambiguous)):
                changed.append((*found, source, ordinal))
    db.executemany("UPDATE links SET resolved = ?, ambiguous = ? WHERE source = ? AND ordinal = ?", changed)


_LINK_COLUMNS = (
    "source.path, target.path, kind, links.target, subpath, display, property, start, end, ambiguous FROM links"
    " JOIN files AS source ON source.id = links.source LEFT JOIN files AS target ON target.id = links.resolved"
)


def find_backlinks(db: sqlite3.Connection, path: str) -> tuple[LinkRow, ...]:
    """Return the links that lead to a file from other notes and itself, sorted by source, then position."""
    return _find_link_rows(db, "target.path = ? ORDER BY source.path, ordinal", path)


def find_links(db: sqlite3.Connection, path: str) -> tuple[LinkRow, ...]:
    """Return the links of a note in their order: frontmatter first, then by position."""
    return _find_link_rows(db, "source.path = ? ORDER BY ordinal", path)


def _find_link_rows(db: sqlite3.Connection, condition: str, path: str) -> tuple[LinkRow, ...]:
    rows = db.execute(f"SELECT {_LINK_COLUMNS} WHERE {condition}", (path,))
    return tuple(LinkRow(*(*row[:-1], bool(row[-1]))) for row in rows)


def find_sources(db: sqlite3.Connection, keys: Iterable[str]) -> tuple[str, ...]:
    """Return the notes that have a link or definition kept under one of the keys, resolved or not, sorted."""
    query = (
        "SELECT path FROM links JOIN files ON files.id = source WHERE link_key = ?1"
        " UNION SELECT path FROM definitions JOIN files ON files.id = source WHERE link_key = ?1"
    )
    return tuple(sorted({path for key in keys for (path,) in db.execute(query, (key,))}))


def find_property_links(db: sqlite3.Connection, names: Iterable[str]) -> tuple[PropertyLinkRow, ...]:
    """Return the links to notes in these properties and in the items of their lists, by source."""
    rows: list[PropertyLinkRow] = []
    for name in names:
        found = db.execute(
            "SELECT source.path, target.path, property FROM links"
            " JOIN files AS source ON source.id = links.source"
            " LEFT JOIN files AS target ON target.id = links.resolved AND target.is_note"
            # A slash is what follows a full stop: the range holds `name` and `name.0` and whatever is between.
            " WHERE property >= ?1 AND property < ?1 || '/' AND (property = ?1 OR property >= ?1 || '.')",
            (name,),
        )
        rows += (PropertyLinkRow(*row) for row in found)
    return tuple(sorted(rows, key=lambda r: (r.source, r.key)))


def find_unresolved(db: sqlite3.Connection) -> tuple[UnresolvedLink, ...]:
    """Return the names without a file, the most wanted first, then by name."""
    rows = db.execute(
        "SELECT links.target, source.path FROM links JOIN files AS source ON source.id = links.source"
        " WHERE resolved IS NULL ORDER BY source.path, ordinal"
    )
    groups: dict[str, tuple[str, list[str]]] = {}
    for target, source in rows:
        name = without_md(target)
        groups.setdefault(name_key(name), (name, []))[1].append(source)
    found = [
        UnresolvedLink(name, len(sources), tuple(dict.fromkeys(sources))) for name, sources in groups.values()
    ]
    return tuple(sorted(found, key=lambda u: (-u.count, u.target)))


def load_linked_notes(db: sqlite3.Connection) -> dict[str, set[str]]:
    """Return, by note, the other notes that it links to."""
    names = _load_names(db)
    found: dict[str, set[str]] = {}
    for source, target in db.execute(f"SELECT DISTINCT source, resolved FROM links {_BETWEEN}"):  # noqa: S608 -- a constant
        if target in names:
            found.setdefault(names[source], set()).add(names[target])
    return found


def load_note_links(db: sqlite3.Connection) -> list[tuple[str, str, str | None]]:
    """Return (source, target, property) of all links between two notes, in no order; property None in the body."""
    names = _load_names(db)
    rows = db.execute(f"SELECT source, resolved, property FROM links {_BETWEEN}")  # noqa: S608 -- a constant
    return [(names[source], names[target], key) for source, target, key in rows if target in names]


_BETWEEN = "WHERE resolved IS NOT NULL AND resolved != source"


def _load_names(db: sqlite3.Connection) -> dict[int, str]:
    """Return the path of each note by its number in the catalogue: a join would make every path many times."""
    return dict(db.execute("SELECT id, path FROM files WHERE is_note"))


_STEP = """
SELECT other, count(*), group_concat(DISTINCT way), group_concat(DISTINCT kind) FROM (
    SELECT resolved AS other, 'out' AS way, kind FROM links
        WHERE source IN (SELECT value FROM json_each(?1)) AND resolved IS NOT NULL
    UNION ALL
    SELECT source, 'in', kind FROM links WHERE resolved IN (SELECT value FROM json_each(?1))
) GROUP BY other
"""


def find_neighbours(db: sqlite3.Connection, path: str, depth: int = 1, limit: int = 50) -> tuple[Neighbour, ...]:
    """Return notes within `depth` links in either direction: nearest first, then by number of links, then by number.

    Attachments are neither found nor walked through.
    """
    start = db.execute("SELECT id FROM files WHERE path = ? AND is_note", (path,)).fetchone()
    seen: set[int] = {start[0]} if start else set()
    edge = list(seen)
    found: list[Neighbour] = []
    for distance in range(1, depth + 1):
        steps = [row for row in db.execute(_STEP, (str(edge),)) if row[0] not in seen]
        notes: dict[int, Neighbour] = {}
        for other, links, ways, kinds in steps:
            if note := _find_note(db, other):
                path, number = note
                ends = frozenset(ways.split(",")), frozenset(kinds.split(","))
                notes[other] = Neighbour(path, distance, links, *ends, number)
        found += sorted(notes.values(), key=lambda n: n.order)
        edge = list(notes)
        seen.update(edge)
        if len(found) >= limit or not edge:
            break
    return tuple(found[:limit])


def _find_note(db: sqlite3.Connection, file: int) -> tuple[str, int | None] | None:
    """Return path and number of a file that is a note."""
    row: tuple[str, int | None] | None = db.execute(
        "SELECT path, coalesce(assigned_id, own_id) FROM files LEFT JOIN notes USING (id) WHERE id = ? AND is_note",
        (file,),
    ).fetchone()
    return row and (row[0], row[1] or None)
