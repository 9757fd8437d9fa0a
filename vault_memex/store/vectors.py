"""Where vectors are kept: one table a model, one row a passage text, found by the hash of that text.

The catalogue says which hash stands where; a row that no note needs any more is harmless. Everything here can be
lost and made again from the notes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_log = logging.getLogger(__name__)


class VectorsBroken(Exception):
    """The store cannot be read or written. A leader moves it aside and fills a new one; a follower reopens it."""


class VectorsUnavailable(Exception):
    """Nothing is lost, but it does not work now: the disk is full, or another process is opening the store."""


class Near(NamedTuple):
    """A passage near a query."""

    hash: str
    distance: float  # 1 - cosine: 0 same direction, 2 opposite


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A model's table."""

    fingerprint: str
    model: str  # the setting that the model was found by
    dimension: int
    rows: int


class VectorStore(Protocol):
    """The vectors of one model. Safe to share between threads; errors are VectorsBroken or VectorsUnavailable."""

    def add(self, hashes: Sequence[str], vectors: Vectors) -> None:
        """Keep one unit vector a hash. A hash that is there already keeps the vector it has."""

    def search(self, vector: Vectors, limit: int, among: Collection[str] | None = None) -> list[Near]:
        """Return the rows nearest by cosine, nearest first, equals by hash; with `among`, of these hashes only."""

    def search_each(self, vectors: Sequence[Vectors], limit: int) -> list[list[Near]]:
        """Return for each vector what `search` does."""

    def get(self, hashes: Collection[str]) -> Mapping[str, Vectors]:
        """Return the vectors of those hashes that are there."""

    def known(self) -> set[str]:
        """Return every hash that is there."""

    def remove(self, hashes: Collection[str]) -> None:
        """Forget rows; an unknown hash is no error."""

    def count(self) -> int:
        """Return the number of rows."""

    def maintain(self) -> bool:
        """Do what keeps the store small and fast, if it is due; return whether it was. May take seconds."""

    def close(self) -> None:
        """Let go of memory and files."""


class VectorTables(Protocol):
    """The tables of one vault."""

    def tables(self) -> tuple[TableInfo, ...]:
        """Return what there is, in order of fingerprint."""

    def open_table(self, fingerprint: str, dimension: int, model: str) -> VectorStore:
        """Return the model's table, made if need be; the same object each time."""

    def drop_table(self, fingerprint: str) -> None:
        """Delete a model's table; an unknown one is no error."""

    def close(self) -> None:
        """Close all that was opened."""


class SharedTables:
    """The tables as worker and searches share them: opened once, on the first `get`, and again after a `reset`."""

    def __init__(self, open_tables: Callable[[bool], VectorTables]) -> None:
        """`open_tables` is told whether what it opened before broke: `partial(open_vectors, folder)`."""
        self._open_tables = open_tables
        self._tables: VectorTables | None = None
        self._broken = False
        self._lock = threading.Lock()

    def get(self) -> VectorTables:
        """Return the tables, opened if need be: seconds the first time."""
        with self._lock:
            if self._tables is None:
                self._tables = self._open_tables(self._broken)
                self._broken = False
            return self._tables

    def reset(self, broken: bool) -> None:
        """Close the tables; the next `get` opens them, after moving them aside when they are broken."""
        with self._lock:
            if self._tables is not None:
                self._tables.close()
            self._tables = None
            self._broken = self._broken or broken


def open_vectors(folder: Path, broken: bool = False) -> VectorTables:
    """Open the tables kept in a folder; one that broke, or whose last opening crashed, is moved aside first.

    Imports LanceDB (1.5 s), so call it on a background thread. Where there is no LanceDB for the platform, vectors
    live in memory and are made anew at each start.
    """
    if find_spec("lancedb") is None:
        from vault_memex.store.ephemeral import EphemeralTables

        _log.warning("LanceDB is not installed: vectors are kept in memory only")
        return EphemeralTables()
    from vault_memex.store.lance import LanceTables

    if broken:
        move_aside(folder)
    return LanceTables(folder)


def move_aside(folder: Path) -> None:
    """Rename a broken folder to `<name>.broken`, replacing an earlier one. Only the leader may do this."""
    import shutil

    aside = folder.with_name(folder.name + ".broken")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        folder.rename(aside)
    except FileNotFoundError:
        return
    except OSError:  # a file is open elsewhere and the system does not rename around it
        shutil.rmtree(folder, ignore_errors=True)


def choose_active(tables: Sequence[TableInfo], wanted: str, complete: bool) -> TableInfo | None:
    """Return the table to search: the wanted model's once it is complete, else the fullest old one, if any.

    `complete` says whether every passage has its vector in the wanted table. None when there is no row anywhere.
    """
    filled = [table for table in tables if table.rows]
    ours = next((table for table in filled if table.fingerprint == wanted), None)
    old = max((t for t in filled if t.fingerprint != wanted), key=lambda t: (t.rows, t.fingerprint), default=None)
    return ours if complete or old is None else old
