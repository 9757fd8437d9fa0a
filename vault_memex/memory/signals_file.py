r"""`_memex/signals.md`: the signals as a table that people read and edit in any editor.

| no. | status | until | signal | notes | reason | found | key |

Columns are found by their names in the heading row, so their order and width do not matter, and other columns and
text around the table are passed over. A `status` cell is what a person edits; small slips are understood.
`signals_plan` writes into such a file what changed and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from vault_memex.core.text import BOM, without_md
from vault_memex.memory.signals import SIGNAL_KINDS, SignalKind
from vault_memex.memory.triage import NoteRef, SignalRow, SignalStatus, SignalTable

SIGNALS_PATH = "_memex/signals.md"

COLUMNS = ("no.", "status", "until", "signal", "notes", "reason", "found", "key")
_HEAD = """\
---
next: {following}
---
# Signals

What the vault pointed out, and what became of it. You may edit the column *status*: `new`, `dismissed` (never
again) or `snoozed` (new again on the day in *until*). A row that is deleted is found again if its cause is
still there.
"""
_NEXT = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?:(?!---[ \t]*\r?$)[^\n]*\n)*?next:[ \t]*([0-9]{1,9})[ \t]*\r?$", re.MULTILINE
)
_CELL = re.compile(r"(?:\\.|[^|\\]|\\$)*")
_NOTE = re.compile(
    r"\[\[(?P<path>[^\[\]|\\]+)(?:\\?\|(?P<shown>[^\[\]]*))?\]\]|`(?P<plain>[^`]+)`(?: \((?P<name>[^()]*)\))?"
)
_NUMBERED = re.compile(r"#([0-9]{1,9})(?: (.*))?\Z", re.DOTALL)
_KEY = re.compile(r"[0-9a-f]{16}")
_LINKABLE = re.compile(r"[^\[\]|#^`\\]+")
_STATUSES: Mapping[str, SignalStatus] = {
    **dict.fromkeys(("", "new", "open", "reopen", "reopened", "active"), "new"),
    **dict.fromkeys(("snoozed", "snooze", "later", "sleep"), "snoozed"),
    **dict.fromkeys(("dismissed", "dismiss", "ignore", "ignored", "no", "done", "x", "closed"), "dismissed"),
    "minted": "minted",
}


@dataclass(frozen=True, slots=True)
class SignalsReading:
    """The table, and what in the file could not be understood."""

    table: SignalTable
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of one of the program's tables in the file."""

    number: int  # of the line, from 0
    columns: tuple[str, ...]  # names in the heading, in its order, without case
    cells: tuple[str, ...] | None  # of a row, escaped; None for the heading and the line below it

    def find_cell(self, column: str) -> str:
        """Return the cell of a column; nothing where there is none."""
        return next((c for name, c in zip(self.columns, self.cells or (), strict=False) if name == column), "")


def render_signals(table: SignalTable) -> str:
    """Return the whole file."""
    return "\n".join([_HEAD.format(following=table.following), *render_table(table.rows)]) + "\n"


def render_table(rows: Iterable[SignalRow]) -> list[str]:
    """Return the lines of a table of signals."""
    head = ["| " + " | ".join(COLUMNS) + " |", "|" + "--:|" + "---|" * (len(COLUMNS) - 1)]
    return [*head, *("| " + " | ".join(render_cells(row).values()) + " |" for row in rows)]


def render_cells(row: SignalRow) -> dict[str, str]:
    """Return the text of each cell by the name of its column."""
    return {
        "no.": str(row.number),
        "status": row.status,
        "until": row.until.isoformat() if row.until else "",
        "signal": _escape(f"{row.kind}: {row.detail}" if row.detail else row.kind),
        "notes": ", ".join(_render_note(ref) for ref in row.notes),
        "reason": _escape(row.reason),
        "found": row.found.isoformat(),
        "key": row.key,
    }


def _is_heading(cells: Sequence[str]) -> bool:
    names = [cell.casefold() for cell in cells]
    return "key" in names and "status" in names


def _is_rule(cells: Sequence[str]) -> bool:
    """Whether the line is the one of dashes below a heading."""
    return any("-" in cell for cell in cells) and all(set(cell) <= set("-: ") for cell in cells)


