"""`vault-memex curation`: what needs attention, as a curator sees it. Nothing is reserved."""

from __future__ import annotations

import argparse

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json
from vault_memex.errors import InvalidArgument
from vault_memex.server.curation_texts import render_blast, render_enrichment, render_last_curated, render_queue
from vault_memex.services.curation import QueueRequest
from vault_memex.services.curation_views import find_blast, find_last_curated, find_unenriched
from vault_memex.vault import Vault


def run(options: argparse.Namespace) -> int:
    """Show a view."""
    if options.refs and options.view not in ("blast-radius", "last-curated"):
        raise InvalidArgument("refs", "Notes are named with blast-radius and last-curated.")
    with opened(options) as vault:
        vault.refresh()
        answer, text = _look(vault, options)
    if options.json:
        print_json(answer)
    else:
        print(text)
    return 0


def _look(vault: Vault, options: argparse.Namespace) -> tuple[object, str]:
    curation = vault.upkeep.curation
    if options.view == "enrichment":
        bare = find_unenriched(curation, options.limit, options.offset)
        return bare, render_enrichment(bare)
    if options.view == "blast-radius":
        blast = find_blast(
            curation,
            lambda ref: vault.reading.find_note(ref)[0],
            since_days=options.since_days,
            refs=options.refs,
            limit=options.limit,
            offset=options.offset,
        )
        return blast, render_blast(blast)
    if options.view == "last-curated":
        last = find_last_curated(curation, lambda ref: vault.reading.find_note(ref)[0], options.refs)
        return last, render_last_curated(last)
    queue = curation.find_queue(
        QueueRequest(
            options.reason,
            options.stale_days,
            options.cooldown_days,
            options.pending,
            options.limit,
            options.offset,
        )
    )
    return queue, render_queue(queue)
