"""A vault with an open catalogue for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.indexed_vault import IndexedVault


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[IndexedVault]:
    opened = IndexedVault(tmp_path)
    yield opened
    opened.close()
