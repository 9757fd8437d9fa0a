"""The profile `knowledge-graph`: recorded answers of the reference server, step by step, and its resource."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult

from tests.conftest import OpenVault, shared
from tests.server.conftest import Call, text_of
from vault_memex.memory.knowledge import Observation
from vault_memex.memory.knowledge_graph import Entity
from vault_memex.server.app import build_server
from vault_memex.server.tool import GRAPH_URI
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.services.knowledge_requests import GraphEdit
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio

Change = Callable[[Client, Vault], Awaitable[None]]

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


async def edit_an_entity(client: Client, vault: Vault) -> None:
    edited = await client.call_tool("edit", {"ref": "Ada", "patch": [{"find": "tea", "replace": "milk"}]})
    assert not edited.is_error, edited.content


async def write_an_entity_outside(client: Client, vault: Vault) -> None:
    (vault.root / "Eve.md").write_text("---\nentity_type: person\n---\n", encoding="utf-8")


async def create_an_entity(client: Client, vault: Vault) -> None:
    await client.call_tool(
        "create_entities", {"entities": [{"name": "Eve", "entityType": "x", "observations": []}]}
    )


ADA = GraphEdit(entities=(Entity("Ada", "person", (Observation("tea"),)),))
CHANGES = pytest.mark.parametrize("change", [create_an_entity, edit_an_entity, write_an_entity_outside])


@CHANGES
async def test_a_listening_client_of_the_new_era_hears_of_every_change(vault: Vault, change: Change) -> None:
    vault.knowledge.edit(ADA)
    server = build_server(vault, find_tools("knowledge-graph", "agent"), find_callable("agent"))
    async with Client(server, mode="auto") as client, client.listen(resource_subscriptions=[GRAPH_URI]) as heard:
        await change(client, vault)
        with anyio.fail_after(20):
            event = await anext(aiter(heard))

    assert GRAPH_URI == event.uri


@CHANGES
@pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")
async def test_a_subscribed_client_of_the_old_era_hears_until_it_unsubscribes(
    vault: Vault, change: Change
) -> None:
    heard: list[str] = []
    arrived = anyio.Event()

    async def listen(message: object) -> None:
        uri = getattr(getattr(message, "params", None), "uri", None)
        if uri is not None:
            heard.append(str(uri))
            arrived.set()

    vault.knowledge.edit(ADA)
    server = build_server(vault, find_tools("knowledge-graph", "agent"), find_callable("agent"))
    async with Client(server, mode="legacy", message_handler=listen) as client:
        await client.session.subscribe_resource(GRAPH_URI)
        await change(client, vault)
        with anyio.fail_after(20):
            await arrived.wait()
        await client.session.unsubscribe_resource(GRAPH_URI)
        told = len(heard)
        await client.call_tool("delete_entities", {"entityNames": ["Ada"]})
        await server.news.run_once()

    assert told == len(heard)
    assert {GRAPH_URI} == set(heard)


def test_only_what_changes_the_graph_is_news(vault: Vault, folder: Path) -> None:
    news = build_server(vault, find_tools("core", "agent"), find_callable("agent")).news
    (folder / "Ada.md").write_text("---\nentity_type: person\n---\n# Observations\n\n- tea\n", encoding="utf-8")
    (folder / "Diary.md").write_text("A day.\n", encoding="utf-8")
    vault.refresh()
    news.begin()
    seen = [news.look()]
    for name, more in (("Diary", "More.\n"), ("Ada", "\nProse.\n"), ("Ada", "\n- milk\n")):
        with (folder / f"{name}.md").open("a", encoding="utf-8") as note:
            note.write(more)
        vault.refresh()
        seen += [news.look(), news.look()]

    assert [False, False, False, False, False, True, False] == seen


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
    waiting = "---\ntags: [user-profile]\nreview: pending\ncreated: 2001-01-01\n---\n"
    (folder / "Somebody else.md").write_text(waiting, encoding="utf-8")
    vault.refresh()
    after = (await client.get_prompt("remember-me")).messages[0].content

    assert "You are talking with default_user." in before.text
    assert "You are talking with Lena." in after.text
    assert {"search_nodes", "open_nodes", "create_entities", "create_relations", "add_observations"} == set(
        re.findall(r"`(\w+)`", after.text)
    )
