"""`vault-memex status`."""

from __future__ import annotations

import argparse

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json
from vault_memex.server.render import render_status


def run(options: argparse.Namespace) -> int:
    """Print the state of vault and index."""
    with opened(options) as vault:
        answer = vault.status.check()
    if options.json:
        print_json(answer)
    else:
        print(render_status(answer))
    return 0
