"""Batches into tables: each function works inside a transaction that the caller has begun."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from vault_memex.core.changes import Signature
from vault_memex.core.text import base_of, name_key
from vault_memex.store.catalogue_links import KeptNames, LinkResolver, find_names, insert_links, resolve_again
from vault_memex.store.indexed import Applied, Batch, IndexedNote, Touch

REMOVED_LIMIT = 20_000
LARGE_BATCH = 100  # notes; another one is likely to follow
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class _Row(NamedTuple):
    """What is needed of a file's row to change it."""

    id: int
    is_note: int
    signature: Signature


def apply_batch(db: sqlite3.Connection, batch: Batch, kept: KeptNames) -> Applied:
    """Bring the tables up to the batch. Links anywhere in the vault that it concerns are resolved again.

    `kept` is what large batches leave to each other; it is to be forgotten when the transaction fails.
    """
    revision = get_revision(db) + 1
    skipped = _find_skipped(db, batch)
    names: set[str] = set()  # link keys whose files came or went
    attachments_changed = bool(batch.attachments)
    moves = [(old, new) for old, new in batch.moves if old not in skipped and new not in skipped]
    names |= _apply_moves(db, moves, revision)
    for path in batch.deletes:
        if path not in skipped:
            removed = _delete_path(db, path, revision)
            attachments_changed |= removed == "attachment"
            names |= find_names(path)
    names |= _add_attachments(db, batch.attachments)
    upserts = [note for note in batch.upserts if note.path not in skipped]
    ids, added = _write_files(db, upserts)
    names |= added
    resolver = LinkResolver(db) if names else kept.take(db, revision - 1)
    for note in upserts:
        _write_note(db, ids[note.path], note, revision, resolver)
    resolve_again(db, names, resolver)
    for touch in batch.touches:
        if touch.path not in skipped:
            _apply_touch(db, touch, revision)
    _set_meta(db, "revision", revision)
    if attachments_changed:
        _set_meta(db, "attachments", revision)
    _trim_removed(db, revision)
    kept.forget()
    if len(upserts) >= LARGE_BATCH:
        kept.keep(db, revision, resolver)
    return Applied(revision, tuple(sorted(skipped)))


