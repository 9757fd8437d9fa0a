"""docs/format.md keeps up with the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from vault_memex.core.note import RESERVED_PROPERTIES, Layer

TEXT = (Path(__file__).parents[1] / "docs" / "format.md").read_text(encoding="utf-8")


def test_every_property_with_a_meaning_has_a_row() -> None:
    rows = [line.split("|")[1] for line in TEXT.splitlines() if line.startswith("| `")]
    explained = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}

    assert set() == RESERVED_PROPERTIES - explained


def test_every_layer_has_a_row() -> None:
    assert [] == [layer for layer in get_args(Layer) if f"\n| `{layer}` | " not in TEXT]
