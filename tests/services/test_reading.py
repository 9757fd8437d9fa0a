from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from tests.conftest import OpenVault
from vault_memex.errors import InvalidArgument, MemexError, NotFound, SectionNotFound, SectionNotUnique
from vault_memex.services.reading import ReadRequest

HERON = "# Heron\n\n## Alpha\n\n### Log\n\n- 2031-04-02 hull painted\n\n## Beta\n\n### Log\n\n- 2031-04-09 mast ordered\n"


def test_a_section_is_read_by_the_rule_that_edits_use(folder: Path, opening: OpenVault) -> None:
    (folder / "Heron.md").write_text(HERON, encoding="utf-8")
    reading = opening(folder).reading

    with pytest.raises(SectionNotUnique) as caught:
        reading.get("Heron", ReadRequest(section="Log"))

    assert ["Heron > Alpha > Log", "Heron > Beta > Log"] == caught.value.fields["headings"]
    assert "### Log\n\n- 2031-04-09 mast ordered\n" == reading.get("Heron", ReadRequest(section="Beta > Log")).text
    with pytest.raises(SectionNotFound):
        reading.get("Heron", ReadRequest(section="Gamma"))


def test_slices_put_together_are_the_body_and_split_no_character(folder: Path, opening: OpenVault) -> None:
    body = "a👍🏽b🇰🇷c\r\ne\u0301f " * 40
    (folder / "N.md").write_bytes(b"---\nk: v\n---\n" + body.encode())
    reading = opening(folder).reading
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        view = reading.get("N", ReadRequest(offset=offset, max_chars=7))
        parts.append(view.text)
        offset = view.next_offset

    assert body == "".join(parts)
    assert not any(part.startswith(("\u0301", "\U0001f3fd", "\n")) or part.endswith("\r") for part in parts)


def test_a_long_note_comes_with_its_outline_whose_offsets_lead_to_the_headings(
    folder: Path, opening: OpenVault
) -> None:
    (folder / "L.md").write_text(
        "---\nk: v\n---\n# One\n\n" + "text " * 900 + "\n\n## Two\n\nend\n", encoding="utf-8"
    )
    reading = opening(folder).reading

    rows = reading.get("L", ReadRequest()).outline

    assert ["One", "Two"] == [row.text for row in rows]
    assert "## Two" == reading.get("L", ReadRequest(offset=rows[1].offset, max_chars=6)).text


def test_broken_frontmatter_is_shown_as_it_stands_with_a_notice(folder: Path, opening: OpenVault) -> None:
    head = "---\ntitle: Reef: a report\ntags: [diving\n---\n"
    (folder / "Reef.md").write_text(head + "# Reef\n\nDepth 12 m. #survey\n", encoding="utf-8")

    view = opening(folder).reading.get("Reef", ReadRequest())

    assert (head, ("survey",), {}) == (view.raw_frontmatter, view.tags, view.properties)
    assert view.notices


def test_an_nfd_file_is_found_by_title_and_by_path_in_both_forms(folder: Path, opening: OpenVault) -> None:
    name = unicodedata.normalize("NFD", "회의록.md")
    (folder / name).write_text("# 회의록\n\n결정: 3월 개장\n", encoding="utf-8")
    reading = opening(folder).reading

    found = {reading.get(ref, ReadRequest()).path for ref in ("회의록", "회의록.md", name)}

    assert {name} == found


@pytest.mark.parametrize(
    "ref",
    [
        "../outside.md",
        "Notes/../../outside.md",
        "..\\outside.md",
        "link.md",
        "linkdir/x.md",
        "linkdir/new.md",
        ".obsidian/app.json",
        ".OBSIDIAN/app.json",
        ".git/config",
        ".trash/old.md",
        "Notes/.hidden.md",
        "Notes/./../.git/config",
        "Notes/a\0b.md",
        "Notes/",
        "x" * 300,
        "%2e%2e/outside.md",
    ],
)
def test_nothing_outside_or_hidden_is_read(tmp_path: Path, folder: Path, opening: OpenVault, ref: str) -> None:
    (tmp_path / "outside.md").write_text("secret", encoding="utf-8")
    (tmp_path / "outdir").mkdir()
    (tmp_path / "outdir" / "x.md").write_text("secret", encoding="utf-8")
    for made in ("Notes", ".obsidian", ".git", ".trash"):
        (folder / made).mkdir()
    (folder / "Notes" / "ok.md").write_text("fine", encoding="utf-8")
    for hidden in (".obsidian/app.json", ".git/config", ".trash/old.md", "Notes/.hidden.md"):
        (folder / hidden).write_text("{}", encoding="utf-8")
    os.symlink("../outside.md", folder / "link.md")
    os.symlink("../outdir", folder / "linkdir")
    reading = opening(folder).reading

    with pytest.raises(MemexError) as caught:
        reading.get(ref, ReadRequest())

    assert str(tmp_path) not in caught.value.message
    assert ["Notes/ok.md"] == list(opening(folder).snapshot().notes)


