"""Texts, types and names of the knowledge graph as lines of a note, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.markdown import parse_note
from vault_memex.errors import InvalidArgument, NotWritable
from vault_memex.memory.knowledge import (
    GraphLink,
    NoteGraph,
    Observation,
    RelationLine,
    parse_graphs,
    parse_note_graph,
    render_graph,
)
from vault_memex.memory.knowledge_edit import find_graph_lines, has_prose, plan_lines, plan_no_entity, render_body
from vault_memex.memory.knowledge_text import (
    ALWAYS,
    Validity,
    parse_exact_name,
    parse_validity,
    render_exact_name,
)

HEAD = "---\nentity_type: thing\n---\n"
# Pieces that mean something to Markdown, to Obsidian or to this format.
PIECES = st.sampled_from(
    [
        *(
            "#",
            "# ",
            "## Relations",
            "- ",
            "-",
            "* ",
            "+ ",
            "1. ",
            "12) ",
            "> ",
            "```",
            "~~~",
            "|",
            "---",
            "===",
            "***",
        ),
        *(
            "[ ] ",
            "[x] ",
            "[[",
            "]]",
            "[[Alice]]",
            "[a]: b",
            "[^1]: ",
            "![[x]]",
            "`",
            "$$",
            "$",
            "%%",
            "<!--",
            "-->",
        ),
        *(
            "<div>",
            "\\",
            "\\#",
            "&#32;",
            "&#;",
            "&amp;",
            " ^id",
            "^id",
            " (from 2026-01-02)",
            " (until 2026-05-01)",
        ),
        *(
            "\n",
            "\n\n",
            "\r\n",
            "\r",
            "\t",
            " ",
            "  ",
            "    ",
            "\0",
            "\x0b",
            "\u2028",
            "\u00a0",
            "\ufeff",
            "é",
            "日",
            "🧠",
        ),
        *("a", "word", "_", "*", ":", "#tag", "|x|", "'", '"'),
    ]
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=6).map("".join), st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)
DAYS = st.sampled_from(["", "2026-01-02", "2026-05-01"])
SPANS = st.builds(Validity, DAYS, DAYS)
OBSERVATIONS = st.builds(Observation, TEXTS, SPANS)
TARGETS = st.sampled_from(["Alice", "people/Bob", "C sharp", "日本"])
LINKS = st.builds(GraphLink, TARGETS, st.one_of(st.none(), TEXTS))
RELATIONS = st.builds(RelationLine, TEXTS, LINKS, SPANS)


@given(st.lists(st.one_of(OBSERVATIONS, RELATIONS), max_size=5))
def test_whatever_is_written_into_a_new_note_is_read_back(values: list[Observation | RelationLine]) -> None:
    graph = parse_note_graph(parse_note(HEAD + render_body(values)))

    assert [v for v in values if isinstance(v, Observation)] == list(graph.observations)
    assert [v for v in values if isinstance(v, RelationLine)] == list(graph.relations)
    assert [graph, graph] == parse_graphs([render_graph(graph)] * 2)


@given(TEXTS, SPANS, LINKS)
def test_a_relation_of_names_that_are_no_entities_is_read_back(kind: str, span: Validity, end: GraphLink) -> None:
    relation = RelationLine(kind, end, span, GraphLink("Somebody"))
    text = "---\nknowledge_graph: relations\n---\n" + render_body([relation])

    assert (relation,) == parse_note_graph(parse_note(text)).relations


@given(TEXTS)
def test_a_name_that_no_link_can_say_is_read_back(name: str) -> None:
    assert name == parse_exact_name(render_exact_name(name))


NOTE = """\
---
entity_type: person   # who
---
# Ada

Some prose - with a dash.

- a list that is no observation

## Observations

Before the list.
- likes tea
  - green
* 3 cats ^cats

After the list.

## Relations
1. works at [[Acme|the firm]] (from 2026-01-02)
- [[Bob]]
- nothing linked here

