"""`vault-memex serve`: the MCP server on standard input and output."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vault_memex.store.quiet import without_collections


def run(options: argparse.Namespace) -> int:
    """Serve until standard input closes or a signal comes."""
    if options.http:
        from vault_memex.cli.serve_http import run as run_http

        return run_http(options)
    if options.host or options.port is not None or options.allow_remote or options.allow_host:
        from vault_memex.errors import InvalidArgument

        raise InvalidArgument("http", "--host, --port, --allow-remote and --allow-host go with --http.")
    with _quick_start():
        from vault_memex.cli.finding import find_vault
        from vault_memex.server.app import build_server
        from vault_memex.server.tools import find_callable, find_tools
        from vault_memex.session import open_session
        from vault_memex.store.log import open_log

        open_log()
        flags = {name: getattr(options, name) for name in ("connection", "role", "tools", "commit", "model")}
        cache = Path(options.cache_dir).expanduser() if options.cache_dir else None
        vault = open_session(find_vault(options.vault), cache_dir=cache, flags=flags)
        role = vault.config.role
        listed = find_tools(vault.config.tools, role)
        server = build_server(vault, listed, find_callable(role, listed), owns_process=True)
    server.run()
    return 0


@contextmanager
def _quick_start() -> Iterator[None]:
    """Start without what only costs time: clients show the tools a session begins with after about two seconds.

    Imports make objects that stay, so collections while they run look in vain (a seventh of the start), and
    freezing keeps later ones from looking again. Plugins of pydantic would be searched in every installed package.
    Of the protocol's 500 models few are ever used, and with this setting each is built when it first is.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    with without_collections(keep=True):
        from pydantic import BaseModel

        BaseModel.model_config["defer_build"] = True
        try:
            yield
        finally:
            del BaseModel.model_config["defer_build"]
