"""Vaults on disk and transactors over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from vault_memex.core.changes import WriteFile
from vault_memex.core.revision import revision_of
from vault_memex.store.files import VaultFiles
from vault_memex.store.opening import open_transactor
from vault_memex.store.transaction import Transactor

MOMENT = datetime(2026, 11, 30, 2, 5, tzinfo=UTC)


class TickingClock:
    """A clock that goes on by a second at each look."""

    def __init__(self) -> None:
        self.moment = MOMENT

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    vault.mkdir()
    return vault


@pytest.fixture
def opened(vault: Path, tmp_path: Path) -> Iterator[Callable[..., Transactor]]:
    """Return a function that opens transactors over the vault; all are closed at the end."""
    transactors: list[Transactor] = []

    def open_one(commit: str = "off", **more: object) -> Transactor:
        one = open_transactor(VaultFiles(vault), tmp_path / "cache", commit, TickingClock(), **more)  # type: ignore[arg-type]
        transactors.append(one)
        return one

    yield open_one
    for one in transactors:
        one.close(wait=False)


@pytest.fixture
def transactor(opened: Callable[..., Transactor]) -> Transactor:
    return opened()


def put(vault: Path, path: str, data: bytes) -> str:
    """Write a settled file and return its revision."""
    file = vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    os.utime(file, (1_700_000_000, 1_700_000_000))
    return revision_of(data)


def replacing(path: str, old: bytes, new: bytes) -> WriteFile:
    """Return the edit that puts `new` where `old` is."""
    return WriteFile(path, new, revision_of(old))


def visible_files(vault: Path) -> dict[str, bytes]:
    """Return every file outside `.memex` and `.git`, hidden temporary ones too."""
    return {
        file.relative_to(vault).as_posix(): file.read_bytes()
        for file in sorted(vault.rglob("*"))
        if file.is_file() and file.relative_to(vault).parts[0] not in (".memex", ".git")
    }
