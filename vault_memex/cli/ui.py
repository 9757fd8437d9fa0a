"""`vault-memex ui`: the page in the browser, for the vault's owner on this machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from vault_memex.cli.finding import find_vault
from vault_memex.listening import open_socket
from vault_memex.store.log import open_log
from vault_memex.vault import open_vault
from vault_memex.web.app import serve


def run(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl+C; its address is printed."""
    open_log()
    root = find_vault(options.vault)
    cache = Path(options.cache_dir).expanduser() if options.cache_dir else None
    listening = open_socket("127.0.0.1", options.port)
    try:
        vault = open_vault(root, cache_dir=cache, flags={"role": "owner", "connection": "owner"})
    except BaseException:
        listening.close()
        raise
    serve(vault, listening, _announce, browse=options.browser)
    return 0


def _announce(address: str) -> None:
    print(f"vault-memex: {address}", flush=True)
    print("Anyone who has this address can change your notes. Ctrl+C ends it.", flush=True)