def _escape(text: str) -> str:
    r"""Return text for a cell: on one line, with pipes and backslashes escaped."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")


def _render_note(ref: NoteRef) -> str:
    """Return a link that Obsidian follows; the path as code where no link can hold it."""
    name = " ".join(re.sub(r"[\[\]|`\\]", "", ref.title).split())
    shown = f"#{ref.note_id} {name}" if ref.note_id is not None else name
    if _LINKABLE.fullmatch(ref.path) and without_md(ref.path) != ref.path:
        return f"[[{without_md(ref.path)}\\|{shown}]]"
    name = re.sub(r"[()]", "", shown)
    return f"`{_escape(ref.path.replace('`', ''))}` ({name})"


def parse_signals(text: str, today: date) -> SignalsReading:
    """Return what the file holds. Never raises: what cannot be read is left out and named.

    `today` stands in for a day that was lost.
    """
    rows: list[SignalRow] = []
    notices: list[str] = []
    numbers: set[int] = set()
    for line in find_table_lines(text.splitlines()):
        if line.cells is None:
            continue
        row = parse_row(line, today)
        if row is None:
            shown = " | ".join(cell for cell in line.cells if cell)[:80]
            if shown:
                notices.append(f"{SIGNALS_PATH}: this row is no signal and is left out: {shown}")
        elif row.number in numbers:
            notices.append(f"{SIGNALS_PATH}: signal {row.number} stands there twice; the first counts.")
        else:
            rows.append(row)
            numbers.add(row.number)
            status = line.find_cell("status")
            if _fold_status(status) not in _STATUSES:
                notices.append(f"{SIGNALS_PATH}: {status!r} is no status of signal {row.number}; it is new.")
    found = find_next(text)
    following = max([int(text[slice(*found)]) if found else 1, 1, *(number + 1 for number in numbers)])
    return SignalsReading(SignalTable(tuple(sorted(rows, key=lambda r: r.number)), following), tuple(notices))


def find_next(text: str) -> tuple[int, int] | None:
    """Return where the number of the next signal stands in the frontmatter."""
    found = _NEXT.search(text)
    return found.span(1) if found else None


def find_table_lines(lines: Sequence[str]) -> Iterator[TableLine]:
    """Yield the lines of the program's tables, in order. Tables of the person's own are passed over."""
    columns: tuple[str, ...] | None = None
    apart = True
    for number, line in enumerate(lines):
        bare = line.removeprefix(BOM).strip()
        apart, began = not bare, apart
        if not bare.startswith("|"):
            columns = columns if not bare else None
            continue
        cells = tuple(_split_row(bare))
        if _is_heading(cells):
            columns = tuple(cell.casefold() for cell in cells)
            yield TableLine(number, columns, None)
        elif began and number + 1 < len(lines) and _is_rule(_split_row(lines[number + 1].strip())):
            columns = None  # the heading of another table
        elif columns is not None:
            yield TableLine(number, columns, None if _is_rule(cells) else cells)


def _split_row(line: str) -> list[str]:
    """Return the cells between pipes that no backslash escapes, still escaped."""
    if not line.startswith("|"):
        return []
    cells: list[str] = []
    at = 1
    while at < len(line):
        cell = _CELL.match(line, at)
        assert cell is not None
        cells.append(cell.group().strip())
        at = cell.end() + 1
    return cells


def parse_row(line: TableLine, today: date) -> SignalRow | None:
    """Return the signal of a row; None when it is none."""
    cells = {name: line.find_cell(name) for name in COLUMNS}
    number = cells["no."].strip(" #")
    kind, _, detail = (part.strip() for part in _unescape(cells["signal"]).partition(":"))
    known = _find_kind(kind)
    if not (number.isascii() and number.isdigit() and len(number) < 10) or known is None:
        return None
    if _KEY.fullmatch(cells["key"]) is None:
        return None
    return SignalRow(
        number=int(number),
        key=cells["key"],
        kind=known,
        status=_STATUSES.get(_fold_status(cells["status"]), "new"),
        notes=tuple(_parse_note(found) for found in _NOTE.finditer(cells["notes"])),
        reason=_unescape(cells["reason"]),
        found=_parse_day(cells["found"]) or today,
        until=_parse_day(cells["until"]),
        detail=detail,
    )


def _fold_status(text: str) -> str:
    return text.casefold().strip(" *`_")


def _find_kind(text: str) -> SignalKind | None:
    return next((kind for kind in SIGNAL_KINDS if kind == text.casefold().replace(" ", "_")), None)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _parse_note(found: re.Match[str]) -> NoteRef:
    plain = found["plain"]
    path = _unescape(plain) if plain is not None else found["path"].strip() + ".md"
    shown = (found["name"] if plain is not None else found["shown"]) or ""
    numbered = _NUMBERED.match(shown)
    if numbered is None:
        return NoteRef(path, None, shown)
    return NoteRef(path, int(numbered.group(1)), numbered.group(2) or "")


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None
