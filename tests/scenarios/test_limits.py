"""How much each text may hold: as much as the limit says, and a refusal that names the argument for one more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenVault
from vault_memex.errors import InvalidArgument, MemexError, TooLarge
from vault_memex.server.read_tools import SEARCH
from vault_memex.server.tool import ToolSpec
from vault_memex.server.write_tools import EDIT, RETIRE, SAVE

BODY = "The kiln was fired.\n"
LONG = "x" * 20_000  # the longest text that may be looked for


def new(**arguments: Any) -> tuple[ToolSpec[Any], dict[str, Any]]:
    return SAVE, {"title": "New", "body": "Something to remember.", "layer": "state", **arguments}


def edit(**arguments: Any) -> tuple[ToolSpec[Any], dict[str, Any]]:
    return EDIT, {"ref": "Kiln", **arguments}


def patch(find: str) -> tuple[ToolSpec[Any], dict[str, Any]]:
    return EDIT, {"ref": "Long", "patch": [{"find": find, "replace": "short"}], "allow_shrink": True}


def operations(count: int) -> tuple[ToolSpec[Any], dict[str, Any]]:
    return edit(patch=[{"append": f"- line {number}"} for number in range(count)])


LIMITS: list[tuple[int, str, Callable[[int], tuple[ToolSpec[Any], dict[str, Any]]]]] = [
    (500, "title", lambda n: new(title="t" * n)),
    (500, "title", lambda n: edit(title="t" * n)),
    (5_000, "summary", lambda n: new(summary="s" * n)),
    (5_000, "summary", lambda n: edit(summary="s" * n)),
    (1 << 20, "body", lambda n: new(body="b" * (n - 4) + "한" + "b")),  # in bytes
    (120, "change_title", lambda n: new(change_title="c" * n)),
    (120, "change_title", lambda n: edit(change_title="c" * n, summary="s")),
    (2_000, "comment", lambda n: edit(comment="c" * n)),
    (2_000, "reason", lambda n: (RETIRE, {"ref": "Kiln", "reason": "r" * n})),
    (2_000, "reason", lambda n: (RETIRE, {"ref": "Kiln", "reason": "r" * n, "hold": True})),
    (20_000, "find", lambda n: patch("x" * n)),
    (50, "patch", operations),
    (2_048, "query", lambda n: (SEARCH, {"query": "q" * n})),
]


@pytest.mark.parametrize(
    ("limit", "argument", "build"), LIMITS, ids=lambda v: str(v) if isinstance(v, str) else None
)
def test_a_text_may_be_as_long_as_its_limit_and_no_longer(
    folder: Path,
    opening: OpenVault,
    limit: int,
    argument: str,
    build: Callable[[int], tuple[ToolSpec[Any], dict[str, Any]]],
) -> None:
    (folder / "Kiln.md").write_text(BODY, encoding="utf-8")
    (folder / "Long.md").write_text(f"{LONG}\n", encoding="utf-8")
    vault = opening(folder)
    before = {file: file.read_bytes() for file in folder.rglob("*.md")}

    spec, arguments = build(limit + 1)
    with pytest.raises((TooLarge, InvalidArgument), match=argument):
        spec.run(vault, spec.parse_arguments(arguments))
    assert before == {file: file.read_bytes() for file in folder.rglob("*.md")}
    spec, arguments = build(limit)
    assert spec.run(vault, spec.parse_arguments(arguments)).text


RESERVED = ("id", "title", "tags", "summary", "layer", "review", "created", "author", "added_by", "pinned")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"title": " "}, "title"),
        ({"body": " \n"}, "body"),
        ({"source_url": "ftp://example.org"}, "source_url"),
        ({"source_url": "example.org/kiln"}, "source_url"),
        ({"source_url": "https://example.org/a b"}, "source_url"),
        *(({"properties": {name: "x"}}, name) for name in RESERVED),
    ],
)
def test_a_new_note_has_a_title_a_text_a_web_address_and_no_property_that_is_not_its_own(
    folder: Path, opening: OpenVault, arguments: dict[str, Any], named: str
) -> None:
    spec, whole = new(**arguments)

    with pytest.raises(MemexError, match=named):
        spec.run(opening(folder), spec.parse_arguments(whole))
    assert [] == list(folder.rglob("*.md"))


@pytest.mark.parametrize("address", ["javascript:alert(1)", "example.org", 7, "https://example.org/a b"])
def test_an_edit_sets_no_address_that_leads_nowhere(folder: Path, opening: OpenVault, address: object) -> None:
    (folder / "Kiln.md").write_text(BODY, encoding="utf-8")
    vault = opening(folder)
    spec, arguments = edit(properties={"source_url": address})

    with pytest.raises(InvalidArgument, match="source_url"):
        spec.run(vault, spec.parse_arguments(arguments))
    spec, arguments = edit(properties={"source_url": "https://example.org/kiln"})
    assert "applied" == spec.run(vault, spec.parse_arguments(arguments)).value.outcome
    spec, arguments = edit(properties={"source_url": None})
    assert "applied" == spec.run(vault, spec.parse_arguments(arguments)).value.outcome
