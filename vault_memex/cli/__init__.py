"""The command line.

argparse rather than a larger library: `serve` and hooks start in every session, and each 100 ms is felt there. The
hook's own command does without even that.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; a fault the caller can mend is one line on stderr and status 2."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = 0 if words[:1] == ["rules"] and _print_kept_rules(words[1:]) else _run(words)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; that is its right.
        sys.stderr.close()
        raise SystemExit(0) from None
    raise SystemExit(status)


def _print_kept_rules(words: Sequence[str]) -> bool:
    from vault_memex.cli.quick_rules import print_kept_rules

    return print_kept_rules(words)


def _run(words: Sequence[str]) -> int:
    from vault_memex.cli.parser import build_parser
    from vault_memex.errors import MemexError

    parser = build_parser()
    options = parser.parse_args(words)
    if options.run is None:
        parser.print_help()
        return 0
    try:
        status: int = options.run(options)
    except MemexError as error:
        print(f"vault-memex: {error.message}", file=sys.stderr)
        return 2
    return status or 0
