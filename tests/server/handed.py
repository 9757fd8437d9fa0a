"""Vaults behind one in-memory server each, driven through the tools alone, all in one process and one event loop."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.types import CallToolResult

from tests.server.conftest import text_of
from vault_memex.server.app import build_server
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.vault import Vault, open_vault

Serving = Callable[[Mapping[str, str | bytes]], "ServedVault"]


@dataclass(frozen=True)
class ServedVault:
    """A vault folder and the client that is connected to its server."""

    root: Path
    portal: BlockingPortal
    client: Client
    vault: Vault

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        result = self.portal.call(self.client.call_tool, tool, arguments)
        assert isinstance(result, CallToolResult)
        return result

    def done(self, tool: str, **arguments: Any) -> str:
        """Return the text of a call that must work."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def refused(self, tool: str, **arguments: Any) -> str:
        """Return the text of a call that must be refused: it starts with the error's code."""
        result = self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        return text_of(result)

    def found(self, **arguments: Any) -> list[str]:
        """Return the paths a search finds."""
        result = self.call("search", **{"limit": 25, "flashbacks": False, **arguments})
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        return [row["path"] for row in result.structured_content["rows"]]

    def revision(self, ref: str) -> str:
        lines = self.done("get", ref=ref, max_chars=1).splitlines()
        return next(line.removeprefix("revision: ") for line in lines if line.startswith("revision: "))

    def links(self, ref: str) -> list[str]:
        lines = self.done("get", ref=ref).splitlines()
        shown = next((line for line in lines if line.startswith("links to: ")), "links to: ")
        return [name for name in shown.removeprefix("links to: ").split(", ") if name]

    def put(self, path: str, content: str | bytes) -> Path:
        """Write a file as another program would."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def bytes_of(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def state(self) -> dict[str, tuple[bytes, int]]:
        """Return bytes and change time of every file that is not the program's own."""
        return {
            path.relative_to(self.root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
            and path.relative_to(self.root).parts[0] not in {".memex", "_memex"}
            and not path.name.startswith(".vmx-")  # a replaced file, kept for editors that still write into it
        }


@contextlib.contextmanager
def serving_vaults(folder: Path) -> Iterator[Serving]:
    """Yield a function that makes a vault of files, indexes it and connects a client to its server."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("VAULT_MEMEX_CACHE_DIR", str(folder / "cache"))
        portal = stack.enter_context(start_blocking_portal())
        made = iter(range(1_000))

        def serve(files: Mapping[str, str | bytes]) -> ServedVault:
            root = folder / f"v{next(made)}"
            root.mkdir()
            for path, content in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(content if isinstance(content, bytes) else content.encode())
            vault = open_vault(root, flags={"model": "none", "connection": "tester", "commit": "off"})
            vault.refresh()
            server = build_server(vault, find_tools(vault.config.tools, "agent"), find_callable("agent"))
            client = stack.enter_context(portal.wrap_async_context_manager(Client(server)))
            return ServedVault(root, portal, client, vault)

        yield serve