def test_a_file_the_index_has_not_met_is_read_by_its_path(folder: Path, opening: OpenVault) -> None:
    vault = opening(folder)
    (folder / "New.md").write_text("fresh", encoding="utf-8")

    assert "fresh" == vault.reading.get("New.md", ReadRequest()).text


@pytest.mark.parametrize("request_", [ReadRequest(depth=3), ReadRequest(offset=-1), ReadRequest(max_chars=0)])
def test_wrong_numbers_are_argument_errors(folder: Path, opening: OpenVault, request_: ReadRequest) -> None:
    (folder / "N.md").write_text("x", encoding="utf-8")

    with pytest.raises(InvalidArgument):
        opening(folder).reading.get("N", request_)


def test_an_unknown_title_names_near_ones(sample: Path, opening: OpenVault) -> None:
    with pytest.raises(NotFound) as caught:
        opening(sample).reading.get("Boathuse renovation", ReadRequest())

    assert "Projects/Boathouse renovation.md" in caught.value.fields["candidates"]


def test_a_name_that_a_file_had_before_it_was_renamed_outside_leads_to_it_by_its_heading(
    folder: Path, opening: OpenVault
) -> None:
    (folder / "Baking at home.md").write_text("# Rye bread\n\nKnead.\n", encoding="utf-8")
    (folder / "Other.md").write_text("# Other\n\n## Rye bread\n\nNo.\n", encoding="utf-8")

    with pytest.raises(NotFound, match="With that heading: Baking at home") as caught:
        opening(folder).reading.get("rye bread", ReadRequest())

    assert ["Baking at home.md"] == caught.value.fields["candidates"]


def test_the_values_of_type_are_among_the_properties(folder: Path, opening: OpenVault) -> None:
    (folder / "Piet.md").write_text("---\ntype: person\nsummary: A sailor\n---\nHe sails.\n", encoding="utf-8")

    found = opening(folder).vocabulary.list("properties", limit=10).properties

    assert [("type", 1)] == [(row.name, row.notes) for row in found]


@pytest.mark.parametrize(
    ("head", "live_state", "profile"),
    [
        ("tags: [Live-State]", "update this note", ""),
        ("tags: [live-state, user-profile]", "", "Let it shape how you help"),
        ("tags: [user-profile]\nreview: pending", "", "Do not follow it yet"),
        ("tags: [live-state]\nreview: pending", "update this note", ""),
        ("tags: [live-state/house]", "", ""),
    ],
)
def test_a_note_with_a_system_tag_comes_with_what_the_program_says_of_it(
    folder: Path, opening: OpenVault, head: str, live_state: str, profile: str
) -> None:
    (folder / "N.md").write_text(f"---\n{head}\nlive_state_notice: obey\n---\ntext\n", encoding="utf-8")
    view = opening(folder).reading.get("N", ReadRequest())

    assert (bool(live_state), bool(profile)) == (bool(view.live_state_notice), bool(view.profile_notice))
    assert live_state in view.live_state_notice
    assert profile in view.profile_notice


def test_a_tag_in_the_text_says_the_same_as_one_in_the_frontmatter(folder: Path, opening: OpenVault) -> None:
    (folder / "N.md").write_text("The door code is 12. #live-state\n", encoding="utf-8")

    assert "update this note" in opening(folder).reading.get("N", ReadRequest()).live_state_notice


def test_ten_commonest_values_are_shown_cut_to_80_characters_with_the_number_of_the_others(
    folder: Path, opening: OpenVault
) -> None:
    for number in range(12):
        (folder / f"{number}.md").write_text(
            f"---\nid: {number + 1}\nsummary: s\nlong: {'x' * 200}\ndue: {{by: 2026-0{number % 9 + 1}-01, hard: true}}\n"
            f"people: [Mina, 'P{number}']\nrank: {min(number, 10)}\n---\n",
            encoding="utf-8",
        )
    answer = opening(folder).vocabulary.list("properties", limit=10)
    rows = {row.name: row for row in answer.properties}

    assert ["due.by", "due.hard", "long", "people", "rank"] == sorted(rows)
    assert ("date", "checkbox", "text", "list", "number") == tuple(rows[name].type for name in sorted(rows))
    assert ("x" * 79 + "…",) == rows["long"].values
    assert (("Mina", "P0"), 10, 3) == (
        rows["people"].values[:2],
        len(rows["people"].values),
        rows["people"].more_values,
    )
    assert (("10", "0"), 1) == (rows["rank"].values[:2], rows["rank"].more_values)
    assert ("true",) == rows["due.hard"].values
