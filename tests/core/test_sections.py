"""Sections: where they end, and which heading a name means (cases O1, O2, O3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.markdown import parse_note
from vault_memex.core.note import ParsedNote
from vault_memex.core.sections import build_sections, find_section_at, resolve_section
from vault_memex.errors import InvalidArgument, SectionNotFound, SectionNotUnique

HERON = parse_note(
    "# Heron\n\n## Alpha\n\n### Log\n\n- 2031-04-02 hull painted\n\n## Beta\n\n### Log\n\n- 2031-04-09 mast ordered\n"
    "\n## Open points\n\n- berth fee\n"
)
SHELL = parse_note(
    "# Shell habits\n\n## Backup\n\nRun at night:\n\n````sh\n# Nightly\n```\n## not a heading\n```\n````\n\n~~~\n"
    "## Restore\n~~~\n\n1. Step one\n\n   ```\n   # inner\n   ```\n\n<!--\n## Restore\nold text\n-->\n\n## Restore\n\n"
    "Ask Jun first.\n"
)
HOME = parse_note(
    "Intro line.\n\n## Garden\n\ntomatoes\n\n#### Deep note\n\nthree rows\n\n## Kitchen\n\nShelf\n-----\n\nflour"
)


def outline(note: ParsedNote) -> list[tuple[str, int]]:
    return [(heading.text, heading.level) for heading in note.headings]


def body_of(note: ParsedNote, name: str | list[str]) -> str:
    return note.text[slice(*resolve_section(note, name).body)]


def test_a_path_of_headings_names_one_of_two_equal_ones() -> None:
    assert "\n- 2031-04-09 mast ordered\n\n" == body_of(HERON, ["Beta", "Log"])
    assert "\n- 2031-04-09 mast ordered\n\n" == body_of(HERON, ["heron", "BETA", "log"])
    assert "\n- 2031-04-09 mast ordered\n\n" == body_of(HERON, "Beta > Log")


def test_a_leaf_that_occurs_twice_is_refused_with_both_paths() -> None:
    with pytest.raises(SectionNotUnique) as caught:
        resolve_section(HERON, "Log")

    assert ["Heron > Alpha > Log", "Heron > Beta > Log"] == caught.value.fields["headings"]


@pytest.mark.parametrize("name", ["Open points", "## Open points", "# Open points", "  open POINTS "])
def test_a_leaf_is_found_with_or_without_marks(name: str) -> None:
    assert "\n- berth fee\n" == body_of(HERON, name)


@pytest.mark.parametrize("name", ["Gamma", ["Alpha", "Open points"], "Alpha > Open points", "Alpha > Heron"])
def test_a_name_no_heading_answers_to_lists_those_that_exist(name: str | list[str]) -> None:
    with pytest.raises(SectionNotFound) as caught:
        resolve_section(HERON, name)

    assert [
        "Heron",
        "Heron > Alpha",
        "Heron > Alpha > Log",
        "Heron > Beta",
        "Heron > Beta > Log",
        "Heron > Open points",
    ] == caught.value.fields["headings"]


@pytest.mark.parametrize("name", ["", " ", [], ["A", ""]])
def test_an_empty_name_is_an_invalid_argument(name: str | list[str]) -> None:
    with pytest.raises(InvalidArgument):
        resolve_section(HERON, name)


def test_things_that_look_like_headings_are_none() -> None:
    assert [("Shell habits", 1), ("Backup", 2), ("Restore", 2)] == outline(SHELL)
    assert "\nAsk Jun first.\n" == body_of(SHELL, "Restore")
    assert body_of(SHELL, "Backup").endswith("old text\n-->\n\n")


def test_skipped_levels_and_setext_headings_have_sections() -> None:
    assert [("Garden", 2), ("Deep note", 4), ("Kitchen", 2), ("Shelf", 2)] == outline(HOME)
    assert "\nthree rows\n\n" == body_of(HOME, ["Garden", "Deep note"])
    assert "\nflour" == body_of(HOME, "Shelf")
    with pytest.raises(SectionNotFound):
        resolve_section(HOME, ["Kitchen", "Shelf"])


def test_a_section_ends_at_the_next_heading_of_the_same_or_a_higher_level() -> None:
    note = parse_note("## A\na\n### A1\na1\n## B\nb\n")
    section = resolve_section(note, "A")

    assert "## A\na\n### A1\na1\n" == note.text[slice(*section.span)]
    assert "a\n### A1\na1\n" == note.text[slice(*section.body)]
    assert "a\n" == note.text[slice(*section.own)]


def test_a_heading_that_holds_an_arrow_is_named_by_its_text() -> None:
    note = parse_note("# Move\n\n## In > Out\n\nx\n\n# In\n\n## Out\n\ny\n")

    assert "In > Out" == resolve_section(note, "In > Out").heading.text
    assert ("In", "Out") == resolve_section(note, ["In", "Out"]).heading.path


def test_marks_decide_only_between_headings_that_all_fit() -> None:
    note = parse_note("# Log\n\n## Log\n\nx\n")

    assert 2 == resolve_section(note, "## Log").heading.level
    assert 1 == resolve_section(note, "# Log").heading.level
    with pytest.raises(SectionNotUnique):
        resolve_section(note, "### Log")


def test_headings_with_one_path_are_refused_with_a_way_out() -> None:
    with pytest.raises(SectionNotUnique, match="by its text instead"):
        resolve_section(parse_note("## Log\n\n## Log\n"), "Log")


def test_a_name_of_marks_alone_fits_no_heading_by_comparison() -> None:
    note = parse_note("## ???\n\n## \n")

    assert "???" == resolve_section(note, "???").heading.text
    with pytest.raises(SectionNotFound):
        resolve_section(note, "!!!")


def test_a_note_without_headings_says_so() -> None:
    with pytest.raises(SectionNotFound, match="has no headings"):
        resolve_section(parse_note("text\n"), "A")


def test_a_tag_in_a_heading_belongs_to_its_text() -> None:
    note = parse_note("## Open items #urgent\n\nx\n")

    with pytest.raises(SectionNotFound):
        resolve_section(note, "## Open items")
    assert 2 == resolve_section(note, "Open items #urgent").heading.level


def test_the_text_as_it_stands_beats_obsidians_comparison() -> None:
    note = parse_note("## C++\n\nx\n\n## C\n\ny\n")

    assert "C" == resolve_section(note, "C").heading.text
    assert "C++" == resolve_section(note, "C++").heading.text
    assert "Notes on [[x]]" == resolve_section(parse_note("## Notes on [[x]]\n"), "notes on x").heading.text


def test_headings_that_differ_in_unicode_form_are_the_same() -> None:
    assert "회의" == resolve_section(parse_note("## 회의\n"), "\u1112\u116c\u110b\u1174").heading.text


def test_the_heading_path_that_holds_a_position_is_found() -> None:
    assert () == find_section_at(HOME.headings, 0)
    assert ("Garden", "Deep note") == find_section_at(HOME.headings, HOME.text.index("three"))
    assert ("Shelf",) == find_section_at(HOME.headings, len(HOME.text))


@pytest.mark.parametrize(
    ("text", "fits", "fits_not"),
    [
        ("## Notes on [[x]]", ["Notes on x", "NOTES on x"], ["Notes on"]),
        ("## C++ / C#", ["C C", "C++ / C"], ["CPP"]),
        ("## My-plan_2", ["my-plan_2"], ["my plan 2"]),
        ("# One ##", ["One"], ["Two", "#"]),
    ],
)
def test_names_fit_headings_as_links_do_in_obsidian(text: str, fits: list[str], fits_not: list[str]) -> None:
    note = parse_note(text)

    assert [note.headings[0]] * len(fits) == [resolve_section(note, name).heading for name in fits]
    for name in fits_not:
        with pytest.raises(SectionNotFound):
            resolve_section(note, name)


LINES = st.sampled_from(
    ["# A", "## B", "### C", "text", "", "## A", "```", "<!--", "-->", "Set", "---", "- # In list"]
)


@given(st.lists(LINES, max_size=25), st.sampled_from(["\n", "\r\n", "\r"]))
def test_sections_nest_and_cover_their_headings(lines: list[str], ending: str) -> None:
    note = parse_note(ending.join(lines))
    sections = build_sections(note)

    assert len(note.headings) == len(sections)
    for section in sections:
        assert section.span.start == section.heading.span.start <= section.heading.span.end <= section.body.start
        assert section.body.start <= section.own.end <= section.body.end == section.span.end <= len(note.text)
        inside = [h for h in note.headings if section.span.start < h.span.start < section.span.end]
        assert all(heading.level > section.heading.level for heading in inside)
