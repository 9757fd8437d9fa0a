"""Numbers for callers that name notes by nothing else."""

from __future__ import annotations

from contextlib import suppress

from vault_memex.core.snapshot import Snapshot
from vault_memex.errors import MemexError
from vault_memex.vault import Vault


def find_numbered(vault: Vault) -> Snapshot:
    """Return the vault's notes, each with its number where this connection may write."""
    snapshot = vault.settled()
    if len(snapshot.by_id) < len(snapshot.notes) and vault.config.role != "reader":
        with suppress(MemexError, OSError):  # without numbers notes are still named by their paths
            vault.number_notes()
    return vault.snapshot()
