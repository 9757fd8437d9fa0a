"""House rules as a client gets them: after the instructions, as a resource, as a prompt; through the real server."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent, TextResourceContents

from tests.conftest import OpenVault
from tests.server.conftest import Call, serve_command, text_of
from tests.services.test_rules import RULE, propose
from vault_memex.server.instructions import LIMIT
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio

HEAD = "\n## House Rules\n\n"


async def read_rules(client: Client) -> tuple[str, str]:
    """The rules as the resource and as the prompt have them."""
    (content,) = (await client.read_resource("vault://rules")).contents
    (message,) = (await client.get_prompt("house-rules")).messages
    assert isinstance(content, TextResourceContents)
    assert isinstance(message.content, TextContent)
    return content.text, message.content.text


async def test_rules_follow_the_instructions_and_are_a_resource_and_a_prompt(client: Client) -> None:
    instructions = client.instructions or ""
    text = instructions[instructions.index(HEAD) + 1 : -1]

    assert len(instructions[: instructions.index(HEAD)]) <= LIMIT
    assert "### Answer in my language\n\nAnswer me in the language I write in." in text
    assert "### Glaze numbers are sacred\n\nApplies to: Studio/**\n\n" in text
    assert (text, text) == await read_rules(client)


async def test_a_rule_changed_meanwhile_is_in_the_resource_and_status_says_that_a_restart_is_due(
    client: Client, call: Call, vault: Vault
) -> None:
    assert "house rules: 3 in force" in text_of(await call("status"))
    assert "have changed" not in text_of(await call("status"))
    (vault.root / "Rules" / "Say where it comes from.md").write_text(RULE, encoding="utf-8")
    status = await call("status")

    assert "The house rules have changed since this session began." in text_of(status)
    assert status.structured_content is not None
    assert status.structured_content["rules_changed_since_start"] is True
    assert "Say the unit with every number." in (await read_rules(client))[0]


async def test_a_rule_of_an_assistant_is_not_among_them(client: Client, call: Call, vault: Vault) -> None:
    path = propose(vault)
    status = await call("status")

    assert "Metric only" not in (await read_rules(client))[0]
    assert f"house rules: 3 in force; not in force: {path}" in text_of(status)


async def test_no_rules_are_said_to_be_none(folder: Path, opening: OpenVault) -> None:
    from vault_memex.server.app import build_server

    async with Client(build_server(opening(folder), (), {})) as client:
        assert HEAD not in (client.instructions or "")
        assert ("No house rules are in force.",) * 2 == await read_rules(client)


@pytest.mark.parametrize("tools", ["core", "memex"])
async def test_the_first_start_on_a_vault_gives_its_rules_in_every_profile(sample: Path, tools: str) -> None:
    command, *arguments = serve_command(sample, "--model", "none", "--tools", tools)
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:
        instructions = client.instructions or ""

    assert "49 notes" in instructions
    assert "### Say where it comes from" in instructions
