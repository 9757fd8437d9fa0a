"""Printing: lists and tables for people, JSON for scripts.

What notes say is printed as it stands: rich reads `[x]` in a plain string as markup and drops it, so every text
goes through `Text`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol


def print_json(value: object) -> None:
    """Print a value (a dataclass of a service) as JSON without what equals its default."""
    print(json.dumps(_find_plain(value) or _dump(value), ensure_ascii=False, indent=2))


def _find_plain(value: object) -> dict[str, Any] | None:
    """Return what is to be shown of a dataclass of texts and numbers; None for any other value."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return None
    found = {field: getattr(value, field.name) for field in dataclasses.fields(value)}
    if not all(isinstance(held, str | int | float | None) for held in found.values()):
        return None
    return {field.name: held for field, held in found.items() if held != field.default}


def _dump(value: object) -> object:
    from pydantic import TypeAdapter  # a tenth of a second

    return TypeAdapter(type(value)).dump_python(value, mode="json", exclude_defaults=True)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows as a table that fits the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    Console(highlight=False).print(table)


Line = tuple[str, str]
"""A style and a text."""


def print_block(lines: Sequence[Line], indent: int = 3) -> None:
    """Print a first line and, below it and indented, the others.

    A terminal gets them wrapped to its width; a pipe gets each line whole, for grep and the like.
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    for number, (style, text) in enumerate(lines):
        shown, left = Text(text, style), indent if number else 0
        if console.is_terminal:
            console.print(Padding(shown, (0, 0, 0, left)))
        else:
            console.print(" " * left + text, soft_wrap=True, markup=False, emoji=False)


class Advance(Protocol):
    """Tell a progress bar how far the work is."""

    def __call__(self, done: int, total: int) -> None:
        """Show `done` of `total`."""


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """Show a progress bar on stderr; nothing when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns: tuple[Any, ...] = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield advance


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say on stderr what is being waited for; nothing when stderr is not a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
