"""Every tool through an MCP client in memory, in both eras of the protocol."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import Client

from tests.server.conftest import Call, text_of
from vault_memex.errors import InvalidArgument
from vault_memex.server.instructions import LIMIT
from vault_memex.server.tools import ALL_TOOLS, find_callable, find_tools
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio


async def test_tools_are_listed_most_needed_first_with_titles_and_hints(client: Client) -> None:
    tools = (await client.list_tools()).tools

    assert ["search", "get", "save", "edit", "recall", "vocabulary", "changes", "retire", "skills", "status"] == [
        t.name for t in tools
    ]
    assert all(
        t.title and t.description and t.annotations and t.annotations.open_world_hint is False for t in tools
    )
    assert {"search", "get", "recall", "vocabulary", "changes", "skills", "status"} == {
        t.name for t in tools if t.annotations and t.annotations.read_only_hint
    }
    assert ["retire"] == [t.name for t in tools if t.annotations and t.annotations.destructive_hint]


async def test_the_whole_tool_list_stays_small(client: Client) -> None:
    tools = (await client.list_tools()).tools

    assert len(json.dumps([t.model_dump(mode="json", exclude_none=True) for t in tools])) < 33_500


async def test_instructions_fit_where_clients_cut(client: Client) -> None:
    assert client.instructions is not None
    assert 500 < len(client.instructions.partition("\n## House Rules")[0]) <= LIMIT
    assert "49 notes" in client.instructions


async def test_search_finds_in_three_languages_and_shows_where(call: Call) -> None:
    for query, path, section in (
        ("liner soak 25 minutes", "Decisions/2025-09-02 The liner needs a longer soak.md", "longer soak"),
        ("цек трещины глазурь", "Meetings/2026-06-03 Разговор с Асель о цеке.md", "цеке"),
        ("장작 소리", "한국/이천에서 배운 것.md", "이천"),
    ):
        result = await call("search", query=query, limit=3)

        row = result.structured_content["rows"][0]
        assert path == row["path"]
        assert section in " ".join(row["matched_section"])
        assert row["matched_text"]
        assert path in text_of(result)


async def test_a_search_without_a_model_says_words_only(call: Call) -> None:
    result = await call("search", query="soak")

    assert "model = none" in result.structured_content["semantic_search_unavailable"]


async def test_strict_says_no_match_and_shows_nothing_weak(call: Call) -> None:
    result = await call("search", query="liner zanzibar", mode="strict")

    assert ("no_match", [], ["zanzibar"]) == (
        result.structured_content["outcome"],
        result.structured_content["rows"],
        result.structured_content["missing_words"],
    )
    assert result.structured_content["weak_candidates"] > 0
    assert "liner" not in text_of(result).lower()


async def test_pages_neither_skip_nor_repeat(call: Call, vault: Vault) -> None:
    seen: list[str] = []
    while True:
        page = (await call("search", limit=20, offset=len(seen))).structured_content
        seen += [row["path"] for row in page["rows"]]
        if len(seen) >= page["total"]:
            break

    assert sorted(vault.snapshot().notes) == sorted(seen)


async def test_a_search_without_filters_says_how_to_page_and_to_narrow(call: Call) -> None:
    result = await call("search", query="kiln", limit=2)

    assert [
        f"{result.structured_content['total'] - 2} more: offset=2 or add folder, tags, dates or properties."
    ] == (result.structured_content["notes"])
    assert "searched" not in result.structured_content


async def test_an_offset_behind_the_last_row_says_so(call: Call) -> None:
    result = await call("search", query="celadon", offset=40)

    total = result.structured_content["total"]
    assert [f"offset = 40 is behind the last of {total}."] == result.structured_content["notes"]
    assert text_of(result).startswith(f"0 of {total} notes.")


async def test_a_note_found_by_its_tag_alone_shows_how_it_begins(call: Call) -> None:
    rows = (await call("search", query="celadon")).structured_content["rows"]

    row = next(row for row in rows if row["path"] == "한국/청자 유약 실험.md")
    assert "celadon" in row["tags"]
    assert ["청자 유약 실험"] == row["matched_section"]
    assert row["matched_text"].startswith("이천에서 배운 배합을")
    assert "##" not in row["matched_text"]


async def test_filters_narrow_and_unknown_ones_are_named(call: Call) -> None:
    rows = (await call("search", folder="Studio", tags=["glaze"])).structured_content
    unknown = (await call("search", tags=["nonesuch"], folder="Nowhere")).structured_content

    assert rows["rows"]
    assert all(row["path"].startswith("Studio/") for row in rows["rows"])
    assert (["nonesuch"], "Nowhere", 0) == (unknown["unknown_tags"], unknown["unknown_folder"], unknown["total"])


async def test_get_shows_text_between_marks_with_links_and_backlinks(call: Call) -> None:
    text = text_of(await call("get", ref="Harbour Café tableware", section="Where we are"))

    code = text.split("Where we are of the note [", 1)[1][:6]
    opening, closing = f"Where we are of the note [{code}] ---\n", f"Where we are [{code}] ---\n"
    assert f"--- section Harbour Café tableware > {opening}## Where we are\n" in text
    assert f"--- end of section Harbour Café tableware > {closing}" in text
    assert "revision: " in text
    assert "linked from: " in text
    assert "Home.md" in text


async def test_a_note_without_a_layer_shows_no_empty_fact(call: Call) -> None:
    lines = text_of(await call("get", ref="Home")).splitlines()

    assert lines[3].startswith("created: ")


async def test_a_profile_comes_with_how_to_read_it(call: Call) -> None:
    text = text_of(await call("get", ref="About me"))

    assert "\nprofile_notice: This is the person's profile." in text
    assert text.index("profile_notice") < text.index("text of the note")


async def test_a_next_part_comes_without_what_the_first_part_said(call: Call) -> None:
    first = text_of(await call("get", ref="Harbour Café tableware", max_chars=200))
    second = text_of(await call("get", ref="Harbour Café tableware", offset=200))

    for said_once in ("properties: ", "linked from: ", "outline "):
        assert said_once in first
        assert said_once not in second
    assert "path: Projects/Harbour Café tableware.md\nrevision: " in second


async def test_a_find_text_copied_from_get_matches_in_a_crlf_note(call: Call, sample: Path) -> None:
    crlf = next(p for p in sample.rglob("*.md") if b"\r\n" in p.read_bytes())
    shown = text_of(await call("get", ref=crlf.relative_to(sample).as_posix()))
    body = shown.split(" ---\n", 1)[1].split("--- end of", 1)[0].replace("\r\n", "\n")
    lines = [line for line in body.split("\n") if line.strip()]
    find = "\n".join(body.split("\n")[body.split("\n").index(lines[-2]) :]).rstrip("\n")
    before = crlf.read_bytes()

    result = await call(
        "edit", ref=crlf.relative_to(sample).as_posix(), patch=[{"find": find, "replace": find + "\nNew."}]
    )

    assert not result.is_error or "PAST_IMMUTABLE" in text_of(result)
    if not result.is_error:
        assert crlf.read_bytes().count(b"\r\n") == before.count(b"\r\n") + 1


async def test_edit_answers_with_diff_and_new_revision(call: Call, sample: Path) -> None:
    result = await call(
        "edit",
        ref="Harbour Café tableware",
        patch=[{"section": "Where we are", "old_str": "20 bisqued", "new_str": "26 bisqued"}],
        properties={"priority": 2},
    )

    value = result.structured_content
    assert ("applied", "Projects/Harbour Café tableware.md") == (value["outcome"], value["path"])
    assert {"-priority: 1", "+priority: 2"} <= set(value["diff"].splitlines())
    assert "26 bisqued" in (sample / value["path"]).read_text(encoding="utf-8")


async def test_errors_name_the_next_step_and_what_to_choose_from(call: Call) -> None:
    unknown = text_of(await call("get", ref="Boathuse renovation"))
    section = text_of(await call("get", ref="Harbour Café tableware", section="Where"))
    past = text_of(await call("edit", ref="2025-09-02 The liner needs a longer soak", patch=[{"append": "more"}]))

    assert unknown.startswith("NOT_FOUND: ")
    assert "Boathouse renovation" in unknown
    assert section.startswith("SECTION_NOT_FOUND: ")
    assert "Where we are" in section
    assert past.startswith("PAST_IMMUTABLE: ")
    assert '"suggestion"' in past


async def test_an_error_says_nothing_twice(call: Call) -> None:
    section = text_of(await call("get", ref="Harbour Café tableware", section="Where"))
    anchor = text_of(
        await call("edit", ref="Harbour Café tableware", patch=[{"find": "21 bisqued", "replace": "26 bisqued"}])
    )

    assert 1 == section.count("Where we are")
    assert 1 == anchor.count("74 of 120 fired, 20 bisqued, 26 to throw")
    assert 1 == len(anchor.splitlines())


@pytest.mark.parametrize(
    ("tool", "arguments", "names"),
    [
        ("search", {"quer": "x"}, "quer"),
        ("search", {"offset": -1}, "offset"),
        ("search", {"mode": "fuzzy"}, "mode"),
        ("search", {"properties": {"a": {"$like": 1}}}, "$like"),
        ("search", {"date_from": "April"}, "date_from"),
        ("get", {}, "ref"),
        ("save", {"title": "T", "body": "b"}, "layer"),
        ("save", {"title": "T", "body": "b", "layer": "future"}, "layer"),
        ("edit", {"ref": "Home"}, "patch"),
        ("edit", {"ref": "Home", "patch": [{"find": "x"}]}, "replace"),
        ("retire", {"ref": "Home"}, "reason"),
    ],
)
async def test_wrong_arguments_are_refused_by_name(
    call: Call, tool: str, arguments: dict[str, object], names: str
) -> None:
    result = await call(tool, **arguments)

    assert result.is_error
    assert text_of(result).startswith("INVALID_ARGUMENT: ")
    assert names in text_of(result)


async def test_texts_that_look_like_json_stay_texts(call: Call, sample: Path) -> None:
    for title, body in (("Json body", '{"a": 1}'), ("Null body", "null"), ("List body", '["x"]')):
        assert not (await call("save", title=title, body=body, layer="state")).is_error
        assert (sample / f"{title}.md").read_text(encoding="utf-8").endswith(f"---\n{body}\n")


async def test_a_patch_sent_as_json_text_is_read(call: Call) -> None:
    result = await call("edit", ref="Home", patch='[{"append": "One more line."}]')

    assert not result.is_error


async def test_a_save_and_its_deletion_are_in_changes(call: Call) -> None:
    await call("save", title="Wood kiln", content="We might fire with wood.", layer="state", tags=["kiln", "wood"])
    await call("retire", ref="Wood kiln", reason="a test")

    rows = (await call("changes", limit=2)).structured_content["rows"]
    assert [("deleted", "Wood kiln.md"), ("added", "Wood kiln.md")] == [(r["kind"], r["path"]) for r in rows]


async def test_vocabulary_counts_what_is_in_use(call: Call) -> None:
    value = (await call("vocabulary", kind="tags", limit=500)).structured_content
    folders = (await call("vocabulary", kind="folders")).structured_content["folders"]

    assert {"celadon": 5} == {t["name"]: t["notes"] for t in value["tags"] if t["name"] == "celadon"}
    assert [("live-state", 0), ("skill", 0), ("user-profile", 1)] == [
        (t["name"], t.get("notes", 0)) for t in value["system_tags"] if t["meaning"]
    ]
    assert "/" == folders[0]["path"]
    assert 49 == folders[0]["total"]


async def test_status_tells_role_index_and_meaning(call: Call) -> None:
    value = (await call("status")).structured_content

    assert ("vault", "agent", 49, "off") == (
        value["vault"],
        value["role"],
        value["notes"],
        value["meaning"]["state"],
    )


async def test_an_unknown_tool_is_an_answer_that_lists_the_tools(call: Call) -> None:
    result = await call("find")

    assert result.is_error
    assert "search, get, save" in text_of(result)


async def test_a_note_is_a_resource_and_its_path_completes(client: Client) -> None:
    read = await client.read_resource("vault://notes/Studio/Glaze%20index.md")
    templates = (await client.list_resource_templates()).resource_templates

    assert "Glaze index" in read.contents[0].text
    assert ["vault://notes/{+path}", "memex://skill/{slug}"] == [t.uri_template for t in templates]


def test_readers_see_no_write_tools() -> None:
    reading = {"search", "get", "recall", "vocabulary", "changes", "skills", "status", "graph", "insights"} | {
        "curation"
    }

    assert reading == {t.name for t in find_tools("full", "reader")}
    assert reading == {name for name in find_callable("reader") if name in {t.name for t in ALL_TOOLS}}
    assert all(spec.read_only for spec in find_callable("reader").values())


def test_toolsets_are_chosen_by_name_plus_and_minus() -> None:
    names = [t.name for t in find_tools("minimal,+status,-save", "agent")]

    assert ["search", "get", "edit", "status"] == names
    with pytest.raises(InvalidArgument, match="minimal"):
        find_tools("everything", "agent")


def test_the_advertised_essentials_stand_in_the_first_2000_characters() -> None:
    assert all(len(tool.description) < 2_000 for tool in ALL_TOOLS)
