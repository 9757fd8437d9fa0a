"""Another table in `_memex/signals.md`, with no byte changed that does not say something else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date

from vault_memex.core.text import find_line_ending
from vault_memex.memory.signals_file import (
    COLUMNS,
    TableLine,
    find_next,
    find_table_lines,
    parse_row,
    render_cells,
    render_signals,
    render_table,
)
from vault_memex.memory.triage import SignalRow, SignalTable

_CELL = re.compile(r"(?P<before>[ \t]*)(?P<text>(?:\\.|[^|\\\r\n]|\\(?=[\r\n]|\Z))*)")
_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n")


def plan_signals(text: str, table: SignalTable) -> str:
    """Return the file's text with another table.

    A cell is written when what it says changed. Rows of signals that went are taken out, and new ones follow the
    last row. Columns, rows that are no signals, other tables and prose stay as the person has them.
    """
    if not text.strip():
        return render_signals(table)
    ending = find_line_ending(text)
    lines = text.splitlines(keepends=True)
    found = list(find_table_lines(lines))
    if not found:
        table_lines = [line + ending for line in render_table(table.rows)]
        return _with_next("".join([*_end_last(lines, ending), ending, *table_lines]), table.following, ending)
    if any(set(COLUMNS).difference(line.columns) for line in found):
        _add_columns(lines, found)
        found = list(find_table_lines(lines))
    wanted = {row.number: row for row in table.rows}
    met: set[int] = set()
    for line in found:
        row = parse_row(line, date.min) if line.cells is not None else None
        if row is None or row.number in met:
            continue
        met.add(row.number)
        new = wanted.get(row.number)
        lines[line.number] = _plan_row(lines[line.number], line.columns, row, new) if new else ""
    added = [_render_row(row, found[-1].columns) + ending for row in table.rows if row.number not in met]
    if added:
        end = found[-1].number + 1
        lines[:end] = [*_end_last(lines[:end], ending), *added]
    return _with_next("".join(lines), table.following, ending)


def _end_last(lines: Sequence[str], ending: str) -> list[str]:
    """Return the lines, the last one ended."""
    if lines and not lines[-1].endswith(("\n", "\r")):
        return [*lines[:-1], lines[-1] + ending]
    return list(lines)


def _add_columns(lines: list[str], found: Sequence[TableLine]) -> None:
    """Add, at the end of each table, the columns that the person took out: a decision needs a place."""
    for line in found:
        missing = [name for name in COLUMNS if name not in line.columns]
        heading = line.cells is None and not set(lines[line.number].strip()) <= set("|-: ")
        if not missing or (line.cells is not None and len(line.cells) > len(line.columns)):
            continue
        body = lines[line.number].rstrip("\r\n")
        end = lines[line.number][len(body) :]
        cells = missing if heading else ["---" if line.cells is None else ""] * len(missing)
        if line.cells is not None:
            cells = [""] * (len(line.columns) - len(line.cells)) + cells
        closed = body.rstrip().endswith("|") and not body.rstrip().endswith("\\|")
        lines[line.number] = body + ("" if closed else " |") + "".join(f" {cell} |" for cell in cells) + end


def _plan_row(text: str, columns: Sequence[str], row: SignalRow, new: SignalRow) -> str:
    """Return a row with those cells written anew that say something else."""
    before, after = render_cells(row), render_cells(new)
    changed = {
        columns.index(name): after[name] for name in COLUMNS if name in columns and before[name] != after[name]
    }
    return _with_cells(text, changed) if changed else text


def _with_cells(text: str, changed: Mapping[int, str]) -> str:
    """Return a row with some cells, by place, written anew. The blanks around them stay, and their width if it can."""
    body = text.rstrip("\r\n")
    at = body.index("|") + 1
    parts = [body[:at]]
    place = 0
    while at < len(body) or place <= max(changed):
        cell = _CELL.match(body, at)
        assert cell is not None
        whole = cell.group()
        if place in changed:
            whole = f"{cell['before'] or ' '}{changed[place]}".ljust(max(len(whole) - 1, 1)) + " "
        end = cell.end() + 1
        parts.append(whole + ("|" if end <= len(body) or place < max(changed) else ""))
        at = end
        place += 1
    return "".join(parts) + text[len(body) :]


def _render_row(row: SignalRow, columns: Sequence[str]) -> str:
    cells = render_cells(row)
    return "| " + " | ".join(cells.get(name, "") for name in columns) + " |"


def _with_next(text: str, following: int, ending: str) -> str:
    """Return the text with the number of the next signal in its frontmatter."""
    found = find_next(text)
    if found is not None:
        return f"{text[: found[0]]}{following}{text[found[1] :]}"
    line = f"next: {following}{ending}"
    front = _FRONT.match(text)
    if front is not None:
        return text[: front.end()] + line + text[front.end() :]
    return f"---{ending}{line}---{ending}{text}"
