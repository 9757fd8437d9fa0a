"""The unified tools of the knowledge graph through a real client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenVault
from tests.server.conftest import Call, text_of
from vault_memex.core.budget import count_tokens
from vault_memex.memory.knowledge import Observation
from vault_memex.memory.knowledge_graph import Entity, Relation, Triple
from vault_memex.server.app import GRAPH_TOOLSETS
from vault_memex.server.graph_answers import build_answer, render_graph
from vault_memex.server.tools import find_tools
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio


@pytest.fixture
def vault(folder: Path, opening: OpenVault) -> Vault:
    return opening(folder, tools="core,graph")


ADA = {
    "name": "Ada",
    "entity_type": "person",
    "observations": ["likes tea", {"text": "learns", "valid_until": "2026-01-01"}],
}
START: dict[str, Any] = {
    "entities": [ADA, {"name": "Acme Corp", "entityType": "company"}],
    "relations": [{"from": "Ada", "relationType": "works at", "to": "Acme Corp", "valid_from": "2026-01-02"}],
}


async def test_a_graph_is_written_and_read_in_one_call_each(call: Call) -> None:
    done = await call("graph_edit", **START)
    graph = (await call("graph")).structured_content

    assert [("Ada", "entities/person/Ada.md"), ("Acme Corp", "entities/company/Acme Corp.md")] == [
        (row["name"], row["path"]) for row in done.structured_content["created"]
    ]
    assert "created: Ada (entities/person/Ada.md), Acme Corp (entities/company/Acme Corp.md)" in text_of(done)
    assert (2, 2, 2) == (graph["total"], graph["returned"], graph["searched"])
    assert [{"text": "likes tea"}] == graph["entities"][0]["observations"]  # learning is over
    assert [{"source": "Ada", "type": "works at", "target": "Acme Corp", "valid_from": "2026-01-02"}] == graph[
        "relations"
    ]


async def test_what_ended_is_shown_when_asked_for(call: Call) -> None:
    await call("graph_edit", **START)

    shown = await call("graph", names=["Ada"], include_ended=True)

    assert "   - learns (until 2026-01-01)\n" in text_of(shown)


async def test_words_in_any_order_find_an_entity_and_nothing_says_what_was_searched(call: Call) -> None:
    await call("graph_edit", **START)

    found = (await call("graph", query="tea ada")).structured_content
    exact = (await call("graph", query="LIKES tea")).structured_content
    nothing = (await call("graph", query="coffee", type="person")).structured_content

    assert (["Ada"], 1) == ([row["name"] for row in found["entities"]], len(found["notes"]))
    assert (["Ada"], None) == ([row["name"] for row in exact["entities"]], exact.get("notes"))
    assert (0, ["Nothing in names, types and observations of 1 entities."]) == (nothing["total"], nothing["notes"])


async def test_unknown_names_are_named_with_near_ones(call: Call) -> None:
    await call("graph_edit", **START)

    answer = (await call("graph", name="ada")).structured_content

    assert (["ada"], ["Like 'ada': Ada."]) == (answer["unknown_names"], answer["notes"])


async def test_pages_show_every_entity_once(call: Call) -> None:
    names = [f"Thing {number}" for number in range(30)]
    await call(
        "graph_edit",
        entities=[{"name": name, "entity_type": "t", "observations": ["long " * 50]} for name in names],
    )

    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = (await call("graph", offset=offset, limit=20, max_tokens=300)).structured_content
        seen += [row["name"] for row in page["entities"]]
        offset = page.get("next_offset")

    assert names == seen


async def test_deletions_say_what_was_there_and_what_was_not(call: Call, folder: Path) -> None:
    await call("graph_edit", **START)

    done = (
        await call(
            "graph_edit",
            delete_observations=[{"name": "Ada", "observations": ["likes tea", "never"]}],
            delete_relations=[{"from": "Ada", "type": "works at", "to": "Acme Corp"}],
            delete_entities=["Acme Corp", "Nobody"],
        )
    ).structured_content

    assert (1, ["Acme Corp"], ["entities/company/Acme Corp.md"]) == (
        done["deleted_observations"],
        done["deleted_entities"],
        done["trashed"],
    )
    assert ["Ada: never", "Nobody"] == done["not_found"]
    assert not (folder / "entities/company/Acme Corp.md").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"entities": [{"name": "X"}]}, "entities[0].entity_type is missing."),
        ({"entities": [{"name": " ", "type": "t"}]}, "entities[0].name is empty."),
        ({"entities": [{"name": "X", "type": "t", "observations": [""]}]}, "entities[0].observations[0] is empty"),
        ({"relations": [{"from": "Ada", "to": "Acme Corp"}]}, "relations[0].type is missing."),
        ({"relations": [{"from": "Ada", "type": "[[x]]", "to": "Acme Corp"}]}, "holds a link"),
        (
            {
                "entities": [{"name": "New", "type": "t"}],
                "relations": [{"from": "New", "type": "knows", "to": "Bob"}],
            },
            "Entity with name Bob not found",
        ),
        (
            {"relations": [{"from": "Ada", "type": "is", "to": "Ada", "valid_from": "soon"}]},
            "write a day as 2026-01-31",
        ),
        ({"observations": [{"name": "Bob", "contents": ["x"]}]}, "Entity with name Bob not found"),
        ({}, "Nothing to change."),
        ({"nodes": []}, "graph_edit has no argument 'nodes'"),
    ],
)
async def test_a_fault_is_named_and_nothing_is_written(call: Call, arguments: dict[str, Any], said: str) -> None:
    await call("graph_edit", **START)

    answer = await call("graph_edit", **arguments)

    assert answer.is_error
    assert said in text_of(answer)
    assert 2 == (await call("graph")).structured_content["total"]


async def test_a_relation_to_an_ordinary_note_is_answered_with_how_it_becomes_an_entity(
    call: Call, folder: Path
) -> None:
    await call("graph_edit", **START)
    await call("save", title="Piet", body="A sailor.", layer="state")

    note = await call("graph_edit", relations=[{"from": "Ada", "type": "knows", "to": "Piet"}])
    nobody = await call("graph_edit", relations=[{"from": "Ada", "type": "knows", "to": "Bob"}])

    assert "Entity with name Piet not found. Piet.md is an ordinary note: give it the property" in text_of(note)
    assert "Entity with name Bob not found. Create it in `entities`" in text_of(nobody)


async def test_a_name_that_is_no_entity_is_related_when_told(call: Call) -> None:
    await call("graph_edit", **START)

    await call("graph_edit", relations=[{"from": "Ada", "type": "knows", "to": "Bob"}], allow_dangling=True)

    between = (await call("graph", relations="between")).structured_content["relations"]
    assert ["Acme Corp"] == [row["target"] for row in between]
    assert 2 == len((await call("graph")).structured_content["relations"])


def test_the_tools_are_a_toolset_of_their_own_and_readers_only_read() -> None:
    assert {"graph", "graph_edit"} == {s.name for s in find_tools("graph", "agent")}
    assert {"graph"} == {s.name for s in find_tools("graph", "reader")}
    assert not {"graph", "graph_edit"} & {s.name for s in find_tools("core", "agent")}


WORDS = st.text(st.sampled_from("aé日 "), min_size=1, max_size=200)


@given(
    st.lists(st.builds(lambda n, texts: (n, texts), WORDS, st.lists(WORDS, max_size=5)), max_size=12),
    st.integers(200, 2_000),
)
def test_an_answer_stays_within_its_tokens_and_shows_at_least_one_name(
    rows: list[tuple[str, list[str]]], most: int
) -> None:
    entities = [
        Entity(f"{n}{name}", "t", tuple(map(Observation, texts)), f"entities/{n}.md", n)
        for n, (name, texts) in enumerate(rows)
    ]
    relations = [Relation(Triple(e.name, "is", e.name)) for e in entities]

    answer = build_answer(entities, relations, offset=0, limit=50, max_tokens=most)

    assert min(1, len(rows)) <= answer.returned
    assert count_tokens(render_graph(answer)) <= max(most, 450) + 100
    hidden = sum(row.observations_total - len(row.observations) for row in answer.entities)
    assert bool(hidden) == any("observations left out" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("choice", "loads"), [("core,graph", True), ("full", True), ("knowledge-graph", True), ("core", False)]
)
def test_whoever_lists_a_tool_of_the_graph_has_it_loaded_at_start(choice: str, loads: bool) -> None:
    assert loads == any(spec.toolset in GRAPH_TOOLSETS for spec in find_tools(choice, "reader"))


async def test_a_search_is_narrowed_to_entities_or_to_other_notes(call: Call) -> None:
    await call("graph_edit", entities=[{"name": "Kiln", "type": "thing", "observations": ["fires at night"]}])
    await call("save", title="Diary of the kiln", body="It fires at night.", layer="past")

    async def find(**filters: Any) -> list[str]:
        rows = (await call("search", query="fires night", **filters)).structured_content["rows"]  # type: ignore[index]
        return sorted(row["title"] for row in rows)

    assert ["Diary of the kiln", "Kiln"] == await find()
    assert ["Kiln"] == await find(include="entities")
    assert ["Kiln"] == await find(include="entities", properties={"entity_type": "thing"})
    assert ["Diary of the kiln"] == await find(include="notes")
    wrong = await call("search", include="notes", properties={"entity_type": "thing"})
    assert text_of(wrong).startswith("INVALID_ARGUMENT: A note with entity_type is an entity.")
