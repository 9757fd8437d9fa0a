"""Limits that keep the code readable: import direction (import-linter runs in `make lint`) and sizes."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "vault_memex"


def test_no_function_is_longer_than_50_lines_and_no_module_longer_than_400() -> None:
    too_long: list[str] = []
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        name = file.relative_to(PACKAGE.parent).as_posix()
        if text.count("\n") > 400:
            too_long.append(f"{name}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or node.lineno) - node.lineno + 1
                if size > 50:
                    too_long.append(f"{name}:{node.lineno} {node.name}: {size} lines")

    assert [] == too_long
