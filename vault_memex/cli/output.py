"""Printing: tables for people, JSON for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from pydantic import TypeAdapter


def print_json(value: object) -> None:
    """Print a value (a dataclass of a service) as JSON without what equals its default."""
    shown = TypeAdapter(type(value)).dump_python(value, mode="json", exclude_defaults=True)
    print(json.dumps(shown, ensure_ascii=False, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows as a table that fits the terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    Console().print(table)


class Advance(Protocol):
    """Tell a progress bar how far the work is."""

    def __call__(self, done: int, total: int) -> None:
        """Show `done` of `total`."""


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """Show a progress bar on stderr; nothing when stderr is not a terminal."""
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
