"""Vectors in LanceDB: the only module that imports it.

Search runs on a copy of the table in memory while that has at most 50,000 rows (77 MB at 384 dimensions). Measured
on 2 cores, top 50, p50: at 10,000 rows numpy needs 1 ms, a flat LanceDB scan 13, IVF_SQ with refine 11; at 30,000
rows 3, 38 and 12 ms. With 7 ms for the query's vector and 5 for the words, only the first leaves room in a search
of 25 ms, and it is exact. Above that size an IVF_SQ index is built and asked with refine: recall@10 1.00, where
the default IVF_PQ has 0.47.
"""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import lancedb
import numpy as np
import pyarrow as pa
from filelock import FileLock, Timeout
from lancedb.index import IvfSq

from vault_memex.store.ephemeral import EphemeralVectors
from vault_memex.store.vectors import Near, TableInfo, VectorsBroken, VectorsUnavailable, move_aside

if TYPE_CHECKING:
    from vault_memex.store.vectors import Vectors

EXACT_ROWS = 50_000
COMMITS_BEFORE_MAINTENANCE = 50
FRAGMENTS_BEFORE_MAINTENANCE = 20
_KEEP_VERSIONS = timedelta(minutes=10)  # never 0: other processes still read them
_QUIET_SECONDS = 660.0  # after the last commit: then all old versions can go
_CACHE_BYTES = 64 << 20  # uncapped session caches grow by 0.1 MB a commit
_READ_INTERVAL = timedelta(seconds=1)
_OPEN_SECONDS = 30.0
_PROBES, _REFINE = 20, 5
_PREFIX = "passages_"
_PRIMARY_KEY = {"lance-schema:unenforced-primary-key": "true"}
_PATH = re.compile(r"(?:[^\s'\"/\\]*[/\\]){2,}([^\s'\"/\\]*)")
_log = logging.getLogger(__name__)
T = TypeVar("T")


class LanceTables:
    """See `VectorTables`.

    While a table is opened, a mark lies beside the folder. A mark found at the start means that the last opening
    took its process down (a damaged file can make LanceDB abort), so the folder is moved aside and filled anew.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mark = folder.with_name(folder.name + ".opening")
        self._lock = FileLock(folder.with_name(folder.name + ".lock"), timeout=_OPEN_SECONDS)
        self._open: dict[str, LanceVectors] = {}
        self._serial = threading.Lock()
        folder.parent.mkdir(parents=True, exist_ok=True)
        with self._locked():
            if self._mark.exists():
                _log.warning("the last opening of the vectors did not end: starting with empty ones")
                move_aside(folder)
                self._mark.unlink(missing_ok=True)
        with _explained():
            session = lancedb.Session(index_cache_size_bytes=_CACHE_BYTES, metadata_cache_size_bytes=_CACHE_BYTES)
            self._connection = lancedb.connect(
                str(folder), session=session, read_consistency_interval=_READ_INTERVAL
            )

    def tables(self) -> tuple[TableInfo, ...]:
        """Return what there is, in order of fingerprint."""
        with _explained():
            return tuple(_read_info(name, self._connection.open_table(name)) for name in self._names())

    def open_table(self, fingerprint: str, dimension: int, model: str) -> LanceVectors:
        """Return the model's table, made if need be; the same object each time."""
        with self._serial:
            store = self._open.get(fingerprint)
            if store is None:
                with self._marked(), _explained():
                    store = LanceVectors(self._table(_PREFIX + fingerprint, dimension, model), dimension)
                    self._open[fingerprint] = store
            return store

    def drop_table(self, fingerprint: str) -> None:
        """Delete a model's table."""
        with self._serial, _explained():
            store = self._open.pop(fingerprint, None)
            if store is not None:
                store.close()
            if _PREFIX + fingerprint in self._names():
                self._connection.drop_table(_PREFIX + fingerprint)

    def close(self) -> None:
        """Close all that was opened."""
        with self._serial:
            for store in self._open.values():
                store.close()
            self._open.clear()

    def _names(self) -> list[str]:
        names: list[str] = []
        token: str | None = None
        while True:
            page = self._connection.list_tables(page_token=token)
            names += [name for name in page.tables if name.startswith(_PREFIX)]
            token = page.page_token
            if not token:
                return sorted(names)

    def _table(self, name: str, dimension: int, model: str) -> Any:
        schema = pa.schema(
            [
                pa.field("hash", pa.string(), nullable=False, metadata=_PRIMARY_KEY),
                pa.field("vector", pa.list_(pa.float32(), dimension), nullable=False),
            ],
            metadata={"model": model},
        )
        if name not in self._names():
            return self._connection.create_table(name, schema=schema)
        table = self._connection.open_table(name)
        if table.schema.field("vector").type.list_size == dimension:
            return table
        self._connection.drop_table(name)
        return self._connection.create_table(name, schema=schema)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except Timeout as error:
            raise VectorsUnavailable("another process has been opening the vectors for too long") from error

    @contextmanager
    def _marked(self) -> Iterator[None]:
        with self._locked():
            if self._mark.exists():
                raise VectorsBroken("a process died while it was opening the vectors")
            self._mark.write_text(str(os.getpid()), encoding="utf-8")
            try:
                yield
            finally:
                self._mark.unlink(missing_ok=True)


