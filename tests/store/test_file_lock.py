"""The lock that lives in an open file."""

from __future__ import annotations

from pathlib import Path

from vault_memex.store.file_lock import find_lock


def test_lock_is_held_once_and_free_after_release(tmp_path: Path) -> None:
    first = find_lock(tmp_path / "l")
    assert first is not None

    assert find_lock(tmp_path / "l") is None

    first.release()
    second = find_lock(tmp_path / "l")
    assert second is not None
    second.release()


def test_lock_whose_file_was_replaced_is_not_valid(tmp_path: Path) -> None:
    first = find_lock(tmp_path / "l")
    assert first is not None
    (tmp_path / "l").unlink()
    second = find_lock(tmp_path / "l")
    assert second is not None

    assert (False, True) == (first.is_valid(), second.is_valid())

    first.release()
    second.release()
