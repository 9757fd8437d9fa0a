"""Vectors for the passages of a large vault without embedding each: 30,000 of them would take a quarter of an hour.

The hashes are the real ones. The vectors are mixtures of those of a few real passages with some noise, so that
queries, which the real model embeds, are as near to them as to real ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.workbench import Indexed
from vault_memex.config import Config
from vault_memex.core.chunking import build_passages
from vault_memex.core.markdown import parse_note
from vault_memex.store.embedding import find_embedder
from vault_memex.store.model_folder import find_model_dir
from vault_memex.store.vectors import open_vectors
from vault_memex.vault import open_vault

SEEDS = 64  # passages that are embedded
NOISE = 0.02  # of each coordinate; the coordinates of a unit vector are about 0.05 here


def fill_vectors(vault: Indexed) -> int:
    """Give every passage of the vault a vector; return how many there are."""
    embedder = find_embedder(Config().model, find_model_dir())
    seeds = embedder.embed_passages(find_texts(vault, SEEDS))
    opened = open_vault(vault.root, cache_dir=vault.cache)
    try:
        hashes = sorted(opened.catalogue.find_hashes())
        tables = open_vectors(opened.cache / "lance")
        store = tables.open_table(embedder.fingerprint, embedder.dimension, embedder.model)
        store.add(hashes, _mix(seeds, len(hashes)))
        tables.close()
        opened.catalogue.set_embedded(embedder.fingerprint, hashes)
    finally:
        opened.close()
    return len(hashes)


def find_texts(vault: Indexed, count: int) -> list[str]:
    """Return texts of passages as they are embedded, from the first notes on."""
    texts: list[str] = []
    for known in vault.manifest.notes:
        note = parse_note((vault.root / known.path).read_text(encoding="utf-8"))
        texts += [passage.text for passage in build_passages(note, known.title)]
        if len(texts) >= count:
            break
    return texts[:count]


def _mix(seeds: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    random = np.random.default_rng(7)
    pairs = random.integers(0, len(seeds), (2, count))
    share = random.random((count, 1), np.float32)
    mixed: NDArray[np.float32] = share * seeds[pairs[0]] + (1 - share) * seeds[pairs[1]]
    mixed += random.normal(0, NOISE, mixed.shape).astype(np.float32)
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    return mixed
