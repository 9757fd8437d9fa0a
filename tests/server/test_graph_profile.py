"""The profile `knowledge-graph`: recorded answers of the reference server, step by step, and its resource."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult

from tests.conftest import OpenVault, shared
from tests.server.conftest import Call, text_of
from vault_memex.server.app import build_server
from vault_memex.server.tool import GRAPH_URI
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio

# Where an answer differs from the published server on purpose; docs/knowledge-graph.md says why.
REPEATS = {35, 36, 39}  # equal entities or relations in one call are made once
TRUTHFUL = {5, 6, 7, 102, 103, 104, 106, 111, 112, 114}  # a delete says what was not there
OTHER_TEXT = {101}  # an unknown tool is an error in either


@pytest.fixture
def vault(folder: Path, opening: OpenVault) -> Vault:
    return opening(folder, tools="knowledge-graph")


def load_steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = json.loads(shared("cases/kg_golden.json").read_text(encoding="utf-8"))
    return steps


def shape_of(result: CallToolResult) -> tuple[str, Any, bool]:
    return text_of(result), result.structured_content, bool(result.is_error)


def recorded(step: dict[str, Any]) -> tuple[str, Any, bool]:
    result = step["result"]
    return result["content"][0]["text"], result.get("structuredContent"), bool(result.get("isError"))


async def test_every_recorded_answer_is_given_again_but_for_the_listed_ones(call: Call) -> None:
    differing = {}
    for step in load_steps():
        answer = shape_of(await call(step["tool"], **step["arguments"]))
        if answer != recorded(step):
            differing[step["step"]] = (recorded(step), answer)

    assert REPEATS | TRUTHFUL | OTHER_TEXT == set(differing)
    assert all(answer[2] == wanted[2] for wanted, answer in differing.values())
    assert "Deleted 1 of 2 observations. Not found: Alice: never said" == differing[102][1][0]


async def test_the_tools_are_listed_as_the_reference_lists_them(client: Client) -> None:
    wanted = json.loads(shared("cases/kg_tools.json").read_text(encoding="utf-8"))

    listed = [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True)
        for tool in (await client.list_tools()).tools
    ]

    for tool in listed:
        assert tool.pop("description")
    assert sorted(wanted, key=lambda tool: tool["name"]) == sorted(listed, key=lambda tool: tool["name"])


async def test_the_graph_is_a_resource(client: Client, call: Call) -> None:
    await call("create_entities", entities=[{"name": "Ada", "entityType": "person", "observations": ["tea"]}])

    (listed,) = [r for r in (await client.list_resources()).resources if r.uri == GRAPH_URI]
    (content,) = (await client.read_resource(GRAPH_URI)).contents

    assert ("knowledge-graph", "application/json") == (listed.name, listed.mime_type)
    assert text_of(await call("read_graph")) == content.text


async def test_a_listening_client_of_the_new_era_hears_of_every_write(vault: Vault) -> None:
    server = build_server(vault, find_tools("knowledge-graph", "agent"), find_callable("agent"))
    async with Client(server, mode="auto") as client, client.listen(resource_subscriptions=[GRAPH_URI]) as heard:
        await client.call_tool("delete_entities", {"entityNames": ["Nobody"]})
        with anyio.fail_after(10):
            event = await anext(aiter(heard))

    assert GRAPH_URI == event.uri


@pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")
async def test_a_subscribed_client_of_the_old_era_hears_until_it_unsubscribes(vault: Vault) -> None:
    heard: list[str] = []
    arrived = anyio.Event()

    async def listen(message: object) -> None:
        uri = getattr(getattr(message, "params", None), "uri", None)
        if uri is not None:
            heard.append(str(uri))
            arrived.set()

    server = build_server(vault, find_tools("knowledge-graph", "agent"), find_callable("agent"))
    async with Client(server, mode="legacy", message_handler=listen) as client:
        await client.call_tool("delete_entities", {"entityNames": ["before"]})
        await client.session.subscribe_resource(GRAPH_URI)
        await client.call_tool("read_graph", {})
        await client.call_tool("delete_entities", {"entityNames": ["heard"]})
        with anyio.fail_after(10):
            await arrived.wait()
        await client.session.unsubscribe_resource(GRAPH_URI)
        await client.call_tool("delete_entities", {"entityNames": ["after"]})

    assert [GRAPH_URI] == heard


async def test_what_ended_is_left_out(call: Call, vault: Vault, folder: Path) -> None:
    (folder / "Ada.md").write_text(
        "---\nentity_type: person\n---\n## Observations\n- was young (until 1830-01-01)\n- wrote (from 1842-01-01)\n",
        encoding="utf-8",
    )
    vault.refresh()

    graph = (await call("read_graph")).structured_content

    assert [{"name": "Ada", "entityType": "person", "observations": ["wrote"]}] == graph["entities"]


async def test_a_past_note_is_said_to_be_one(call: Call, vault: Vault, folder: Path) -> None:
    (folder / "Ada.md").write_text("---\nentity_type: person\nlayer: past\n---\n", encoding="utf-8")
    vault.refresh()

    answer = await call("add_observations", observations=[{"entityName": "Ada", "contents": ["x"]}])

    assert answer.is_error
    assert text_of(answer).startswith("'Ada' records what happened and is not rewritten.")


async def test_a_prompt_has_the_graph_used_for_the_person_of_the_profile_note(
    client: Client, vault: Vault, folder: Path
) -> None:
    before = (await client.get_prompt("remember-me")).messages[0].content
    (folder / "Lena.md").write_text("---\ntags: [user-profile]\n---\nI am Lena.\n", encoding="utf-8")
    vault.refresh()
    after = (await client.get_prompt("remember-me")).messages[0].content

    assert "You are talking with default_user." in before.text
    assert "You are talking with Lena." in after.text
    assert {"search_nodes", "open_nodes", "create_entities", "create_relations", "add_observations"} == set(
        re.findall(r"`(\w+)`", after.text)
    )
