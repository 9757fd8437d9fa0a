"""`vault-memex connections`: the person's own file, changed only where they said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import Run, run  # noqa: F401 -- a fixture

FILE = ".memex/connections.toml"


def test_a_connection_is_set_listed_changed_and_removed(run: Run, sample: Path) -> None:  # noqa: F811
    assert "None is listed" in run("connections").out

    assert (
        0
        == run("connections", "set", "claude-code", "--role", "curator", "--scope", "Studio", "Journal/**").status
    )
    assert 0 == run("connections", "set", "watcher", "--role", "reader").status
    written = (sample / FILE).read_text(encoding="utf-8")
    (sample / FILE).write_text(written.replace('"curator"', '"curator"  # mine'), encoding="utf-8")
    assert 0 == run("connections", "set", "claude-code", "--whole-vault", "--hide-skills", "guide", "kiln").status
    assert "guide, kiln" in run("connections").out
    assert 0 == run("connections", "set", "watcher", "--all-skills").status
    listed = json.loads(run("connections", "list", "--json").out)

    assert [("claude-code", "curator", [], ["guide", "kiln"]), ("watcher", "reader", [], [])] == [
        (one["name"], one["role"], one["scopes"], one["hidden_skills"]) for one in listed
    ]
    assert 'role = "curator"  # mine\n' in (sample / FILE).read_text(encoding="utf-8")
    assert "watcher" in run("connections", "remove", "claude-code").out
    assert "claude-code" not in (sample / FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "claude-code"),
        ("set",),
        ("set", "claude-code"),
        ("set", "claude-code", "--scope", "A", "--whole-vault"),
        ("set", "claude-code", "--hide-skills", "guide", "--all-skills"),
        ("set", "claude-code", "--scope", "../A"),
        ("set", "a/b", "--role", "reader"),
        ("remove",),
        ("remove", "nobody"),
        ("remove", "nobody", "--role", "reader"),
    ],
)
def test_what_cannot_be_meant_writes_nothing(run: Run, sample: Path, arguments: tuple[str, ...]) -> None:  # noqa: F811
    ran = run("connections", *arguments)

    assert 2 == ran.status
    assert ran.err.startswith("vault-memex: ")
    assert not (sample / FILE).exists()
