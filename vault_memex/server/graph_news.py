"""Tells who watches the knowledge graph that it changed, whoever changed it: a tool, an editor, another server.

While somebody watches, the graph is looked at once a second and after every tool that writes. That finds what other
processes index too, of which this one gets no report. What changes meanwhile is one message.
"""

from __future__ import annotations

import logging
import sqlite3

import anyio
import anyio.to_thread

from vault_memex.errors import MemexError
from vault_memex.memory.knowledge_graph import Graph, says_the_same
from vault_memex.server.subscriptions import Subscriptions
from vault_memex.server.tool import GRAPH_URI
from vault_memex.vault import Vault

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
GATHER_SECONDS = 0.1  # what a burst of writes changes is told once


class GraphNews:
    """What the watchers of one server's graph know."""

    def __init__(self, vault: Vault, subscriptions: Subscriptions) -> None:
        self._vault = vault
        self._subscriptions = subscriptions
        self._known: Graph | None = None
        self._revision = -1  # of the catalogue, when somebody began to watch and no graph was known
        self._written = anyio.Event()
        subscriptions.on_watch = self.begin

    def begin(self) -> None:
        """Take down from when on changes are to be told."""
        if not self._subscriptions.is_watched():
            self._known, self._revision = None, self._vault.catalogue.revision

    def note_write(self) -> None:
        """Look soon: a tool wrote."""
        self._written.set()

    async def run(self) -> None:
        """Tell of changes until cancelled."""
        while True:
            with anyio.move_on_after(LOOK_SECONDS):
                await self._written.wait()
                await anyio.sleep(GATHER_SECONDS)
            self._written = anyio.Event()
            await self.run_once()

    async def run_once(self) -> None:
        """Look, where somebody watches, and tell what is new."""
        if self._subscriptions.is_watched() and await anyio.to_thread.run_sync(self.look, abandon_on_cancel=True):
            await self._subscriptions.publish(GRAPH_URI)

    def look(self) -> bool:
        """Return whether the graph says something else than at the last look."""
        try:
            if self._vault.background.find_remark() is not None:
                return False  # not whole; told when it is
            graph = self._vault.knowledge.read_present()
        except (MemexError, OSError, sqlite3.Error) as error:
            log.debug("the graph is looked at again: %s", error)
            return False
        before, self._known = self._known, graph
        if before is None:
            return self._vault.catalogue.revision != self._revision
        return not says_the_same(before, graph)
