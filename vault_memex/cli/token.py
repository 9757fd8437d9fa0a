"""`vault-memex token`: which clients may come in over HTTP."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from vault_memex.cli.finding import find_vault
from vault_memex.cli.output import print_json, print_table
from vault_memex.errors import InvalidArgument
from vault_memex.store.files import VaultFiles
from vault_memex.store.tokens import Token, Tokens, find_token_file


def run(options: argparse.Namespace) -> int:
    """Add, list or revoke."""
    if (options.action == "list") == bool(options.name):
        more = " NAME" if options.action == "add" else " ID" if options.action == "revoke" else ""
        raise InvalidArgument("name", f"Write: vault-memex token {options.action}{more}")
    tokens = Tokens(find_token_file(), VaultFiles(find_vault(options.vault)).root)
    if options.action == "add":
        made = tokens.add(options.name, datetime.now(UTC))
        if options.json:
            print_json({**_view(made.token), "token": made.secret})
        else:
            print(made.secret)
            print("Shown once. Give it to the client as: Authorization: Bearer TOKEN", file=sys.stderr)
        return 0
    found = tokens.revoke(options.name) if options.action == "revoke" else tokens.find()
    if options.json:
        print_json([_view(token) for token in found])
    elif options.action == "revoke":
        for token in found:
            print(f"revoked: {token.id} ({token.connection})")
    elif found:
        print_table(("id", "connection", "made"), [(t.id, t.connection, t.created[:10]) for t in found])
    else:
        print("No token: nobody can come in over HTTP.")
    return 0


def _view(token: Token) -> dict[str, str]:
    return {"id": token.id, "connection": token.connection, "created": token.created}
