"""Finding and opening the vault that a command is about."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vault_memex.errors import VaultError
from vault_memex.vault import Vault, open_vault


def find_vault(option: str | None) -> Path:
    """Return the vault folder: the option, $VAULT_MEMEX_VAULT, or the nearest folder upward that is one."""
    named = option or os.environ.get("VAULT_MEMEX_VAULT")
    if named:
        return Path(named).expanduser()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / ".memex").is_dir() or (folder / ".obsidian").is_dir():
            return folder
    raise VaultError(
        f"No vault: neither {here} nor a folder above it has .memex or .obsidian. "
        "Name it with --vault DIR, or run `vault-memex init DIR`."
    )


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[Vault]:
    """Open the vault of a command, as its owner, and close it afterwards."""
    cache = Path(options.cache_dir).expanduser() if options.cache_dir else None
    vault = open_vault(find_vault(options.vault), cache_dir=cache, flags={"role": "owner", "connection": "owner"})
    try:
        yield vault
    finally:
        vault.close()
