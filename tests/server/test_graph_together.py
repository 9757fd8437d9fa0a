"""Many writers of one graph at once: what was acknowledged is there, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenVault
from tests.server.conftest import serve_command
from tests.server.test_stdio import RawServer

OPTIONS = ("--model", "none", "--tools", "knowledge-graph")


def send_creates(server: RawServer, names: list[str]) -> None:
    for number, name in enumerate(names, 1_000):
        rows = [{"name": name, "entityType": "thing", "observations": [f"about {name}"]}]
        server.send("tools/call", {"name": "create_entities", "arguments": {"entities": rows}}, number=number)


def read_answers(server: RawServer, count: int) -> list[dict[str, Any]]:
    assert server.process.stdout is not None
    answers: list[dict[str, Any]] = []
    while len(answers) < count:
        line = server.process.stdout.readline()
        assert line, "the server closed its output"
        answer = json.loads(line)
        if answer.get("id", 0) >= 1_000:
            answers.append(answer["result"])
    return answers


def find_acknowledged(answers: list[dict[str, Any]]) -> list[str]:
    return [row["name"] for a in answers if not a.get("isError") for row in a["structuredContent"]["entities"]]


def stop(server: RawServer) -> None:
    assert server.process.stdin is not None
    server.process.stdin.close()
    server.process.wait(timeout=20)
    for stream in (server.process.stdout, server.process.stderr):
        assert stream is not None
        stream.close()


def test_fifty_creates_sent_at_once_on_one_connection_are_all_there(folder: Path, opening: OpenVault) -> None:
    server = RawServer(serve_command(folder, *OPTIONS))
    server.start()
    names = [f"Thing {number}" for number in range(50)]

    send_creates(server, names)
    acknowledged = find_acknowledged(read_answers(server, 50))
    stop(server)

    assert sorted(names) == sorted(acknowledged)
    graph = opening(folder).knowledge.read()
    assert sorted(names) == sorted(entity.name for entity in graph.entities)
    assert {(f"about {name}",) for name in names} == {entity.texts for entity in graph.entities}
    assert 50 == len({entity.note_id for entity in graph.entities})


@pytest.mark.slow
def test_two_servers_make_thirty_each_and_one_together(folder: Path, opening: OpenVault) -> None:
    servers = [RawServer(serve_command(folder, *OPTIONS)) for _ in range(2)]
    own = [[f"{which} {number}" for number in range(30)] for which in ("first", "second")]
    for server in servers:
        server.start()
    for server, names in zip(servers, own, strict=True):
        send_creates(server, [*names, "both"])
    acknowledged = [name for server in servers for name in find_acknowledged(read_answers(server, 31))]
    for server in servers:
        stop(server)

    assert sorted([*own[0], *own[1], "both"]) == sorted(acknowledged)
    graph = opening(folder).knowledge.read()
    assert sorted(acknowledged) == sorted(entity.name for entity in graph.entities)
    assert 61 == len(list(folder.glob("entities/thing/*.md")))
