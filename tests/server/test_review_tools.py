"""What waits, as an assistant sees it: outcomes, the inbox, and no way to decide."""

from __future__ import annotations

import subprocess
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import OpenVault
from tests.server.conftest import Call, serve_command, text_of
from vault_memex.server.tools import find_callable
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio
CLAY = "Studio/Clay body M-14.md"


@pytest.fixture
def vault(sample: Path, opening: OpenVault) -> Vault:
    return opening(sample, policy="reviewed")


async def test_each_write_of_an_agent_under_review_says_that_it_waits(call: Call, sample: Path) -> None:
    before = (sample / CLAY).read_bytes()

    saved = (await call("save", title="A thought", body="About glazes.", layer="state")).structured_content
    held = (await call("edit", ref=CLAY, summary="The body we use.", comment="shorter")).structured_content
    folded = (await call("edit", ref=CLAY, tags=["clay"])).structured_content
    report = await call("edit", ref="Studio/Clay body S-20.md", comment="Not sold any more.")
    gone = (await call("retire", ref="A thought", reason="no")).structured_content

    assert ["pending", "held", "folded", "held"] == [r["outcome"] for r in (saved, held, folded, gone)]
    assert (1, 1, "reported") == (held["proposal"], folded["proposal"], report.structured_content["outcome"])
    assert "Reported as proposal 2, about note" in text_of(report)
    assert before == (sample / CLAY).read_bytes()
    assert "review: pending" in (sample / "A thought.md").read_text(encoding="utf-8")


async def test_the_inbox_counts_all_and_shows_the_oldest_with_text_only_when_asked(call: Call) -> None:
    await call("edit", ref=CLAY, summary="The body we use.", comment="shorter")
    await call("edit", ref="Studio/Clay body S-20.md", comment="Not sold any more.")
    await call("save", title="A thought", body="About glazes.", layer="state")

    answer = await call("status", view="inbox", limit=1)
    inbox = answer.structured_content["inbox"]
    with_text = (await call("status", view="inbox", max_chars=500)).structured_content["inbox"]["rows"]

    assert (1, 2) == (inbox["pending_notes"], inbox["proposals"])
    assert [("new note", None), ("edit", 1)] == [(r["kind"], r.get("number")) for r in inbox["rows"]]
    assert [len("About glazes.\n"), len("The body we use.")] == [r["proposed_chars"] for r in inbox["rows"]]
    assert all("text" not in row for row in inbox["rows"])
    assert "inbox: 1 new notes and 2 proposals wait; 2 shown, oldest first" in text_of(answer)
    assert "+summary: The body we use." in with_text[1]["text"]
    assert ["edit", "report"] == [row["kind"] for row in with_text[1:]]
    assert "inbox" not in (await call("status")).structured_content


async def test_a_deletion_and_a_merge_are_proposed_and_say_where_links_would_lead(
    call: Call, sample: Path
) -> None:
    before = {path: path.read_bytes() for path in sample.rglob("*.md")}
    other = "Studio/Clay body S-20.md"

    deletion = await call("retire", ref=CLAY, reason="not used any more", hold=True)
    merge = await call("retire", note_id=other, action="merge", into_note_id=CLAY, reason="one body")
    inbox = (await call("status", view="inbox")).structured_content["inbox"]["rows"]
    refused = [
        await call("retire", ref=CLAY, action="merge", reason="x"),
        await call("retire", ref=CLAY, action="merge", into="Clay body M-14", reason="x"),
        await call("retire", ref=CLAY, into=other, reason="x"),
        await call("retire", ref=CLAY, action="merge", into=other, merged_body=" ", reason="x"),
    ]

    gone, merged = deletion.structured_content, merge.structured_content
    assert ("held", 1, "held", 2, CLAY) == (
        *(gone[name] for name in ("outcome", "proposal")),
        *(merged[name] for name in ("outcome", "proposal", "into")),
    )
    assert "tell the person where those links should go" in gone["citing_advice"]
    assert len(gone["cited_by"]) > 1
    assert f"— {other}, to be merged into {CLAY}" in text_of(merge)
    assert [("delete", None), ("merge", CLAY)] == [(row["kind"], row.get("into")) for row in inbox]
    assert ["INVALID_ARGUMENT"] * 3 + ["EMPTY_BODY"] == [text_of(one).partition(":")[0] for one in refused]
    assert before.items() <= {path: path.read_bytes() for path in sample.rglob("*.md")}.items()


async def test_changes_are_chosen_by_kind_and_the_history_of_tidying_is_for_curators(call: Call) -> None:
    await call("save", title="A thought", body="About glazes.", layer="state")
    await call("edit", ref=CLAY, summary="The body we use.", comment="shorter")

    submitted = await call("changes", kind="submitted")
    refused = [
        await call("changes", kind="moved"),
        await call("changes", scope="curation"),
        await call("changes", precedent_only=True),
    ]

    assert [("submitted", CLAY)] == [(row["kind"], row["path"]) for row in submitted.structured_content["rows"]]
    assert ["INVALID_ARGUMENT", "ROLE_REQUIRED", "ROLE_REQUIRED"] == [
        text_of(one).partition(":")[0] for one in refused
    ]


async def test_no_tool_decides_on_a_proposal(client: Client) -> None:
    tools = find_callable("curator")

    assert not [n for n in tools if any(word in n for word in ("approve", "reject", "decide_", "review", "undo"))]
    assert {"decision", "approve"}.isdisjoint(
        name for tool in tools.values() for name in tool.listed.input_schema.get("properties", {})
    )


@pytest.mark.slow
async def test_a_decision_in_a_file_is_acted_on_by_a_running_server_in_one_commit(sample: Path) -> None:
    def git(*words: str) -> str:
        command = ["git", "-C", str(sample), "-c", "user.name=t", "-c", "user.email=t@example.org", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    (sample / ".memex").mkdir(exist_ok=True)
    (sample / ".memex/config.toml").write_text('policy = "reviewed"\nmodel = "none"\n', encoding="utf-8")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "start")
    command = serve_command(sample, "--as", "ann")
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        held = await client.call_tool("edit", {"ref": CLAY, "summary": "The body we use.", "hold": True})
        (file,) = (sample / "_memex/inbox").glob("*.md")
        decided = file.read_text(encoding="utf-8").replace('decision: ""', "decision: approve", 1)
        file.write_text(decided, encoding="utf-8")
        with anyio.fail_after(30):
            while file.exists() or "Memex-Proposal: 1" not in git("log", "-1", "--format=%B"):
                await anyio.sleep(0.05)
        changes = text_of(await client.call_tool("changes", {"ref": CLAY}))

    assert 1 == held.structured_content["proposal"]
    assert "The body we use." in (sample / CLAY).read_text(encoding="utf-8")
    assert "approved" in changes
    assert [CLAY, "_memex/inbox/" + file.name] == [
        name.strip('"') for name in git("show", "--format=", "--name-only").splitlines() if ".memex/" not in name
    ]
