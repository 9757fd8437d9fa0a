"""The MCP Inspector: schemas that any client can take, in every era of the protocol, and calls under load."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import find_client
from vault_memex.server.tools import find_tools

pytestmark = pytest.mark.slow

SECONDS = 120.0
TOOL_FAILED = 5  # the Inspector's status for an answer marked as an error

Inspect = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def inspect(
    command: list[str], environment: dict[str, str], server_environment: dict[str, str], tmp_path: Path
) -> Inspect:
    inspector = str(find_client("mcp-inspector"))
    given = [part for name, value in server_environment.items() for part in ("-e", f"{name}={value}")]

    def run(method: str, *more: str) -> subprocess.CompletedProcess[str]:
        options = ("--connect-timeout", "60000", "--format", "json", "--method", method, *more)
        return subprocess.run(
            [inspector, "--cli", *given, *command, *options],
            check=False,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
        )

    return run


def result_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert 0 == done.returncode, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer.get("result", answer)


@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_every_schema_is_portable(inspect: Inspect, era: str) -> None:
    listed = result_of(inspect("tools/list", "--strict", "--protocol-era", era))

    assert [tool.name for tool in find_tools("core", "agent")] == [tool["name"] for tool in listed["tools"]]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_call_answers_with_what_its_schema_promises(inspect: Inspect, era: str) -> None:
    arguments = json.dumps({"query": "kiln", "properties": {"status": "active"}})
    more = ("--tool-name", "search", "--tool-args-json", arguments, "--protocol-era", era)
    found = result_of(inspect("tools/call", *more))

    assert ["Projects/Boathouse renovation.md"] == [row["path"] for row in found["structuredContent"]["rows"]]


def test_a_failed_call_is_marked_as_one(inspect: Inspect) -> None:
    done = inspect("tools/call", "--tool-name", "get", "--tool-arg", "ref=Nowhere")

    assert TOOL_FAILED == done.returncode
    assert "NOT_FOUND" in done.stdout


def test_notes_are_resources_by_their_path(inspect: Inspect) -> None:
    templates = result_of(inspect("resources/templates/list"))["resourceTemplates"]
    read = result_of(inspect("resources/read", "--uri", "vault://notes/Studio/Glaze%20index.md"))

    assert ["vault://notes/{+path}"] == [template["uriTemplate"] for template in templates]
    assert "# Glaze index" in read["contents"][0]["text"]


def test_calls_at_the_same_time_all_answer(inspect: Inspect) -> None:
    load = ("--load", "--load-concurrency", "4", "--load-requests", "60")
    measured = result_of(inspect("tools/call", "--tool-name", "search", "--tool-arg", "query=celadon", *load))

    assert (60, 60, 0, 0) == tuple(measured[name] for name in ("requests", "ok", "toolErrors", "errors"))
