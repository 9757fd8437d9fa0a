"""Which test shows each row of the requirements of a memory (layers, flashbacks, rules, signals, inferences).

A row names the file under `tests/` and the test in it. `test_rows.py` fails for a row without one.
"""

from __future__ import annotations

ROWS: dict[str, str] = {}

WAITING: tuple[str, ...] = tuple(f"0-{number:02d}" for number in range(1, 47))
"""Rows that have no test yet. Take a row out of here when it gets one; it ends empty."""
