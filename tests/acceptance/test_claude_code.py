"""The real Claude Code: it connects, and what a model would see through it is what we mean to say."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import find_client
from tests.acceptance.scripted_model import ScriptedModel, Use, serving

pytestmark = pytest.mark.slow

SECONDS = 120.0
NOTE = "Harbour Café tableware"
LONG_BODY = "A sentence of the long note, one of very many.\n" * 1_500  # 70,000 characters


class ClaudeCode:
    """The command in a project folder of its own."""

    def __init__(self, project: Path, environment: dict[str, str]) -> None:
        self._command = str(find_client("claude"))
        self._project = project
        self._environment = environment
        project.mkdir()

    def run(self, *arguments: str, **more: str) -> str:
        done = subprocess.run(
            [self._command, *arguments],
            check=False,
            cwd=self._project,
            env={**self._environment, **more},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
        )
        assert 0 == done.returncode, done.stdout + done.stderr
        return done.stdout

    def converse(
        self, script: list[list[Use]], command: list[str], server_environment: dict[str, str]
    ) -> ScriptedModel:
        """Have a scripted model work through the server; return it with all that it was asked."""
        entry = {"command": command[0], "args": command[1:], "env": server_environment}
        config = self._project / "servers.json"
        config.write_text(json.dumps({"mcpServers": {"memory": entry}}), encoding="utf-8")
        with serving(script) as model:
            self.run(
                *("-p", "go", "--mcp-config", str(config), "--strict-mcp-config"),
                *("--allowedTools", "mcp__memory"),
                ANTHROPIC_BASE_URL=model.address,
                ANTHROPIC_API_KEY="none",
                MCP_CONNECTION_NONBLOCKING="0",  # the first turn waits for the server, however busy the machine
            )
        return model


@pytest.fixture
def claude(tmp_path: Path, environment: dict[str, str]) -> ClaudeCode:
    return ClaudeCode(tmp_path / "project", environment)


def memory(tool: str, **arguments: Any) -> list[Use]:
    """Return a turn with one call of a tool of ours."""
    return [Use(f"mcp__memory__{tool}", arguments)]


def test_a_server_that_was_added_is_connected(
    claude: ClaudeCode, command: list[str], server_environment: dict[str, str]
) -> None:
    given = [part for name, value in server_environment.items() for part in ("-e", f"{name}={value}")]
    claude.run("mcp", "add", "memory", *given, "--", *command)

    assert "memory: " in claude.run("mcp", "list")
    assert "✔ Connected" in claude.run("mcp", "list")
    assert "Status: ✔ Connected" in claude.run("mcp", "get", "memory")


def test_the_first_request_holds_instructions_and_the_tools_most_needed(
    claude: ClaudeCode, command: list[str], server_environment: dict[str, str]
) -> None:
    model = claude.converse([], command, server_environment)

    first = model.turns[0]
    said = json.dumps(first["messages"], ensure_ascii=False)
    assert "This is the person's own memory: a folder of Markdown notes" in said
    assert "say in a word what you saved." in said
    assert "[truncated]" not in said
    ours = {tool["name"]: tool for tool in first["tools"] if tool["name"].startswith("mcp__memory__")}
    assert {"mcp__memory__search", "mcp__memory__get", "mcp__memory__edit"} == set(ours)
    assert all(tool["description"] and tool["input_schema"]["properties"] for tool in ours.values())
    assert "mcp__memory__save" in said  # by name: its schema comes when it is wanted


def test_a_model_searches_reads_and_patches_and_learns_from_an_error(
    claude: ClaudeCode, command: list[str], server_environment: dict[str, str], sample: Path
) -> None:
    patch = {"section": "Where we are", "find": "20 bisqued", "replace": "26 bisqued"}
    script = [
        memory("search", query="liner soak 25 minutes"),
        memory("get", ref=NOTE, section="Where we are"),
        memory("edit", ref=NOTE, patch=[patch]),
        memory("edit", ref=NOTE, patch=[patch]),
        memory("get", ref=NOTE, section="Where"),
    ]
    results = claude.converse(script, command, server_environment).results()

    found = json.loads(results[0][0])
    assert "Decisions/2025-09-02 The liner needs a longer soak.md" == found["rows"][0]["path"]
    assert len(results[0][0]) < 8_000
    assert "--- section Harbour Café tableware > Where we are of the note" in results[1][0]
    diff = json.loads(results[2][0])["diff"].splitlines()
    assert {"-", "+"} == {line[0] for line in diff if "bisqued" in line}
    assert [False, False, False, True, True] == [failed for _, failed in results]
    assert results[3][0].startswith("ANCHOR_NOT_FOUND: ")
    assert "74 of 120 fired, 26 bisqued" in results[3][0]
    assert results[4][0].startswith("SECTION_NOT_FOUND: ")
    assert "26 bisqued" in (sample / "Projects" / f"{NOTE}.md").read_text(encoding="utf-8")


def test_a_long_note_arrives_whole_and_not_as_a_file(
    claude: ClaudeCode, command: list[str], server_environment: dict[str, str], sample: Path
) -> None:
    (sample / "Long.md").write_text(LONG_BODY, encoding="utf-8")
    ((text, failed),) = claude.converse(
        [memory("get", ref="Long.md", max_chars=80_000)], command, server_environment
    ).results()

    assert not failed
    assert LONG_BODY in text


def test_the_other_tools_work_once_their_schemas_were_asked_for(
    claude: ClaudeCode, command: list[str], server_environment: dict[str, str], sample: Path
) -> None:
    wanted = ",".join(f"mcp__memory__{name}" for name in ("save", "vocabulary", "changes", "retire", "status"))
    script = [
        [Use("ToolSearch", {"query": f"select:{wanted}"})],
        memory("vocabulary", kind="tags"),
        memory("save", title="Wood kiln", body="We might fire with wood.", layer="state", tags=["kiln"]),
        memory("changes", limit=1),
        memory("retire", ref="Wood kiln", reason="Only a test."),
        memory("status"),
    ]
    results = claude.converse(script, command, server_environment).results()

    assert [False] * len(script) == [failed for _, failed in results]
    assert {"name": "kiln", "notes": 6} in json.loads(results[1][0])["tags"]
    assert "Wood kiln.md" == json.loads(results[2][0])["path"]
    assert "claude-code" == json.loads(results[3][0])["rows"][0]["actor"]
    assert "deleted" == json.loads(results[4][0])["outcome"]
    assert not (sample / "Wood kiln.md").exists()
    assert 49 == json.loads(results[5][0])["notes"]
