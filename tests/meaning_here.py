"""Meaning without a child process and without a model: the real engine, fed by hashed words, in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vault_memex.errors import MemexError
from vault_memex.index.meaning import Meaning, MeaningState, MeaningUnavailable
from vault_memex.index.meaning_engine import Engine
from vault_memex.store.ephemeral import EphemeralTables, HashEmbedder
from vault_memex.store.vectors import SharedTables


class MeaningHere(Meaning):
    """Give it as `build_meaning`; `embed_all` brings the vectors up to the notes."""

    def __init__(self, root: Path, cache: Path, model: str, catalogue_fingerprint: str) -> None:
        super().__init__(root, cache, model, catalogue_fingerprint)
        self.embedder = HashEmbedder()
        if self.enabled:
            self.model, self.fingerprint = self.embedder.model, self.embedder.fingerprint
        kept = EphemeralTables()
        self.engine = Engine(
            root,
            cache,
            model,
            catalogue_fingerprint,
            embedder=self.embedder,
            tables=SharedTables(lambda _: kept),
        )

    def embed_all(self) -> None:
        if not self.enabled:
            return
        catalogue = self.engine.catalogue
        store = self.engine.tables.get().open_table(self.fingerprint, self.embedder.dimension, self.embedder.model)
        while passages := catalogue.find_unembedded(self.fingerprint, 500):
            texts = self.engine.read_texts(passages)
            store.add(list(texts), self.embedder.embed_passages(list(texts.values())))
            catalogue.mark_embedded(self.fingerprint, texts)

    def state(self) -> MeaningState:
        return MeaningState(self.model, "ready")

    def _tell(self, what: str, *arguments: object, start: bool) -> None:
        """There is no process that could be told anything; a server would start one for every test."""

    def close(self) -> None:
        self.engine.close()

    def _begin(
        self, what: str, *arguments: object, patience: float, answer_within: float = 0.0, start: bool = True
    ) -> Callable[..., Any]:
        if not self.enabled:
            raise MeaningUnavailable("meaning is switched off (model = none)")

        def answer(seconds: float = 0.0) -> Any:
            try:
                return self.engine.calls[what](*arguments)
            except MemexError as error:
                raise MeaningUnavailable(error.message) from error

        return answer
