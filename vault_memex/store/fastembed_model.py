"""A model run by fastembed on onnxruntime: the only module that imports either.

Measured on 2 cores with the default model: batches of up to 4 texts and 500 tokens are as fast as larger ones,
take about 0.1 s, and keep the process at 0.55 GB; released, it falls back to what it had before the load.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_memex.core.chunking import estimate_tokens
from vault_memex.errors import ModelUnavailable
from vault_memex.store.unigram import open_unigram

if TYPE_CHECKING:
    from fastembed import TextEmbedding

    from vault_memex.store.embedding import ModelSpec
    from vault_memex.store.vectors import Vectors

BATCH_TEXTS = 4
BATCH_TOKENS = 500
_RETRY_SECONDS = 30.0  # a model that did not load is not tried again sooner
_registering = threading.Lock()


class FastembedEmbedder:
    """See `Embedder`. Queries run beside passages; a new batch of passages waits until no query is under way."""

    def __init__(self, spec: ModelSpec, model_dir: Path, threads: int | None = None) -> None:
        self._spec = spec
        self._cache_dir = model_dir / "fastembed"
        self._threads = threads or os.cpu_count() or 1
        self._engine: TextEmbedding | None = None
        self._failure: tuple[float, ModelUnavailable] | None = None
        self._used = time.monotonic()
        self._dimension = spec.dimension
        self._loading = threading.Lock()
        self._traffic = threading.Condition()
        self._queries = 0

    @property
    def model(self) -> str:
        """The setting that names the model."""
        return self._spec.model

    @property
    def fingerprint(self) -> str:
        """What vectors of equal meaning share."""
        return self._spec.fingerprint

    @property
    def ready(self) -> bool:
        """Whether the model is loaded."""
        return self._engine is not None

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        if self._dimension is None:
            self._dimension = int(self._embed_query(self._load(), "a").shape[0])
        return self._dimension

    @property
    def idle_seconds(self) -> float:
        """Seconds since the model was last asked for."""
        return time.monotonic() - self._used

    def load(self) -> None:
        """Load the model now; raises ModelUnavailable with the reason."""
        self._load()

    def release(self) -> None:
        """Drop the model and hand its memory back to the system; calls under way finish first."""
        with self._loading:
            self._engine = None
        gc.collect()
        _trim_memory()

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        with self._traffic:
            self._queries += 1
        try:
            return self._embed_query(self._load(), text)
        finally:
            with self._traffic:
                self._queries -= 1
                self._traffic.notify_all()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, in the order of the texts."""
        import numpy as np

        engine = self._load()
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for batch in plan_batches(texts):
            with self._traffic:
                self._traffic.wait_for(lambda: self._queries == 0, timeout=1.0)
            prefixed = [self._spec.passage_prefix + texts[i] for i in batch]
            with _explained(self.model):
                vectors[batch] = _unit(list(engine.passage_embed(prefixed, batch_size=len(batch))))
        return vectors

    def _embed_query(self, engine: TextEmbedding, text: str) -> Vectors:
        with _explained(self.model):
            rows = _unit(list(engine.query_embed(self._spec.query_prefix + text, batch_size=1)))
            return rows.reshape(-1)

    def _load(self) -> TextEmbedding:
        self._used = time.monotonic()
        engine = self._engine
        if engine is not None:
            return engine
        with self._loading:
            if self._engine is None:
                if self._failure and time.monotonic() - self._failure[0] < _RETRY_SECONDS:
                    raise self._failure[1]
                try:
                    with _explained(self.model):
                        self._engine = _open_engine(self._spec, self._cache_dir, self._threads)
                except ModelUnavailable as error:
                    self._failure = (time.monotonic(), error)
                    raise
            return self._engine


def plan_batches(
    texts: Sequence[str], texts_limit: int = BATCH_TEXTS, tokens: int = BATCH_TOKENS
) -> list[list[int]]:
    """Return the positions of the texts in batches of similar length, longest first.

    A batch is padded to its longest text, so that one sets the cost: count times longest stays within `tokens`,
    unless a single text is longer.
    """
    sizes = [estimate_tokens(text) for text in texts]
    batches: list[list[int]] = []
    for position in sorted(range(len(texts)), key=lambda i: -sizes[i]):
        batch = batches[-1] if batches else []
        if batch and len(batch) < texts_limit and sizes[batch[0]] * (len(batch) + 1) <= tokens:
            batch.append(position)
        else:
            batches.append([position])
    return batches


def _unit(rows: Sequence[object]) -> Vectors:
    import numpy as np

    matrix: Vectors = np.asarray(rows, np.float32)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise ValueError("the model returned a vector without a direction")
    result: Vectors = matrix / norms
    return result


@contextmanager
def _explained(model: str) -> Iterator[None]:
    """Turn whatever the model's libraries raise into ModelUnavailable."""
    try:
        yield
    except ModelUnavailable:
        raise
    except Exception as error:  # onnxruntime, tokenizers and the hub client share no base class
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        raise ModelUnavailable(
            f"The embedding model {model!r} cannot be used: {reason}. Put its files right or set another `model`; "
            "`vault-memex doctor` tries it.",
            model=model,
        ) from error


def _open_engine(spec: ModelSpec, cache_dir: Path, threads: int) -> TextEmbedding:
    from fastembed import TextEmbedding

    if spec.find_folder is None:
        return TextEmbedding(spec.model, cache_dir=str(cache_dir), threads=threads)
    folder = spec.find_folder()
    name = _register(spec)
    engine = TextEmbedding(
        name,
        cache_dir=str(cache_dir),
        threads=threads,
        specific_model_path=str(folder),
        lazy_load=spec.is_converted,
    )
    if spec.is_converted:
        _load_with_own_tokenizer(engine.model, folder)
    return engine


def _load_with_own_tokenizer(model: Any, folder: Path) -> None:
    """Load a model whose tokenizer is ours: fastembed loads one only where there is none yet."""
    model.tokenizer = open_unigram(folder)
    _trim_memory()
    model.load_onnx_model()


def _register(spec: ModelSpec) -> str:
    """Make the model known to fastembed, once a process, and return the name it has there."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"vault-memex/{spec.fingerprint}"
    with _registering:
        if any(name == known["model"] for known in TextEmbedding.list_supported_models()):
            return name
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.CLS if spec.pooling == "cls" else PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=name),  # never asked: the folder is given
            dim=spec.dimension or 1,  # used for display only
            model_file=spec.model_file,
        )
    return name


def _trim_memory() -> None:
    """Ask glibc to return freed memory to the system: it keeps some 300 MB of a released model otherwise."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):  # another C library
        return
