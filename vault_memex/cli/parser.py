"""What may be typed. Each command names the module that runs it, imported only then."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module

from vault_memex import __version__


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="vault-memex",
        description="An AI assistant's long-term memory that is your Markdown vault.",
    )
    parser.add_argument("--version", action="version", version=f"vault-memex {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(metavar="COMMAND")
    _add_init(commands)
    _add_serve(commands)
    _add_index(commands)
    _add_search(commands)
    _add_get(commands)
    _add_ui(commands)
    _add_insights(commands)
    _add_rules(commands)
    _add_skills(commands)
    _add_graph(commands)
    _add_review(commands)
    _add_flag(commands)
    _add_undo(commands)
    _add_duplicates(commands)
    _add_trash(commands)
    _add_tags(commands)
    _add_connections(commands)
    _add_token(commands)
    _add_status(commands)
    _add_doctor(commands)
    _add_demo(commands)
    return parser


def _lazily(module: str) -> Callable[[argparse.Namespace], int]:
    def run(options: argparse.Namespace) -> int:
        status: int = import_module(f"vault_memex.cli.{module}").run(options)
        return status

    return run


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    help_text: str,
    *,
    vault: bool = True,
    module: str = "",
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=help_text, description=help_text)
    command.set_defaults(run=_lazily(module or name))
    if vault:
        command.add_argument(
            "--vault",
            metavar="DIR",
            help="the vault; else $VAULT_MEMEX_VAULT, else the nearest folder upward with .memex or .obsidian",
        )
        command.add_argument(
            "--cache-dir", metavar="DIR", help="where the index lives; else the user's cache folder"
        )
    return command


def _add_init(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        commands, "init", "Prepare a folder of notes: settings, numbers for its notes.", vault=False
    )
    command.add_argument("folder", nargs="?", default=".", help="the vault (default: this folder)")
    command.add_argument("--cache-dir", metavar="DIR", help="where the index lives; else the user's cache folder")


def _add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "serve", "Serve the vault over MCP on standard input and output.")
    command.add_argument(
        "--as",
        "--connection",
        dest="connection",
        metavar="NAME",
        help="name of this connection, in .memex/connections.toml and in the journal",
    )
    command.add_argument(
        "--role",
        choices=("reader", "agent", "curator"),
        help="what it may do: this, or what .memex/connections.toml gives its name, whichever is less",
    )
    command.add_argument(
        "--tools",
        metavar="SET",
        help="minimal, core (default), insights, graph, curation, full, or names with + and -; or one profile: memex, "
        "memex-tools, knowledge-graph, xmemo",
    )
    command.add_argument("--commit", choices=("auto", "each", "batch", "off"), help="git commits per write")
    command.add_argument("--model", help="embedding model, an ONNX folder, or none")
    command.add_argument("--http", action="store_true", help="over HTTP instead: clients need a token")
    command.add_argument("--host", metavar="ADDRESS", help="with --http: where to listen (default: 127.0.0.1)")
    command.add_argument("--port", type=int, metavar="N", help="with --http: default 8765, 0 for any that is free")
    command.add_argument(
        "--allow-remote", action="store_true", help="with --http: other machines may come in through --host"
    )
    command.add_argument(
        "--allow-host",
        action="append",
        metavar="NAME",
        help="with --http: a name that requests may be for; repeatable",
    )


def _add_index(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "index", "Bring the index up to date with the files, and embed what is new.")
    command.add_argument("--no-vectors", action="store_true", help="words and links only")
    command.add_argument("--rebuild", action="store_true", help="throw the index away first")
    command.add_argument("--verify", action="store_true", help="hash every file instead of trusting its times")
    _add_json(command)


def _add_search(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "search", "Find notes by words and meaning, or list them by filters.")
    command.add_argument("query", nargs="*", help="words; operators OR, NOT, ( ) and quotes work")
    command.add_argument(
        "--mode",
        choices=("hybrid", "exact", "strict"),
        default="hybrid",
        help="words and meaning (default), words as written, or strong matches only",
    )
    command.add_argument("-n", "--limit", type=int, default=10, metavar="N", help="rows to show (default: 10)")
    command.add_argument("--offset", type=int, default=0, metavar="N", help="rows to skip")
    command.add_argument(
        "--tag", action="append", default=[], metavar="TAG", help="must be on the note; may be repeated"
    )
    command.add_argument("--folder", default="", metavar="PATH", help="a folder with its subfolders")
    command.add_argument("--layer", choices=("past", "state", "rule"), default="", help="of the note")
    command.add_argument(
        "--property",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a property as in frontmatter, or an operator: 'priority={$gte: 2}'; may be repeated",
    )
    command.add_argument("--since", default="", metavar="DATE", help="changed on or after this date")
    command.add_argument(
        "--order",
        choices=("relevance", "updated_desc", "updated_asc", "created_desc", "created_asc"),
        default="",
        help="default: relevance with words, else last change first",
    )
    command.add_argument("--explain", action="store_true", help="say why each note is there")
    _add_json(command)


def _add_get(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "get", "Show a note with its links, as an assistant gets it.")
    command.add_argument("ref", help="title, path, [[link]] or #number")
    command.add_argument(
        "--section", default="", metavar="HEADING", help="one heading: Log, '## Log' or 'Alpha > Log'"
    )
    command.add_argument(
        "--depth", type=int, default=0, choices=(0, 1, 2), help="also list notes one or two links away"
    )
    _add_json(command)


def _add_ui(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "ui", "Review, read and search in the web browser, on this machine only.")
    command.add_argument(
        "--port", type=int, default=0, metavar="N", help="where to listen (default: any port that is free)"
    )
    command.add_argument(
        "--no-browser", dest="browser", action="store_false", help="print the address and open nothing"
    )


def _add_insights(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "insights", "List what the vault points out (signals), and decide on it.")
    command.add_argument("number", nargs="?", type=int, help="show or decide on this one")
    command.add_argument(
        "--inferences", action="store_true", help="hypotheses that you agreed to, instead of signals"
    )
    command.add_argument(
        "--type",
        choices=("hidden_arc", "tag_burst", "stale_state", "dangling_link"),
        default="",
        help="of signals",
    )
    command.add_argument(
        "--status",
        choices=("all", "new", "snoozed", "dismissed", "minted", "active", "stale", "archived"),
        default="",
        help="signals: new (default), snoozed, dismissed, minted; inferences: active, stale, archived",
    )
    command.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="rows to show (default: 20)")
    command.add_argument("--offset", type=int, default=0, metavar="N", help="rows to skip")
    decision = command.add_mutually_exclusive_group()
    decision.add_argument("--dismiss", action="store_true", help="never show this signal again")
    decision.add_argument(
        "--snooze", nargs="?", const="", metavar="DATE", help="not until this day (default: in 30 days)"
    )
    decision.add_argument("--reopen", action="store_true", help="make it new again")
    decision.add_argument("--archive", action="store_true", help="with --inferences: put it away")
    command.add_argument(
        "--every-link",
        action="store_true",
        help="with --dismiss: all unresolved links of that note, future ones too",
    )
    _add_json(command)


def _add_graph(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    help_text = "See the vault as a graph of notes, links and entities."
    group = commands.add_parser("graph", help=help_text, description=help_text)
    parts = group.add_subparsers(metavar="PART", required=True)
    _add_graph_show(parts)
    _add_graph_files(parts)


def _add_graph_files(parts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    help_text = "Make notes of the entities in a file of the reference memory server that the vault lacks."
    taking = _command(parts, "import", help_text, module="graph_file")
    taking.add_argument(
        "file", metavar="FILE", help="memory.jsonl, or the memory.json of early versions; - for input"
    )
    taking.set_defaults(part="import")
    giving = _command(parts, "export", "Write the knowledge graph as such a file.", module="graph_file")
    giving.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="where to; standard output by default"
    )
    giving.add_argument("--ended", action="store_true", help="also what held only until a day that is over")
    giving.set_defaults(part="export")


def _add_graph_show(parts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(parts, "show", "Draw the vault as one web page that works offline.", module="graph")
    command.add_argument(
        "--out", metavar="FILE", help="where to write it, *.html (default: graph.html in the index's folder)"
    )
    command.add_argument("--open", action="store_true", help="show it in the web browser")
    command.add_argument(
        "--tag", action="append", default=[], metavar="TAG", help="must be on the note; may be repeated"
    )
    command.add_argument("--layer", choices=("past", "state", "rule"), default="", help="of the note")
    command.add_argument("--type", default="", metavar="ENTITY_TYPE", help="only entities of this type")


def _add_rules(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        commands, "rules", "Show the house rules as assistants get them, and approve what one has proposed."
    )
    command.add_argument("action", nargs="?", choices=("approve",), help="put a rule in force: only you do")
    command.add_argument("ref", nargs="?", metavar="REF", help="the rule to approve: title, path or #number")
    command.add_argument(
        "--hook",
        action="store_true",
        help="print what a hook at the start of a session answers; nothing without rules",
    )
    _add_json(command)


def _add_skills(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        commands, "skills", "List the skills that assistants are offered, or show one as they get it."
    )
    command.add_argument("slug", nargs="?", default="", help="show this one")
    _add_json(command)


def _add_review(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "review", "Decide on what assistants proposed, one after the other or by number.")
    command.add_argument("action", nargs="?", choices=("approve", "reject"), help="decide on one, without asking")
    command.add_argument(
        "ref", nargs="?", metavar="N", help="number of a proposal; or title, path or #number of a note that waits"
    )
    command.add_argument("--comment", default="", metavar="TEXT", help="for the author and the journal")
    command.add_argument("--precedent", action="store_true", help="the comment holds for like cases")
    command.add_argument("--apply", action="store_true", help="do what was decided in the files of _memex/inbox")
    _add_json(command)


def _add_flag(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "flag", "Mark a note as in need of tidying and say why; or list the marks.")
    command.add_argument("ref", nargs="?", default="", metavar="NOTE", help="title, path, [[link]] or #number")
    command.add_argument("comment", nargs="?", default="", help="what is wrong with it")
    command.add_argument(
        "--close", default="", metavar="WHY", help="take the mark off, and say how it was settled"
    )
    _add_json(command)


def _add_undo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "undo", "List the latest changes by whomever, and take one back.")
    command.add_argument("number", nargs="?", type=int, help="take this change back, whole; without it: list")
    command.add_argument("--list", action="store_true", help="list only")
    command.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="changes to list (default: 20)")
    _add_json(command)


def _add_duplicates(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "duplicates", "List pairs of notes that say nearly the same, nearest first.")
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
    _add_json(command)


def _add_trash(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "trash", "List deleted notes, restore one, or erase for good.")
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
    _add_json(command)


def _add_tags(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "tags", "List the tags, take one out of use, or merge it into another.")
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
    _add_json(command)


def _add_connections(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "connections", "List which assistants may do what, and change it.")
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
    _add_json(command)


def _add_token(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "token", "Make, list and revoke the tokens of clients that come in over HTTP.")
    command.add_argument(
        "action", choices=("add", "list", "revoke"), help="add: for a connection; it is shown once and never again"
    )
    command.add_argument(
        "name", nargs="?", default="", help="add: the connection; revoke: the token's id, or that"
    )
    _add_json(command)


def _add_status(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    _add_json(_command(commands, "status", "Show what the index covers, without bringing it up to date."))


def _add_doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "doctor", "Check vault, index, model, git and one real MCP round trip.")
    command.add_argument(
        "--calibration", action="store_true", help="show instead which distances are near in this vault, and why"
    )
    _add_json(command)


def _add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        commands, "demo", "Show everything on a copy of the sample vault, through the real server.", vault=False
    )
    command.add_argument("--keep", action="store_true", help="leave the temporary folder and print where it is")


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON instead")
