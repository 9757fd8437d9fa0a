"""What may be typed. Each command names the module that runs it, imported only then."""

from __future__ import annotations

import argparse

from vault_memex import __version__
from vault_memex.cli.command import Commands, add_command, add_json
from vault_memex.cli.owner_commands import add_owner_commands


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
    _add_graph(commands)
    add_owner_commands(commands)
    _add_status(commands)
    _add_doctor(commands)
    _add_demo(commands)
    return parser


def _add_init(commands: Commands) -> None:
    command = add_command(
        commands, "init", "Prepare a folder of notes: settings, numbers for its notes.", vault=False
    )
    command.add_argument("folder", nargs="?", default=".", help="the vault (default: this folder)")
    command.add_argument("--cache-dir", metavar="DIR", help="where the index lives; else the user's cache folder")


def _add_serve(commands: Commands) -> None:
    command = add_command(commands, "serve", "Serve the vault over MCP on standard input and output.")
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


def _add_index(commands: Commands) -> None:
    command = add_command(commands, "index", "Bring the index up to date with the files, and embed what is new.")
    command.add_argument("--no-vectors", action="store_true", help="words and links only")
    command.add_argument("--rebuild", action="store_true", help="throw the index away first")
    command.add_argument("--verify", action="store_true", help="hash every file instead of trusting its times")
    add_json(command)


def _add_search(commands: Commands) -> None:
    command = add_command(commands, "search", "Find notes by words and meaning, or list them by filters.")
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
    add_json(command)


def _add_get(commands: Commands) -> None:
    command = add_command(commands, "get", "Show a note with its links, as an assistant gets it.")
    command.add_argument("ref", help="title, path, [[link]] or #number")
    command.add_argument(
        "--section", default="", metavar="HEADING", help="one heading: Log, '## Log' or 'Alpha > Log'"
    )
    command.add_argument(
        "--depth", type=int, default=0, choices=(0, 1, 2), help="also list notes one or two links away"
    )
    add_json(command)


def _add_ui(commands: Commands) -> None:
    command = add_command(commands, "ui", "Review, read and search in the web browser, on this machine only.")
    command.add_argument(
        "--port", type=int, default=0, metavar="N", help="where to listen (default: any port that is free)"
    )
    command.add_argument(
        "--no-browser", dest="browser", action="store_false", help="print the address and open nothing"
    )


def _add_insights(commands: Commands) -> None:
    command = add_command(commands, "insights", "List what the vault points out (signals), and decide on it.")
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
    add_json(command)


def _add_graph(commands: Commands) -> None:
    help_text = "See the vault as a graph of notes, links and entities."
    group = commands.add_parser("graph", help=help_text, description=help_text)
    parts = group.add_subparsers(metavar="PART", required=True)
    _add_graph_show(parts)
    _add_graph_files(parts)


def _add_graph_files(parts: Commands) -> None:
    help_text = "Make notes of the entities in a file of the reference memory server that the vault lacks."
    taking = add_command(parts, "import", help_text, module="graph_file")
    taking.add_argument(
        "file", metavar="FILE", help="memory.jsonl, or the memory.json of early versions; - for input"
    )
    taking.set_defaults(part="import")
    giving = add_command(parts, "export", "Write the knowledge graph as such a file.", module="graph_file")
    giving.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="where to; standard output by default"
    )
    giving.add_argument("--ended", action="store_true", help="also what held only until a day that is over")
    giving.set_defaults(part="export")


def _add_graph_show(parts: Commands) -> None:
    command = add_command(parts, "show", "Draw the vault as one web page that works offline.", module="graph")
    command.add_argument(
        "--out", metavar="FILE", help="where to write it, *.html (default: graph.html in the index's folder)"
    )
    command.add_argument("--open", action="store_true", help="show it in the web browser")
    command.add_argument(
        "--tag", action="append", default=[], metavar="TAG", help="must be on the note; may be repeated"
    )
    command.add_argument("--layer", choices=("past", "state", "rule"), default="", help="of the note")
    command.add_argument("--type", default="", metavar="ENTITY_TYPE", help="only entities of this type")


def _add_status(commands: Commands) -> None:
    add_json(add_command(commands, "status", "Show what the index covers, without bringing it up to date."))


def _add_doctor(commands: Commands) -> None:
    command = add_command(commands, "doctor", "Check vault, index, model, git and one real MCP round trip.")
    command.add_argument(
        "--calibration", action="store_true", help="show instead which distances are near in this vault, and why"
    )
    add_json(command)


def _add_demo(commands: Commands) -> None:
    command = add_command(
        commands, "demo", "Show everything on a copy of the sample vault, through the real server.", vault=False
    )
    command.add_argument("--keep", action="store_true", help="leave the temporary folder and print where it is")
