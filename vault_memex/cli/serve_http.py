"""`vault-memex serve --http`: the MCP server for several clients at once, each with its token."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from vault_memex.cli.finding import find_vault
from vault_memex.errors import InvalidArgument
from vault_memex.listening import open_socket
from vault_memex.server.http import PATH, Address, check_address, run_http
from vault_memex.server.tools import find_tools
from vault_memex.session import ASKED
from vault_memex.store.log import open_log
from vault_memex.store.tokens import Tokens, find_token_file
from vault_memex.vault import open_vault

PORT = 8765


def run(options: argparse.Namespace) -> int:
    """Serve until a signal comes; where to is said on standard error."""
    if options.connection:
        raise InvalidArgument("connection", "--as does not go with --http: there the token names the connection.")
    address = Address(
        options.host or "127.0.0.1",
        PORT if options.port is None else options.port,
        tuple(options.allow_host or ()),
    )
    check_address(address, allow_remote=options.allow_remote)
    open_log()
    flags = {name: getattr(options, name) for name in ("role", "tools", "commit", "model")}
    cache = Path(options.cache_dir).expanduser() if options.cache_dir else None
    vault = open_vault(find_vault(options.vault), cache_dir=cache, flags=flags, default=ASKED)
    try:
        find_tools(vault.config.tools, vault.config.role)  # a choice that makes no sense is told now
        tokens = Tokens(find_token_file(), vault.root)
        listening = open_socket(address.host, address.port)
    except BaseException:
        vault.close(patient=False)
        raise
    host = f"[{address.host}]" if ":" in address.host else address.host
    print(f"vault-memex: http://{host}:{listening.getsockname()[1]}{PATH}", file=sys.stderr, flush=True)
    if not tokens.find():
        print("vault-memex: no token yet. Make one: vault-memex token add NAME", file=sys.stderr, flush=True)
    run_http(vault, tokens, address, listening)
    return 0
