"""Every row of the requirements has a test, and the test is there."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.scenarios.rows import ROWS, WAITING

TESTS = Path(__file__).parents[1]
ALL = tuple(f"0-{number:02d}" for number in range(1, 47))


def find_tests(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return {node.name for node in found}


def test_each_row_has_a_test_or_is_known_to_wait_for_one() -> None:
    assert sorted(ALL) == sorted([*ROWS, *WAITING])


def test_each_row_names_a_test_that_exists() -> None:
    missing = []
    for row, name in ROWS.items():
        file, _, test = name.partition("::")
        if not (TESTS / file).is_file() or test not in find_tests(TESTS / file):
            missing.append(f"{row}: {name}")

    assert [] == missing
