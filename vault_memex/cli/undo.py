"""`vault-memex undo`: list the latest changes, and take one back."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json, print_table
from vault_memex.errors import InvalidArgument
from vault_memex.services.undo import UndoRow


@dataclass(frozen=True, slots=True)
class Changed:
    """What can be taken back."""

    changes: tuple[UndoRow, ...]


def run(options: argparse.Namespace) -> int:
    """Take a change back, or list changes; status 1 when there are none."""
    if options.limit < 1:
        raise InvalidArgument("limit", "--limit is 1 or more.")
    with opened(options) as vault:
        vault.refresh()
        if options.number is not None and not options.list:
            done = vault.undoing.undo(options.number)
            if options.json:
                print_json(done)
            else:
                print(f"undone: {done.title}\nchanged back: {', '.join(done.paths)}")
                print(f"To take that back: vault-memex undo {done.event}")
                if done.commit_error:
                    print(f"git: not committed ({done.commit_error})")
            return 0
        found = vault.undoing.find(options.limit)
    if options.json:
        print_json(Changed(found))
    elif not found:
        print("Nothing was changed through vault-memex yet.")
    else:
        rows = [
            (r.event, r.at[:16].replace("T", " "), "undone" if r.undone else r.kind, r.title, r.actor, r.files)
            for r in found
        ]
        print_table(("number", "when (UTC)", "what", "change", "by", "files"), rows)
    return 0 if found else 1
