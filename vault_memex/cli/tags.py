"""`vault-memex tags`: the tags in use, and those that are out of it, by the person's word."""

from __future__ import annotations

import argparse

from vault_memex.cli.opening import opened
from vault_memex.cli.output import Line, print_block, print_json, print_table
from vault_memex.errors import InvalidArgument
from vault_memex.services.tags import Retagged, TagsFound
from vault_memex.vault import Vault

MOST_NAMED = 20  # notes
_USAGE = {
    "list": "list takes no tag: vault-memex tags list",
    "retire": "Name the tag: vault-memex tags retire TAG",
    "merge": "Name both: vault-memex tags merge TAG INTO",
    "restore": "Name the tag: vault-memex tags restore TAG",
}


def run(options: argparse.Namespace) -> int:
    """List, retire, merge or restore."""
    wanted = {"list": 0, "merge": 2}.get(options.action, 1)
    if sum(map(bool, (options.tag, options.into))) != wanted:
        raise InvalidArgument("tag", _USAGE[options.action])
    with opened(options) as vault:
        vault.refresh()
        done = vault.upkeep.tags.find() if options.action == "list" else _change(vault, options)
    if options.json:
        print_json(done)
    elif isinstance(done, TagsFound):
        _print_list(done)
    else:
        _print_change(done, options.action)
    return 0


def _change(vault: Vault, options: argparse.Namespace) -> Retagged:
    tags = vault.upkeep.tags
    if options.action == "merge":
        return tags.merge(options.tag, options.into, options.reason)
    return tags.retire(options.tag, options.reason) if options.action == "retire" else tags.restore(options.tag)


def _print_list(found: TagsFound) -> None:
    print_table(("tag", "notes"), [(row.name, row.notes) for row in found.tags])
    if found.retired:
        print()
        rows = [(one.name, one.into, one.date, one.reason) for one in found.retired]
        print_table(("retired", "write instead", "since", "reason"), rows)


def _print_change(done: Retagged, action: str) -> None:
    said = {
        "retire": f"Retired: {done.tag}",
        "merge": f"Merged: {done.tag} into {done.into}",
        "restore": f"In use again: {done.tag}",
    }
    lines: list[Line] = [
        ("bold", f"{said[action]}, {len(done.changed)} notes changed" if action != "restore" else said[action])
    ]
    lines += [("cyan", path) for path in done.changed[:MOST_NAMED]]
    if len(done.changed) > MOST_NAMED:
        lines.append(("dim", f"and {len(done.changed) - MOST_NAMED} more; --json names them all"))
    lines += [("yellow", f"left as it is: {path}: {why}") for path, why in done.kept.items()]
    if done.below:
        lines.append(("dim", f"Tags below it stay: {', '.join(done.below)}"))
    print_block(lines)
