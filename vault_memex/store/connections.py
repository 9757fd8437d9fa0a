"""Connections to the catalogue's file: a pool for readers, one for the writer; and what to do with a bad file."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from vault_memex.store.schema import (
    FILE_NAME,
    build_unusable,
    connect,
    is_busy,
    is_damage,
    is_out_of_reach,
    move_aside,
    open_database,
    start_anew,
)

POOL_SIZE = 8


class _Reader(NamedTuple):
    db: sqlite3.Connection
    inode: int  # of the file it has open


class Connections:
    """Readers see the last commit and never wait; writers take turns, in this process and among processes.

    When another process has put a new file in place of a damaged or deleted one, that file is opened.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._folder = folder
        self._fingerprint = fingerprint
        self._file = folder / FILE_NAME
        self._database = open_database(folder, fingerprint)
        self._inode = self._file.stat().st_ino
        self._writing = threading.RLock()
        self._pooling = threading.Lock()
        self._pool: list[_Reader] = []
        self._closed = False

    def close(self) -> None:
        """Close everything; a reader still at work closes its own connection."""
        with self._writing, self._pooling:
            if not self._closed:
                self._closed = True
                self._drop_pool()
                self._database.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection whose statements all see the same state."""
        self._follow_file()
        inode = self._inode
        try:
            reader = self._take_reader(inode)
            try:
                reader.db.execute("BEGIN")
                yield reader.db
            finally:
                self._return_reader(reader)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self._check_damage(error, inode)
            raise

    def reset(self) -> None:
        """Empty all derived tables, for this process and every other that has the file open."""
        with self.transaction() as db:
            start_anew(db, self._fingerprint)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Give the writer's connection; all of its statements are committed together, or none."""
        with self._writing:
            self._follow_file()
            db = self._database.writer
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if is_busy(error):
                    raise build_unusable(self._folder, error) from error
                raise
            try:
                yield db
                db.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                if isinstance(error, sqlite3.DatabaseError | UnicodeDecodeError):
                    self._check_damage(error, self._inode)
                if isinstance(error, sqlite3.OperationalError) and is_out_of_reach(error):
                    raise build_unusable(self._folder, error) from error
                raise

    def _take_reader(self, inode: int) -> _Reader:
        with self._pooling:
            if self._pool:
                return self._pool.pop()
        db = connect(self._file)
        db.execute("PRAGMA query_only=1")
        return _Reader(db, inode)

    def _return_reader(self, reader: _Reader) -> None:
        with suppress(sqlite3.Error):
            reader.db.execute("ROLLBACK")
        with self._pooling:
            if not self._closed and reader.inode == self._inode and len(self._pool) < POOL_SIZE:
                self._pool.append(reader)
                return
        reader.db.close()

    def _drop_pool(self) -> None:
        while self._pool:
            self._pool.pop().db.close()

    def _follow_file(self) -> None:
        if self._closed:
            raise sqlite3.ProgrammingError("the catalogue is closed")
        if self._find_inode() != self._inode:
            with self._writing:
                self._open_again()

    def _open_again(self) -> None:
        if self._find_inode() == self._inode:
            return  # another thread was faster
        opened = open_database(self._folder, self._fingerprint)  # first: when it fails, the next call tries again
        replaced, self._database = self._database, opened
        replaced.close()
        with self._pooling:
            self._drop_pool()
            self._inode = self._file.stat().st_ino

    def _find_inode(self) -> int | None:
        try:
            return os.stat(self._file).st_ino
        except OSError:
            return None

    def _check_damage(self, error: sqlite3.DatabaseError | UnicodeDecodeError, inode: int) -> None:
        """Put a damaged file out of the way. What was asked still fails; the next call works on a new file."""
        misuse = isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError)
        if not misuse and is_damage(error) and self._find_inode() == inode:
            with self._writing:
                move_aside(self._folder)
