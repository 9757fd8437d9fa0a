"""Every row of the requirements has a test, and the test is there."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.scenarios.rows import ROWS, SCENARIOS, SCENARIOS_WAITING, WAITING

TESTS = Path(__file__).parents[1]
ALL = tuple(
    f"{seed}-{number:02d}" for seed, last in ((0, 46), (1, 98), (2, 19), (3, 20)) for number in range(1, last + 1)
)


def find_tests(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return {node.name for node in found}


def test_each_row_has_a_test_or_is_known_to_wait_for_one() -> None:
    assert sorted(ALL) == sorted([*ROWS, *WAITING])


NAMED = {  # scenarios of section 11 by heading
    "review": 7,
    "queue": 8,
    "signals": 13,
    "inferences": 7,
    "flashback": 3,
    "roles": 2,
    "rules": 5,
    "guards": 3,
    "graph": 3,
    "search": 7,
    "patch": 6,
    "ids": 5,
}


def test_each_scenario_has_a_test_or_is_known_to_wait_for_one() -> None:
    headings = [name.partition(":")[0] for name in (*SCENARIOS, *SCENARIOS_WAITING)]

    assert NAMED == Counter(headings)


@pytest.mark.parametrize("table", [ROWS, SCENARIOS], ids=["rows", "scenarios"])
def test_each_row_names_a_test_that_exists(table: dict[str, str]) -> None:
    missing = []
    for row, name in table.items():
        file, _, test = name.partition("::")
        if not (TESTS / file).is_file() or test not in find_tests(TESTS / file):
            missing.append(f"{row}: {name}")

    assert [] == missing
