"""A vault as one connection has it: its role, its name in the journal, and only the notes of its scope."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vault_memex.config import Config
from vault_memex.core.snapshot import Snapshot
from vault_memex.memory.connections import Connection, find_connection, parse_connections
from vault_memex.memory.scope import Scope
from vault_memex.store.scoped import ScopedCatalogue, ScopedFiles, narrow_snapshot
from vault_memex.vault import Vault, open_vault

ASKED = Config(role="curator")  # who does not ask for less has what the file gives


class Session(Vault):
    """The services of a vault for one connection. What keeps the index is the vault's own, and shared."""

    def __init__(self, vault: Vault, connection: Connection) -> None:
        config = replace(vault.config, connection=connection.name, role=connection.role)
        self.whole, self.config, self.clock = vault, config, vault.clock
        self.files, self.cache, self.root = vault.files, vault.cache, vault.root
        self.catalogue, self.meaning, self.indexer = vault.catalogue, vault.meaning, vault.indexer
        self.transactor, self.trash, self.numbering = vault.transactor, vault.trash, vault.numbering
        self.background, self.distances, self.detecting = vault.background, vault.distances, vault.detecting
        self.logs = vault.logs
        self._loading = threading.Lock()
        self._loaded = None
        self._closed = False
        self.connection = connection
        self._narrowed: tuple[Snapshot, Snapshot] | None = None  # the vault's, and what was made of it
        self.scope = Scope(connection.scopes)
        if not self.scope.is_whole:
            self.files = ScopedFiles(vault.files, self.scope)
            self.catalogue = ScopedCatalogue(vault.catalogue, self.scope)
        self._add_services()

    def snapshot(self) -> Snapshot:
        """Return the metadata of the scope's notes as they are now; cheap when nothing changed."""
        whole = self.whole.snapshot()
        if self.scope.is_whole:
            return whole
        with self._loading:
            if self._narrowed is None or self._narrowed[0] is not whole:
                self._narrowed = whole, narrow_snapshot(whole, self.scope, self._narrowed)
            return self._narrowed[1]

    def close(self, *, patient: bool = True) -> None:
        """Close the vault, for all of its connections."""
        self.whole.close(patient=patient)


def open_session(root: Path, *, cache_dir: Path | None = None, flags: Mapping[str, Any] | None = None) -> Session:
    """Open a vault for the connection that the settings name; close it in the end.

    Its role is the lower of what is asked for and what `.memex/connections.toml` gives that name.
    """
    vault = open_vault(root, cache_dir=cache_dir, flags=flags, default=ASKED)
    try:
        return connect(vault, vault.config.connection, vault.config)
    except BaseException:
        vault.close(patient=False)
        raise


def connect(vault: Vault, name: str, asked: Config = ASKED) -> Session:
    """Return the vault as the connection of that name has it now."""
    connections = parse_connections(vault.files.read_connections())
    return Session(vault, find_connection(connections, name, asked.role))
