"""`vault-memex duplicates`: pairs of notes that say nearly the same, and which of them are two notes all the same."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json
from vault_memex.errors import InvalidArgument
from vault_memex.server.pair_texts import render_pairs
from vault_memex.services.pairs import PairedNote, PairsRequest


@dataclass(frozen=True, slots=True)
class Kept:
    """Two notes that are not offered again until the text of one changes."""

    two_notes: tuple[PairedNote, ...]


def run(options: argparse.Namespace) -> int:
    """List pairs, or say that two notes are two; status 1 when there is no pair or nothing could be compared."""
    refs = options.refs
    if len(refs) not in (0, 2) or bool(refs) != bool(options.distinct):
        raise InvalidArgument(
            "refs", 'Write vault-memex duplicates alone, or vault-memex duplicates ONE OTHER --distinct "why".'
        )
    with opened(options) as vault:
        vault.refresh()
        if refs:
            kept = Kept(vault.upkeep.pairs.reject(refs, options.distinct)[1])
            if options.json:
                print_json(kept)
            else:
                print(f"two notes: {' and '.join(note.path for note in kept.two_notes)}")
            return 0
        request = PairsRequest(options.max_distance, options.pending, options.limit, options.offset)
        answer = vault.upkeep.pairs.find(request)
    if options.json:
        print_json(answer)
    else:
        print(render_pairs(answer))
    return 0 if answer.total else 1