def announce(db: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Make notes known by name before they are read, so that links to them resolve once and at once."""
    rows = [(path, name_key(base_of(path))) for path in paths]
    db.executemany("INSERT OR IGNORE INTO files(path, is_note, name_key) VALUES(?, 1, ?)", rows)
    names = {name for path, _ in rows for name in find_names(path)}
    resolve_again(db, names, LinkResolver(db))


def get_revision(db: sqlite3.Connection) -> int:
    """Return the number of the last change."""
    return int(db.execute("SELECT value FROM meta WHERE key = 'revision'").fetchone()[0])


def bump_notes(db: sqlite3.Connection, ids: Iterable[int]) -> int:
    """Note that the records of these notes changed; return the new revision."""
    revision = get_revision(db) + 1
    db.executemany("UPDATE notes SET changed = ? WHERE id = ?", [(revision, note) for note in ids])
    _set_meta(db, "revision", revision)
    return revision


def render_time(nanoseconds: int) -> str:
    """Return a moment as ISO 8601 in UTC, whole seconds; "" for one outside the calendar."""
    try:
        moment = datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.isoformat()[:19] + "Z"


def _find_skipped(db: sqlite3.Connection, batch: Batch) -> set[str]:
    if batch.expected is None:
        return set()
    paths = [n.path for n in batch.upserts] + [t.path for t in batch.touches] + list(batch.deletes)
    paths += [path for pair in batch.moves for path in pair]
    skipped = set()
    for path in paths:
        row = _find_row(db, path)
        if row and not row.is_note:
            continue  # of other files only the name is known
        if (row.signature if row else None) != batch.expected.get(path):
            skipped.add(path)
    return skipped


def _find_row(db: sqlite3.Connection, path: str) -> _Row | None:
    row = db.execute(
        "SELECT id, is_note, mtime_ns, ctime_ns, size, inode FROM files WHERE path = ?", (path,)
    ).fetchone()
    return _Row(row[0], row[1], Signature(*row[2:])) if row else None


def _apply_moves(db: sqlite3.Connection, moves: Sequence[tuple[str, str]], revision: int) -> set[str]:
    sources = {old for old, _ in moves}
    names: set[str] = set()
    for old, new in moves:
        names |= find_names(old) | find_names(new)
        if new not in sources:
            _delete_path(db, new, revision)  # the mover wins the path
        # A name no file can have, so that two notes may change places.
        db.execute("UPDATE files SET path = ? WHERE path = ?", ("\0" + new, old))
        db.execute("INSERT INTO removed VALUES(?, ?)", (old, revision))
    for _, new in moves:
        key = name_key(base_of(new))
        db.execute("UPDATE files SET path = ?, name_key = ? WHERE path = ?", (new, key, "\0" + new))
    return names


def _delete_path(db: sqlite3.Connection, path: str, revision: int) -> str | None:
    row = db.execute("SELECT id, is_note FROM files WHERE path = ?", (path,)).fetchone()
    if row is None:
        return None
    file, is_note = row
    db.execute("DELETE FROM files WHERE id = ?", (file,))
    # Found again through their keys: another file of that name may answer now.
    db.execute("UPDATE links SET resolved = NULL, ambiguous = 0 WHERE resolved = ?", (file,))
    if not is_note:
        return "attachment"
    if db.execute("DELETE FROM notes WHERE id = ?", (file,)).rowcount:
        _delete_contents(db, file)
        db.execute("INSERT INTO removed VALUES(?, ?)", (path, revision))
    return "note"


def _delete_contents(db: sqlite3.Connection, note: int) -> None:
    db.execute("DELETE FROM links WHERE source = ?", (note,))
    db.execute("DELETE FROM definitions WHERE source = ?", (note,))
    db.execute("DELETE FROM passages WHERE note = ?", (note,))
    db.execute("DELETE FROM words WHERE rowid = ?", (note,))


def _add_attachments(db: sqlite3.Connection, paths: Sequence[str]) -> set[str]:
    rows = [(path, name_key(base_of(path))) for path in paths]
    db.executemany("INSERT OR IGNORE INTO files(path, is_note, name_key) VALUES(?, 0, ?)", rows)
    return {name for path in paths for name in find_names(path)}


def _write_files(db: sqlite3.Connection, notes: Sequence[IndexedNote]) -> tuple[dict[str, int], set[str]]:
    """Write the rows of all files first: links of one note to another of the batch then resolve at once."""
    ids: dict[str, int] = {}
    names: set[str] = set()
    for note in notes:
        values = (*note.signature, note.racy, note.path)
        row = _find_row(db, note.path)
        if row:
            ids[note.path] = row.id
            db.execute("UPDATE files SET mtime_ns=?, ctime_ns=?, size=?, inode=?, racy=? WHERE path=?", values)
        else:
            names |= find_names(note.path)
            cursor = db.execute(
                "INSERT INTO files(mtime_ns, ctime_ns, size, inode, racy, path, is_note, name_key)"
                " VALUES(?,?,?,?,?,?,1,?)",
                (*values, name_key(base_of(note.path))),
            )
            ids[note.path] = int(cursor.lastrowid or 0)
    return ids, names


def _write_note(
    db: sqlite3.Connection, note_id: int, note: IndexedNote, revision: int, resolver: LinkResolver
) -> None:
    old = db.execute("SELECT revision FROM notes WHERE id = ?", (note_id,)).fetchone()
    if old:
        _delete_contents(db, note_id)
    created, updated = _file_times(note.signature)
    db.execute(
        "INSERT INTO notes(id, revision, changed, record, own_id, own_created, file_created,"
        " own_updated, file_updated, graph) VALUES(?,?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO UPDATE SET"
        # The last commit says nothing of bytes that came after it.
        " git_updated = iif(revision = excluded.revision, git_updated, NULL),"
        " revision=excluded.revision, changed=excluded.changed, record=excluded.record,"
        " own_id=excluded.own_id, own_created=excluded.own_created, file_created=excluded.file_created,"
        " own_updated=excluded.own_updated, file_updated=excluded.file_updated, graph=excluded.graph",
        (
            note_id,
            note.revision,
            revision,
            _render_record(note),
            note.own_id,
            note.own_created,
            created,
            note.own_updated,
            updated,
            note.graph,
        ),
    )
    insert_links(db, note_id, note, resolver)
    db.executemany(
        "INSERT INTO passages(note, ordinal, hash, heading_path, start, end, chars) VALUES(?,?,?,?,?,?,?)",
        [
            (note_id, p.ordinal, bytes.fromhex(p.hash), _render_json(p.heading_path), p.start, p.end, p.chars)
            for p in note.passages
        ],
    )
    db.execute(
        "INSERT INTO words(rowid, title, aliases, headings, tags, body) VALUES(?,?,?,?,?,?)",
        (note_id, *note.words),
    )


def _apply_touch(db: sqlite3.Connection, touch: Touch, revision: int) -> None:
    row = _find_row(db, touch.path)
    if row is None:
        return
    db.execute(
        "UPDATE files SET mtime_ns=?, ctime_ns=?, size=?, inode=?, racy=? WHERE id=?",
        (*touch.signature, touch.racy, row.id),
    )
    times = _file_times(touch.signature)
    db.execute(
        "UPDATE notes SET file_created=?, file_updated=?, changed=? WHERE id=?"
        " AND (file_created, file_updated) <> (?, ?)",
        (*times, revision, row.id, *times),
    )


def _file_times(signature: Signature) -> tuple[str, str]:
    # On Windows ctime is the time of birth; elsewhere none is at hand, and the earlier of the two stands for it.
    return render_time(min(signature.mtime_ns, signature.ctime_ns)), render_time(signature.mtime_ns)


def _render_record(note: IndexedNote) -> str:
    return _render_json(
        (
            note.title,
            note.aliases,
            note.former_titles,
            note.tags,
            dict(note.properties),
            note.layer,
            note.summary,
            note.chars,
            len(note.links),
            note.notices,
        )
    )


def _render_json(value: object) -> str:
    text = _JSON.encode(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # a lone surrogate from a YAML escape
            return json.dumps(value)
    return text


def mark_complete(db: sqlite3.Connection) -> None:
    """Remember that a whole pass over the files has ended; emptying the tables forgets it."""
    db.execute("INSERT OR REPLACE INTO meta VALUES('complete', 1)")


def _set_meta(db: sqlite3.Connection, key: str, value: int) -> None:
    db.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))


def _trim_removed(db: sqlite3.Connection, revision: int) -> None:
    if db.execute("SELECT count(*) FROM removed").fetchone()[0] > REMOVED_LIMIT:
        db.execute("DELETE FROM removed")
        _set_meta(db, "log_start", revision)


def set_columns(db: sqlite3.Connection, columns: Sequence[str], values: Mapping[str, Sequence[object]]) -> int:
    """Set columns of notes (names are ours, never a caller's text); return the revision."""
    assign = ", ".join(f"{column} = ?" for column in columns)
    differs = " OR ".join(f"{column} IS NOT ?" for column in columns)
    ids = []
    for path, row in values.items():
        found = db.execute(
            f"UPDATE notes SET {assign} WHERE id = (SELECT id FROM files WHERE path = ?)"  # noqa: S608
            f" AND ({differs}) RETURNING id",
            (*row, path, *row),
        ).fetchone()
        if found:
            ids.append(found[0])
    return bump_notes(db, ids) if ids else get_revision(db)
