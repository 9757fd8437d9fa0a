"""Skills as a client meets them: a tool, resources, prompts, and news of them on every answer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, ResourceTemplateReference, TextContent, TextResourceContents

from tests.conftest import OpenVault
from tests.server.conftest import Call, serve_command, text_of
from vault_memex.cli.parser import build_parser
from vault_memex.memory.connections import Connection
from vault_memex.server.app import build_server
from vault_memex.server.instructions import find_names
from vault_memex.server.skill_surface import META, SkillSurface
from vault_memex.server.tools import ALL_TOOLS, find_callable, find_tools
from vault_memex.session import Session
from vault_memex.store.builtin_skills import read_builtin_skills
from vault_memex.vault import Vault, open_vault

pytestmark = pytest.mark.anyio

BUILT_IN = ["recall", "writing", "curation", "guide"]
KILN = "---\ntags: [skill]\nsummary: How the kiln is loaded.\n---\nHeavy pots below. Then `search`.\n"


def version_of(result: CallToolResult) -> str:
    return str((result.meta or {})[f"{META}skills_version"])


def changed_in(result: CallToolResult) -> str | None:
    return (result.meta or {}).get(f"{META}skills_changed")


async def read(client: Client, slug: str) -> str:
    (content,) = (await client.read_resource(f"memex://skill/{slug}")).contents
    assert isinstance(content, TextResourceContents)
    return content.text


def connect(root: Path, *more: str) -> Client:
    command, *arguments = serve_command(root, "--model", "none", *more)
    return Client(StdioServerParameters(command=command, args=arguments))


async def test_a_real_client_finds_skills_in_tool_description_resources_and_prompts_and_loads_one(
    sample: Path, opening: OpenVault
) -> None:
    (sample / "Рецепт борща.md").write_text(KILN, encoding="utf-8")
    (sample / "Waiting.md").write_text(KILN.replace("tags", "review: pending\ntags"), encoding="utf-8")
    (sample / "By hand.md").write_text(KILN.replace("tags", "skill_surfaces: [prompts]\ntags"), encoding="utf-8")
    opening(sample)  # indexes it, so that no load of the machine makes a difference
    async with connect(sample) as client:
        listed = text_of(await client.call_tool("skills", {}))
        described = next(tool.description for tool in (await client.list_tools()).tools if tool.name == "skills")
        resources = [str(one.uri) for one in (await client.list_resources()).resources]
        prompts = [one.name for one in (await client.list_prompts()).prompts]
        loaded = text_of(await client.call_tool("skills", {"slug": "Рецепт-борща"}))
        (message,) = (await client.get_prompt("by-hand")).messages
        as_resource = await read(client, "%D1%80%D0%B5%D1%86%D0%B5%D0%BF%D1%82-%D0%B1%D0%BE%D1%80%D1%89%D0%B0")
        template = ResourceTemplateReference(type="ref/resource", uri="memex://skill/{slug}")
        completed = (await client.complete(template, {"name": "slug", "value": "wr"})).completion.values
        instructions = client.instructions or ""

    assert [*BUILT_IN, "рецепт-борща"] == [line[2:].partition(":")[0] for line in listed.splitlines()[1:]]
    assert "- рецепт-борща: Рецепт борща. How the kiln is loaded." in listed
    assert f"Now: {', '.join([*BUILT_IN, 'рецепт-борща'])}." in (described or "")
    assert 5 == sum(uri.startswith("memex://skill/") for uri in resources)
    assert [*BUILT_IN, "by-hand", "рецепт-борща"] == prompts[-6:]
    assert "the person's own, in Рецепт борща.md (#" in loaded
    assert loaded.endswith("\n\nHeavy pots below. Then `search`.")
    assert loaded == as_resource
    assert isinstance(message.content, TextContent)
    assert "By hand.md" in message.content.text
    assert ["writing"] == completed
    assert "look before a task that one fits, and follow it" in " ".join(instructions.split())


async def test_each_answer_has_the_version_and_a_new_list_is_told_once_to_each_connection(
    client: Client, call: Call, vault: Vault
) -> None:
    first = await call("status")
    assert first.structured_content is not None
    assert version_of(first) == first.structured_content["skills_version"]
    assert changed_in(first) is None
    (vault.root / "Kiln.md").write_text(KILN, encoding="utf-8")
    vault.refresh()
    refused = await call("get", ref="no such note")
    again = await call("get", ref="About me")
    unknown = await call("nothing")

    said = f"The skills are now: {', '.join([*BUILT_IN, 'kiln'])}."
    assert refused.is_error
    assert refused.structured_content is None
    assert said == changed_in(refused)
    assert text_of(refused).endswith(f"\n\nskills_changed: {said}")
    assert changed_in(again) is None
    assert "skills_changed" not in text_of(again)
    assert version_of(refused) == version_of(again) == version_of(unknown) != version_of(first)


async def test_a_structured_answer_with_the_news_still_fits_the_schema_of_its_tool(
    client: Client, call: Call, vault: Vault
) -> None:
    await call("status")
    schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
    for number, (tool, arguments) in enumerate(
        (
            ("search", {"query": "glaze"}),
            ("vocabulary", {}),
            ("status", {}),
            ("save", {"title": "A thought", "body": "About glazes.", "layer": "state"}),
            ("retire", {"ref": "A thought", "reason": "a test"}),
        )
    ):
        (vault.root / f"Way {number}.md").write_text(KILN, encoding="utf-8")
        vault.refresh()
        value: Any = (await call(tool, **arguments)).structured_content
        schema = schemas[tool]

        assert f"way-{number}." in value["skills_changed"]
        assert schema is not None
        validate(value, schema)


async def test_while_a_vault_is_first_indexed_its_skills_are_no_news_and_the_list_says_that_more_may_come(
    sample: Path,
) -> None:
    (sample / "Kiln.md").write_text(KILN, encoding="utf-8")
    vault = open_vault(sample, flags={"model": "none", "connection": "tester"})
    listed = find_tools("core", "agent")
    server = build_server(vault, listed, find_callable("agent", listed), keeps_vault=False)
    try:
        async with Client(server) as client:
            early = [await client.call_tool(name, {}) for name in ("status", "skills")]
            vault.refresh()
            late = [await client.call_tool(name, {}) for name in ("status", "skills")]
    finally:
        vault.close(patient=False)

    assert [None] * 4 == [changed_in(answer) for answer in (*early, *late)]  # type: ignore[arg-type]
    assert "kiln" not in text_of(early[1])  # type: ignore[arg-type]
    assert "index" in text_of(early[1]).splitlines()[-1]  # type: ignore[arg-type]
    assert text_of(late[1]).splitlines()[-1].startswith("- kiln: ")  # type: ignore[arg-type]


async def test_a_list_that_was_asked_for_is_no_news(call: Call, vault: Vault) -> None:
    await call("status")
    (vault.root / "Kiln.md").write_text(KILN, encoding="utf-8")
    vault.refresh()
    listed = await call("skills")

    assert "- kiln: " in text_of(listed)
    assert changed_in(listed) is None
    assert changed_in(await call("status")) is None


async def test_what_a_connection_last_saw_is_remembered_by_its_name_from_one_session_to_the_next(
    sample: Path, opening: OpenVault
) -> None:
    async def ask(name: str) -> str | None:
        vault = opening(sample, connection=name)
        listed = find_tools("core", "agent")
        async with Client(build_server(vault, listed, find_callable("agent", listed))) as client:
            return changed_in(await client.call_tool("status", {}))  # type: ignore[arg-type]

    before = [await ask("one"), await ask("one")]
    (sample / "Kiln.md").write_text(KILN, encoding="utf-8")

    assert [None, None] == before
    assert "kiln" in (await ask("one") or "")
    assert await ask("one") is None
    assert await ask("two") is None  # it has seen no other list


async def test_hidden_skills_are_nowhere_and_an_unknown_one_is_answered_with_the_known(vault: Vault) -> None:
    session = Session(vault, Connection("guest", "reader", (), ("recall", "curation")))
    session.close = lambda *, patient=True: None  # type: ignore[method-assign]  # the vault goes on
    listed = find_tools("core", "reader")
    async with Client(build_server(session, listed, find_callable("reader", listed))) as client:
        uris = [str(one.uri) for one in (await client.list_resources()).resources]
        prompts = [one.name for one in (await client.list_prompts()).prompts]
        refused = await client.call_tool("skills", {"slug": "recall"})
        assert isinstance(refused, CallToolResult)
        with pytest.raises(MCPError, match="writing, guide"):
            await read(client, "recall")
        with pytest.raises(MCPError, match="house-rules, writing, guide"):
            await client.get_prompt("recall")

    assert text_of(refused).startswith("NOT_FOUND: No skill 'recall'. There are: writing, guide.")
    assert ["memex://skill/writing", "memex://skill/guide"] == [uri for uri in uris if "skill" in uri]
    assert {"recall", "curation"}.isdisjoint(prompts)


async def test_a_profile_with_closed_schemas_or_without_a_tool_for_skills_is_left_as_it_is(
    sample: Path, opening: OpenVault
) -> None:
    vault = opening(sample)
    listed = find_tools("knowledge-graph", "agent")
    async with Client(build_server(vault, listed, find_callable("agent", listed))) as client:
        await client.call_tool("read_graph", {})
        (vault.root / "Kiln.md").write_text(KILN, encoding="utf-8")
        vault.refresh()
        graph = await client.call_tool("read_graph", {})
        assert isinstance(graph, CallToolResult)

    assert version_of(graph)
    assert {"entities", "relations"} == set(graph.structured_content or {})
    assert json.loads(text_of(graph)) == graph.structured_content


def test_the_built_in_skills_speak_of_tools_that_there_are() -> None:
    tools = {spec.name: spec.arguments.model_fields for spec in ALL_TOOLS}
    arguments = {name for fields in tools.values() for name in fields}
    others = {
        "past",
        "state",
        "rule",
        "find",
        "no_match",
        "curation",
        "curation_flag",
        "decision",
        "reject",
        "skill",
    }
    others |= {"ignore"}
    parser = build_parser()
    for skill in read_builtin_skills():
        for quoted in re.findall(r"`([^`]+)`", skill.text):
            if quoted.startswith("vault-memex "):
                words = [re.sub("^ROLE$", "agent", word) for word in quoted.split()[1:]]
                assert parser.parse_args(words).run is not None, quoted
            elif re.fullmatch(r"[a-z_]+(: [a-z0-9_]+)?", quoted):
                assert quoted.partition(":")[0] in {*tools, *arguments, *others}, (skill.slug, quoted)


def test_a_built_in_skill_speaks_of_the_tools_that_are_advertised_and_one_of_the_persons_as_they_wrote_it(
    vault: Vault,
) -> None:
    (vault.root / "Kiln.md").write_text(KILN, encoding="utf-8")
    vault.refresh()
    names = find_names(["search_notes", "get_note", "skills"])
    surface = SkillSurface(vault, (), names)

    assert "`search_notes`" in surface.read("recall")
    assert "`search`" not in surface.read("recall")
    assert "Then `search`." in surface.read("kiln")
