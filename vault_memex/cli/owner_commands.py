"""Commands by which the person decides, corrects, and says who may do what."""

from __future__ import annotations

from vault_memex.cli.command import Commands, add_command, add_json
from vault_memex.cli.curation_parser import add_curation


def add_owner_commands(commands: Commands) -> None:
    """Add them, in the order in which help lists them."""
    _add_rules(commands)
    _add_skills(commands)
    _add_review(commands)
    _add_flag(commands)
    _add_undo(commands)
    _add_duplicates(commands)
    add_curation(commands)
    _add_trash(commands)
    _add_tags(commands)
    _add_connections(commands)
    _add_token(commands)


def _add_rules(commands: Commands) -> None:
    command = add_command(
        commands, "rules", "Show the house rules as assistants get them, and approve what one has proposed."
    )
    command.add_argument("action", nargs="?", choices=("approve",), help="put a rule in force: only you do")
    command.add_argument("ref", nargs="?", metavar="REF", help="the rule to approve: title, path or #number")
    command.add_argument(
        "--hook",
        action="store_true",
        help="print what a hook at the start of a session answers; nothing without rules",
    )
    add_json(command)


def _add_skills(commands: Commands) -> None:
    command = add_command(
        commands, "skills", "List the skills that assistants are offered, or show one as they get it."
    )
    command.add_argument("slug", nargs="?", default="", help="show this one")
    add_json(command)


def _add_review(commands: Commands) -> None:
    command = add_command(
        commands, "review", "Decide on what assistants proposed, one after the other or by number."
    )
    command.add_argument("action", nargs="?", choices=("approve", "reject"), help="decide on one, without asking")
    command.add_argument(
        "ref", nargs="?", metavar="N", help="number of a proposal; or title, path or #number of a note that waits"
    )
    command.add_argument("--comment", default="", metavar="TEXT", help="for the author and the journal")
    command.add_argument("--precedent", action="store_true", help="the comment holds for like cases")
    command.add_argument("--apply", action="store_true", help="do what was decided in the files of _memex/inbox")
    add_json(command)


def _add_flag(commands: Commands) -> None:
    command = add_command(commands, "flag", "Mark a note as in need of tidying and say why; or list the marks.")
    command.add_argument("ref", nargs="?", default="", metavar="NOTE", help="title, path, [[link]] or #number")
    command.add_argument("comment", nargs="?", default="", help="what is wrong with it")
    command.add_argument(
        "--close", default="", metavar="WHY", help="take the mark off, and say how it was settled"
    )
    add_json(command)


def _add_undo(commands: Commands) -> None:
    command = add_command(commands, "undo", "List the latest changes by whomever, and take one back.")
    command.add_argument("number", nargs="?", type=int, help="take this change back, whole; without it: list")
    command.add_argument("--list", action="store_true", help="list only")
    command.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="changes to list (default: 20)")
    add_json(command)


def _add_duplicates(commands: Commands) -> None:
    command = add_command(commands, "duplicates", "List pairs of notes that say nearly the same, nearest first.")
    command.add_argument("refs", nargs="*", metavar="NOTE", help="two notes that are two, with --distinct")
    command.add_argument(
        "--distinct", default="", metavar="WHY", help="do not list these two until the text of one changes"
    )
    command.add_argument(
        "--max-distance",
        type=float,
        metavar="D",
        help="cosine distance; default: that of duplicates in this vault",
    )
    command.add_argument("--pending", action="store_true", help="also notes that wait for approval")
    command.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="pairs to show (default: 20)")
    command.add_argument("--offset", type=int, default=0, metavar="N", help="pairs to skip")
    add_json(command)


def _add_trash(commands: Commands) -> None:
    command = add_command(commands, "trash", "List deleted notes, restore one, or erase for good.")
    command.add_argument(
        "action",
        nargs="?",
        choices=("list", "restore", "purge"),
        default="list",
        help="list (default), restore: put a note back with its number, purge: erase it for good",
    )
    command.add_argument("ref", nargs="?", default="", help="its number, former path, title, or file in the trash")
    command.add_argument("--to", default="", metavar="PATH", help="with restore: another place than where it was")
    command.add_argument("--old", action="store_true", help="with purge: all that were deleted over 30 days ago")
    command.add_argument("--yes", action="store_true", help="with purge: do not ask")
    add_json(command)


def _add_tags(commands: Commands) -> None:
    command = add_command(commands, "tags", "List the tags, take one out of use, or merge it into another.")
    command.add_argument(
        "action",
        nargs="?",
        choices=("list", "retire", "merge", "restore"),
        default="list",
        help="list (default), retire: out of all notes and of use, merge: another in its place, restore: in use again",
    )
    command.add_argument("tag", nargs="?", default="", help="without #")
    command.add_argument("into", nargs="?", default="", help="with merge: the tag to write instead")
    command.add_argument(
        "--reason", default="", metavar="TEXT", help="for the list of retired tags and the journal"
    )
    add_json(command)


def _add_connections(commands: Commands) -> None:
    command = add_command(commands, "connections", "List which assistants may do what, and change it.")
    command.add_argument(
        "action",
        nargs="?",
        choices=("list", "set", "remove"),
        default="list",
        help="list (default), set: role and scope of a name, remove: the name is then an agent like any other",
    )
    command.add_argument("name", nargs="?", default="", help="as in serve --as NAME")
    command.add_argument("--role", choices=("reader", "agent", "curator"), help="with set: what it may do")
    command.add_argument(
        "--scope",
        nargs="+",
        metavar="PATTERN",
        help="with set: the only folders or path patterns it sees and writes",
    )
    command.add_argument("--whole-vault", action="store_true", help="with set: take its limits of scope away")
    command.add_argument(
        "--hide-skills",
        nargs="+",
        metavar="SLUG",
        help="with set: the skills, as `vault-memex skills` lists them, that it is not offered",
    )
    command.add_argument("--all-skills", action="store_true", help="with set: hide none from it")
    add_json(command)


def _add_token(commands: Commands) -> None:
    command = add_command(commands, "token", "Make, list and revoke the tokens of clients that come in over HTTP.")
    command.add_argument(
        "action", choices=("add", "list", "revoke"), help="add: for a connection; it is shown once and never again"
    )
    command.add_argument(
        "name", nargs="?", default="", help="add: the connection; revoke: the token's id, or that"
    )
    add_json(command)