## Log
- met [[Carol]]
"""
ADDED = st.lists(st.one_of(OBSERVATIONS, RELATIONS), max_size=3)


@given(ADDED, st.sets(st.integers(0, 3)), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_prose_around_the_lists_keeps_every_byte(
    added: list[Observation | RelationLine], gone: set[int], ending: str, last: bool
) -> None:
    text = (NOTE if last else NOTE.rstrip("\n")).replace("\n", ending)
    lines = find_graph_lines(text)
    new = plan_lines(text, added, [line.item.span for n, line in enumerate(lines) if n in gone])

    after = find_graph_lines(new)
    kept = [line.value for n, line in enumerate(lines) if n not in gone]
    for kind in (Observation, RelationLine):
        wanted = [v for v in [*kept, *added] if isinstance(v, kind)]
        assert wanted == [line.value for line in after if isinstance(line.value, kind)]

    def prose(note: str, items: list[tuple[int, int]]) -> str:
        for start, end in sorted(items, reverse=True):
            note = note[:start] + note[end:]
        return note

    before = prose(text, [line.item.span for line in lines])
    left = prose(new, [line.item.span for line in after])
    assert [line for line in before.split(ending) if line] == [line for line in left.split(ending) if line]
    assert before == left or added  # a list that begins anew is set off by a blank line


def test_what_a_person_wrote_is_read() -> None:
    graph = parse_note_graph(parse_note(NOTE))

    assert (Observation("likes tea\n- green"), Observation("3 cats")) == graph.observations
    assert (
        RelationLine("works at", GraphLink("Acme"), Validity("2026-01-02")),
        RelationLine("", GraphLink("Bob")),
    ) == graph.relations


def test_code_comments_rules_and_empty_bullets_are_no_observations() -> None:
    text = HEAD + "## Observations\n```\n- code\n```\n<!--\n- hidden\n-->\n- \n* * *\n%% x\n- y\n%%\n- real\n"

    assert (Observation("real"),) == parse_note_graph(parse_note(text)).observations


def test_a_note_without_entity_type_says_nothing() -> None:
    assert NoteGraph() == parse_note_graph(parse_note(NOTE.replace("entity_type", "kind")))


def test_lines_a_person_can_read_are_written() -> None:
    values = [
        Observation("likes programming in C:\\tools"),
        Observation("line one\nline two"),
        Observation("# not a heading"),
        Observation("see [[Alice]] and #todo"),
        RelationLine("works_at", GraphLink("Acme Corp")),
        RelationLine("member of", GraphLink("Club"), Validity("2026-01-02", "2026-05-01")),
    ]

    assert (
        "## Observations\n"
        "- likes programming in C:\\tools\n"
        "- line one\n"
        "  line two\n"
        "- \\# not a heading\n"
        "- see [[Alice]] and #todo\n"
        "\n"
        "## Relations\n"
        "- works_at [[Acme Corp]]\n"
        "- member of [[Club]] (from 2026-01-02, until 2026-05-01)\n"
    ) == render_body(values)


def test_links_in_an_observation_are_live_and_a_type_makes_none() -> None:
    body = render_body([Observation("see [[Alice]]"), RelationLine("owned by | [[x]]", GraphLink("Bob"))])

    assert ["Alice", "Bob"] == [link.target for link in parse_note(HEAD + body).links]


def test_a_list_goes_on_with_the_mark_it_has() -> None:
    new = plan_lines(HEAD + "## Observations\n* one\n\nprose\n", [Observation("two")])

    assert HEAD + "## Observations\n* one\n* two\n\nprose\n" == new


def test_observations_come_before_relations_that_are_there() -> None:
    new = plan_lines(HEAD + "Prose.\n\n## Relations\n- a [[B]]\n", [Observation("one")])

    assert HEAD + "Prose.\n\n## Observations\n- one\n\n## Relations\n- a [[B]]\n" == new


def test_a_note_whose_code_is_never_closed_is_refused() -> None:
    with pytest.raises(NotWritable):
        plan_lines(HEAD + "```\nopen\n", [Observation("one")])


def test_a_note_that_stops_being_an_entity_keeps_its_prose() -> None:
    bare = plan_no_entity(NOTE)

    assert (
        "# Ada\n\nSome prose - with a dash.\n\n- a list that is no observation\n\n## Observations\n\nBefore the list.\n"
        "\nAfter the list.\n\n## Relations\n- nothing linked here\n\n## Log\n- met [[Carol]]\n"
    ) == bare


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", False),
        ("## Observations\n- a\n\n## Relations\n- b [[C]]\n", False),
        ("# Ada\n\n## Observations\n- a\n", False),
        ("# Other\n\n## Observations\n- a\n", True),
        ("## Observations\n- a\n\nprose\n", True),
        ("## Relations\n- no link\n", True),
    ],
)
def test_only_what_is_no_item_counts_as_prose(body: str, expected: bool) -> None:
    assert expected is has_prose(HEAD + body, "Ada")


@pytest.mark.parametrize(("start", "until"), [("soon", ""), ("2026-02-30", ""), ("2026-05-01", "2026-01-02")])
def test_what_is_no_span_of_time_is_refused(start: str, until: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_validity(start, until)


def test_the_last_day_still_counts() -> None:
    assert not Validity(until="2026-05-01").has_ended("2026-05-01")
    assert Validity(until="2026-05-01").has_ended("2026-05-02")
    assert not ALWAYS.has_ended("2026-05-02")
