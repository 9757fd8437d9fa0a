"""The profile `xmemo`: four original names and their parameters, over the same services as the unified tools."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import OpenVault
from tests.server.conftest import Call, serve_command, text_of
from vault_memex.core.budget import count_tokens
from vault_memex.server.app import build_server
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.vault import Vault, open_vault

pytestmark = pytest.mark.anyio

ORIGINAL = ["search_memory", "recall", "recall_context", "forget"]


@pytest.fixture
def vault(sample: Path, opening: OpenVault) -> Vault:
    return opening(sample, tools="xmemo")


# -- which tools


async def test_exactly_the_four_original_names_are_advertised(client: Client) -> None:
    tools = (await client.list_tools()).tools

    assert ORIGINAL == [tool.name for tool in tools]
    assert ["forget"] == [t.name for t in tools if t.annotations and t.annotations.destructive_hint]
    parameters = {t.name: set(t.input_schema["properties"]) for t in tools}
    assert {"query", "limit", "path_filter", "memory_type", "prefer_working", "explain"} <= parameters[
        "search_memory"
    ]
    assert {"query", "limit", "path_filter", "memory_type", "prefer_working", "explain"} <= parameters["recall"]
    assert {"query", "max_items", "max_tokens", "bucket", "output_json"} <= parameters["recall_context"]
    assert ["target"] == tools[3].input_schema["required"]


def test_a_reader_reads_and_does_not_forget() -> None:
    assert ORIGINAL[:3] == [tool.name for tool in find_tools("xmemo", "reader")]
    assert "forget" not in find_callable("reader")
    assert "forget" in find_callable("agent", find_tools("core", "agent"))


async def test_a_reader_who_would_forget_is_forbidden_to(sample: Path, opening: OpenVault) -> None:
    vault = opening(sample, tools="xmemo", role="reader")
    listed = find_tools("xmemo", "reader")
    async with Client(build_server(vault, listed, find_callable("reader", listed))) as client:
        refused = text_of(await client.call_tool("forget", {"target": "Home.md"}))
        unknown = text_of(await client.call_tool("forget_all", {}))

    assert refused.startswith("FORBIDDEN: ")
    assert "reader" in refused
    assert unknown.startswith("UNKNOWN_TOOL: ")
    assert (sample / "Home.md").is_file()


async def test_each_description_names_the_tool_to_use_instead(client: Client) -> None:
    said = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}

    for other in ("`recall`", "`recall_context`", "path_filter", "no_match"):
        assert other in said["search_memory"]
    assert "`search_memory`" in said["recall"]


# -- search_memory


async def test_a_strong_match_comes_with_ref_place_text_and_why(call: Call) -> None:
    result = await call("search_memory", query="liner soak 25 minutes", explain=True)

    memory = result.structured_content["memories"][0]
    assert "Decisions/2025-09-02 The liner needs a longer soak.md" == memory["path"] == memory["ref"]
    assert ["The liner needs a longer soak"] == memory["section"]
    assert "25 minutes" in memory["text"]
    assert len(memory["text"]) <= 1_200
    assert "all words occur" in memory["why"]
    assert "episodic" == memory["memory_type"]
    assert "agent_boundary" not in memory
    assert "content of the note: " in text_of(result)


async def test_what_an_assistant_wrote_carries_its_label(call: Call) -> None:
    await call(
        "save", title="Rope for the door", body="The seal wants a thin rope of ceramic fibre.", layer="state"
    )

    memory = (await call("search_memory", query="ceramic fibre rope")).structured_content["memories"][0]
    assert "tester" == memory["agent_boundary"]
    assert memory["ref"].startswith("#")


async def test_no_match_is_an_answer_of_its_own_without_a_word_of_the_weak_ones(call: Call) -> None:
    result = await call("search_memory", query="liner zanzibar")

    assert not result.is_error
    value = result.structured_content
    assert ("no_match", 0, ["zanzibar"]) == (value["outcome"], value["total"], value["missing_words"])
    assert value["weak_candidates"] > 0
    for sentence in ("does not prove absence", "`recall`", "unverified", "searched 49 of 49 notes by words"):
        assert sentence in text_of(result)
    assert "liner" not in json.dumps(value).lower()


async def test_five_come_unless_more_are_asked_for_and_at_most_fifty(call: Call) -> None:
    plain = (await call("search_memory", query="kiln")).structured_content
    many = (await call("search_memory", query="kiln", limit=50)).structured_content

    assert plain["total"] > 5 == len(plain["memories"])
    assert many["total"] == len(many["memories"])


async def test_no_filter_reaches_what_is_no_note_and_a_reader_may_search(sample: Path, opening: OpenVault) -> None:
    for path in (
        "_memex/trash/0001--Gone.md",
        "_memex/inferences/0001-guess.md",
        "Private/Diary.md",
        ".hidden/A.md",
    ):
        (sample / path).parent.mkdir(parents=True, exist_ok=True)
        (sample / path).write_text("The xylophone is in the attic.\n", encoding="utf-8")
    (sample / ".memex").mkdir(exist_ok=True)
    (sample / ".memex/config.toml").write_text('ignore = ["Private"]\n', encoding="utf-8")
    vault = opening(sample, tools="xmemo", role="reader")
    listed = find_tools("xmemo", "reader")
    async with Client(build_server(vault, listed, find_callable("reader", listed))) as client:
        for pattern in ("%", "\\_memex/%", "Private/%", ".hidden/%"):
            found = await client.call_tool("search_memory", {"query": "xylophone", "path_filter": pattern})
            assert ("no_match", 0) == (found.structured_content["outcome"], found.structured_content["total"])
        strong = await client.call_tool("search_memory", {"query": "liner soak"})

    assert "ok" == strong.structured_content["outcome"]


async def test_a_page_that_is_full_advises_to_narrow_when_there_is_no_filter(call: Call) -> None:
    free = (await call("search_memory", query="kiln", limit=1)).structured_content["notes"]
    narrowed = (await call("search_memory", query="kiln", limit=1, bucket="Studio")).structured_content["notes"]

    assert any("add folder" in note for note in free)
    assert not any("add folder" in note for note in narrowed)


async def test_path_filter_is_ilike_over_the_whole_path_without_md(call: Call) -> None:
    for pattern, paths in (
        ("studio/kiln%", {"Studio/Kiln Berta.md"}),
        ("%BERTA", {"Studio/Kiln Berta.md"}),
        ("Studio/Kiln_Berta", {"Studio/Kiln Berta.md"}),
        ("Studio/Kiln", set()),
        ("Studio/Kiln\\_Berta", set()),
    ):
        value = (await call("search_memory", query="Berta kiln", path_filter=pattern)).structured_content

        assert paths == {memory["path"] for memory in value.get("memories", ())}


async def test_memory_type_is_a_kind_a_pattern_or_auto(call: Call) -> None:
    async def find(kind: str) -> set[str]:
        value = (await call("search_memory", query="wrist", limit=50, memory_type=kind)).structured_content
        return {memory["memory_type"] for memory in value.get("memories", ())}

    assert {"episodic"} == await find("episodic") == await find("epi%")
    assert await find("%") == await find("auto") > {"episodic"}


async def test_prefer_working_moves_up_only_what_matches_and_still_holds(call: Call) -> None:
    for title, body, until in (
        ("School today", "Ask the school about the old kiln.", "2999-01-01"),
        ("School last year", "The school wants to see a kiln.", "2025-12-31"),
        ("Boat today", "Row on Thursday.", "2999-01-01"),
    ):
        saved = await call(
            "save",
            title=title,
            body=body,
            layer="state",
            memory_type="working",
            valid_until=until,
            allow_duplicate=True,
        )
        assert not saved.is_error

    value = (await call("search_memory", query="kiln", limit=50, prefer_working=True)).structured_content
    paths = [memory["path"] for memory in value["memories"]]
    plain = (await call("search_memory", query="kiln", limit=50)).structured_content

    assert "School today.md" == paths[0]
    assert "School last year.md" in paths[1:]
    assert "Boat today.md" not in paths
    assert set(paths) == {memory["path"] for memory in plain["memories"]}
    assert paths[0] != plain["memories"][0]["path"]


WRONG: tuple[tuple[str, dict[str, object], str], ...] = (
    ("search_memory", {}, "query"),
    ("search_memory", {"query": ""}, "query"),
    ("search_memory", {"query": "x" * 2_049}, "query"),
    ("search_memory", {"query": "-kiln"}, "query"),
    ("search_memory", {"query": "kiln", "limit": 0}, "limit"),
    ("search_memory", {"query": "kiln", "limit": 51}, "limit"),
    ("search_memory", {"query": "kiln", "path_filter": "a\\"}, "path_filter"),
    ("search_memory", {"query": "kiln", "path_filter": "a\0"}, "path_filter"),
    ("search_memory", {"query": "kiln", "path_filter": "a" * 513}, "path_filter"),
    ("search_memory", {"query": "kiln", "memory_type": "dream"}, "memory_type"),
    ("search_memory", {"query": "kiln", "bucket": "Stu%"}, "bucket"),
    ("search_memory", {"query": "kiln", "team_id": "x"}, "team_id"),
    ("recall_context", {"query": "kiln", "max_tokens": 255}, "max_tokens"),
    ("recall_context", {"query": "kiln", "max_items": 0}, "max_items"),
    ("recall", {"query": "kiln", "memory_type": "dream"}, "memory_type"),
    ("save", {"title": "T", "body": "b", "layer": "state", "memory_type": "dream"}, "memory_type"),
)


async def test_wrong_arguments_are_refused_by_name(call: Call) -> None:
    for tool, arguments, names in WRONG:
        result = await call(tool, **arguments)

        assert result.is_error, (tool, arguments)
        assert text_of(result).startswith("INVALID_ARGUMENT: ")
        assert names in text_of(result)


async def test_the_generic_profile_refuses_the_three_plugin_parameters(sample: Path, opening: OpenVault) -> None:
    vault = opening(sample, tools="xmemo", search_profile="generic")
    listed = find_tools("xmemo", "agent")
    async with Client(build_server(vault, listed, find_callable("agent", listed))) as client:
        for tool in ("search_memory", "recall", "recall_context"):
            for name, value in (("path_filter", "%"), ("memory_type", "%"), ("prefer_working", False)):
                refused = await client.call_tool(tool, {"query": "kiln", name: value})
                assert refused.is_error
                assert text_of(refused).startswith(f"PARAM_NOT_ALLOWED: {name}")

            assert not (await client.call_tool(tool, {"query": "kiln"})).is_error


# -- recall_context


async def test_a_context_never_exceeds_its_tokens_in_either_form(call: Call) -> None:
    for tokens, output_json in product((256, 1_000, 4_000), (False, True)):
        sent = {"query": "Берта kiln 가마", "max_tokens": tokens, "output_json": output_json}
        text = text_of(await call("recall_context", **sent))

        assert count_tokens(text) <= tokens
        if output_json:
            value = json.loads(text)
            shown = len(value["notes"]) + value["left_out"]["notes"] + value["left_out"]["repeating"]
            assert value["found"] == shown
            assert all(note["ref"] and note["strength"] in ("strong", "weak") for note in value["notes"])


# -- forget


@pytest.mark.parametrize("target", ["Kitchen/Ideas.md", "Kitchen/Ideas", "[[Kitchen/Ideas]]"])
async def test_one_exact_note_goes_to_the_trash_and_nothing_else_changes(
    call: Call, sample: Path, target: str
) -> None:
    before = {p.relative_to(sample): p.read_bytes() for p in sample.rglob("*.md")}
    result = await call("forget", target=target)

    text = text_of(result)
    assert not result.is_error
    assert "vault-memex trash" in text
    assert "30 days" in text
    gone = Path("Kitchen/Ideas.md")
    after = {p.relative_to(sample): p.read_bytes() for p in sample.rglob("*.md") if "_memex" not in p.parts}
    assert {path: data for path, data in before.items() if path != gone} == after
    assert [before[gone]] == [p.read_bytes() for p in (sample / "_memex/trash").glob("*.md")]


async def test_a_number_and_an_exact_title_name_the_record(call: Call, vault: Vault) -> None:
    vault.number_notes()
    number = vault.snapshot().notes["Loose ends.md"].note_id

    assert not (await call("forget", target=number)).is_error
    assert not (await call("forget", memory_id="Book log")).is_error
    assert {"Loose ends.md", "Reading/Book log.md"}.isdisjoint(vault.snapshot().notes)


NOT_EXACT = (
    ("latest", "names no exact note"),
    (" Current ", "names no exact note"),
    ("book log", "not the exact name"),
    ("Clay trial M-14", "former title"),
    ("the boathouse", "alias"),
    ("Ideas", "AMBIGUOUS_TITLE"),
    ("Book lo", "NOT_FOUND"),
    ("", "empty"),
    ("../outside.md", ""),
)


async def test_what_is_not_exact_is_refused_and_nothing_is_gone(call: Call, vault: Vault, sample: Path) -> None:
    count = len(vault.snapshot().notes)
    for target, said in NOT_EXACT:
        result = await call("forget", target=target)

        assert result.is_error, target
        assert said in text_of(result)
    assert count == len(vault.snapshot().notes)
    assert not (sample / "_memex/trash").exists()


async def test_a_rule_is_not_forgotten_by_an_assistant(call: Call) -> None:
    result = await call("forget", target="Rules/Answer in my language.md")

    assert text_of(result).startswith("RULE_USER_ONLY: ")


# -- the real server


async def test_a_real_client_searches_recalls_and_forgets_and_the_person_restores(sample: Path) -> None:
    before = (sample / "Kitchen/Ideas.md").read_bytes()
    command, *arguments = serve_command(sample, "--model", "none", "--tools", "xmemo", "--as", "plugin")
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:

        async def run(tool: str, **sent: Any) -> str:
            return text_of(await client.call_tool(tool, sent))

        assert ORIGINAL == [tool.name for tool in (await client.list_tools()).tools]
        assert "Kitchen/Ideas.md" in await run("search_memory", query="seaweed butter freezer")
        assert "Kitchen/Ideas.md" in await run("recall", query="what failed in the kitchen")
        assert count_tokens(await run("recall_context", query="kitchen", max_tokens=500)) <= 500
        assert (
            "0" not in await run("forget", target="Kitchen/Ideas.md") or not (sample / "Kitchen/Ideas.md").exists()
        )
        assert "no_match" in await run("search_memory", query="seaweed butter freezer")

    owner = open_vault(sample, flags={"connection": "owner", "role": "owner", "model": "none"})
    try:
        owner.refresh()
        assert "plugin" == owner.trashing.find()[0].by
        owner.trashing.restore("Kitchen/Ideas.md")
    finally:
        owner.close(patient=False)
    assert before == (sample / "Kitchen/Ideas.md").read_bytes()
