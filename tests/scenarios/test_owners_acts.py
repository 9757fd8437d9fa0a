"""What the person alone does, all of it on the command line, in one vault after the other act."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import Run, run  # noqa: F401 -- a fixture
from tests.conftest import OpenVault
from vault_memex.services.requests import EditRequest, RetireRequest
from vault_memex.vault import Vault

KILN = "Studio/Kiln Berta.md"


@pytest.fixture
def agent(sample: Path, opening: OpenVault) -> Vault:
    return opening(sample, policy="reviewed", connection="bot")


def read_kinds(root: Path) -> list[str]:
    """Return the kinds of what the person did, by the journal."""
    lines = "".join(file.read_text(encoding="utf-8") for file in sorted(root.glob(".memex/journal/*.jsonl")))
    events = [json.loads(line) for line in lines.splitlines()]
    return [event["kind"] for event in events if event["actor"] == "owner"]


def test_the_person_approves_rejects_amends_flags_restores_erases_retires_tags_and_gives_roles(
    run: Run,  # noqa: F811
    sample: Path,
    agent: Vault,
) -> None:
    agent.editing.edit(EditRequest(KILN, summary="A kiln.", comment="short"))
    agent.editing.edit(EditRequest("Kitchen/Ideas.md", summary="What we may cook."))
    agent.editing.edit(EditRequest("Home.md", summary="The start."))
    agent.editing.retire(RetireRequest("Loose ends.md", "empty"))

    assert 0 == run("review", "approve", "1", "--comment", "good").status
    assert 0 == run("review", "reject", "2", "--comment", "no", "--precedent").status
    (waiting,) = sample.glob("_memex/inbox/0003-*.md")  # amending is changing the file
    waiting.write_text(
        waiting.read_text(encoding="utf-8").replace("The start.", "Where to begin."), encoding="utf-8"
    )
    assert 0 == run("review", "approve", "3").status
    assert 0 == run("review", "approve", "4").status
    assert 0 == run("trash", "restore", "Loose ends.md").status
    assert 0 == run("flag", "Kiln Berta", "Is it sold?").status
    agent.refresh()
    agent.editing.retire(RetireRequest("Loose ends.md", "empty still"))
    assert 0 == run("review", "approve", "5").status
    assert 0 == run("trash", "purge", "Loose ends.md", "--yes").status
    assert 0 == run("tags", "retire", "clay", "--reason", "too broad").status
    assert 0 == run("connections", "set", "bot", "--role", "curator").status

    expected = ["approved", "rejected", "approved", "deleted", "restored", "flag_raised", "deleted", "erased"]
    assert expected == [kind for kind in read_kinds(sample) if kind in expected]
    assert "A kiln." in (sample / KILN).read_text(encoding="utf-8")
    assert "What we may cook" not in (sample / "Kitchen/Ideas.md").read_text(encoding="utf-8")
    assert "Where to begin." in (sample / "Home.md").read_text(encoding="utf-8")
    assert not (sample / "Loose ends.md").exists()
    assert "tags: [supplier]" in (sample / "Studio/Clay body M-14.md").read_text(encoding="utf-8")
    assert "Is it sold?" in run("get", "Kiln Berta").out
    assert '"curator"' in (sample / ".memex/connections.toml").read_text(encoding="utf-8")
