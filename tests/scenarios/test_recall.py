"""What search and flashbacks do for an assistant, row by row of the requirements, through a client of the server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from mcp import Client

from tests.scenarios.conftest import KILN, WRIST, ThinkingVault, days_ago
from tests.server.conftest import text_of
from vault_memex.server.app import build_server
from vault_memex.server.instructions import render_instructions
from vault_memex.server.tools import ALL_TOOLS, find_callable, find_tools

pytestmark = pytest.mark.anyio

Ask = Callable[..., Awaitable[dict[str, Any]]]
BREAD = "Rye bread rises slowly in the cold pantry and is baked in the morning."


@pytest.fixture
async def client(thinking: ThinkingVault) -> AsyncIterator[Client]:
    """A client of the vault; what a test wrote before its first call is indexed by that call."""
    server = build_server(thinking.vault, find_tools(thinking.vault.config.tools, "agent"), find_callable("agent"))
    async with Client(server) as connected:
        yield connected


@pytest.fixture
def ask(thinking: ThinkingVault, client: Client) -> Ask:
    """Calls a tool and gives its value, with the text under `text`."""

    async def run(tool: str, **arguments: Any) -> dict[str, Any]:
        thinking.index()
        result = await client.call_tool(tool, arguments)
        return {**(result.structured_content or {}), "text": text_of(result), "failed": result.is_error}

    return run


def paths_of(answer: dict[str, Any]) -> list[str]:
    return [row["path"] for row in answer["rows"]]


# -- search: 0-09 to 0-16


async def test_words_beginnings_tags_titles_letters_and_meaning_find_and_what_is_no_note_is_not_found(
    thinking: ThinkingVault, ask: Ask
) -> None:
    thinking.write("Words.md", "The celadon glaze ran.")
    thinking.write("Beginning.md", "Two celadons stand on the shelf.")
    thinking.write("Tagged.md", "A list.", tags="[celadon]")
    thinking.write("Celadon.md", "A colour.")
    thinking.write("Korean.md", "비색청자를 보았다")
    thinking.write("Kiln.md", KILN)
    thinking.write("Gone.md", "celadon that was thrown away")
    thinking.write("_memex/inferences/0001-celadon.md", "celadon is a hypothesis")
    thinking.write("_memex/Note.md", "celadon among the program's files")
    await ask("retire", ref="Gone", reason="a test")

    found = await ask("search", query="celadon")
    korean = await ask("search", query="청자")
    mixed = await ask("search", query="celadon glaze")
    meant = await ask("search", query=f"{KILN} unicorn", explain=True)

    assert {"Words.md", "Beginning.md", "Tagged.md", "Celadon.md"} == set(paths_of(found))
    assert "Celadon.md" == paths_of(found)[0]
    assert ["Korean.md"] == paths_of(korean)
    assert {"Words.md": "all_words", "Tagged.md": "related"}.items() <= {
        row["path"]: row["tier"] for row in mixed["rows"]
    }.items()
    assert "Kiln.md" == meant["rows"][0]["path"]
    assert meant["rows"][0]["distance"] is not None


async def test_a_query_in_plain_language_is_answered_and_one_that_is_too_long_is_refused_by_name(
    thinking: ThinkingVault, ask: Ask
) -> None:
    thinking.write("Kiln.md", KILN)

    asked = await ask("search", query="Why does the old kiln trip the breaker when it is heating?")
    long = await ask("search", query="x" * 2049)

    assert ["Kiln.md"] == paths_of(asked)
    assert long["failed"]
    assert "query" in long["text"]


async def test_a_limit_is_held_between_1_and_25_and_the_answer_says_so(thinking: ThinkingVault, ask: Ask) -> None:
    for number in range(30):
        thinking.write(f"{number:02d}.md", "bread")

    answers = [await ask("search", query="bread", **more) for more in ({}, {"limit": 99}, {"limit": 0})]

    assert [10, 25, 1] == [answer["returned"] for answer in answers]
    assert [False, True, True] == [any("limit set to" in note for note in a["notes"]) for a in answers]


async def test_a_category_is_a_top_folder_or_a_path_without_case_and_an_unknown_one_is_named(
    thinking: ThinkingVault, ask: Ask
) -> None:
    for path in ("Studio/A.md", "Studio/Log/B.md", "Studios/C.md", "Boat/Studio/D.md"):
        thinking.write(path, "bread")

    top, below, unknown = [
        await ask("search", query="bread", category=name) for name in ("studio", "STUDIO/Log", "Attic")
    ]

    assert ["Studio/A.md", "Studio/Log/B.md"] == sorted(paths_of(top))
    assert ["Studio/Log/B.md"] == paths_of(below)
    assert ([], "Attic") == (unknown["rows"], unknown["unknown_folder"])


async def test_a_tag_is_found_without_case_in_frontmatter_and_text_with_those_below_it(
    thinking: ThinkingVault, ask: Ask
) -> None:
    thinking.write("Front.md", "bread", tags="[Kitchen]")
    thinking.write("Inline.md", "bread #kitchen/oven")
    thinking.write("Other.md", "bread #kitchens")

    assert ["Front.md", "Inline.md"] == sorted(paths_of(await ask("search", query="bread", tag=["KITCHEN"])))
    assert ["Inline.md"] == paths_of(await ask("search", query="bread", tag=["kitchen/oven"]))


@pytest.fixture
def april(thinking: ThinkingVault) -> ThinkingVault:
    """Notes on auth around the edges of April, one of them on another subject."""
    for name, created in {
        "March": "2026-03-31T23:59:59Z",
        "First": "2026-04-01",
        "Last": "2026-04-30T23:59:59Z",
        "May": "2026-05-01T00:00:00Z",
    }.items():
        thinking.write(f"Work/{name}.md", "How auth works: the token is checked.", created=created)
    thinking.write("Work/Bread.md", BREAD, created="2026-04-15")
    return thinking


async def test_last_april_and_auth_is_a_query_with_two_dates(april: ThinkingVault, ask: Ask) -> None:
    found = await ask("search", query="auth", date_from="2026-04-01", date_to="2026-04-30")

    assert ["Work/First.md", "Work/Last.md"] == sorted(paths_of(found))


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({"date_from": "2026-04-01"}, ["First", "Last", "May"]),
        ({"date_from": "2026-04-30T23:59:59Z"}, ["Last", "May"]),
        ({"date_to": "2026-04-30"}, ["First", "Last", "March"]),
        ({"date_to": "2026-05-01T00:00:00Z"}, ["First", "Last", "March", "May"]),
        ({"date_to": "2026-04-30T23:59:58Z"}, ["First", "March"]),
    ],
)
async def test_a_date_is_its_whole_day_and_a_moment_is_inclusive(
    april: ThinkingVault, ask: Ask, window: dict[str, str], expected: list[str]
) -> None:
    found = await ask("search", query="auth", **window)

    assert [f"Work/{name}.md" for name in expected] == sorted(paths_of(found))


@pytest.mark.parametrize("argument", ["date_from", "date_to"])
async def test_a_date_that_is_none_is_refused_by_the_name_of_its_parameter(
    april: ThinkingVault, ask: Ask, argument: str
) -> None:
    answer = await ask("search", query="auth", **{argument: "last April"})

    assert answer["failed"]
    assert f"{argument}: 'last April' is no date" in answer["text"]


# -- flashbacks: 0-08, 0-24, 0-28


async def test_save_and_search_end_in_lines_with_age_number_title_and_match(
    thinking: ThinkingVault, ask: Ask
) -> None:
    thinking.write("Health/Physio.md", WRIST, created=days_ago(124))
    draft = f"{WRIST} It rained."

    saved = await ask(
        "save", title="Rest", body=draft, layer="past", folder="Journal", tags=[], allow_duplicate=True
    )
    found = await ask("search", query="rest")

    for answer in (saved, found):
        (flashback,) = answer["flashbacks"]
        assert (124, "Physio") == (flashback["days"], flashback["title"])
        assert answer["text"].endswith(
            "Flashbacks (older notes from elsewhere; tell the person when one matters):\n"
            f'- 124 days ago: #{flashback["note_id"]} "Physio" ({flashback["percent"]}% match)'
        )


async def test_the_assistant_is_told_to_pass_on_a_flashback_that_matters(
    thinking: ThinkingVault, ask: Ask, client: Client
) -> None:
    thinking.write("Health/Physio.md", WRIST, created=days_ago(124))
    thinking.write("Journal/Rest.md", f"{WRIST} It rained.", created=days_ago(1))

    found = await ask("search", query="Rest")

    assert 1 == found["text"].count("tell the person")
    told = render_instructions(thinking.vault, [tool.name for tool in ALL_TOOLS])
    assert "flashback" in told
