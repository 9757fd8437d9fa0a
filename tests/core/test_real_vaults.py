"""Whole vaults of other people: how many links they hold, and how many lead nowhere (spec: obsidian 2.1)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import shared
from vault_memex.core.links import resolve_link
from vault_memex.core.markdown import parse_note
from vault_memex.core.text import name_key


def count(root: Path) -> Counter[str]:
    """Return links by kind, unresolved ones, and blocks that do not parse."""
    paths = [file.relative_to(root).as_posix() for file in sorted(root.rglob("*")) if file.is_file()]
    paths = [path for path in paths if not any(part.startswith(".") for part in path.split("/"))]
    files: dict[str, list[str]] = {}
    for path in paths:
        files.setdefault(name_key(path.rpartition("/")[2]), []).append(path)
    found: Counter[str] = Counter()
    for path in paths:
        if not path.endswith(".md"):
            continue
        note = parse_note((root / path).read_bytes().decode("utf-8"))
        found["invalid"] += note.frontmatter.error is not None
        for link in note.links:
            found[link.kind] += 1
            found["unresolved"] += resolve_link(link.target, path, lambda key: files.get(key, [])).path is None
    return found


@pytest.mark.parametrize(
    ("vault", "counts"),
    [
        ("docs-various-complements", {"wiki": 311, "embed": 100, "unresolved": 2, "invalid": 0}),
        # Its templates hold {{placeholders}} that are no YAML, on purpose.
        ("kepano", {"wiki": 14, "embed": 61, "frontmatter": 103, "unresolved": 51, "invalid": 28}),
        (
            "tasks-demo/vault",
            {"wiki": 71, "embed": 30, "markdown": 20, "frontmatter": 10, "unresolved": 6, "invalid": 0},
        ),
    ],
)
def test_a_real_vault_holds_the_links_that_were_counted(vault: str, counts: dict[str, int]) -> None:
    assert counts == dict(count(shared(f"vaults/{vault}")))
