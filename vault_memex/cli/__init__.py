"""The command line.

argparse rather than a larger library: `serve` and hooks start in every session, and each 100 ms is felt there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from vault_memex.cli.parser import build_parser
from vault_memex.errors import MemexError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; a fault the caller can mend is one line on stderr and status 2."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.run is None:
        parser.print_help()
        raise SystemExit(0)
    try:
        status = options.run(options)
    except MemexError as error:
        print(f"vault-memex: {error.message}", file=sys.stderr)
        raise SystemExit(2) from error
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; that is its right.
        sys.stderr.close()
        raise SystemExit(0) from None
    raise SystemExit(status or 0)
