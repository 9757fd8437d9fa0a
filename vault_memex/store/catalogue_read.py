"""Tables into a `Snapshot`: whole, or the old one with what changed since."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from vault_memex.core.changes import Signature
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.store.quiet import without_collections

_NOTES = (
    "SELECT path, notes.revision, record, nullif(ifnull(assigned_id, own_id), 0),"
    " coalesce(own_created, git_created, file_created),"
    " coalesce(own_updated, git_updated, file_updated) FROM notes JOIN files USING(id)"
)
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def is_complete(db: sqlite3.Connection) -> bool:
    """Whether a whole pass over the files has ended since the tables were empty."""
    return db.execute("SELECT 1 FROM meta WHERE key = 'complete'").fetchone() is not None


def load_snapshot(db: sqlite3.Connection, previous: Snapshot | None) -> Snapshot:
    """Return the vault as the last transaction left it; `previous` is reused as far as it still holds.

    The caller has begun a transaction, so that all of it is of one moment.
    """
    meta = dict(db.execute("SELECT key, value FROM meta"))
    revision = meta["revision"]
    if previous is not None and meta["log_start"] <= previous.revision <= revision:
        if previous.revision == revision:
            return previous
        notes, changed = _load_changed(db, previous)
        attachments = previous.attachments
        if meta["attachments"] > previous.revision:
            attachments = _load_attachments(db)
        return previous.follow(revision, notes, attachments, changed)
    return Snapshot(revision, _load_all(db), _load_attachments(db))


def count_notes(db: sqlite3.Connection) -> int:
    """Return how many notes have been read."""
    (count,) = db.execute("SELECT count(*) FROM notes").fetchone()
    return int(count)


def find_tagged(db: sqlite3.Connection, tag: str) -> tuple[NoteRecord, ...]:
    """Return the notes with a tag of ASCII letters, by path; others whose records hold its name may be among them."""
    rows = db.execute(_NOTES + " WHERE record LIKE ? ORDER BY path", (f'%"{tag}"%',))
    return tuple(_build_record(row, json.loads(row[2])) for row in rows)


def load_signatures(db: sqlite3.Connection) -> dict[str, Signature]:
    """Return the signature of every note, all zeros for one that was announced and not read yet."""
    rows = db.execute("SELECT path, mtime_ns, ctime_ns, size, inode FROM files WHERE is_note")
    make = tuple.__new__  # twice as fast as calling the class, and this runs before every scan
    return {row[0]: make(Signature, row[1:]) for row in rows}


def get_signatures(db: sqlite3.Connection, paths: Iterable[str]) -> dict[str, Signature]:
    """Return the signatures of those of the paths that are known; all zeros for attachments."""
    found = {}
    for path in paths:
        row = db.execute("SELECT mtime_ns, ctime_ns, size, inode FROM files WHERE path = ?", (path,)).fetchone()
        if row:
            found[path] = Signature(*row)
    return found


def find_racy(db: sqlite3.Connection) -> frozenset[str]:
    """Return the notes whose signature may hide a change."""
    return frozenset(row[0] for row in db.execute("SELECT path FROM files WHERE racy"))


class KnownContent(NamedTuple):
    """What a note's content is recognised by."""

    revision: str
    own_id: int | None  # of the frontmatter


def get_revisions(db: sqlite3.Connection, paths: Iterable[str]) -> dict[str, KnownContent]:
    """Return content hash and frontmatter id of those of the paths that are notes."""
    found = {}
    for path in paths:
        row = db.execute(
            "SELECT notes.revision, own_id FROM notes JOIN files USING(id) WHERE path = ?", (path,)
        ).fetchone()
        if row:
            found[path] = KnownContent(*row)
    return found


def load_graphs(db: sqlite3.Connection, paths: Iterable[str] | None) -> dict[str, str]:
    """Return what entities say to the knowledge graph, by path: those of the paths that are any, or all."""
    select = "SELECT path, graph FROM notes JOIN files USING(id) WHERE graph IS NOT NULL"
    if paths is None:
        return dict(db.execute(select))
    rows = (db.execute(f"{select} AND path = ?", (path,)).fetchone() for path in paths)
    return dict(row for row in rows if row)


def load_attachments(db: sqlite3.Connection) -> tuple[str, ...]:
    """Return the paths of all files that are not notes, sorted."""
    return _load_attachments(db)


def _load_attachments(db: sqlite3.Connection) -> tuple[str, ...]:
    return tuple(row[0] for row in db.execute("SELECT path FROM files WHERE NOT is_note ORDER BY path"))


def _load_all(db: sqlite3.Connection) -> dict[str, NoteRecord]:
    rows = db.execute(_NOTES + " ORDER BY path").fetchall()
    # One text to take apart instead of thousands, and no collections while so much is made that stays.
    with without_collections():
        records = json.loads(f"[{','.join([row[2] for row in rows])}]")
        return {row[0]: _build_record(row, record) for row, record in zip(rows, records, strict=True)}


def _load_changed(db: sqlite3.Connection, previous: Snapshot) -> tuple[dict[str, NoteRecord], set[str]]:
    """Return the notes now, and the paths at which something is not as it was."""
    notes = dict(previous.notes)
    changed: set[str] = set()
    for (path,) in db.execute("SELECT path FROM removed WHERE changed > ?", (previous.revision,)):
        notes.pop(path, None)
        changed.add(path)
    known = len(notes)
    for row in db.execute(_NOTES + " WHERE changed > ?", (previous.revision,)):
        notes[row[0]] = _build_record(row, json.loads(row[2]))
        changed.add(row[0])
    return (notes if len(notes) == known else {path: notes[path] for path in sorted(notes)}), changed


def _build_record(row: tuple[str, str, str, int | None, str, str], record: Sequence[Any]) -> NoteRecord:
    path, revision, _, note_id, created, updated = row
    title, aliases, former, tags, properties, layer, summary, chars, links_out, notices = record
    return NoteRecord(
        path,
        title,
        revision,
        note_id,
        _texts(aliases),
        _texts(former),
        _texts(tags),
        MappingProxyType(properties) if properties else _NOTHING,
        layer,
        summary,
        created,
        updated,
        chars,
        links_out,
        _texts(notices),
    )


def _texts(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(values) if values else ()
