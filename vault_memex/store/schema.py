"""The catalogue's tables, and opening the file that holds them: versions, damage, moving aside.

Everything in it is derived from the vault's files, so the answer to any doubt is to start anew.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from vault_memex.errors import IndexUnusable
from vault_memex.store.file_lock import FileLock, find_lock

FILE_NAME = "catalogue.sqlite"
SCHEMA_VERSION = 4
BUSY_SECONDS = 10.0

_DISK_FAULTS = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)

# A file that is announced but not yet read has this stat signature, which no real file equals.
UNREAD = (0, 0, 0, 0)

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE fingerprint(value TEXT NOT NULL);
CREATE TABLE state(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE files(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    is_note INTEGER NOT NULL,
    name_key TEXT NOT NULL,          -- of the base name with its extension
    mtime_ns INTEGER NOT NULL DEFAULT 0,
    ctime_ns INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL DEFAULT 0,
    inode INTEGER NOT NULL DEFAULT 0,
    racy INTEGER NOT NULL DEFAULT 0  -- read so soon after a change that another one may look the same
);
CREATE INDEX files_by_name ON files(name_key);
CREATE INDEX files_racy ON files(path) WHERE racy;

CREATE TABLE notes(
    id INTEGER PRIMARY KEY,          -- files.id
    revision TEXT NOT NULL,
    changed INTEGER NOT NULL,        -- catalogue revision of the last change
    record TEXT NOT NULL,            -- JSON list: catalogue_write makes it, catalogue_read takes it apart
    own_id INTEGER, assigned_id INTEGER,
    own_created TEXT, git_created TEXT, file_created TEXT NOT NULL,
    own_updated TEXT, git_updated TEXT, file_updated TEXT NOT NULL,
    graph TEXT                       -- what an entity says to the knowledge graph; NULL for other notes
);
CREATE INDEX notes_with_graph ON notes(id) WHERE graph IS NOT NULL;
CREATE INDEX notes_by_change ON notes(changed);
CREATE TABLE removed(path TEXT NOT NULL, changed INTEGER NOT NULL);
CREATE INDEX removed_by_change ON removed(changed);

CREATE TABLE links(
    source INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    subpath TEXT NOT NULL,
    display TEXT,
    property TEXT,                   -- frontmatter key, for links of the frontmatter
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    link_key TEXT NOT NULL,
    resolved INTEGER,                -- files.id; NULL while no file answers
    ambiguous INTEGER NOT NULL,
    PRIMARY KEY(source, ordinal)
) WITHOUT ROWID;
CREATE INDEX links_by_key ON links(link_key);
CREATE INDEX links_by_file ON links(resolved) WHERE resolved IS NOT NULL;
CREATE INDEX links_by_property ON links(property) WHERE property IS NOT NULL;

-- Reference definitions are no links of the graph, but a rename has to find them.
CREATE TABLE definitions(
    link_key TEXT NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY(link_key, source)
) WITHOUT ROWID;
CREATE INDEX definitions_by_source ON definitions(source);

CREATE TABLE passages(
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- grows: the newest come first in the embedding queue
    note INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    hash BLOB NOT NULL,
    heading_path TEXT NOT NULL,      -- JSON list
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    chars INTEGER NOT NULL
);
CREATE INDEX passages_by_note ON passages(note);
CREATE INDEX passages_by_hash ON passages(hash);
CREATE TABLE embedded(model TEXT NOT NULL, hash BLOB NOT NULL, PRIMARY KEY(model, hash)) WITHOUT ROWID;

-- The terms are stored as well: a delete must name exactly what was inserted, and SQLite before 3.43 has no
-- contentless_delete. Packing them would save 2 KB a note and triple the time of an insert.
CREATE VIRTUAL TABLE words USING fts5(title, aliases, headings, tags, body, tokenize='ascii');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'row');
"""

DERIVED_TABLES = ("files", "notes", "removed", "links", "definitions", "passages", "words")


def connect(file: Path) -> sqlite3.Connection:
    """Return a connection in autocommit mode that any one thread at a time may use."""
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
    # A commit is not flushed to the disk; a checkpoint is, in the right order. A power loss can thus drop the
    # newest transactions but not tear one, and what it drops is found again by the scan, since the stat
    # signatures are dropped with the contents. With OFF a torn page could answer wrongly without an error.
    try:
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA temp_store=MEMORY")
    except sqlite3.DatabaseError:
        db.close()
        raise
    except UnicodeDecodeError as error:  # SQLite names what is broken, in broken bytes
        db.close()
        raise sqlite3.DatabaseError("the catalogue is malformed") from error
    return db


@dataclass(frozen=True, slots=True)
class Database:
    """The writer's connection, and the mark that shows later servers that it was not closed."""

    writer: sqlite3.Connection
    mark: FileLock

    def close(self) -> None:
        """Close the connection and take the mark away."""
        self.writer.close()
        _remove_mark(self.mark)


def open_database(folder: Path, fingerprint: str) -> Database:
    """Open a sound catalogue of this version, made anew where it must be.

    A catalogue of another schema or a damaged one is moved aside. With another fingerprint (the code or settings
    that notes are read with) only the derived tables are emptied: states and embedding marks are kept. Raises
    IndexUnusable when the folder cannot be written.
    """
    try:
        return _open_database(folder, fingerprint)
    except OSError as error:
        raise build_unusable(folder, error) from error
    except sqlite3.OperationalError as error:
        if not is_out_of_reach(error):
            raise
        raise build_unusable(folder, error) from error


