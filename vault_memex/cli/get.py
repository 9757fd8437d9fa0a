"""`vault-memex get`."""

from __future__ import annotations

import argparse

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json
from vault_memex.server.render import render_note
from vault_memex.services.reading import ReadRequest


def run(options: argparse.Namespace) -> int:
    """Print one note as an assistant would get it, or as JSON."""
    request = ReadRequest(section=options.section, depth=options.depth, max_chars=10_000_000)
    with opened(options) as vault:
        vault.refresh()
        if options.json:
            print_json(vault.reading.get(options.ref, request))
        else:
            print(render_note(vault.reading, options.ref, [], request))
    return 0
