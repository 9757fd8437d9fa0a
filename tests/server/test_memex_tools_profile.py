"""The profile `memex-tools`: original names and parameters, over the same services as the unified tools."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from tests.conftest import OpenVault
from tests.server.conftest import serve_command, text_of
from vault_memex.server.app import build_server
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio

FOR_ALL = {
    "search": {"query", "tags", "status", "properties", "order", "limit", "offset"}
    | {"updated_after", "updated_before", "created_after", "created_before"},
    "get": {"id", "title", "section", "max_chars", "offset", "depth"},
    "recent_changes": {"since", "until", "note_id", "limit", "offset"},
    "inbox": {"limit", "max_chars"},
    "propose": {"note_id", "title", "body_md", "patch", "summary", "tags", "properties", "source_url"}
    | {"change_title", "comment", "hold", "body_encoding"},
    "propose_delete": {"note_id", "reason", "body_encoding"},
    "propose_merge": {"note_id", "into_note_id", "merged_body_md", "body_encoding"},
    "needs_enrichment": {"limit", "offset"},
    "list_skills": set(),
    "get_skill": {"slug"},
    "list_tags": set(),
    "list_properties": set(),
    "health": set(),
    "curation_candidates": {"reason", "stale_days", "cooldown_days", "include_pending", "limit", "offset"},
    "blast_radius": {"since_days", "note_ids", "limit", "offset"},
    "last_curated": {"note_ids"},
}
FOR_CURATORS: dict[str, set[str]] = {
    "log": {"kind", "text", "examined", "started_at", "claimed", "body_encoding"},
    "log_recent": {"note_id", "kind", "precedent_only", "limit", "offset"},
    "resolve_curation_flag": {"note_id", "resolution", "body_encoding"},
    "duplicate_candidates": {"max_distance", "include_pending", "limit", "offset"},
}
WRITES = {"propose", "propose_delete", "propose_merge"}
Server = Callable[..., Client]


@pytest.fixture
def server(sample: Path, opening: OpenVault) -> Callable[..., Client]:
    """Gives a client of the sample vault, as the role asks."""

    def connect(**flags: Any) -> Client:
        vault: Vault = opening(sample, tools="memex-tools", connection="codex", **flags)
        listed = find_tools("memex-tools", vault.config.role)
        return Client(build_server(vault, listed, find_callable(vault.config.role, listed), keeps_vault=False))

    return connect


def value_of(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content


def test_each_role_is_listed_the_original_names_that_it_may_use() -> None:
    for role, names in {
        "agent": [*FOR_ALL],
        "curator": [*FOR_ALL, *FOR_CURATORS],
        "reader": [name for name in FOR_ALL if name not in WRITES],
    }.items():
        listed = {spec.name: spec.listed for spec in find_tools("memex-tools", role)}
        assert names == [*listed]
        for name, parameters in {**FOR_ALL, **FOR_CURATORS}.items():
            if name in listed:
                assert parameters <= set(listed[name].input_schema["properties"])


def test_original_names_are_callable_whatever_is_advertised() -> None:
    assert {*FOR_ALL} <= {*find_callable("agent", find_tools("core", "agent"))}
    assert not {*FOR_CURATORS} & {*find_callable("agent")}
    assert {*FOR_CURATORS} <= {*find_callable("curator")}


async def test_every_answer_is_structured_as_its_schema_says_and_readable(server: Server) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "kiln", "limit": 25}),
        ("search", {"query": "zanzibar"}),
        ("get", {"title": "Harbour Café tableware", "depth": 2}),
        ("get", {"title": "Harbour Café tableware", "section": "Where we are", "max_chars": 30}),
        ("propose", {"title": "Wood kiln", "body_md": "We might fire with wood at Kiln Berta.", "tags": ["kiln"]}),
        ("propose", {"note_id": "Wood kiln", "summary": "A plan to fire with wood."}),
        ("propose", {"note_id": "Wood kiln", "comment": "It may be outdated."}),
        ("propose_delete", {"note_id": "Wood kiln", "reason": "A test. Links may go."}),
        ("propose_merge", {"note_id": "Home", "into_note_id": "Glaze index"}),
        ("recent_changes", {"since": "2020-01-01"}),
        ("inbox", {"max_chars": 100}),
        ("needs_enrichment", {"limit": 3}),
        ("curation_candidates", {"limit": 3}),
        ("curation_candidates", {"reason": "no_summary", "offset": 0}),
        ("blast_radius", {"since_days": 365}),
        ("last_curated", {}),
        ("last_curated", {"note_ids": ["Home", "nonesuch"]}),
        ("list_skills", {}),
        ("get_skill", {"slug": "recall"}),
        ("list_tags", {}),
        ("list_properties", {}),
        ("health", {}),
        ("duplicate_candidates", {"max_distance": 0.4}),
        ("log_recent", {}),
        ("log", {"kind": "observation", "text": "Some notes have no summary."}),
    ]
    async with server(role="curator") as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            jsonschema.validate(value_of(result), schemas[name] or {"not": {}})
            assert text_of(result).strip()
    assert {*FOR_ALL, *FOR_CURATORS} - {"resolve_curation_flag"} == {name for name, _ in calls}


async def test_a_search_names_number_status_and_section_and_the_number_reads_the_note(server: Server) -> None:
    async with server() as client:
        found = value_of(await client.call_tool("search", {"query": "liner soak 25 minutes"}))
        row = found["notes"][0]
        note = value_of(await client.call_tool("get", {"id": row["id"]}))
        again = value_of(await client.call_tool("get", {"note_id": f"#{row['id']}"}))

    assert ("verified", "Decisions", "2025-09-02 The liner needs a longer soak") == (
        row["status"],
        row["folder"],
        row["title"],
    )
    assert ["The liner needs a longer soak"] == row["matched_section"]
    assert (row["path"], row["id"]) == (note["path"], note["id"])
    assert note == again


async def test_a_note_comes_with_text_links_and_who_wrote_it(server: Server, sample: Path) -> None:
    (sample / "Twin").mkdir()
    (sample / "Twin/Hub.md").write_text("The other hub.\n", encoding="utf-8")
    (sample / "Hub.md").write_text(
        "---\nsummary: The middle.\nformer_titles: [Axle]\ncolour: red\nsource_url: https://example.org/hub\n"
        "tags: [wheel]\n---\n# Hub\n\nSee [[Home#Top|home]], ![[Nowhere]] and [glaze](Studio/Glaze%20index.md).\n",
        encoding="utf-8",
    )
    (sample / "Spoke.md").write_text("Part of [[Hub]].\n", encoding="utf-8")
    async with server() as client:
        note = value_of(await client.call_tool("get", {"title": "AXLE"}))
        twins = value_of(await client.call_tool("get", {"title": "hub"}))
        part = value_of(await client.call_tool("get", {"id": "Hub.md", "max_chars": 10}))
        rest = value_of(await client.call_tool("get", {"id": "Hub.md", "body_offset": part["body_next_offset"]}))
        neither = await client.call_tool("get", {"id": 1, "title": "Hub"})

    assert ("Hub", "verified", "The middle.", {"colour": "red"}) == (
        note["title"],
        note["status"],
        note["description"],
        note["properties"],
    )
    assert ("owner", "owner", ["Axle"], ["wheel"], "https://example.org/hub") == (
        note["added_by"],
        note["changed_by"],
        note["former_titles"],
        note["tags"],
        note["source_url"],
    )
    assert note["body_md"].startswith("# Hub\n\nSee [[Home#Top|home]]")
    assert len(note["body_md"]) == note["body_chars"]
    assert [
        ("Home#Top", "wiki", True),
        ("Nowhere", "embed", False),
        ("Studio/Glaze index.md", "markdown", True),
    ] == [(link["target"], link["kind"], link["id"] is not None) for link in note["links"]]
    assert [("Spoke", "Spoke.md", "wiki")] == [(b["title"], b["path"], b["kind"]) for b in note["backlinks"]]
    assert ["Twin/Hub.md"] == [one.partition(" (#")[0] for one in twins["same_title"]]
    assert part["body_md"] + rest["body_md"] == note["body_md"]
    assert neither.is_error
    assert "`id` or by `title`" in text_of(neither)


async def test_a_proposal_without_a_number_is_a_new_note_and_of_the_past_unless_said(
    server: Server, sample: Path
) -> None:
    async with server() as client:
        saved = value_of(
            await client.call_tool("propose", {"title": "First", "body_md": "We fired.\n\n## Sources\n\n- me\n"})
        )
        plan = value_of(
            await client.call_tool(
                "propose",
                {
                    "title": "Second",
                    "body_md": "We will rest.",
                    "layer": "state",
                    "properties": {"cone": 8, "x": None},
                },
            )
        )
        missing = [await client.call_tool("propose", one) for one in ({"title": "x"}, {"body_md": "x"}, {})]

    assert ("created", "created") == (saved["outcome"], plan["outcome"])
    assert "layer: past\n" in (sample / saved["path"]).read_text(encoding="utf-8")
    second = (sample / plan["path"]).read_text(encoding="utf-8")
    assert "layer: state\n" in second
    assert "cone: 8\n" in second
    assert "x:" not in second
    assert ["body_md is missing", "title is missing", "title is missing"] == [
        text_of(one).removeprefix("INVALID_ARGUMENT: ").partition(":")[0] for one in missing
    ]


async def test_a_proposal_with_a_number_changes_only_what_it_names(server: Server, sample: Path) -> None:
    (sample / "Plan.md").write_text("---\nsource_url: https://example.org\n---\nWe meet.\n", encoding="utf-8")
    async with server() as client:
        blind = await client.call_tool("propose", {"note_id": "Plan", "body_md": "All new."})
        number = value_of(await client.call_tool("get", {"title": "Plan"}))["id"]
        patched = value_of(
            await client.call_tool("propose", {"note_id": number, "patch": [{"find": "meet", "replace": "row"}]})
        )
        whole = value_of(await client.call_tool("propose", {"note_id": number, "body_md": "We row on Monday."}))
        bare = value_of(await client.call_tool("propose", {"note_id": number, "source_url": ""}))
        both = await client.call_tool(
            "propose", {"note_id": number, "body_md": "x", "patch": [{"append": "y"}], "if_revision": "12345678"}
        )

    assert text_of(blind).startswith("REVISION_REQUIRED: Read Plan.md with `get` first")
    assert ["applied"] * 3 == [one["outcome"] for one in (patched, whole, bare)]
    assert "We row on Monday.\n" == (sample / "Plan.md").read_text(encoding="utf-8").rpartition("---\n")[2]
    assert "source_url" not in (sample / "Plan.md").read_text(encoding="utf-8")
    assert text_of(both).startswith("BODY_AND_PATCH")


async def test_the_past_is_refused_with_a_proposal_that_can_be_sent_as_it_is(server: Server) -> None:
    async with server() as client:
        refused = await client.call_tool(
            "propose", {"note_id": "2025-09-02 The liner needs a longer soak", "patch": [{"append": "More."}]}
        )
        text = text_of(refused)
        suggestion = json.loads(text[text.index("\n{") :])["suggestion"]
        assert "propose" == suggestion.pop("tool")
        saved = value_of(await client.call_tool("propose", suggestion))

    assert text.startswith("PAST_IMMUTABLE: ")
    assert "created" == saved["outcome"]


async def test_deleting_and_merging_wait_whoever_asks_and_under_any_policy(server: Server, sample: Path) -> None:
    before = {file: file.read_bytes() for file in sample.rglob("*.md") if "_memex" not in file.parts}
    async with server(role="curator", policy="personal") as client:
        gone = value_of(await client.call_tool("propose_delete", {"note_id": "Home", "reason": "Not needed."}))
        merged = value_of(
            await client.call_tool(
                "propose_merge", {"note_id": "Glaze index", "into_note_id": "Kiln Berta", "reason": "One thing."}
            )
        )
        waiting = value_of(await client.call_tool("inbox", {}))
        note = value_of(await client.call_tool("get", {"title": "Kiln Berta"}))

    assert ["held", "held"] == [gone["outcome"], merged["outcome"]]
    assert (0, 2, ["delete", "merge"]) == (
        waiting.get("pending_notes", 0),
        waiting["proposals"],
        [row["kind"] for row in waiting["rows"]],
    )
    assert [("merge", "codex")] == [(one["kind"], one["by"]) for one in note["waiting_changes"]]
    assert before == {file: file.read_bytes() for file in sample.rglob("*.md") if "_memex" not in file.parts}


async def test_under_review_a_new_note_of_an_agent_is_pending_and_a_change_held(server: Server) -> None:
    async with server(policy="reviewed") as client:
        new = value_of(await client.call_tool("propose", {"title": "New", "body_md": "Something."}))
        held = value_of(await client.call_tool("propose", {"note_id": "Home", "summary": "Where to begin."}))
        folded = value_of(await client.call_tool("propose", {"note_id": "Home", "tags": ["beginning"]}))
        found = value_of(await client.call_tool("search", {"status": "pending"}))
        health = value_of(await client.call_tool("health", {}))

    assert ["pending", "held", "folded"] == [one["outcome"] for one in (new, held, folded)]
    assert [("New", "pending")] == [(one["title"], one["status"]) for one in found["notes"]]
    assert ("vault", "codex", "agent", 1, 1) == tuple(
        health[name] for name in ("vault", "connection", "role", "pending", "proposals")
    )


async def test_health_tells_of_connection_waiting_work_and_state_and_of_no_place_on_the_machine(
    server: Server, sample: Path
) -> None:
    async with server(policy="reviewed") as client:
        await client.call_tool("propose", {"title": "New", "body_md": "Something."})
        await client.call_tool("propose", {"note_id": "Home", "summary": "Where to begin."})
        await client.call_tool("get_signals", {"refresh": True})
        result = await client.call_tool("health", {})
        signals = text_of(await client.call_tool("get_signals", {}))

    value = value_of(result)
    assert ("vault", "codex", "agent", "reviewed", 1, 1) == tuple(
        value[name] for name in ("vault", "connection", "role", "policy", "pending", "proposals")
    )
    assert value["without_tags_or_summary"] > 0
    assert value["new_signals"] > 0
    assert f"{value['new_signals']} " in signals
    assert {"index", "meaning", "git"} <= value.keys()
    assert f"{value['new_signals']} new signals, 0 stale inferences" in text_of(result)
    assert str(sample.parent) not in text_of(result) + json.dumps(value)


async def test_texts_arrive_as_base64_under_the_original_names(server: Server, sample: Path) -> None:
    def code(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    async with server() as client:
        arguments = {
            "title": code("Coded"),
            "body_md": code("«Ünïcode»"),
            "tags": ["kiln"],
            "body_encoding": "base64",
        }
        saved = value_of(await client.call_tool("propose", arguments))
        wrong = await client.call_tool("propose", {**arguments, "body_md": "«"})

    assert "«Ünïcode»\n" in (sample / saved["path"]).read_text(encoding="utf-8")
    assert "body_md is not base64" in text_of(wrong)


async def test_a_skill_speaks_of_the_tools_of_this_profile(server: Server) -> None:
    async with server() as client:
        listed = value_of(await client.call_tool("list_skills", {}))
        skill = await client.call_tool("get_skill", {"slug": "guide"})
        unknown = text_of(await client.call_tool("get_skill", {"slug": "nonesuch"}))
        tool = next(tool for tool in (await client.list_tools()).tools if tool.name == "list_skills")

    assert len(listed["skills"]) == listed["total"]
    assert {"recall", "writing", "curation", "guide"} <= {row["slug"] for row in listed["skills"]}
    for text in (text_of(skill), value_of(skill)["text"]):
        assert {"`recent_changes`", "`health`"} <= {*text.split()}
        assert {"`changes`", "`status`"}.isdisjoint(text.split())
    assert "recall" in unknown
    assert "Now: " in (tool.description or "")


async def test_a_curator_writes_runs_down_and_closes_flags_and_an_agent_does_not(
    server: Server, sample: Path, opening: OpenVault
) -> None:
    opening(sample, role="owner", connection="owner").upkeep.flags.raise_flag("Home", "Is this still so?")
    async with server(role="curator") as client:
        note = value_of(await client.call_tool("get", {"title": "Home"}))
        closed = value_of(
            await client.call_tool("resolve_curation_flag", {"note_id": note["id"], "resolution": "It is."})
        )
        logged = value_of(
            await client.call_tool(
                "log",
                {
                    "kind": "run_summary",
                    "text": "Looked at the beginning.",
                    "examined": [{"ref": note["id"], "checked": "the flag", "found": "nothing"}],
                    "started_at": "2020-01-01",
                    "claimed": {"edited": 3},
                },
            )
        )
        told = value_of(await client.call_tool("log_recent", {}))
        about = value_of(await client.call_tool("log_recent", {"note_id": note["id"], "limit": 3}))
    async with server() as client:
        refused = [text_of(await client.call_tool(name, {})) for name in FOR_CURATORS]

    assert "Is this still so?" == note["curation_flag"]["comment"]
    assert ("closed", "recorded") == (closed["outcome"], logged["outcome"])
    assert 1 == len(logged["mismatches"])
    assert ["run_summary", "flag_resolved", "flag_raised"] == [row["kind"] for row in told["rows"]]
    assert ["run_summary", "flag_resolved", "flag_raised"] == [row["kind"] for row in about["rows"]]
    assert [True] * len(FOR_CURATORS) == [text.startswith("FORBIDDEN: ") for text in refused]


@pytest.mark.parametrize("role", ["agent", "curator"])
async def test_a_real_client_works_with_the_profile_alone(sample: Path, role: str) -> None:
    more = ["--tools", "memex-tools", "--model", "none", "--as", "codex", "--role", role]
    if role == "curator":
        (sample / ".memex").mkdir(exist_ok=True)
        (sample / ".memex/connections.toml").write_text('[codex]\nrole = "curator"\n', encoding="utf-8")
    command, *arguments = serve_command(sample, *more)
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        found = value_of(await client.call_tool("search", {"query": "home", "limit": 1}))
        patch = [{"append": "One more line."}]
        answer = value_of(await client.call_tool("propose", {"note_id": found["notes"][0]["id"], "patch": patch}))
        told = client.instructions or ""

    assert [*FOR_ALL, *(FOR_CURATORS if role == "curator" else ())] == names
    assert ("applied", "Home.md") == (answer["outcome"], answer["path"])
    assert "`propose`" in told
    assert "`save`" not in told


async def test_whoever_proposes_is_told_to_describe_tag_and_source_the_note(server: Server) -> None:
    async with server() as client:
        tool = next(tool for tool in (await client.list_tools()).tools if tool.name == "propose")
        new = {"title": "Bare", "body_md": "We might fire with wood."}
        saved = value_of(await client.call_tool("propose", new))
        note = value_of(await client.call_tool("get", {"id": saved["note_id"]}))
        told = client.instructions or ""

    assert "tags and properties (`list_tags`, `list_properties`)" in told
    assert "Give a new note its layer with `propose`." in told
    for words in (
        "two or three sentences",
        "`list_tags` and `list_properties` first",
        "list of sources",
        "Nobody",
    ):
        assert words in (tool.description or "")
    assert "at most 5,000" in tool.input_schema["properties"]["summary"]["description"]
    assert {"description", "tags"}.isdisjoint(note)  # nobody described it for its author


async def test_a_note_without_description_and_tags_waits_to_be_enriched_until_it_has_them(server: Server) -> None:
    async def missing(client: Client, number: int) -> list[str] | None:
        found = value_of(await client.call_tool("needs_enrichment", {"limit": 100}))
        return next((row["missing"] for row in found["rows"] if row["note_id"] == number), None)

    async with server() as client:
        saved = value_of(
            await client.call_tool("propose", {"title": "Bare", "body_md": "We might fire with wood."})
        )
        number = saved["note_id"]
        seen = [await missing(client, number)]
        for change in ({"summary": "A plan to fire with wood."}, {"tags": ["kiln"]}):
            await client.call_tool("propose", {"note_id": number, **change})
            seen.append(await missing(client, number))

    assert [["summary", "tags"], ["tags"], None] == seen


async def test_a_run_reserves_looks_and_is_written_down_by_number(server: Server) -> None:
    async with server(role="curator") as client:
        before = value_of(await client.call_tool("last_curated", {}))
        queue = value_of(await client.call_tool("curation_candidates", {"limit": 2}))
        numbers = [row["note_id"] for row in queue["rows"]]
        run = {"kind": "run_summary", "text": "Looked at two notes.", "examined": numbers}
        await client.call_tool("log", run)
        after = value_of(await client.call_tool("last_curated", {"note_ids": [*numbers, 9_999]}))
        wrong = text_of(await client.call_tool("curation_candidates", {"reason": "ugly"}))

    assert before["due"]
    assert "reserved_until" in queue
    assert [[number, True] for number in numbers] == [
        [r["note_id"], bool(r["last_curated"])] for r in after["rows"]
    ]
    assert ["9999"] == after["unknown_note_ids"]
    assert "no_summary" in wrong
