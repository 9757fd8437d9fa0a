"""The profile `memex`: thirteen original names, parameters and texts, over the same services as the unified tools."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from tests.conftest import OpenVault
from tests.server.conftest import Call, serve_command, text_of
from vault_memex.errors import InvalidArgument
from vault_memex.server.app import build_server
from vault_memex.server.instructions import LIMIT, NAMES
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
LIDS: dict[str, Any] = {
    "title": "Lids that stick",
    "content": "Alumina hydrate on both seats of the lid.\nTold by [[Tomas Brandt]].",
    "layer": "state",
    "folder": "Studio/Tricks",
    "tags": ["glaze", "lids"],
}


@pytest.fixture
def vault(sample: Path, opening: OpenVault) -> Vault:
    return opening(sample, tools="memex")


@pytest.fixture
async def client(vault: Vault) -> AsyncIterator[Client]:
    listed = find_tools("memex", "agent")
    async with Client(build_server(vault, listed, find_callable("agent", listed))) as connected:
        yield connected


async def say(call: Call, tool: str, **arguments: Any) -> str:
    """The text of an answer that is no error."""
    result = await call(tool, **arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is None  # a client would show that instead of the text
    return text_of(result)


async def refuse(call: Call, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """The first line of an error, and its fields."""
    result = await call(tool, **arguments)
    assert result.is_error
    line, *rest = text_of(result).splitlines()  # the rest may also say that the index is being checked
    return line, json.loads(next((fields for fields in rest if fields.startswith("{")), "{}"))


# -- which tools, and what is said of them


async def test_the_profile_lists_the_thirteen_original_tools_with_their_parameters(client: Client) -> None:
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    takes = {name: set(tool.input_schema.get("properties", {})) for name, tool in listed.items()}

    assert ORIGINAL == set(listed)
    assert {"query", "limit", "category", "tag", "date_from", "date_to"} == takes["search_notes"]
    for name, needed in {
        "save_note": {"title", "content", "layer", "folder", "tags", "source"},
        "update_note": {"id", "title", "content", "tags"},
        "get_signals": {"type", "status", "refresh"},
        "update_signal_status": {"id", "status"},
        "mint_inference": {
            "title",
            "summary",
            "fromSignalId",
            "evidenceNoteIds",
            "confidence",
            "modelId",
            "confirmed",
        },
    }.items():
        assert needed <= takes[name]
    assert ["title", "content", "layer"] == listed["save_note"].input_schema["required"]


@pytest.mark.parametrize("choice", ["minimal", "core", "core,insights", "full", *PROFILES])
async def test_instructions_name_advertised_tools_only_and_stay_short(
    sample: Path, opening: OpenVault, choice: str
) -> None:
    for role in ("agent", "reader"):
        listed = find_tools(choice, role)
        async with Client(build_server(opening(sample), listed, {})) as client:
            said = (client.instructions or "").partition("\n## House Rules")[0]
        arguments = {"patch", "find", "section", "if_revision"}

        assert set(re.findall(r"`(\w+)`", said)) - arguments <= {spec.name for spec in listed}
        assert len(said) <= LIMIT
        assert "Search it before you answer" in said
        assert said.endswith(".\n")  # a sentence is never cut
        keeping = {*NAMES["keeping"]} & {spec.name for spec in listed}
        assert bool(keeping) == ("Save without being asked" in said)


async def test_instructions_and_description_hold_the_rule_for_the_layer_and_what_to_do_before_a_save(
    client: Client,
) -> None:
    said = client.instructions or ""
    save = next(tool for tool in (await client.list_tools()).tools if tool.name == "save_note")

    for sentence in (
        "Past tense, something that happened: past.",
        "A current plan or fact that will change: state.",
        "rule, only when the person asked for it.",
        "Unclear: past.",
        "Use the person's tags and folders (`list_tags`, `list_folders`)",
        "look for a note to change before you save a new one",
    ):
        assert sentence in said
    for word in ("past: something that happened", "the default when unclear", "only when the person asked for it"):
        assert word in (save.description or "")


async def test_every_name_of_every_profile_is_callable_whatever_is_listed(call: Call) -> None:
    specs = [*ALL_TOOLS, *(spec for specs in PROFILES.values() for spec in specs)]

    assert "notes: 49" in text_of(await call("status"))
    for choice in ("minimal", "core", *PROFILES):
        for role in ("agent", "curator"):
            names = {spec.name for spec in specs if role == "curator" or not spec.curators_only}
            assert names == set(find_callable(role, find_tools(choice, role)))
    assert "save_note" not in find_callable("reader")
    assert "save_note" not in {spec.name for spec in find_tools("memex", "reader")}


def test_a_profile_stands_alone() -> None:
    for choice in ("memex,core", "core,+memex", "-memex"):
        with pytest.raises(InvalidArgument, match="the profile memex stands alone"):
            find_tools(choice, "agent")


# -- reading


async def test_a_search_names_notes_by_number_and_the_number_reads_the_note(call: Call) -> None:
    found = await say(call, "search_notes", query="Berta lid prop")
    number = re.search(r"## \d+\. Kiln Berta \(id: (\d+)\)\nStudio · state · created 2024-01-22 · ", found)
    assert number is not None
    note = await say(call, "get_note", id=int(number[1]))

    assert note.startswith("# Kiln Berta\n--- text of the note [")
    assert "The lid has to be propped for the first hour." in note
    assert f'\nReferenced by:\n- #39 "2026-09-30 Berta is retired"\nid: {number[1]} | layer: state | ' in note
    for ref in (f"#{number[1]}", number[1], "Kiln Berta", "Studio/Kiln Berta.md"):
        assert f"id: {number[1]} | " in await say(call, "get_note", id=ref)


async def test_a_search_takes_folder_tag_and_dates_and_refuses_an_empty_query(call: Call) -> None:
    place = {"query": "glaze", "category": "Studio", "tag": "kiln"}
    wide = await say(call, "search_notes", **place)
    narrow = await say(call, "search_notes", **place, date_from="2026-01-01", date_to="2026-12-31")
    nothing = await say(call, "search_notes", query="zanzibar")

    assert {"Studio", "Studio/Log"} == set(re.findall(r"^(\S+) · (?:\w+ · )?created 20", wide, re.MULTILINE))
    assert {"2024", "2026"} <= set(re.findall(r"· created (\d{4})", wide))
    assert {"2026"} == set(re.findall(r"· created (\d{4})", narrow))
    assert nothing.startswith("No notes found.\n\nNowhere in the vault: zanzibar.")
    assert "query is empty" in (await refuse(call, "search_notes", query=" "))[0]
    assert "date_from" in (await refuse(call, "search_notes", query="x", date_from="April"))[0]
    assert "limit set to 25 (1-25)." in await say(call, "search_notes", query="glaze", limit=99)


async def test_the_newest_notes_come_first_and_of_one_day_the_higher_number(call: Call, vault: Vault) -> None:
    lines = (await say(call, "list_notes", limit=100)).splitlines()
    shown = [
        re.fullmatch(r"- \[(\d+)\] .* \(([\d-]+)\) · (?:(?:past|state|rule) · )?\S.*", line) for line in lines
    ]
    order = [(found[2], int(found[1])) for found in shown if found]

    assert 49 == len(order) == len(lines)
    assert sorted(order, reverse=True) == order
    assert len((await say(call, "list_notes")).splitlines()) == 21
    assert "29 more: raise limit, or search." in await say(call, "list_notes")
    assert "limit" in (await refuse(call, "list_notes", limit=101))[0]


async def test_tags_come_by_count_then_name_in_their_commonest_spelling(call: Call, sample: Path) -> None:
    (sample / "Kitchen" / "One.md").write_text("#Glaze\n", encoding="utf-8")
    (sample / "Kitchen" / "Two.md").write_text("#zz and #aa\n", encoding="utf-8")
    await say(call, "get_note", id="Kitchen/One.md")
    await say(call, "get_note", id="Kitchen/Two.md")
    lines = (await say(call, "list_tags")).splitlines()
    rows = [(name, int(count)) for name, count in (line[:-1].rsplit(" (", 1) for line in lines)]

    assert ["studio (10)", "glaze (8)", "kiln (6)"] == lines[:3]
    assert sorted(rows, key=lambda row: (-row[1], row[0])) == rows
    assert {("aa", 1), ("zz", 1)} <= set(rows)


async def test_retired_tags_come_last_with_what_to_write_and_a_profile_with_how_to_read_it(
    call: Call, vault: Vault
) -> None:
    (vault.root / "_memex").mkdir()
    (vault.root / "_memex" / "tags.md").write_text("- `clay-body` → `clay`\n- `misc`\n", encoding="utf-8")
    saved = await say(call, "save_note", title="Slip", content="Of M-14.", layer="state", tags=["misc"])

    assert ["retired: clay-body, write clay", "retired: misc"] == (await say(call, "list_tags")).splitlines()[-2:]
    assert "The tag 'misc' is retired" in saved
    assert "\nnotice: This is the person's profile." in await say(call, "get_note", id="About me")


async def test_folders_come_with_own_and_whole_counts_and_without_ignored_ones(
    sample: Path, opening: OpenVault
) -> None:
    (sample / ".memex").mkdir()
    (sample / ".memex" / "config.toml").write_text('ignore = ["Kitchen"]\n', encoding="utf-8")
    listed = find_tools("memex", "agent")
    async with Client(build_server(opening(sample), listed, find_callable("agent", listed))) as client:
        result = await client.call_tool("list_folders", {})
    assert isinstance(result, CallToolResult)
    lines = text_of(result).splitlines()

    assert ["/ (2, with subfolders 48)", "Boat (1)"] == lines[:2]
    assert "Studio (8, with subfolders 13)" in lines
    assert "Studio/Log (5)" in lines
    assert not [line for line in lines if line.startswith(("Kitchen", "_memex", ".memex"))]


async def test_every_kind_of_link_is_a_reference_the_newest_change_first_and_code_is_none(
    call: Call, sample: Path
) -> None:
    for number, text in enumerate(
        (
            "[[Kiln Berta]]",
            "[[Kiln Berta|her]]",
            "[[Kiln Berta#Habits]]",
            "![[Kiln Berta]]",
            "[[Studio/Kiln Berta]]",
            "[she](../Studio/Kiln%20Berta.md)",
            "[[Old lady]]",
            "`[[Kiln Berta]]`",
        )
    ):
        path = sample / "Kitchen" / f"Link {number}.md"
        path.write_text(f"---\nupdated: 2026-12-0{number + 1}\n---\n{text}\n", encoding="utf-8")
        await say(call, "get_note", id=f"Kitchen/Link {number}.md")
    berta = sample / "Studio" / "Kiln Berta.md"
    text = berta.read_text(encoding="utf-8")
    berta.write_text(text.replace("---\n", "---\naliases: [Old lady]\n", 1), encoding="utf-8")
    await say(call, "get_note", id="Studio/Kiln Berta.md")
    references = re.findall(
        r'^- #\d+ "(.+)"$', await say(call, "get_note", id="Studio/Kiln Berta.md"), re.MULTILINE
    )

    # Link 6 names an alias, which in Obsidian leads nowhere either; 7 is code.
    assert [f"Link {number}" for number in (5, 4, 3, 2, 1, 0)] == [n for n in references if n.startswith("Link")]


# -- writing


async def test_a_save_is_answered_with_its_number_and_what_it_brought_in(call: Call, sample: Path) -> None:
    text = await say(call, "save_note", **LIDS)

    assert text.startswith('Saved note #50: "Lids that stick"\npath: Studio/Tricks/Lids that stick.md\n')
    assert "new tags: lids\nnew folder: Studio/Tricks\n" in text
    assert (
        (sample / "Studio" / "Tricks" / "Lids that stick.md")
        .read_text(encoding="utf-8")
        .endswith("---\nAlumina hydrate on both seats of the lid.\nTold by [[Tomas Brandt]].\n")
    )
    assert '- #50 "Lids that stick"' in await say(call, "get_note", id="Tomas Brandt")


@pytest.mark.parametrize(
    ("title", "file"),
    [("A/B: what?", "A-B what.md"), ("...", "untitled.md"), ("가" * 60, f"{'가' * 39}.md"), ("Lids", "Lids.md")],
    ids=["forbidden", "nothing left", "too long", "as it is"],
)
async def test_a_file_is_named_after_the_title_as_far_as_names_allow(
    call: Call, sample: Path, title: str, file: str
) -> None:
    await say(call, "save_note", **{**LIDS, "title": title})

    text = (sample / "Studio" / "Tricks" / file).read_text(encoding="utf-8")
    assert (file != f"{title}.md") == ("aliases:" in text)
    assert f"# {file.removesuffix('.md')}\n" in await say(call, "get_note", id=title)


async def test_a_layer_that_is_missing_or_none_is_refused_with_the_three_and_the_rule_for_them(call: Call) -> None:
    without = {name: value for name, value in LIDS.items() if name != "layer"}
    for arguments in (without, {**LIDS, "layer": "future"}):
        line, fields = await refuse(call, "save_note", **arguments)

        assert line.startswith("INVALID_ARGUMENT: save_note: layer: ")
        assert fields == {"argument": "layer"} or fields == {}
        for word in ("past: something that happened", "the default when unclear", "state: ", "rule: guidance"):
            assert word in line


@pytest.mark.parametrize("folder", ["../outside", ".hidden/x", "_memex", "_memex/inbox"])
async def test_a_folder_that_is_not_for_notes_is_refused(call: Call, tmp_path: Path, folder: str) -> None:
    before = sorted(tmp_path.rglob("*.md"))
    line, _ = await refuse(call, "save_note", **{**LIDS, "folder": folder})

    assert line.startswith(("RESERVED_FOLDER: ", "PATH_OUTSIDE_VAULT: "))
    assert before == sorted(tmp_path.rglob("*.md"))


async def test_what_is_there_already_is_refused_with_the_update_to_send(call: Call) -> None:
    await say(call, "save_note", **LIDS)
    line, fields = await refuse(call, "save_note", **LIDS)

    assert line.startswith(
        'DUPLICATE_SUSPECTED: Nothing was written: #50 "Lids that stick" (100% match) says the same.'
    )
    assert {"tool": "update_note", "id": 50} == {k: fields["suggestion"][k] for k in ("tool", "id")}


async def test_a_similar_note_is_warned_of_with_number_title_and_match(call: Call) -> None:
    words = "We fired the front loader to cone six and the celadon on the lower shelf ran down onto the wash again"
    await say(call, "save_note", **{**LIDS, "content": f"{words} on Monday, so the shelf needs grinding."})
    text = await say(
        call, "save_note", **{**LIDS, "title": "Runs", "content": f"{words}; Tomas thinks it is too hot."}
    )

    assert re.search(r'⚠️ Much like #50 "Lids that stick" \(\d\d% match\)', text)


async def test_an_old_note_from_elsewhere_comes_up_in_its_own_section(call: Call, sample: Path) -> None:
    old = "---\ncreated: 2024-03-01\nlayer: past\n---\nThe quokka ate my saxophone near the obelisk in Valletta.\n"
    (sample / "Boat" / "Valletta.md").write_text(old, encoding="utf-8")
    await say(call, "get_note", id="Boat/Valletta.md")
    text = await say(
        call,
        "save_note",
        **{**LIDS, "content": "A quokka, a saxophone, an obelisk: Valletta again, in clay this time."},
    )

    assert re.search(r'\nFlashbacks \(.*\):\n- \d{3,4} days ago: #50 "Valletta"', text)


async def test_an_update_replaces_text_title_and_tags_of_a_note_that_was_read(call: Call, sample: Path) -> None:
    await say(call, "save_note", **LIDS)
    body = "Alumina hydrate on both seats, thinly.\nTold by [[Tomas Brandt]]."
    changed = await say(call, "update_note", id=50, title="Lids that come off", content=body, tags=["lids"])

    assert changed.startswith('Updated note #50: "Lids that come off"\npath: Studio/Tricks/Lids that come off.md')
    assert not (sample / "Studio" / "Tricks" / "Lids that stick.md").exists()
    assert "| tags: lids |" in await say(call, "get_note", id=50)
    assert "Nothing to change. Send title, content or tags." in (await refuse(call, "update_note", id=50))[0]


async def test_a_text_replaces_only_what_the_assistant_has_been_shown(call: Call, sample: Path) -> None:
    file = sample / "Studio" / "Kiln Berta.md"
    text = file.read_text(encoding="utf-8")
    unread, _ = await refuse(call, "update_note", id="Kiln Berta", content="New.", allow_shrink=True)
    await say(call, "get_note", id="Kiln Berta")
    file.write_text(f"{text}\nShe was sold today.\n", encoding="utf-8")
    stale, _ = await refuse(call, "update_note", id="Kiln Berta", content="New.", allow_shrink=True)

    assert unread.startswith("REVISION_REQUIRED: Read Studio/Kiln Berta.md with `get_note` first")
    assert stale.startswith("STALE_REVISION: ")
    assert f"{text}\nShe was sold today.\n" == file.read_text(encoding="utf-8")
    await say(call, "get_note", id="Kiln Berta")
    await say(call, "update_note", id="Kiln Berta", content="Sold.", allow_shrink=True)
    assert file.read_text(encoding="utf-8").endswith("---\nSold.\n")


async def test_the_past_is_refused_with_an_amendment_that_can_be_saved_as_it_is(call: Call, sample: Path) -> None:
    title = "2026-09-30 Berta is retired"
    before = (sample / "Decisions" / f"{title}.md").read_bytes()
    line, fields = await refuse(call, "update_note", id=title, content="She was not.")
    suggestion = fields["suggestion"]
    saved = await say(call, suggestion.pop("tool"), **{**suggestion, "amend_kind": "corrects"})
    found = await say(call, "search_notes", query="Berta is retired")

    assert line.startswith("PAST_IMMUTABLE: ")
    assert before == (sample / "Decisions" / f"{title}.md").read_bytes()
    assert saved.startswith(f'Saved note #50: "[Amendment] {title}"')
    assert f"superseded: read Amendment {title}.md" in found
    assert found.index(". Amendment") < found.index(f". {title} (id:")
    note = await say(call, "get_note", id=title)
    assert f"notice: Superseded: this was corrected. Read Amendment {title}.md (#50) instead." in note


async def test_rules_are_neither_updated_nor_deleted_and_a_new_one_waits(call: Call, vault: Vault) -> None:
    for tool, more in (("update_note", {"title": "x"}), ("update_note", {"content": "x"}), ("delete_note", {})):
        line, _ = await refuse(call, tool, id="Say where it comes from", **more)
        assert line.startswith("RULE_USER_ONLY: ")
        assert "Propose" in line
    await say(call, "save_note", title="Metric only", content="Kilograms.", layer="rule")

    assert "it is provisional: you have not approved it" in [rule.why for rule in vault.rules.find().rules]


async def test_a_deleted_note_is_in_the_trash_and_the_answer_names_who_links_to_it(
    call: Call, sample: Path
) -> None:
    number = re.search(r"id: (\d+) \|", await say(call, "get_note", id="Kiln Berta"))
    assert number is not None
    text = await say(call, "delete_note", id=int(number[1]))

    assert text.startswith(f'Deleted note #{number[1]}: "Kiln Berta"\nnow at: _memex/trash/')
    assert "referenced by: Decisions/2026-09-30 Berta is retired.md" in text
    assert not (sample / "Studio" / "Kiln Berta.md").exists()
    for tool in ("delete_note", "get_note"):
        assert (await refuse(call, tool, id=int(number[1])))[0].startswith("NOT_FOUND: ")


# -- signals and inferences


async def test_signals_are_listed_decided_and_minted(call: Call) -> None:
    links = await say(call, "get_signals", type="dangling_link")
    found = re.search(
        r"#(\d+) \[dangling_link\] forward\n'Loose ends' links to \[\[Sponge supplier\]\].*\n  - #49 ", links
    )
    assert found is not None
    number = int(found[1])

    assert f"Signal #{number} → snoozed until 2999-01-01." == await say(
        call, "update_signal_status", id=number, status="snoozed", until="2999-01-01"
    )
    assert f"#{number} [dangling_link]" not in await say(call, "get_signals", type="dangling_link")
    assert f"#{number} [dangling_link]" in await say(call, "get_signals", status="snoozed")
    assert f"Signal #{number} → new." == await say(call, "update_signal_status", id=number, status="new")
    minted = await say(
        call,
        "mint_inference",
        title="A sponge is missing",
        summary="It is linked and not written.",
        fromSignalId=number,
        evidenceNoteIds=["Kiln Berta"],
        confidence=0.78,
        modelId="some-model",
        confirmed=True,
    )
    assert (
        'Minted inference #1 "A sponge is missing" from 2 source notes.\ncite as: [Inference #1, conf 0.78, '
        in minted
    )
    assert f"#{number} [dangling_link]" in await say(call, "get_signals", status="minted")
    assert "No dismissed signals." == (await say(call, "get_signals", status="dismissed")).partition("\n")[0]


async def test_an_inference_needs_the_persons_word_and_real_notes_and_tells_what_became_of_them(
    call: Call, sample: Path
) -> None:
    hypothesis = {"title": "Berta cost more", "summary": "Repairs.", "evidenceNoteIds": ["Kiln Berta"]}
    assert (await refuse(call, "mint_inference", **hypothesis))[0].startswith("CONFIRMATION_REQUIRED: ")
    unknown, _ = await refuse(call, "mint_inference", **{**hypothesis, "evidenceNoteIds": [999]}, confirmed=True)
    await say(call, "mint_inference", **hypothesis, confirmed=True)
    file = sample / "Studio" / "Kiln Berta.md"
    file.write_text(file.read_text(encoding="utf-8").replace("180 litres", "190 litres"), encoding="utf-8")

    assert unknown.startswith("UNKNOWN_NOTES: ")
    assert unknown.endswith("Use paths or numbers from `search_notes`.")
    assert "No inferences." == await say(call, "list_inferences", status="archived")
    assert (await say(call, "list_inferences")).startswith(
        "#1 [STALE] Berta cost more\nRepairs.\ncite as: [Inference #1"
    )
    one = await say(call, "get_inference", id=1)
    assert 'Evidence:\n  - #7 "Kiln Berta" [changed]\n    then: ' in one
    assert (await refuse(call, "get_inference", id=2))[0].startswith("NOT_FOUND: ")


# -- through the real server


async def test_a_real_client_works_by_numbers_alone_from_the_first_call(sample: Path) -> None:
    command, *arguments = serve_command(sample, "--model", "none", "--tools", "memex")
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:

        async def call(tool: str, **sent: Any) -> CallToolResult:
            result = await client.call_tool(tool, sent)
            assert isinstance(result, CallToolResult)
            return result

        assert ORIGINAL == {tool.name for tool in (await client.list_tools()).tools}
        first = re.match(r"- \[(\d+)\] ", await say(call, "list_notes", limit=1))
        assert first is not None
        assert f"id: {first[1]} | " in await say(call, "get_note", id=int(first[1]))
        assert (await say(call, "save_note", **LIDS)).startswith('Saved note #50: "')
        assert "(id: 50)" in await say(call, "search_notes", query="alumina hydrate lid")
        assert (
            await say(call, "update_note", id=50, content="Alumina hydrate, thinly, on both seats.")
        ).startswith('Updated note #50: "')
        assert (await refuse(call, "save_note", **LIDS))[0].startswith("DUPLICATE_SUSPECTED: ")
        assert (await say(call, "delete_note", id=50)).startswith('Deleted note #50: "')
        assert "[dangling_link]" in await say(call, "get_signals")
        assert "No inferences." == await say(call, "list_inferences")
        unified = await call("search", query="celadon", limit=1)
        assert unified.structured_content is not None  # callable, though not listed
