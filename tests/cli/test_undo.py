"""`vault-memex undo`: the list, and one change taken back."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.test_commands import Run, run  # noqa: F401 -- a fixture
from tests.conftest import OpenVault
from tests.services.test_editing import edit

CLAY = "Studio/Clay body M-14.md"


def test_a_change_of_an_assistant_is_listed_and_taken_back(
    sample: Path,
    opening: OpenVault,
    run: Run,  # noqa: F811
) -> None:
    before = (sample / CLAY).read_bytes()
    opening(sample, connection="ann").editing.edit(edit(CLAY, {"append": "Too dry."}))

    listed = run("undo", "--json")
    (row,) = json.loads(listed.out)["changes"]
    shown = run("undo")
    done = run("undo", str(row["event"]))
    again = run("undo", str(row["event"]))

    assert (CLAY, "ann", "changed", 1) == (row["path"], row["actor"], row["kind"], row["files"])
    assert "Change Clay body M-14: 1 edit" in " ".join(shown.out.split())
    assert (0, before) == (done.status, (sample / CLAY).read_bytes())
    assert f"To take that back: vault-memex undo {row['event'] + 1}" in done.out
    assert (2, True) == (again.status, "has been undone already" in again.err)


def test_without_changes_there_is_nothing_to_undo(run: Run) -> None:  # noqa: F811
    nothing = run("undo")

    assert (1, "Nothing was changed through vault-memex yet.\n") == (nothing.status, nothing.out)
    assert "--limit is 1 or more" in run("undo", "-n", "0").err
