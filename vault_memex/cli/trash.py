"""`vault-memex trash`: what was deleted, back into the vault, or gone for good."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json, print_table
from vault_memex.errors import ConfirmationRequired, InvalidArgument
from vault_memex.services.trashing import Trashed
from vault_memex.vault import Vault


def run(options: argparse.Namespace) -> int:
    """List, restore or purge; status 1 when the list is empty."""
    if (options.action == "list") == bool(options.ref or options.old):
        raise InvalidArgument("ref", _find_usage(options.action))
    with opened(options) as vault:
        vault.refresh()
        done = _run(vault, options)
    if options.json:
        print_json(done)
    elif options.action == "list":
        _print(done)
    else:
        word = "restored" if options.action == "restore" else "erased"
        for one in done:
            print(f"{word}: {one.title} ({one.path})")
    return 0 if done else 1


def _run(vault: Vault, options: argparse.Namespace) -> tuple[Trashed, ...]:
    if options.action == "list":
        return vault.trashing.find()
    if options.action == "restore":
        return (vault.trashing.restore(options.ref, options.to or None),)
    if not options.yes:
        _confirm(options.ref or "everything that was deleted more than 30 days ago")
    return (vault.trashing.purge(options.ref),) if options.ref else vault.trashing.purge_old()


def _find_usage(action: str) -> str:
    if action == "list":
        return "list takes no note: vault-memex trash list"
    more = ", or --old for all that are older than 30 days" if action == "purge" else ""
    return f"Name the note, as `vault-memex trash list` shows it: vault-memex trash {action} REF{more}"


def _confirm(what: str) -> None:
    """Ask the person at the terminal; a script has to say --yes."""
    question = f"Erase {what} for good? This cannot be undone. [y/N] "
    if not sys.stdin.isatty() or input(question).strip().casefold() not in {"y", "yes"}:
        raise ConfirmationRequired("Nothing was erased. Add --yes to erase without being asked.")


def _print(notes: Sequence[Trashed]) -> None:
    if not notes:
        print("The trash is empty.")
        return
    rows = [
        (
            f"#{n.note_id}" if n.note_id is not None else "",
            n.title,
            n.path,
            n.deleted[:10],
            n.by,
            n.days_left,
            n.reason,
        )
        for n in notes
    ]
    print_table(("number", "title", "was at", "deleted", "by", "days left", "reason"), rows)
