"""Clients of the server: in memory in both eras of the protocol, and over real standard streams."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent

from tests.conftest import OpenVault
from vault_memex.server.app import build_server
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.vault import Vault

Call = Callable[..., Awaitable[CallToolResult]]


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


@pytest.fixture
def vault(sample: Path, opening: OpenVault) -> Vault:
    return opening(sample)


@pytest.fixture(params=["auto", "legacy"])
async def client(request: pytest.FixtureRequest, vault: Vault) -> AsyncIterator[Client]:
    role = vault.config.role
    listed = find_tools(vault.config.tools, role)
    server = build_server(vault, listed, find_callable(role, listed))
    async with Client(server, mode=request.param) as connected:
        yield connected


@pytest.fixture
def call(client: Client) -> Call:
    async def run(tool: str, **arguments: Any) -> CallToolResult:
        result = await client.call_tool(tool, arguments)
        assert isinstance(result, CallToolResult)
        return result

    return run


def serve_command(root: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "vault_memex", "serve", "--vault", str(root), *more]
