"""Finding and opening the vault that a command is about."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vault_memex.cli.finding import find_vault
from vault_memex.vault import Vault, open_vault


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[Vault]:
    """Open the vault of a command, as its owner, and close it afterwards."""
    cache = Path(options.cache_dir).expanduser() if options.cache_dir else None
    vault = open_vault(find_vault(options.vault), cache_dir=cache, flags={"role": "owner", "connection": "owner"})
    try:
        yield vault
    finally:
        vault.close()
