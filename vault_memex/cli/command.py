"""A command as it is declared: its name, what it does, the module that runs it, and what many commands take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _lazily(module: str) -> Callable[[argparse.Namespace], int]:
    def run(options: argparse.Namespace) -> int:
        status: int = import_module(f"vault_memex.cli.{module}").run(options)
        return status

    return run


def add_command(
    commands: Commands,
    name: str,
    help_text: str,
    *,
    vault: bool = True,
    module: str = "",
) -> argparse.ArgumentParser:
    """Return a new command; `vault` says that it is about a vault. Its module is imported only when it runs."""
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


def add_json(command: argparse.ArgumentParser) -> None:
    """Let the command print JSON."""
    command.add_argument("--json", action="store_true", help="print JSON instead")
