"""The real server over real HTTP: tokens, roles and scopes of several clients on one process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import SAMPLE
from tests.server.conftest import serve_command, text_of
from vault_memex.memory.connections_edit import plan_connection
from vault_memex.server.http import UNKNOWN_TOKEN
from vault_memex.store.tokens import Tokens

END_SECONDS = 20.0
ROLES = """\
[reading]
role = "reader"

[house-bot]
role = "agent"
scopes = ["Kitchen"]

[keeper]
role = "curator"
"""


@dataclass(frozen=True)
class Running:
    root: Path
    url: str
    process: subprocess.Popen[str]
    tokens: Mapping[str, str]
    environment: Mapping[str, str]

    @property
    def kept(self) -> Tokens:
        return Tokens(Path(self.environment["VAULT_MEMEX_TOKENS"]), self.root)

    def add(self, name: str) -> str:
        return self.kept.add(name, datetime.now(UTC)).secret


def hold_a_stream(url: str, token: str) -> socket.socket:
    address = urlsplit(url)
    held = socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=END_SECONDS)
    lines = (
        f"GET {address.path} HTTP/1.1",
        f"Host: {address.netloc}",
        f"Authorization: Bearer {token}",
        "Accept: text/event-stream",
        "MCP-Protocol-Version: 2025-11-25",
    )
    held.sendall("\r\n".join((*lines, "", "")).encode())
    assert held.recv(12).startswith(b"HTTP/1.1 ")
    return held


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    place = tmp_path_factory.mktemp("http")
    root = Path(shutil.copytree(SAMPLE, place / "vault"))
    (root / ".memex").mkdir(exist_ok=True)
    (root / ".memex/connections.toml").write_text(ROLES, encoding="utf-8")
    environment = {
        **os.environ,
        "VAULT_MEMEX_CACHE_DIR": str(place / "cache"),
        "VAULT_MEMEX_TOKENS": str(place / "own/tokens.json"),
        "VAULT_MEMEX_MODEL": "none",
    }
    serving = [*serve_command(root, "--http", "--port", "0")]
    process = subprocess.Popen(
        serving,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    held: socket.socket | None = None
    try:
        assert process.stderr is not None
        url = process.stderr.readline().rpartition(" ")[2].strip()
        assert "no token yet" in process.stderr.readline()
        server = Running(root, url, process, {}, environment)
        tokens = {name: server.add(name) for name in ("reading", "house-bot", "keeper", "stranger")}
        yield Running(root, url, process, tokens, environment)
        held = hold_a_stream(url, tokens["keeper"])  # must not keep the process from ending
    finally:
        process.send_signal(signal.SIGTERM)
        assert 0 == process.wait(timeout=END_SECONDS)
        if held is not None:
            held.close()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def post(
    running: Running,
    token: str | None,
    method: str = "tools/list",
    *,
    path: str = "",
    headers: Mapping[str, str] = {},
    **params: Any,
) -> httpx2.Response:
    sent = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25", **headers}
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return httpx2.post(f"{running.url}{path}", json=body, headers=sent, timeout=30)


def call(running: Running, who: str, tool: str, **arguments: Any) -> str:
    answer = post(running, running.tokens[who], "tools/call", name=tool, arguments=arguments)
    assert 200 == answer.status_code, answer.text
    assert answer.headers["content-type"].startswith("application/json")
    return str(answer.json()["result"]["content"][0]["text"])


@pytest.mark.parametrize("token", [None, "vmx_wrong", "x" * 5000])
@pytest.mark.parametrize("method", ["initialize", "tools/list", "tools/call"])
def test_without_a_token_that_is_known_there_is_no_answer(
    running: Running, token: str | None, method: str
) -> None:
    answer = post(running, token, method, name="search", arguments={})

    assert 401 == answer.status_code
    assert UNKNOWN_TOKEN == answer.json()["error_description"]
    assert "Bearer" == answer.headers["www-authenticate"]


def test_each_token_has_the_role_and_the_tools_of_its_connection(running: Running) -> None:
    status = {who: call(running, who, "status") for who in running.tokens}
    writing = {
        who: {
            t["name"]
            for t in post(running, token).json()["result"]["tools"]
            if not t["annotations"]["readOnlyHint"]
        }
        for who, token in running.tokens.items()
    }

    for who, role in {"reading": "reader", "house-bot": "agent", "keeper": "curator", "stranger": "agent"}.items():
        assert f"connected as: {who} · role {role}" in status[who]
    assert set() == writing["reading"]
    assert {"save", "edit", "retire"} <= writing["keeper"]


@pytest.mark.parametrize("tool", ["save", "edit", "retire", "create_entities", "save_note", "forget"])
def test_a_role_that_is_too_low_is_403(running: Running, tool: str) -> None:
    before = sorted(running.root.rglob("*.md"))
    answer = post(running, running.tokens["reading"], "tools/call", name=tool, arguments={"ref": "Home"})

    assert 403 == answer.status_code
    assert answer.json()["error"].startswith(f"FORBIDDEN: {tool} writes")
    assert before == sorted(running.root.rglob("*.md"))


def test_a_scope_holds_for_its_token_alone(running: Running) -> None:
    assert "Kiln Berta" in call(running, "keeper", "search", query="kiln")
    assert "Kiln Berta" not in call(running, "house-bot", "search", query="kiln", limit=25)
    assert call(running, "house-bot", "get", ref="Kiln Berta").startswith("NOT_FOUND")
    assert call(running, "house-bot", "save", title="X", folder="Studio", body="x", layer="state").startswith(
        "FORBIDDEN"
    )
    assert not (running.root / "Studio/X.md").exists()


def test_what_one_writes_another_finds_under_its_name(running: Running) -> None:
    call(
        running,
        "house-bot",
        "save",
        title="Quark dumplings",
        folder="Kitchen",
        body="Semolina, quark.",
        layer="state",
    )

    assert "Quark dumplings" in call(running, "reading", "search", query="semolina quark")
    assert "by house-bot" in call(running, "keeper", "changes", limit=1)


@asynccontextmanager
async def connected(running: Running, who: str, mode: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {running.tokens[who]}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(running.url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_real_clients_in_both_eras_work_at_once_and_each_as_itself(running: Running, mode: Any) -> None:
    said: dict[str, list[str]] = {}

    async def work(who: str) -> None:
        async with connected(running, who, mode) as client:
            assert "Search it before you answer" in (client.instructions or "")
            for number in range(5):
                result = await client.call_tool(
                    "edit", {"ref": "Kitchen/Ideas.md", "patch": [{"append": f"- {mode} {who} {number}"}]}
                )
                said.setdefault(who, []).append(text_of(result))  # type: ignore[arg-type]
            note = await client.read_resource("vault://notes/Kitchen/Ideas.md")
            assert f"- {mode} {who} 4" in str(note)

    async with anyio.create_task_group() as tasks:
        for who in ("house-bot", "keeper", "stranger"):
            tasks.start_soon(work, who)
    lines = (running.root / "Kitchen/Ideas.md").read_text(encoding="utf-8").splitlines()
    events = [
        json.loads(line)
        for file in (running.root / ".memex/journal").glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    by = [event["actor"] for event in events if event["path"] == "Kitchen/Ideas.md"]

    assert 15 == sum(line.startswith(f"- {mode} ") for line in lines)
    assert {"house-bot", "keeper", "stranger"} <= set(by)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
def test_requests_for_or_from_elsewhere_are_refused_before_the_token_counts(
    running: Running, headers: Mapping[str, str], status: int
) -> None:
    assert status == post(running, running.tokens["reading"], headers=headers).status_code
    if status != 200:
        assert status == post(running, "wrong", headers=headers).status_code


def test_another_path_is_404_and_a_body_that_is_no_json_is_no_crash(running: Running) -> None:
    headers = {
        "Authorization": f"Bearer {running.tokens['reading']}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }

    assert 404 == httpx2.post(f"{running.url}/more", headers=headers).status_code
    assert 400 == httpx2.post(running.url, headers=headers, content=b"{no").status_code
    assert 413 == httpx2.post(running.url, headers=headers, content=b" " * (5 * 1024 * 1024)).status_code
    assert "role reader" in call(running, "reading", "status")


def test_a_role_changed_by_the_person_and_a_token_revoked_are_in_force_at_once(running: Running) -> None:
    token = running.add("passing")
    passing = replace(running, tokens={"passing": token})
    file = running.root / ".memex/connections.toml"
    try:
        assert "role agent" in call(passing, "passing", "status")
        file.write_text(plan_connection(ROLES, "passing", role="reader"), encoding="utf-8")
        assert "role reader" in call(passing, "passing", "status")
        assert 403 == post(passing, token, "tools/call", name="save", arguments={}).status_code
        file.write_text("[passing", encoding="utf-8")
        broken = post(passing, token)
        assert (503, True) == (broken.status_code, "does not parse" in broken.json()["error"])
        file.write_text(ROLES, encoding="utf-8")
        running.kept.revoke("passing")
        assert 401 == post(passing, token).status_code
        assert "role reader" in call(running, "reading", "status")
    finally:
        file.write_text(ROLES, encoding="utf-8")


def test_the_file_of_tokens_is_the_persons_alone_and_holds_no_token(running: Running) -> None:
    file = Path(running.environment["VAULT_MEMEX_TOKENS"])
    text = file.read_text(encoding="utf-8")

    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    assert 0o700 == stat.S_IMODE(file.parent.stat().st_mode)
    assert [] == [
        token for token in running.tokens.values() if token in text or token.removeprefix("vmx_") in text
    ]
    assert running.root not in file.parents
