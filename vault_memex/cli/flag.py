"""`vault-memex flag`: say that a note needs tidying, see which do, and close a flag."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json, print_table
from vault_memex.errors import InvalidArgument
from vault_memex.services.flags import FlagView


@dataclass(frozen=True, slots=True)
class Flagged:
    """The flags there are."""

    flags: tuple[FlagView, ...]


def run(options: argparse.Namespace) -> int:
    """Flag a note, close its flag, or list flags; status 1 when the list is empty."""
    if bool(options.ref) != bool(options.comment or options.close) or (options.comment and options.close):
        raise InvalidArgument(
            "ref",
            'Write vault-memex flag NOTE "what is wrong", or vault-memex flag NOTE --close "how it was settled".',
        )
    with opened(options) as vault:
        vault.refresh()
        if options.close:
            closed = vault.upkeep.flags.resolve(options.ref, options.close)
            _tell(closed, f"closed: {closed.title} ({closed.path})", as_json=options.json)
            return 0
        if options.ref:
            flag = vault.upkeep.flags.raise_flag(options.ref, options.comment)
            _tell(flag, f"flagged: {flag.title} ({flag.path})", as_json=options.json)
            return 0
        found = vault.upkeep.flags.find()
    if options.json:
        print_json(Flagged(found))
    elif not found:
        print("No note is flagged.")
    else:
        rows = [(f"#{one.note_id}", one.title, one.path, one.raised[:10], one.comment) for one in found]
        print_table(("number", "title", "path", "since", "comment"), rows)
    return 0 if found else 1


def _tell(value: object, line: str, *, as_json: bool) -> None:
    if as_json:
        print_json(value)
    else:
        print(line)
