"""`vault-memex connections`: which assistant may do what."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict

from vault_memex.cli.finding import find_vault
from vault_memex.cli.output import print_json, print_table
from vault_memex.errors import InvalidArgument
from vault_memex.memory.connections import Connection, parse_connections
from vault_memex.memory.connections_edit import plan_connection, plan_removal
from vault_memex.store.files import VaultFiles
from vault_memex.store.layout import write_connections

_USAGE = {
    "list": "list takes nothing else: vault-memex connections list",
    "set": "Say which and what: vault-memex connections set NAME with --role ROLE, --scope PATTERN ... or "
    "--whole-vault, --hide-skills SLUG ... or --all-skills",
    "remove": "Say which: vault-memex connections remove NAME",
}


def run(options: argparse.Namespace) -> int:
    """List, set or remove."""
    changes = (
        options.role,
        options.scope,
        options.whole_vault or None,
        options.hide_skills,
        options.all_skills or None,
    )
    asked = sum(change is not None for change in changes)
    fits = {
        "list": not options.name and not asked,
        "set": bool(options.name) and asked > 0 and not _contradicts(options),
        "remove": bool(options.name) and not asked,
    }
    if not fits[options.action]:
        raise InvalidArgument("name", _USAGE[options.action])
    files = VaultFiles(find_vault(options.vault))
    text = files.read_connections()
    if options.action != "list":
        after = _plan(text, options)
        write_connections(files, text, after)
        text = after
    connections = parse_connections(text)
    shown = [connections[options.name]] if options.action == "set" else list(connections.values())
    if options.json:
        print_json([asdict(one) for one in shown])
    else:
        _print(shown)
    return 0


def _plan(text: str, options: argparse.Namespace) -> str:
    if options.action == "remove":
        return plan_removal(text, options.name)
    scopes = () if options.whole_vault else options.scope
    hidden = () if options.all_skills else options.hide_skills
    return plan_connection(text, options.name, role=options.role, scopes=scopes, hidden_skills=hidden)


def _contradicts(options: argparse.Namespace) -> bool:
    return bool((options.scope and options.whole_vault) or (options.hide_skills and options.all_skills))


def _print(connections: Iterable[Connection]) -> None:
    rows = [
        (one.name, one.role, ", ".join(one.scopes) or "the whole vault", ", ".join(one.hidden_skills))
        for one in connections
    ]
    if rows:
        print_table(("connection", "role", "scope", "hidden skills"), rows)
    else:
        print("None is listed: each is an agent for the whole vault.")
