"""The profile `memex`: thirteen original names, parameters and texts, over the same services as the unified tools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.conftest import OpenVault
from tests.server.conftest import Call, text_of
from vault_memex.errors import InvalidArgument
from vault_memex.server.instructions import LIMIT
from vault_memex.server.profiles import PROFILES
from vault_memex.server.tools import ALL_TOOLS, find_callable, find_tools
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio

ORIGINAL = {
    "save_note",
    "search_notes",
    "list_notes",
    "list_tags",
    "list_folders",
    "get_note",
    "update_note",
    "delete_note",
    "get_signals",
    "update_signal_status",
    "list_inferences",
    "get_inference",
    "mint_inference",
}
NOTE: dict[str, Any] = {
    "title": "A lid that does not stick",
    "content": "Alumina hydrate on both seats of the lid. Told by [[Tomas Brandt]].",
    "layer": "state",
    "folder": "Studio",
    "tags": ["glaze"],
}


@pytest.fixture
def vault(sample: Path, opening: OpenVault) -> Vault:
    return opening(sample, tools="memex")


async def find_number(call: Call, title: str) -> int:
    found = re.search(
        rf"## \d+\. {re.escape(title)} \(id: (\d+)\)", text_of(await call("search_notes", query=title))
    )
    assert found is not None
    return int(found[1])


# -- which tools


async def test_the_profile_lists_the_thirteen_original_tools_and_instructions_speak_of_them(
    client: Client,
) -> None:
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    instructions = (client.instructions or "").partition("\n## House Rules")[0]
    spoken = set(re.findall(r"`(\w+)`", instructions))

    assert set(listed) == ORIGINAL
    assert spoken <= ORIGINAL
    assert {"get_note", "save_note", "update_note", "list_tags", "list_folders", "get_signals"} <= spoken
    assert len(instructions) <= LIMIT
    assert {"title", "content", "layer", "folder", "tags"} <= set(listed["save_note"].input_schema["properties"])
    assert ["title", "content", "layer"] == listed["save_note"].input_schema["required"]
    assert {"query", "limit", "category", "tag", "date_from", "date_to"} == set(
        listed["search_notes"].input_schema["properties"]
    )
    assert {"fromSignalId", "evidenceNoteIds", "confidence", "modelId", "confirmed"} <= set(
        listed["mint_inference"].input_schema["properties"]
    )


async def test_every_name_of_every_profile_is_callable_whatever_is_listed(call: Call) -> None:
    assert "notes: 49" in text_of(await call("status"))
    names = {spec.name for specs in PROFILES.values() for spec in specs}

    for choice in ("minimal", "core", *PROFILES):
        assert names | {spec.name for spec in ALL_TOOLS} == set(
            find_callable("agent", find_tools(choice, "agent"))
        )
    assert "save_note" not in find_callable("reader")
    assert "save_note" not in {spec.name for spec in find_tools("memex", "reader")}


def test_a_profile_stands_alone() -> None:
    for choice in ("memex,core", "core,+memex", "-memex"):
        with pytest.raises(InvalidArgument, match="the profile memex stands alone"):
            find_tools(choice, "agent")


# -- reading


async def test_a_search_names_notes_by_number_and_the_number_reads_the_note(call: Call) -> None:
    number = await find_number(call, "Kiln Berta")
    note = text_of(await call("get_note", id=number))

    assert note.startswith("# Kiln Berta\n")
    assert f"id: {number} | layer: " in note
    assert re.search(r"\nReferenced by:\n- #\d+ \"", note)
    assert text_of(await call("get_note", id="Kiln Berta")).startswith("# Kiln Berta\n")