def _open_database(folder: Path, fingerprint: str) -> Database:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / FILE_NAME
    dead = _find_dead_marks(folder)
    _drop_leftovers(file)
    try:
        writer = _open_checked(file, fingerprint, thorough=bool(dead))
    except sqlite3.DatabaseError as error:
        if not (is_damage(error) or error.sqlite_errorcode == sqlite3.SQLITE_ERROR or file.is_dir()):
            raise
        move_aside(folder)
        writer = _open_checked(file, fingerprint, thorough=False)
    for mark in dead:
        _remove_mark(mark)
    return Database(writer, _make_mark(folder))


def _drop_leftovers(file: Path) -> None:
    """Remove the journal of a catalogue that was deleted: SQLite would take it for that of the new one."""
    try:
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644))
    except FileExistsError:
        return
    _remove_journal(file)


def _remove_journal(file: Path) -> None:
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)


def move_aside(folder: Path) -> None:
    """Rename the catalogue to `damaged.sqlite` (the last one is kept for whoever wants to look)."""
    file, aside = folder / FILE_NAME, folder / "damaged.sqlite"
    if aside.is_dir():
        shutil.rmtree(aside)
    if file.is_dir():
        aside.unlink(missing_ok=True)
    if file.exists():
        file.replace(aside)
    _remove_journal(file)


def start_anew(db: sqlite3.Connection, fingerprint: str) -> None:
    """Empty the derived tables; inside a transaction of the caller."""
    for table in DERIVED_TABLES:
        db.execute(f"DELETE FROM {table}")  # noqa: S608 -- names from the constant above
    revision = _first_revision()
    db.execute(
        "INSERT OR REPLACE INTO meta VALUES('revision', ?), ('log_start', ?), ('attachments', ?)", (revision,) * 3
    )
    db.execute("DELETE FROM meta WHERE key = 'complete'")
    db.execute("DELETE FROM fingerprint")
    db.execute("INSERT INTO fingerprint VALUES(?)", (fingerprint,))


def _open_checked(file: Path, fingerprint: str, *, thorough: bool) -> sqlite3.Connection:
    db = connect(file)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA wal_autocheckpoint=4000")
        if thorough and db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("the catalogue is malformed")
        db.execute("BEGIN IMMEDIATE")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            _create_tables(db)
        elif version != SCHEMA_VERSION:
            raise sqlite3.DatabaseError(f"the catalogue has schema {version}")
        if db.execute("SELECT value FROM fingerprint").fetchone() != (fingerprint,):
            start_anew(db, fingerprint)
        db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db


def _create_tables(db: sqlite3.Connection) -> None:
    for statement in _statements(TABLES):
        db.execute(statement)
    db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def _statements(script: str) -> list[str]:
    # executescript would commit the transaction that keeps two starting servers apart.
    found, part = [], ""
    for line in script.splitlines(keepends=True):
        part += line
        if sqlite3.complete_statement(part):
            found.append(part)
            part = ""
    return found


def _first_revision() -> int:
    # Later than every revision of a catalogue that was here before, so that an old snapshot is never taken for
    # the base of an incremental one.
    return time.time_ns() // 1_000_000


def is_damage(error: Exception) -> bool:
    """Whether the error says that the file itself is bad (not that it is busy, full or out of reach)."""
    code = getattr(error, "sqlite_errorcode", None)
    emptied = "no such table" in str(error)  # tables are made with the file
    return code is None or emptied or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_out_of_reach(error: sqlite3.Error) -> bool:
    """Whether the disk is what fails: full, read-only, not readable."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DISK_FAULTS


def is_busy(error: sqlite3.Error) -> bool:
    """Whether somebody else has been writing all the time that was waited."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def build_unusable(folder: Path, error: Exception) -> IndexUnusable:
    """Return the error that says what is wrong with the cache folder and what to do."""
    if isinstance(error, sqlite3.Error) and is_busy(error):
        return IndexUnusable(
            f"Another process has been writing to the index for {BUSY_SECONDS:g} s. Try again in a moment; if it "
            "stays so, look for a hanging vault-memex process and end it. No note is touched by this."
        )
    said = error.strerror if isinstance(error, OSError) else str(error)
    return IndexUnusable(
        f"The index in {folder} cannot be used: {said}. Free or mend that disk, or name another folder with "
        "VAULT_MEMEX_CACHE_DIR. No note is touched by this."
    )


def _find_dead_marks(folder: Path) -> list[FileLock]:
    """Return the open marks, now locked by us, whose processes ended without closing the catalogue."""
    return [lock for mark in sorted(folder.glob("open-*")) if (lock := find_lock(mark))]


def _make_mark(folder: Path) -> FileLock:
    number = 0
    while (mark := find_lock(folder / f"open-{os.getpid()}-{number}")) is None:
        number += 1
    return mark


def _remove_mark(mark: FileLock) -> None:
    mark.path.unlink(missing_ok=True)
    mark.release()
