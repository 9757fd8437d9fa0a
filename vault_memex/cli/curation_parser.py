"""What may be typed after `vault-memex curation`."""

from __future__ import annotations

from vault_memex.cli.command import Commands, add_command, add_json

VIEWS = ("candidates", "enrichment", "blast-radius", "last-curated")


def add_curation(commands: Commands) -> None:
    """Add the command."""
    command = add_command(commands, "curation", "List which notes need attention and why, as curators get them.")
    command.add_argument(
        "view",
        nargs="?",
        choices=VIEWS,
        default="candidates",
        help="candidates (default): the queue; enrichment: notes without summary or tags; blast-radius: notes whose "
        "linked notes changed; last-curated: the last run, and whether one is due",
    )
    command.add_argument(
        "refs", nargs="*", metavar="NOTE", help="with blast-radius and last-curated: only these notes"
    )
    command.add_argument("--reason", default="", metavar="REASON", help="with candidates: only this one")
    command.add_argument(
        "--stale-days", type=int, metavar="N", help="with candidates: not read by a curator for so long"
    )
    command.add_argument(
        "--cooldown-days",
        type=int,
        default=7,
        metavar="N",
        help="with candidates: a note rests so long after it was read (default: 7), longer after each clean pass",
    )
    command.add_argument(
        "--pending", action="store_true", help="with candidates: also notes that wait for approval"
    )
    command.add_argument(
        "--since-days", type=int, default=14, metavar="N", help="with blast-radius: how far back (default: 14)"
    )
    command.add_argument("-n", "--limit", type=int, default=25, metavar="N", help="rows to show (default: 25)")
    command.add_argument("--offset", type=int, default=0, metavar="N", help="rows to skip")
    add_json(command)
