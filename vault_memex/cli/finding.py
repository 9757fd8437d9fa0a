"""Finding the vault that a command is about. Hooks come through here, so nothing heavy is imported."""

from __future__ import annotations

import os
from pathlib import Path


def find_vault(option: str | None) -> Path:
    """Return the vault folder: the option, $VAULT_MEMEX_VAULT, or the nearest folder upward that is one."""
    found = look_for_vault(option)
    if found is None:
        from vault_memex.errors import VaultError

        raise VaultError(
            f"No vault: neither {Path.cwd()} nor a folder above it has .memex or .obsidian. "
            "Name it with --vault DIR, or run `vault-memex init DIR`."
        )
    return found


def look_for_vault(option: str | None) -> Path | None:
    """Return the same, None when there is none."""
    named = option or os.environ.get("VAULT_MEMEX_VAULT")
    if named:
        return Path(named).expanduser()
    here = Path.cwd()
    folders = (here, *here.parents)
    return next((f for f in folders if (f / ".memex").is_dir() or (f / ".obsidian").is_dir()), None)
