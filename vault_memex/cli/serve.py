"""`vault-memex serve`: the MCP server on standard input and output."""

from __future__ import annotations

import argparse
from pathlib import Path

from vault_memex.cli.opening import find_vault
from vault_memex.server.app import build_server
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.vault import open_vault


def run(options: argparse.Namespace) -> int:
    """Serve until standard input closes or a signal comes."""
    flags = {name: getattr(options, name) for name in ("connection", "role", "tools", "commit", "model")}
    cache = Path(options.cache_dir).expanduser() if options.cache_dir else None
    vault = open_vault(find_vault(options.vault), cache_dir=cache, flags=flags)
    role = vault.config.role
    server = build_server(vault, find_tools(vault.config.tools, role), find_callable(role), owns_process=True)
    server.run()
    return 0
