"""Each note's nearest notes, kept in the cache folder and brought up to date by what changed.

Runs in the meaning process. A mark per note says which passages its neighbours were made from.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vault_memex.memory.near_pairs import NoteVectors, Workers
from vault_memex.memory.neighbours import (
    Neighbours,
    build_neighbours,
    parse_neighbours,
    render_neighbours,
    update_neighbours,
)
from vault_memex.store.vectors import VectorStore

FILE_NAME = "neighbours.bin"
ROWS_AT_ONCE = 4_096  # that are asked of the store together
MOST_WORKERS = 4


class Kept(NamedTuple):
    """What lies in the cache folder."""

    model: str  # fingerprint of the vectors
    marks: Mapping[str, str]
    neighbours: Neighbours


class Neighbourhood:
    """The neighbours of one vault's notes. Any thread may ask; one at a time works."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE_NAME
        self._working = threading.Lock()

    def find(
        self,
        store: VectorStore,
        model: str,
        hashes: Mapping[str, tuple[str, ...]],
        *,
        reach: float,
        states: Collection[str],
    ) -> Neighbours:
        """Return the neighbours of all notes up to `reach` at least, from those kept where they still hold.

        `hashes` are the passages of each note, by path ascending; `states` the notes of which more are kept.
        """
        with self._working:
            vectors, marks = load_vectors(store, hashes)
            kept = self._read()
            if kept is not None and kept.model == model and kept.neighbours.limit >= reach:
                changed = [path for path in marks if marks[path] != kept.marks.get(path)]
                with open_workers() as workers:
                    found = update_neighbours(kept.neighbours, vectors, changed, states, workers)
                if not changed and found.paths == kept.neighbours.paths:
                    return found
            else:
                with open_workers() as workers:
                    found = build_neighbours(vectors, reach, states, workers)
            self._write(Kept(model, marks, found))
            return found

    def _read(self) -> Kept | None:
        """Return what was kept; None when there is nothing or it is of another form."""
        try:
            data = self._file.read_bytes()
            size = 8 + int.from_bytes(data[:8], "little")
            head = json.loads(data[8:size])
            model, marks = str(head["model"]), list(map(str, head["marks"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        neighbours = parse_neighbours(data[size:])
        if neighbours is None or len(marks) != len(neighbours.paths):
            return None
        return Kept(model, dict(zip(neighbours.paths, marks, strict=True)), neighbours)

    def _write(self, kept: Kept) -> None:
        marks = [kept.marks[path] for path in kept.neighbours.paths]
        head = json.dumps({"model": kept.model, "marks": marks}).encode()
        temporary = self._file.with_name(f"{FILE_NAME}.{os.getpid()}")
        temporary.write_bytes(len(head).to_bytes(8, "little") + head + render_neighbours(kept.neighbours))
        temporary.replace(self._file)


@contextmanager
def open_workers() -> Iterator[Workers]:
    """Yield a worker for each core, at most four. Each multiplies alone: `start_child` keeps BLAS to one thread."""
    count = min(MOST_WORKERS, os.cpu_count() or 1)
    with ThreadPoolExecutor(count, thread_name_prefix="neighbours") as pool:
        yield Workers(count, pool.map)


def load_vectors(store: VectorStore, hashes: Mapping[str, tuple[str, ...]]) -> tuple[NoteVectors, dict[str, str]]:
    """Return the vectors of all notes, and each note's mark: a digest of its passages that have one."""
    wanted = list(dict.fromkeys(value for group in hashes.values() for value in group))
    places: dict[str, int] = {}
    rows = np.empty((0, 1), np.float32)
    for at in range(0, len(wanted), ROWS_AT_ONCE):
        for value, vector in store.get(wanted[at : at + ROWS_AT_ONCE]).items():
            if not places:
                rows = np.empty((len(wanted), len(vector)), np.float32)
            rows[len(places)] = vector
            places[value] = len(places)
    rows = rows[: len(places)]
    present = {path: [value for value in group if value in places] for path, group in hashes.items()}
    starts = np.cumsum([0, *map(len, present.values())])
    order = [places[value] for group in present.values() for value in group]
    # Nearly always each passage stands once, in order; then the rows serve as they are and nothing is copied.
    matrix = rows if order == list(range(len(rows))) else rows[order]
    return NoteVectors(tuple(present), starts, matrix), {path: _mark(group) for path, group in present.items()}


def _mark(hashes: Sequence[str]) -> str:
    return blake2b("".join(hashes).encode(), digest_size=8).hexdigest()
