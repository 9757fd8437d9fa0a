from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.store.vector_contract import DIMENSION, VectorContract, name, random_rows
from vault_memex.store.ephemeral import EphemeralTables, EphemeralVectors, HashEmbedder
from vault_memex.store.vectors import VectorStore


class TestEphemeralVectors(VectorContract):
    @pytest.fixture
    def open_store(self) -> Callable[[], VectorStore]:
        return lambda: EphemeralVectors(DIMENSION)


def test_tables_are_kept_by_fingerprint() -> None:
    tables = EphemeralTables()
    one = tables.open_table("one", DIMENSION, "model one")
    one.add([name(1)], random_rows(1))
    tables.open_table("two", 4, "model two")

    assert [("one", "model one", DIMENSION, 1), ("two", "model two", 4, 0)] == [
        (t.fingerprint, t.model, t.dimension, t.rows) for t in tables.tables()
    ]
    assert one is tables.open_table("one", DIMENSION, "model one")
    tables.drop_table("one")
    assert ["two"] == [t.fingerprint for t in tables.tables()]


def test_hashed_vectors_bring_texts_that_share_words_together() -> None:
    embedder = HashEmbedder()
    query = embedder.embed_query("glaze for the kiln")
    near, far = embedder.embed_passages(["The kiln needs a new glaze", "Поезд уходит в полночь"]) @ query

    assert near > 0.3 > far
    assert pytest.approx(1.0) == float(np.linalg.norm(query))
    assert np.isfinite(embedder.embed_query("")).all()
