r"""`_memex/signals.md`: the signals as a table that people read and edit in any editor.

| no. | status | until | signal | notes | reason | found | key |

Columns are found by their names in the heading row, so their order and width do not matter, and other columns and
text around the table are passed over. A `status` cell is what a person edits; small slips are understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from vault_memex.core.text import BOM, without_md
from vault_memex.memory.signals import SIGNAL_KINDS, SignalKind
from vault_memex.memory.triage import NoteRef, SignalRow, SignalStatus, SignalTable

SIGNALS_PATH = "_memex/signals.md"

_COLUMNS = ("no.", "status", "until", "signal", "notes", "reason", "found", "key")
_HEAD = """\
---
next: {following}
---
# Signals

What the vault pointed out, and what became of it. You may edit the column *status*: `new`, `dismissed` (never
again) or `snoozed` (new again on the day in *until*). A row that is deleted is found again if its cause is
still there.
"""
_NEXT = re.compile(r"^next:[ \t]*([0-9]{1,9})[ \t]*$", re.MULTILINE)
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


def render_signals(table: SignalTable) -> str:
    """Return the whole file."""
    lines = [_HEAD.format(following=table.following)]
    lines.append("| " + " | ".join(_COLUMNS) + " |")
    lines.append("|" + "--:|" + "---|" * (len(_COLUMNS) - 1))
    for row in table.rows:
        signal = f"{row.kind}: {row.detail}" if row.detail else row.kind
        cells = (
            str(row.number),
            row.status,
            row.until.isoformat() if row.until else "",
            _escape(signal),
            ", ".join(_render_note(ref) for ref in row.notes),
            _escape(row.reason),
            row.found.isoformat(),
            row.key,
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def plan_signals(text: str, table: SignalTable) -> str:
    """Return the file's text with another table; what people wrote around it stays. Columns of their own do not."""
    lines = text.split("\n")
    heads = [number for number, line in enumerate(lines) if _is_heading(line)]
    if not heads or _NEXT.search(text) is None:
        return render_signals(table)
    end = heads[0]
    while end < len(lines) and lines[end].lstrip().startswith("|"):
        end += 1
    fresh = render_signals(table).split("\n")
    start = next(number for number, line in enumerate(fresh) if _is_heading(line))
    around = "\n".join([*lines[: heads[0]], *fresh[start:-1], *lines[end:]])
    return _NEXT.sub(f"next: {table.following}", around, count=1)


def _is_heading(line: str) -> bool:
    names = [cell.casefold() for cell in _split_row(line.strip())] if line.lstrip().startswith("|") else []
    return "key" in names and "status" in names


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
    for cells in _find_cells(text):
        row = _parse_row(cells, today)
        if row is None:
            shown = " | ".join(cell for cell in cells.values() if cell)[:80]
            notices.append(f"{SIGNALS_PATH}: this row is no signal and is left out: {shown}")
        elif row.number in numbers:
            notices.append(f"{SIGNALS_PATH}: signal {row.number} stands there twice; the first counts.")
        else:
            rows.append(row)
            numbers.add(row.number)
            if cells["status"].casefold().strip(" *`_") not in _STATUSES:
                notices.append(
                    f"{SIGNALS_PATH}: {cells['status']!r} is no status of signal {row.number}; it is new."
                )
    found = _NEXT.search(text)
    following = max([int(found.group(1)) if found else 1, 1, *(number + 1 for number in numbers)])
    return SignalsReading(SignalTable(tuple(sorted(rows, key=lambda r: r.number)), following), tuple(notices))


def _find_cells(text: str) -> Iterator[Mapping[str, str]]:
    """Yield the cells of each row below a heading row, by the names of the columns."""
    columns: Sequence[str] | None = None
    for line in text.removeprefix(BOM).splitlines():
        if not line.lstrip().startswith("|"):
            continue
        cells = _split_row(line.strip())
        if _is_heading(line):
            columns = [cell.casefold() for cell in cells]
        elif columns is not None and not all(set(cell) <= set("-: ") for cell in cells):
            found = dict.fromkeys(_COLUMNS, "")
            found.update(zip(columns, cells, strict=False))
            yield found


def _split_row(line: str) -> list[str]:
    """Return the cells between pipes that no backslash escapes, still escaped."""
    cells: list[str] = []
    at = 1
    while at < len(line):
        cell = _CELL.match(line, at)
        assert cell is not None
        cells.append(cell.group().strip())
        at = cell.end() + 1
    return cells


def _parse_row(cells: Mapping[str, str], today: date) -> SignalRow | None:
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
        status=_STATUSES.get(cells["status"].casefold().strip(" *`_"), "new"),
        notes=tuple(_parse_note(found) for found in _NOTE.finditer(cells["notes"])),
        reason=_unescape(cells["reason"]),
        found=_parse_day(cells["found"]) or today,
        until=_parse_day(cells["until"]),
        detail=detail,
    )


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
