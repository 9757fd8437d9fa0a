"""The meaning process with a model that is a hash of words and vectors in memory: it starts at once.

The model's name makes it misbehave: `torn` does not load, `endless` never ends loading. A text with the word `hang`
takes a minute.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vault_memex.errors import ModelUnavailable
from vault_memex.index import meaning_child, meaning_engine
from vault_memex.store.embedding import find_spec
from vault_memex.store.ephemeral import EphemeralTables, HashEmbedder


class SmallEmbedder(HashEmbedder):
    def __init__(self, model: str, model_dir: Path) -> None:
        super().__init__()
        self.model = model
        self.fingerprint = find_spec(model, model_dir).fingerprint

    def load(self) -> None:
        if self.model == "torn":
            raise ModelUnavailable("the weights are torn")
        if self.model == "endless":
            time.sleep(60)

    def embed_query(self, text: str) -> np.ndarray:
        if "hang" in text.split():
            time.sleep(60)
        return super().embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        self.load()
        return super().embed_passages(texts)


if __name__ == "__main__":
    meaning_engine.find_embedder = SmallEmbedder
    meaning_engine.open_vectors = lambda folder, broken=False: EphemeralTables()
    meaning_child.main(sys.argv[1:])
