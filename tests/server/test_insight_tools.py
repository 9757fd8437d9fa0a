"""`insights` and `insight_decide` through a client, and through the real server in both eras."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from tests.server.conftest import Call, serve_command, text_of
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio


LINKS = {"type": "dangling_link"}  # a tag of the sample vault is back in some weeks of the year


async def find_ids(call: Call, **more: Any) -> dict[str, int]:
    """The signals about links by what they are."""
    value = (await call("insights", **LINKS, **more)).structured_content
    assert value is not None
    return {signal["detail"]: signal["id"] for signal in value.get("signals", ())}


async def test_new_signals_are_listed_with_their_notes_and_the_same_as_a_value(call: Call) -> None:
    result = await call("insights", **LINKS)
    text = text_of(result)
    value = result.structured_content

    assert text.startswith(
        "3 of 3 signals.\nunavailable: semantic (threads and overtaken states are not looked for:"
    )
    assert "· dangling_link: forward · new · found " in text
    assert "   'Loose ends' links to [[Sponge supplier]], which is not written yet." in text
    assert "   notes: #49 Loose ends (Loose ends.md)" in text
    assert value is not None
    assert {"typo", "forward", "placeholder"} == {signal["detail"] for signal in value["signals"]}
    assert {"kind": "signals", "total": 3, "returned": 3} == {k: value[k] for k in ("kind", "total", "returned")}


async def test_pages_say_how_to_go_on(call: Call) -> None:
    assert text_of(await call("insights", **LINKS, limit=2)).endswith("\n1 more: offset=2.")
    assert "1 of 3 signals." in text_of(await call("insights", **LINKS, limit=2, offset=2))


async def test_a_decision_is_answered_and_holds(call: Call) -> None:
    ids = await find_ids(call)
    dismissed = text_of(await call("insight_decide", action="dismiss", id=ids["typo"]))
    snoozed = text_of(await call("insight_decide", action="snooze", signal_id=ids["forward"], until="2999-01-01"))

    assert f"signal {ids['typo']} · dangling_link: typo · dismissed · found" in dismissed
    assert f"signal {ids['forward']} · dangling_link: forward · snoozed until 2999-01-01 · found" in snoozed
    assert "1 of 1 signal." in text_of(await call("insights", **LINKS))
    assert "3 of 3 signals." in text_of(await call("insights", **LINKS, status="all"))
    assert "1 of 1 signal." in text_of(await call("insights", **LINKS, status="dismissed"))
    assert "No signals." in text_of(await call("insights", type="hidden_arc"))


async def test_all_links_of_a_note_are_dismissed_and_that_can_be_taken_back(call: Call) -> None:
    ids = await find_ids(call)
    await call("insight_decide", **{"action": "dismiss", "id": ids["forward"], "class": "note"})
    dismissed = await find_ids(call, status="dismissed")
    assert {"every link", "forward"} == set(dismissed)

    removed = text_of(await call("insight_decide", action="reopen", id=dismissed["every link"]))
    assert removed.startswith("removed: links of that note")


async def test_an_inference_is_minted_only_with_the_persons_word_and_cited(call: Call, vault: Vault) -> None:
    hypothesis: dict[str, Any] = {
        "action": "mint",
        "title": "Berta cost more than she gave",
        "summary": "Every repair came within weeks of the last.",
        "evidence": ["Kiln Berta"],
        "supports": ["2026-09-30 Berta is retired"],
        "confidence": 0.6,
    }
    refused = await call("insight_decide", **hypothesis)
    unknown = await call(
        "insight_decide", **{**hypothesis, "evidence": ["Kiln Bertha the Second"]}, confirmed=True
    )
    minted = await call("insight_decide", **hypothesis, confirmed=True)

    assert text_of(refused).startswith("CONFIRMATION_REQUIRED: ")
    assert "UNKNOWN_NOTES: These name no note, or several: Kiln Bertha the Second." in text_of(unknown)
    assert (True, True, False) == (refused.is_error, unknown.is_error, minted.is_error)
    assert "   cite as: [Inference #1, conf 0.60, from notes #7, #39]" in text_of(minted)
    assert (
        "   supports #39 2026-09-30 Berta is retired (Decisions/2026-09-30 Berta is retired.md): unchanged"
        in text_of(minted)
    )
    assert "No match" not in text_of(await call("search", query="Berta"))
    assert "_memex" not in text_of(await call("search", query="Every repair came within weeks of the last"))


async def test_a_stale_inference_is_marked_and_shows_then_and_now(call: Call) -> None:
    mint = {"action": "mint", "title": "One", "summary": "Two.", "evidence": ["Glaze index"], "confirmed": True}
    await call("insight_decide", **mint)
    await call("edit", ref="Glaze index", patch=[{"prepend": "Everything is new.\n"}])

    listed = text_of(await call("insights", kind="inferences"))
    one = text_of(await call("insights", kind="inferences", id=1))
    stale = text_of(await call("insights", kind="inferences", status="stale"))

    assert 'inference 1 [STALE] · "One"' in listed
    assert "1 of 1 sources changed or gone" in listed
    assert "cite as: [Inference #1, STALE, from notes #" in stale
    assert "      now: " in one
    assert "Everything is new." in one
    assert "      then: " in one
    assert text_of(await call("insight_decide", action="archive", id=1)).startswith(
        "archived:\ninference 1 [ARCHIVED]"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "fault"),
    [
        ("insights", {"status": "stale"}, "A signal is new, snoozed, dismissed, minted"),
        ("insights", {"kind": "inferences", "status": "new"}, "An inference is active, stale, archived"),
        ("insights", {"kind": "inferences", "type": "tag_burst"}, "Only signals have a type"),
        ("insights", {"id": 99}, "There is no signal 99"),
        ("insights", {"kind": "inferences", "id": 99}, "There is no inference 99"),
        ("insights", {"type": "mystery"}, "hidden_arc"),
        ("insight_decide", {"action": "dismiss"}, "the number of the signal"),
        ("insight_decide", {"action": "archive"}, "the number of the inference"),
        ("insight_decide", {"action": "minted", "id": 1}, "dismiss"),
        ("insight_decide", {"action": "mint", "title": "x", "summary": "y", "confirmed": True}, "needs evidence"),
        (
            "insight_decide",
            {"action": "mint", "from_signal": 99, "title": "x", "summary": "y", "confirmed": True},
            "99",
        ),
    ],
)
async def test_what_is_wrong_is_said(call: Call, tool: str, arguments: dict[str, Any], fault: str) -> None:
    result = await call(tool, **arguments)

    assert result.is_error
    assert fault in text_of(result)


def test_both_tools_are_in_a_set_of_their_own_and_readers_decide_nothing() -> None:
    names = {choice: [t.name for t in find_tools(choice, "agent")] for choice in ("core", "core,insights", "full")}

    assert {
        "core": [],
        "core,insights": ["insights", "insight_decide"],
        "full": ["insights", "insight_decide"],
    } == {choice: [name for name in found if name.startswith("insight")] for choice, found in names.items()}
    assert {"insights", "insight_decide"} <= {*find_callable("agent")}
    assert ["insights"] == [t.name for t in find_tools("insights", "reader")]
    assert "insight_decide" not in find_callable("reader")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_real_client_is_greeted_with_counts_finds_decides_and_mints(sample: Path, mode: Any) -> None:
    command = serve_command(sample, "--model", "none", "--tools", "core,insights", "--as", "claude")
    server = StdioServerParameters(command=sys.executable, args=command[1:])
    async with Client(server, mode=mode) as client:
        assert "Waiting in this vault" not in (client.instructions or "")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        hints = tools["insights"].annotations
        assert hints is not None
        assert hints.read_only_hint

        listed = await client.call_tool("insights", LINKS)
        assert isinstance(listed, CallToolResult)
        assert "3 of 3 signals." in text_of(listed)
        assert listed.structured_content is not None
        ids = {signal["detail"]: signal["id"] for signal in listed.structured_content["signals"]}
        mint = {"title": "One", "summary": "Two.", "from_signal": ids["forward"], "confirmed": True}
        minted = await client.call_tool("insight_decide", {"action": "mint", **mint})
        assert isinstance(minted, CallToolResult)
        assert "[Inference #1, from notes #49]" in text_of(minted)
        await client.call_tool("edit", {"ref": "Loose ends", "patch": [{"append": "More."}]})
        await client.call_tool("insights", {"kind": "inferences"})
    async with Client(server, mode=mode) as client:
        assert re.search(
            r"\nWaiting in this vault: [23] new signals and 1 stale inference. Mention it only when it helps.\n",
            client.instructions or "",
        )
        assert "`insights` lists what the vault itself points out." in (client.instructions or "")
