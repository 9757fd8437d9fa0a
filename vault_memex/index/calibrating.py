"""Measures the distances of a vault for `memory.calibration`. Runs in the meaning process.

Done in two steps. Distances between notes need nothing but their vectors and take a moment: signals and flashbacks
rest on them. Copies and queries have to be embedded, which takes seconds beside the searches.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from vault_memex.core.chunking import build_passages
from vault_memex.core.markdown import parse_note
from vault_memex.index.closeness import MOST_TEXTS
from vault_memex.index.document import find_indexed_text, find_title
from vault_memex.index.neighbourhood import load_vectors
from vault_memex.index.reading import read_settled
from vault_memex.memory.calibration import (
    COPIES,
    EDITS,
    QUERIES,
    Samples,
    build_calibration,
    describe,
    draw_notes,
    measure_background,
    measure_copy,
    measure_queries,
    render_copy,
)
from vault_memex.memory.kept_calibration import CALIBRATION, KeptCalibration, is_due, parse_kept, render_kept
from vault_memex.memory.thresholds import MIN_NOTES
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.embedding import Embedder
from vault_memex.store.vectors import VectorStore

if TYPE_CHECKING:
    from vault_memex.store.vectors import Vectors

COMPARED = 1_000  # notes whose passages titles are compared with
SEED = 20_260  # the same vault gives the same samples


class Calibrator:
    """Keeps the calibration of one vault in its catalogue. The two steps may run beside each other.

    `comparing` is held by whoever compares all notes while somebody waits: meanwhile nothing is embedded here.
    `give_way` returns when no search is under way.
    """

    def __init__(
        self, root: Path, catalogue: Catalogue, comparing: threading.Lock, give_way: Callable[[], None]
    ) -> None:
        self._root = root
        self._catalogue = catalogue
        self._comparing = comparing
        self._give_way = give_way
        self._first = threading.Lock()
        self._second = threading.Lock()

    def measure_notes(self, model: str, open_store: Callable[[], VectorStore]) -> None:
        """Measure the distances between notes if that is due."""
        with self._first:
            hashes = self._catalogue.load_note_hashes()
            if not is_due(self._find(), model, len(hashes), whole=False):
                return
            if len(hashes) < MIN_NOTES:
                self._keep(model, len(hashes), Samples(()), complete=True)
                return
            vectors, _ = load_vectors(open_store(), hashes)
            background = measure_background(vectors, _roll())
            self._keep(model, len(hashes), Samples(background), complete=False)

    def measure_all(self, embedder: Embedder, open_store: Callable[[], VectorStore]) -> None:
        """Measure copies and queries too, if that is due."""
        with self._second:
            self.measure_notes(embedder.model, open_store)
            hashes = self._catalogue.load_note_hashes()
            kept = self._find()
            if kept is None or kept.complete:
                return
            copies = list(self._measure_copies(embedder, open_store(), hashes))
            queries = self._measure_queries(embedder, open_store(), hashes)
            vectors, _ = load_vectors(open_store(), hashes)
            background = measure_background(vectors, _roll())
            self._keep(embedder.model, len(hashes), Samples(background, copies, queries), complete=True)

    def _find(self) -> KeptCalibration | None:
        return parse_kept(self._catalogue.get_state(CALIBRATION))

    def _keep(self, model: str, notes: int, samples: Samples, *, complete: bool) -> None:
        distributions = {
            "two notes": describe(samples.background),
            "a note and an edited copy": describe(samples.copies, (5, 50, 70, 90, 95)),
            "a title and another note": describe(samples.queries, (0.5, 5, 50)),
        }
        kept = KeptCalibration(
            build_calibration(model, notes, samples),
            complete,
            {name: found for name, found in distributions.items() if found.count},
        )
        self._catalogue.set_state(CALIBRATION, render_kept(kept))

    def _measure_copies(
        self, embedder: Embedder, store: VectorStore, hashes: Mapping[str, tuple[str, ...]]
    ) -> Iterator[float]:
        dice = _roll()
        for path, edit in zip(draw_notes(list(hashes), COPIES, dice), cycle(EDITS), strict=False):
            found = self._read(path)
            original = list(store.get(hashes[path]).values())
            copy = render_copy(*found, edit, dice) if found and original else None
            if copy is None or not copy[1].strip():
                continue
            title, body = copy
            texts = [p.text for p in build_passages(parse_note(body), title, "")][:MOST_TEXTS]
            # One by one: a search waits for the one under way, not for a batch.
            vectors = [list(row) for text in texts for row in self._embed(embedder, text)]
            yield measure_copy(vectors, [list(row) for row in original])

    def _embed(self, embedder: Embedder, text: str) -> Vectors:
        self._wait_turn()
        return embedder.embed_passages([text])

    def _wait_turn(self) -> None:
        self._give_way()
        with self._comparing:
            pass

    def _measure_queries(
        self, embedder: Embedder, store: VectorStore, hashes: Mapping[str, tuple[str, ...]]
    ) -> list[float]:
        dice = _roll()
        drawn = sorted(draw_notes(list(hashes), COMPARED, dice))
        vectors, _ = load_vectors(store, {path: hashes[path] for path in drawn})
        queries: dict[str, list[float]] = {}
        for path in draw_notes(list(hashes), QUERIES, dice):
            found = self._read(path)
            if found:
                self._wait_turn()
                queries[path] = list(embedder.embed_query(found[0]))
        return measure_queries(vectors, queries, dice)

    def _read(self, path: str) -> tuple[str, str] | None:
        """Return title and body of a note; None when it cannot be read just now."""
        try:
            found = read_settled(str(self._root / path))
        except OSError:
            return None
        if found is None:
            return None
        note = parse_note(find_indexed_text(found.data))
        return find_title(note, path), note.body


def _roll() -> random.Random:
    return random.Random(SEED)  # noqa: S311 - samples, no secrets
