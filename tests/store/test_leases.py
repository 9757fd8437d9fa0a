"""Reservations of many connections at once, and what a cache that fails does to them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vault_memex.store.leases import LEASE, Leases

NOW = datetime(2026, 11, 30, tzinfo=UTC)
NOTES = [f"{number}.md" for number in range(40)]


def take(leases: Leases, connection: str, count: int, now: datetime = NOW) -> list[str]:
    """Reserve the first so many that nobody has; return them."""
    chosen: list[str] = []

    def choose(others: Collection[str]) -> Sequence[str]:
        chosen[:] = [note for note in NOTES if note not in others][:count]
        return chosen

    leases.reserve(connection, now, choose)
    return chosen


def test_all_who_reserve_at_once_get_different_notes(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda n: take(Leases(tmp_path), f"curator {n}", 5), range(8)))

    assert sorted(NOTES) == sorted(note for some in taken for note in some)


def test_a_reservation_ends_after_its_time_or_when_released(tmp_path: Path) -> None:
    leases = Leases(tmp_path)
    take(leases, "one", 3)

    assert {"0.md", "1.md", "2.md"} == set(leases.find_others("two", NOW + LEASE - timedelta(seconds=1)))
    assert not leases.find_others("two", NOW + LEASE)
    assert not leases.find_others("one", NOW)
    leases.release("one")
    leases.release("nobody")
    assert not leases.find_others("two", NOW)


def test_a_cache_that_cannot_be_written_gives_no_advice_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases = Leases(tmp_path)
    (tmp_path / "leases.json").mkdir()

    assert NOTES[:2] == take(leases, "one", 2)
    assert not leases.find_others("two", NOW)
