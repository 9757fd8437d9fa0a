"""Two servers on one vault, each with a curator: real processes, real standard streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.conftest import serve_command
from tests.server.test_stdio import RawServer
from vault_memex.cli import main


def start(root: Path, name: str) -> RawServer:
    options = ("--as", name, "--role", "curator", "--model", "none", "--tools", "core,curation")
    server = RawServer(serve_command(root, *options))
    server.start()
    return server


def titles(server: RawServer, **arguments: object) -> list[str]:
    answer = server.ask("tools/call", {"name": "curation", "arguments": arguments})["result"]
    return [row["title"] for row in answer["structuredContent"]["candidates"].get("rows", [])]


@pytest.mark.slow
def test_curators_of_two_servers_are_given_different_notes_until_one_is_done(sample: Path) -> None:
    for name in ("one", "two"):
        with pytest.raises(SystemExit) as ended:
            main(["connections", "set", name, "--role", "curator", "--vault", str(sample)])
        assert not ended.value.code
    one, other = start(sample, "one"), start(sample, "two")
    try:
        for server in (one, other):
            server.call("search", query="kiln")  # a first pass has ended
        mine, theirs = titles(one, limit=5), titles(other, limit=5)
        assert (5, 5, 10) == (len(mine), len(theirs), len({*mine, *theirs}))

        said = one.call("curation_record", kind="run_summary", body="Read five.", examined=mine[:1])
        assert "recorded" in said
        again = titles(other, limit=100)
        assert set(mine) <= set(again)  # they lack something, and nobody has them in hand
    finally:
        for server in (one, other):
            server.close()
