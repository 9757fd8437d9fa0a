"""The embedding queue's view of the vault: hashes from the catalogue, texts from the files."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from vault_memex.core.chunking import build_passages
from vault_memex.core.markdown import parse_note
from vault_memex.index.document import find_indexed_text, find_title
from vault_memex.index.embedding_queue import PassageKey
from vault_memex.index.reading import read_settled
from vault_memex.store.catalogue import Catalogue


class VaultPassages:
    """Implements `embedding_queue.PassageSource`. `model` is an embedder's fingerprint."""

    def __init__(self, root: Path, catalogue: Catalogue) -> None:
        self._root = root
        self._catalogue = catalogue

    def next_passages(self, model: str, limit: int) -> Sequence[PassageKey]:
        """Return passages without a vector, each hash once, those changed last first."""
        return [
            PassageKey(p.hash, p.path, p.start, p.end, p.chars)
            for p in self._catalogue.find_unembedded(model, limit)
        ]

    def passage_texts(self, keys: Sequence[PassageKey]) -> Mapping[str, str]:
        """Return hash to text; a passage whose file has moved on is missing."""
        wanted = {key.hash for key in keys}
        texts: dict[str, str] = {}
        for path in dict.fromkeys(key.path for key in keys):
            try:
                found = read_settled(os.path.join(self._root, path))
            except OSError:
                continue
            if found is not None:
                note = parse_note(find_indexed_text(found.data))
                texts.update(
                    (p.hash, p.text) for p in build_passages(note, find_title(note, path)) if p.hash in wanted
                )
        return texts

    def mark_embedded(self, model: str, hashes: Collection[str]) -> None:
        """Note that these have their vectors."""
        self._catalogue.mark_embedded(model, hashes)

    def set_embedded(self, model: str, hashes: Collection[str]) -> None:
        """Note that these have their vectors and no others."""
        self._catalogue.set_embedded(model, hashes)

    def counts(self, model: str) -> tuple[int, int]:
        """Return how many passages have their vector, and how many there are."""
        return self._catalogue.count_embedded(model)

    def current_hashes(self) -> set[str]:
        """Return the hash of every passage in the vault."""
        return self._catalogue.find_hashes()
