"""`_memex/signals.md`: what is written is read, and what people do to it is understood."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from vault_memex.memory.signals import SIGNAL_KINDS
from vault_memex.memory.signals_file import parse_signals, render_signals
from vault_memex.memory.signals_plan import plan_signals
from vault_memex.memory.triage import STATUSES, NoteRef, SignalRow, SignalTable

TODAY = date(2026, 11, 30)
ROWS = (
    SignalRow(
        1,
        "0123456789abcdef",
        "hidden_arc",
        "new",
        (NoteRef("Health/Physio.md", 12, "Physio"), NoteRef("Loose.md", None, "Loose | ends [x]")),
        "5 notes over 475 days circle around #wrist.",
        date(2026, 11, 28),
        detail="wrist",
    ),
    SignalRow(4, "f" * 16, "stale_state", "snoozed", (), "Plan | overtaken.", TODAY, until=date(2026, 12, 30)),
)
TABLE = SignalTable(ROWS, 9)

SIGNALS_MD = """\
---
next: 9
---
# Signals

What the vault pointed out, and what became of it. You may edit the column *status*: `new`, `dismissed` (never
again) or `snoozed` (new again on the day in *until*). A row that is deleted is found again if its cause is
still there.

| no. | status | until | signal | notes | reason | found | key |
|--:|---|---|---|---|---|---|---|
| 1 | new |  | hidden_arc: wrist | [[Health/Physio\\|#12 Physio]], [[Loose\\|Loose ends x]] | 5 notes over 475 days circle around #wrist. | 2026-11-28 | 0123456789abcdef |
| 4 | snoozed | 2026-12-30 | stale_state |  | Plan \\| overtaken. | 2026-11-30 | ffffffffffffffff |
"""


def test_the_file_is_a_table_that_obsidian_shows() -> None:
    assert SIGNALS_MD == render_signals(TABLE)


def test_an_empty_or_strange_file_is_an_empty_table() -> None:
    for text in ("", "# Nothing here\n", "---\nnext: x\n---\n| a | b |\n|---|---|\n| 1 | 2 |\n"):
        assert SignalTable((), 1) == parse_signals(text, TODAY).table


def test_edits_by_hand_are_understood() -> None:
    edited = (
        SIGNALS_MD.replace("| 1 | new |", "| #1 | **Dismiss** |")
        .replace("| 4 | snoozed | 2026-12-30 |", "|4|later|soon|")
        .replace("\n", "\r\n")
    )

    reading = parse_signals("\ufeff" + edited, TODAY)

    assert ["dismissed", "snoozed"] == [row.status for row in reading.table.rows]
    assert None is reading.table.rows[1].until
    assert () == reading.notices


def test_columns_may_be_moved_and_added() -> None:
    text = "| Key | mine | Signal | Status | No. |\n|---|---|---|---|---|\n| aaaaaaaaaaaaaaaa | ! | tag_burst: x | | 3 |\n"

    (row,) = parse_signals(text, TODAY).table.rows

    assert (3, "tag_burst", "x", "new", TODAY) == (row.number, row.kind, row.detail, row.status, row.found)


def test_rows_that_are_no_signals_are_left_out_and_named() -> None:
    broken = (
        SIGNALS_MD
        + "| x | new | | tag_burst | | | | bbbbbbbbbbbbbbbb |\n| 4 | new | | tag_burst | | | | cccccccccccccccc |\n"
    )
    broken += "| 7 | perhaps | | tag_burst | | | | dddddddddddddddd |\n"

    reading = parse_signals(broken, TODAY)

    assert [1, 4, 7] == [row.number for row in reading.table.rows]
    assert "new" == reading.table.rows[-1].status
    assert 3 == len(reading.notices)


def test_the_next_number_is_never_one_that_is_there() -> None:
    assert 5 == parse_signals(SIGNALS_MD.replace("next: 9", "next: 2"), TODAY).table.following
    assert 9 == parse_signals(SIGNALS_MD, TODAY).table.following


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=20)
FOLDED = WORDS.map(lambda text: " ".join(text.split()))
PATHS = WORDS.map(lambda text: " ".join(text.replace("`", "").split()) + ".md").filter(lambda p: p != ".md")
TITLES = st.text(st.sampled_from("abc é한 -:.,'"), max_size=12).map(lambda text: " ".join(text.split()))
ROW = st.builds(
    SignalRow,
    number=st.integers(1, 99),
    key=st.text("0123456789abcdef", min_size=16, max_size=16),
    kind=st.sampled_from(SIGNAL_KINDS),
    status=st.sampled_from(STATUSES),
    notes=st.lists(st.builds(NoteRef, PATHS, st.none() | st.integers(1, 999), TITLES), max_size=3).map(tuple),
    reason=FOLDED,
    found=st.dates(),
    until=st.none() | st.dates(),
    detail=st.sampled_from(["", "typo", "every link", "project/boathouse"]),
)


@given(st.lists(ROW, max_size=4, unique_by=lambda row: row.number))
def test_what_is_written_is_read(rows: list[SignalRow]) -> None:
    ordered = tuple(sorted(rows, key=lambda row: row.number))
    table = SignalTable(ordered, 100)

    reading = parse_signals(render_signals(table), TODAY)

    assert table == reading.table


@given(st.text(max_size=200), st.integers(0, 600), st.integers(0, 40))
def test_a_damaged_file_never_raises(inserted: str, at: int, removed: int) -> None:
    parse_signals(SIGNALS_MD[:at] + inserted + SIGNALS_MD[at + removed :], TODAY)


# -- writing into a file that the person has edited

KEPT = parse_signals(SIGNALS_MD, TODAY).table  # no brackets in titles
EDITED = """\
---
next: 9 \r
cssclass: wide
---
# My signals

| mine | No.  | Status  | signal | until | notes | reason | found | key | why |
|------|-----:|---------|--------|--|--|--|--|--|--|
| ask Asel | 1 | New     | hidden_arc: wrist | | [[Health/Physio\\|#12 Physio]] !, [[Loose\\|Loose ends x]] | 5 notes over 475 days circle around #wrist. | 2026-11-28 | 0123456789abcdef | it hurts \\| a lot |
| my own row | | | | | | | | | |
|b|4|later|stale_state|2026-12-30||Plan \\| overtaken.|2026-11-30|ffffffffffffffff|

Prose of mine.

| another | table |
|--|--|
| 1 | 2 |"""


def test_what_changed_is_written_and_every_other_byte_stays() -> None:
    assert KEPT == parse_signals(EDITED, TODAY).table
    dismissed = SignalTable((replace(ROWS[0], status="dismissed"), ROWS[1]), 9)
    woken = SignalTable((ROWS[0], replace(ROWS[1], status="new", until=None)), 9)
    new = SignalRow(9, "a" * 16, "tag_burst", "new", (), "#celadon is back.", TODAY, detail="celadon")
    grown = SignalTable((*ROWS, new), 10)

    assert EDITED == plan_signals(EDITED, TABLE)
    assert EDITED.replace("| New     |", "| dismissed |") == plan_signals(EDITED, dismissed)
    assert EDITED.replace("|later|stale_state|2026-12-30|", "| new |stale_state|          |") == plan_signals(
        EDITED, woken
    )
    row = "|  | 9 | new | tag_burst: celadon |  |  | #celadon is back. | 2026-11-30 | aaaaaaaaaaaaaaaa |  |\n"
    assert EDITED.replace("next: 9", "next: 10").replace("\n\nProse", f"\n{row}\nProse") == plan_signals(
        EDITED, grown
    )


def test_the_row_of_a_signal_that_went_is_taken_out_and_rows_of_the_person_stay() -> None:
    gone = plan_signals(EDITED, SignalTable((), 9))

    assert [line for line in EDITED.split("\n") if not line.startswith(("| ask", "|b|"))] == gone.split("\n")


def test_a_file_without_a_table_or_a_number_gets_them_beside_its_text() -> None:
    prose = plan_signals("Only prose.", TABLE)
    bare = plan_signals(SIGNALS_MD.partition("---\n# ")[2], TABLE)
    titled = plan_signals("---\ntitle: x\n---\n", TABLE)

    assert "\nOnly prose.\n\n| no. |" in prose
    assert titled.startswith("---\nnext: 9\ntitle: x\n---\n\n| no. |")
    assert [KEPT] * 3 == [parse_signals(text, TODAY).table for text in (prose, bare, titled)]


def test_a_column_that_a_decision_needs_comes_back_when_it_was_taken_out() -> None:
    text = (
        "| Key | signal | No. | status |\n|---|---|---|---|\n| ffffffffffffffff | stale_state | 4 | new |\n"
        "| aaaaaaaaaaaaaaaa | tag_burst | 5 |\n"
    )
    rows = parse_signals(text, TODAY).table.rows
    table = SignalTable((replace(rows[0], status="snoozed", until=TODAY), rows[1]), 6)

    planned = plan_signals(text, table)

    assert table == parse_signals(planned, TODAY).table
    assert "| Key | signal | No. | status | until | notes | reason | found |\n" in planned


def test_lines_keep_their_endings_and_a_mark_at_the_beginning_stays() -> None:
    text = "\ufeff" + SIGNALS_MD.replace("\n", "\r\n")
    new = SignalRow(9, "a" * 16, "tag_burst", "new", (), "Back.", TODAY)

    planned = plan_signals(text, SignalTable((*ROWS, new), 10))

    assert planned.startswith("\ufeff---\r\nnext: 10\r\n")
    assert planned.count("\n") == planned.count("\r\n") == text.count("\n") + 1
    assert text[30:] == planned[31 : len(text) + 1]


TABLES = st.lists(ROW, max_size=4, unique_by=lambda row: row.number).map(
    lambda rows: SignalTable(tuple(sorted(rows, key=lambda row: row.number)), 100)
)


@given(TABLES, TABLES, st.sampled_from(["", "Mine.\n\n", "| a | b |\n|---|---|\n| 1 | 2 |\n\n"]))
def test_any_table_can_follow_any_other_beside_what_the_person_wrote(
    before: SignalTable, after: SignalTable, mine: str
) -> None:
    text = mine + render_signals(before) + "\n" + mine

    planned = plan_signals(text, after)

    assert after == parse_signals(planned, TODAY).table
    assert planned.endswith("\n" + mine)
    assert planned == plan_signals(planned, after)
