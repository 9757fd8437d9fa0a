"""What is answered before the index exists."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client

from tests.server.conftest import text_of
from vault_memex import foreground as root
from vault_memex.index.leader import Leadership
from vault_memex.server.app import build_server
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.services.reading import ReadRequest
from vault_memex.services.retrieval import SearchRequest
from vault_memex.vault import open_vault


def test_a_first_search_and_a_first_title_wait_for_the_first_pass(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(root, "FIRST_PASS_SECONDS", 60.0)
    vault = open_vault(sample, flags={"model": "none"})
    try:
        vault.start()
        title = vault.reading.get("Glaze index", ReadRequest()).path
        answer = vault.retrieval.search(SearchRequest("celadon"))
    finally:
        vault.close(patient=False)

    assert "Studio/Glaze index.md" == title
    assert 6 == answer.total


def test_an_empty_vault_is_not_waited_for_once_it_was_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = open_vault(folder, flags={"model": "none"})
    try:
        vault.start()
        assert vault.background.wait_scanned(60.0)
        monkeypatch.setattr(vault.background, "wait_scanned", lambda _: pytest.fail("waited"))

        assert 0 == vault.retrieval.search(SearchRequest("celadon")).total
    finally:
        vault.close(patient=False)


@pytest.mark.anyio
async def test_what_is_not_found_in_an_unfinished_index_is_said_to_be_so(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(root, "FIRST_PASS_SECONDS", 0.0)
    vault = open_vault(sample, flags={"model": "none"})
    other = Leadership(vault.cache)  # keeps the index, and never comes to it
    assert other.try_lead()
    server = build_server(vault, find_tools("core", "agent"), find_callable("agent"))
    try:
        async with Client(server) as client:
            missing = await client.call_tool("get", {"ref": "Glaze index"})
            nothing = await client.call_tool("search", {"query": "celadon"})
    finally:
        other.resign()
        vault.close(patient=False)

    assert missing.is_error
    assert text_of(missing).startswith("NOT_FOUND: ")
    assert "being checked against the files" in text_of(missing)
    assert "being checked against the files" in nothing.structured_content["indexing"]