class LanceVectors:
    """See `VectorStore`."""

    def __init__(self, table: Any, dimension: int) -> None:
        self.dimension = dimension
        self._table = table
        self._copy: EphemeralVectors | None = None
        self._version = -1  # of the table that `_copy` holds
        self._checked = 0.0
        self._commits = 0
        self._changed = time.monotonic()
        self._untidy = False
        self._failures = 0
        self._writing = threading.RLock()
        self._reload()

    def add(self, hashes: Sequence[str], vectors: Vectors) -> None:
        """Keep one unit vector a hash, in one commit: 10 ms and more, so bring hundreds."""
        if not hashes:
            return
        first = {h: i for i, h in reversed(list(enumerate(hashes)))}  # a key twice in one merge would be two rows
        order = sorted(first.values())
        names = [hashes[i] for i in order]
        matrix = np.ascontiguousarray(np.asarray(vectors, np.float32)[order])
        rows = pa.table(
            [pa.array(names), pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), self.dimension)],
            schema=pa.schema([f.remove_metadata() for f in self._table.schema]),
        )
        with self._writing, _explained():
            current = self._is_current()
            self._again(lambda: self._table.merge_insert("hash").when_not_matched_insert_all().execute(rows))
            self._committed()
            if self._copy is not None and current:
                self._copy.add(names, matrix)
                self._version = self._table.version
        self._refresh(now=not current)

    def search(self, vector: Vectors, limit: int, among: Collection[str] | None = None) -> list[Near]:
        """Return the rows nearest by cosine, nearest first, equals by hash; with `among`, of these hashes only."""
        self._refresh()
        copy = self._copy
        if copy is not None:
            return copy.search(vector, limit, among)
        if limit < 1 or (among is not None and not among):
            return []

        def ask() -> Any:
            query = self._table.search(np.asarray(vector, np.float32).reshape(-1)).distance_type("cosine")
            if among is None:
                query = query.nprobes(_PROBES).refine_factor(_REFINE)
            else:
                # Few rows: the index would look for them in too few of its parts.
                query = query.where(_among(among), prefilter=True).bypass_vector_index()
            return query.select(["hash", "_distance"]).limit(limit).to_arrow()

        with _explained():
            found = self._again(ask)
            pairs = zip(found["hash"].to_pylist(), found["_distance"].to_pylist(), strict=True)
            return sorted((Near(h, min(2.0, max(0.0, d))) for h, d in pairs), key=lambda n: (n.distance, n.hash))

    def search_each(self, vectors: Sequence[Vectors], limit: int) -> list[list[Near]]:
        """Return for each vector what `search` does."""
        self._refresh()
        copy = self._copy
        if copy is not None:
            return copy.search_each(vectors, limit)
        return [self.search(vector, limit) for vector in vectors]

    def get(self, hashes: Collection[str]) -> Mapping[str, Vectors]:
        """Return the vectors of those hashes that are there."""
        self._refresh()
        copy = self._copy
        if copy is not None:
            return copy.get(hashes)
        if not hashes:
            return {}
        with _explained():
            found = self._again(lambda: self._select(["hash", "vector"], _among(hashes)))
            return dict(zip(*_read_rows(found, self.dimension), strict=True))

    def known(self) -> set[str]:
        """Return every hash that is there."""
        with _explained():
            return set(self._again(lambda: self._select(["hash"]))["hash"].to_pylist())

    def remove(self, hashes: Collection[str]) -> None:
        """Forget rows, in one commit."""
        if not hashes:
            return
        with self._writing, _explained():
            current = self._is_current()
            self._again(lambda: self._table.delete(_among(hashes)))
            self._committed()
            if self._copy is not None and current:
                self._copy.remove(hashes)
                self._version = self._table.version
        self._refresh(now=not current)

    def count(self) -> int:
        """Return the number of rows."""
        with _explained():
            return int(self._again(self._table.count_rows))

    def maintain(self) -> bool:
        """Compact, drop versions older than 10 minutes and build the index, if due: at thresholds, or once quiet.

        A failure is logged and tried again next time; the third in a row is VectorsBroken, since without
        compaction the disk fills.
        """
        with self._writing:
            try:
                with _explained():
                    return self._maintain()
            except VectorsBroken as error:
                self._failures += 1
                if self._failures >= 3:
                    raise
                _log.warning("the vectors could not be compacted: %s", error)
                return False

    def close(self) -> None:
        """Let go of the copy in memory."""
        self._copy = None

    def _maintain(self) -> bool:
        small = self._table.stats()["fragment_stats"]["num_small_fragments"]
        indexed = any("vector" in index.columns for index in self._table.list_indices())
        grown = not indexed and self._table.count_rows() > EXACT_ROWS
        quiet = self._commits + self._untidy > 0 and time.monotonic() - self._changed > _QUIET_SECONDS
        due = quiet or small >= FRAGMENTS_BEFORE_MAINTENANCE or self._commits >= COMMITS_BEFORE_MAINTENANCE
        if grown:
            self._table.create_index("vector", config=IvfSq(distance_type="cosine"))
        if due:
            self._table.optimize(cleanup_older_than=_KEEP_VERSIONS)
            self._commits = 0
            self._untidy = not quiet  # versions younger than 10 minutes are still there
        self._failures = 0
        if grown:
            self._copy = None
        if grown or due:
            self._version = self._table.version
        return grown or due

    def _committed(self) -> None:
        self._commits += 1
        self._changed = time.monotonic()

    def _refresh(self, now: bool = False) -> None:
        """Read the table again when another process has changed it; looked for once a second.

        A search does not wait for a writer of this process: what it adds goes into the copy anyway.
        """
        if not now and time.monotonic() - self._checked < _READ_INTERVAL.total_seconds():
            return
        if not self._writing.acquire(blocking=now):
            return
        try:
            with _explained():
                self._checked = time.monotonic()
                if not self._is_current():
                    self._again(self._reload)
        finally:
            self._writing.release()

    def _is_current(self) -> bool:
        return bool(self._version == self._table.version)

    def _reload(self) -> None:
        version = self._table.version
        if self._table.count_rows() > EXACT_ROWS:
            self._copy = None
            self._table.search(np.zeros(self.dimension, np.float32)).select(["hash", "_distance"]).limit(
                1
            ).to_arrow()
        else:
            self._copy = EphemeralVectors(self.dimension, *self._read_all())
        self._version = version

    def _read_all(self) -> tuple[list[str], Vectors]:
        """Return all rows, read batch by batch: the table is never twice in memory."""
        hashes: list[str] = []
        matrix = np.empty((self._table.count_rows(), self.dimension), np.float32)
        for batch in self._table.search().select(["hash", "vector"]).to_batches(2048):
            names, rows = _read_rows(pa.Table.from_batches([batch]), self.dimension)
            if len(hashes) + len(names) > len(matrix):
                break  # another process is adding: the next look reads again
            matrix[len(hashes) : len(hashes) + len(names)] = rows
            hashes += names
        return hashes, matrix[: len(hashes)]

    def _select(self, columns: list[str], where: str | None = None) -> Any:
        query = self._table.search().select(columns)
        return (query.where(where) if where else query).to_arrow()

    def _again(self, act: Callable[[], T]) -> T:
        """Do it, and once more on the newest version if files of ours were compacted away or a commit collided."""
        try:
            return act()
        except (RuntimeError, OSError, ValueError) as error:
            text = str(error).lower()
            if "not found" not in text and "conflict" not in text:
                raise
            self._table.checkout_latest()
            return act()


@contextmanager
def _explained() -> Iterator[None]:
    """Turn whatever LanceDB raises, panics of its Rust core included, into VectorsBroken or VectorsUnavailable."""
    try:
        yield
    except (VectorsBroken, VectorsUnavailable, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"[:2000]
        if "No space left" in text or "os error 28" in text:
            raise VectorsUnavailable("the disk is full") from error
        # A reason is shown to people and assistants: of a path, with or without its first slash, the name says enough.
        raise VectorsBroken(_PATH.sub(r"\1", text)[:500]) from error


def _among(hashes: Collection[str]) -> str:
    quoted = ",".join("'" + h.replace("'", "''") + "'" for h in sorted(set(hashes)))
    return f"hash IN ({quoted})"


def _read_rows(found: Any, dimension: int) -> tuple[list[str], Vectors]:
    column = found["vector"].combine_chunks()
    matrix: Vectors = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, dimension)
    return found["hash"].to_pylist(), matrix


def _read_info(name: str, table: Any) -> TableInfo:
    schema = table.schema
    model = (schema.metadata or {}).get(b"model", b"").decode("utf-8")
    return TableInfo(name.removeprefix(_PREFIX), model, schema.field("vector").type.list_size, table.count_rows())
