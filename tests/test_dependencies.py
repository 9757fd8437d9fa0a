"""What the package imports is what pyproject.toml declares, and the pins cover it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAME = re.compile(r"[A-Za-z0-9._-]+")


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _names(requirements: list[str]) -> set[str]:
    return {_key(NAME.match(one)[0]) for one in requirements}


def _imports(folder: Path) -> Iterator[str]:
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


def test_every_package_that_is_imported_is_a_declared_dependency() -> None:
    providers = packages_distributions()
    declared = _names(PROJECT["project"]["dependencies"])
    foreign = set(_imports(ROOT / "vault_memex")) - set(sys.stdlib_module_names) - {"vault_memex"}

    undeclared = {n for n in foreign if not declared & {_key(d) for d in providers.get(n, [n])}}

    assert set() == undeclared


def test_every_declared_dependency_has_a_pin() -> None:
    pins = _names(re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE))

    assert set() == _names(PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]) - pins


def test_every_pin_is_still_needed_by_something() -> None:
    text = (ROOT / "constraints.txt").read_text("utf-8")
    direct = _names(PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"])
    said_to_be_direct = {
        _key(n) for n in re.findall(r"^([\w.-]+)==[^\n]*\n    # via[^=]*?vault-memex", text, re.MULTILINE)
    }

    assert set() == said_to_be_direct - direct
