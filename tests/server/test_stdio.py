"""The real server over real standard streams: start, both eras, crash-free ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.server.conftest import serve_command, text_of

END_SECONDS = 20.0  # far more than it takes; the machine may be busy


class RawServer:
    """A server process spoken to in lines of JSON, as a client that is not ours would."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
        )
        self._number = 0

    def send(self, method: str, params: dict[str, Any] | None = None, *, number: int | None = None) -> None:
        assert self.process.stdin is not None
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if number is not None:
            message["id"] = number
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        assert self.process.stdout is not None
        self._number += 1
        self.send(method, params, number=self._number)
        while True:
            line = self.process.stdout.readline()
            assert line, "the server closed its output"
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._number:
                return answer

    def start(self, version: str = "2025-11-25") -> dict[str, Any]:
        hello = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "raw-client", "version": "1"},
        }
        answer = self.ask("initialize", hello)
        self.send("notifications/initialized")
        return answer["result"]

    def call(self, tool: str, **arguments: Any) -> str:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return str(result["content"][0]["text"])

    def end(self) -> int:
        return self.process.wait(timeout=END_SECONDS)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def raw(sample: Path) -> Iterator[RawServer]:
    server = RawServer(serve_command(sample, "--model", "none"))
    yield server
    server.close()


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_handshake_version_is_answered_with_instructions(raw: RawServer, version: str) -> None:
    result = raw.start(version)

    assert version == result["protocolVersion"]
    assert "Search it before you answer" in result["instructions"]


def test_a_note_can_be_read_by_path_before_the_first_index_is_there(raw: RawServer) -> None:
    raw.start()

    assert "Firing checklist" in raw.call("get", ref="Studio/Firing checklist.md")


def test_the_client_names_the_work_when_the_connection_has_no_name(raw: RawServer) -> None:
    raw.start()
    raw.call("edit", ref="Home.md", patch=[{"append": "A line."}])

    assert "by raw-client" in raw.call("changes", limit=1)
    assert "connected as: raw-client" in raw.call("status")


def test_output_is_protocol_only_and_the_end_of_input_ends_the_process(raw: RawServer) -> None:
    raw.start()
    raw.call("status")
    assert raw.process.stdin is not None
    raw.process.stdin.close()

    assert 0 == raw.end()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_process_while_input_stays_open(raw: RawServer, how: signal.Signals) -> None:
    raw.start()
    raw.call("edit", ref="Home.md", patch=[{"append": "A line."}])
    started = time.monotonic()
    raw.process.send_signal(how)

    assert 0 == raw.end()
    assert time.monotonic() - started < END_SECONDS


def test_an_end_of_input_before_the_first_message_ends_the_process(sample: Path) -> None:
    server = RawServer(serve_command(sample, "--model", "none"))
    assert server.process.stdin is not None
    server.process.stdin.close()

    try:
        assert 0 == server.end()
    finally:
        server.close()


def test_a_kill_loses_no_acknowledged_write(raw: RawServer, sample: Path) -> None:
    raw.start()
    for number in range(10):
        raw.call("edit", ref="Home.md", patch=[{"append": f"line {number}"}])
    os.kill(raw.process.pid, signal.SIGKILL)
    raw.process.wait(timeout=END_SECONDS)

    text = (sample / "Home.md").read_text(encoding="utf-8")
    assert [f"line {n}" for n in range(10)] == [line for line in text.splitlines() if line.startswith("line ")]


def test_two_servers_on_one_note_lose_no_acknowledged_line(sample: Path) -> None:
    servers = [RawServer(serve_command(sample, "--model", "none", "--as", f"client-{n}")) for n in range(2)]
    acknowledged: list[str] = []
    try:
        for server in servers:
            server.start()
        for number in range(25):
            for who, server in enumerate(servers):
                server.send(
                    "tools/call",
                    {
                        "name": "edit",
                        "arguments": {"ref": "Home.md", "patch": [{"append": f"- w{who} n{number}"}]},
                    },
                    number=1000 + number,
                )
            for who, server in enumerate(servers):
                assert server.process.stdout is not None
                answer = json.loads(server.process.stdout.readline())
                while answer.get("id") != 1000 + number:
                    answer = json.loads(server.process.stdout.readline())
                if not answer["result"].get("isError"):
                    acknowledged.append(f"- w{who} n{number}")
    finally:
        for server in servers:
            server.close()
    lines = (sample / "Home.md").read_text(encoding="utf-8").splitlines()

    assert 50 == len(acknowledged)
    assert sorted(acknowledged) == sorted(line for line in lines if line.startswith("- w"))


@pytest.mark.anyio
async def test_the_modern_era_works_over_stdio(sample: Path) -> None:
    command, *arguments = serve_command(sample, "--model", "none")
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:
        result = await client.call_tool("search", {"query": "celadon", "limit": 1})

    assert "celadon" in text_of(result).lower()


def test_a_missing_vault_is_one_clear_line(tmp_path: Path) -> None:
    command = serve_command(tmp_path / "nowhere")
    done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    assert 2 == done.returncode
    assert "" == done.stdout
    assert done.stderr.startswith("vault-memex: There is no folder")


HALF = "\\ud83d"  # half of an emoji, as JSON writes it


GET_HALF = '"method": "tools/call", "params": {"name": "get", "arguments": {"ref": "' + HALF + '"}}'


@pytest.mark.parametrize(
    "message",
    [
        '{"jsonrpc": "2.0", "id": 7, ' + GET_HALF + "}",
        "{" + GET_HALF + ', "jsonrpc": "2.0", "id": 7}',
        '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": [1]}',
        '{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": ' + "[" * 900 + "1" + "]" * 900 + "}}",
        '{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": ' + "9" * 5_000 + "}}",
        '{"jsonrpc": "2.0", "id": 7, "method": 5}',
    ],
)
def test_a_request_that_cannot_be_read_is_answered_with_its_number(raw: RawServer, message: str) -> None:
    raw.start()
    assert raw.process.stdin is not None
    assert raw.process.stdout is not None
    raw.process.stdin.write(message + "\n")
    raw.process.stdin.flush()
    answer = json.loads(raw.process.stdout.readline())

    assert (7, True) == (answer["id"], answer["error"]["code"] in (-32700, -32600))
    assert answer["error"]["message"].startswith("The message ")
    assert {} == raw.ask("ping")["result"]


def test_lines_that_are_no_requests_do_no_harm(raw: RawServer) -> None:
    raw.start()
    assert raw.process.stdin is not None
    for line in ("", "{not json", "null", "[]", '"x"', "42", '{"id": 3}', '{"a": {"id": 3}}', "\x00", "}" * 1_000):
        raw.process.stdin.write(line + "\n")
    raw.process.stdin.flush()

    assert {} == raw.ask("ping")["result"]
