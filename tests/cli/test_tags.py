"""`vault-memex tags`: list, retire, merge, restore, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import Run, run  # noqa: F401 -- a fixture


def test_a_tag_is_merged_listed_as_retired_undone_and_restored(run: Run, sample: Path) -> None:  # noqa: F811
    tags = {row["name"]: row["notes"] for row in json.loads(run("tags", "--json").out)["tags"]}
    merged = run("tags", "merge", "celadon", "glaze", "--reason", "it is one")
    done = json.loads(run("tags", "retire", "glaze", "--json").out)
    listed = run("tags").out
    restored = run("tags", "restore", "celadon")

    assert 5 == tags["celadon"]
    assert "Merged: celadon into glaze, 5 notes changed" in merged.out
    assert "glaze" == done["tag"]
    assert len(done["changed"]) >= 5
    assert "celadon" in listed.partition("write instead")[2]
    assert "it is one" in listed
    assert "In use again: celadon\n" in restored.out
    assert "`glaze`" in (sample / "_memex/tags.md").read_text("utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "a"),
        ("retire",),
        ("retire", "a", "b"),
        ("merge", "celadon"),
        ("restore",),
        ("retire", "no-such-tag"),
    ],
)
def test_what_cannot_be_meant_writes_nothing(run: Run, sample: Path, arguments: tuple[str, ...]) -> None:  # noqa: F811
    ran = run("tags", *arguments)

    assert 2 == ran.status
    assert ran.err.startswith("vault-memex: ")
    assert not (sample / "_memex").exists()
