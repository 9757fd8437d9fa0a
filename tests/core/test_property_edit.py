from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.property_cases import STATUS_DONE, TIDE
from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.property_block import same_value
from vault_memex.core.property_edit import plan_properties, render_note
from vault_memex.errors import FrontmatterInvalid, InvalidArgument


@pytest.mark.parametrize(
    ("text", "expected"), [case[1:] for case in STATUS_DONE], ids=[case[0] for case in STATUS_DONE]
)
def test_setting_a_property_changes_its_lines_alone(text: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(FrontmatterInvalid) as caught:
            plan_properties(text, {"status": "done"})
        assert caught.value.fields["line"] >= 1
        assert caught.value.fields["reason"]
    else:
        assert expected == plan_properties(text, {"status": "done"})


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        ({"values": {"due": "2031-07-01"}}, "due: 2031-06-01\n", "due: 2031-07-01\n"),
        ({"values": {"ratio": 1.75}}, "ratio: 1.50\n", "ratio: 1.75\n"),
        ({"add_items": {"aliases": ["Spring"]}}, '- "Flow: high"\n', '- "Flow: high"\n- Spring\n'),
        ({"values": {"owner": "Mina"}}, "in width.\n---", "in width.\nowner: Mina\n---"),
        ({"remove": ["code"]}, 'code: "007"\n', ""),
        ({"values": {"code": "008"}}, 'code: "007"\n', 'code: "008"\n'),
        ({"values": {"title": "Tide: high"}}, "'Tide table'   #", "'Tide: high'   #"),
        ({"values": {"flags": ["b", "c"]}}, "[b, a]", "[b, c]"),
        ({"add_items": {"flags": ["c", "a", "c"]}}, "[b, a]", "[b, a, c]"),
        ({"values": {"flags": []}}, "[b, a]", "[]"),
        ({"values": {"aliases": ["Flow: high"]}}, '- Ebb\n- "Flow: high"\n', '- "Flow: high"\n'),
        ({"values": {"aliases": ["Low", "Ebb", "Flow: high"]}}, "- Ebb\n", "- Low\n- Ebb\n"),
        ({"values": {"aliases": []}}, 'aliases:\n- Ebb\n- "Flow: high"\n', "aliases: []\n"),
        ({"values": {"aliases": None}}, 'aliases:\n- Ebb\n- "Flow: high"\n', "aliases:\n"),
        ({"values": {"layer": ["x", "z"]}}, "layer: state\n", "layer:\n- x\n- z\n"),
        ({"values": {"layer": {"a": 1}}}, "layer: state\n", "layer:\n  a: 1\n"),
        ({"values": {"title": None}}, "title: 'Tide table'   #", "title:   #"),
        (
            {"values": {"due": "2031-07-01", "n": 1, "ok": True}, "remove": ["due2"]},
            "due: 2031-06-01",
            "due: 2031-07-01",
        ),
    ],
)
def test_only_the_named_lines_differ(change: dict[str, Any], old: str, new: str) -> None:
    expected = TIDE.replace(old, new)
    if "ok" in change.get("values", {}):
        expected = expected.replace("in width.\n", 'in width.\n"n": 1\nok: true\n')

    assert expected == plan_properties(TIDE, **change)


@pytest.mark.parametrize(
    "change",
    [
        {"values": {"due": "2031-06-01"}},
        {"values": {"code": "007", "ratio": 1.5, "flags": ["b", "a"], "title": "Tide table"}},
        {"add_items": {"aliases": ["Ebb"]}},
        {"remove": ["absent"]},
        {},
    ],
)
def test_an_equal_value_is_no_change(change: dict[str, Any]) -> None:
    assert TIDE == plan_properties(TIDE, **change)


def test_an_equal_number_is_no_change_and_an_equal_text_is_one() -> None:
    text = "---\na: 2\nb: 2.0\n---\n"

    assert text == plan_properties(text, {"a": 2.0, "b": 2})
    assert '---\na: "2"\nb: 2.0\n---\n' == plan_properties(text, {"a": "2"})
    assert "---\na: 1\n---\n" == plan_properties("---\na: true\n---\n", {"a": 1})


def test_equal_maps_in_another_order_are_no_change() -> None:
    text = "---\nm: {a: 1, b: 2}\n---\n"

    assert text == plan_properties(text, {"m": {"b": 2, "a": 1}})


@pytest.mark.parametrize(
    ("text", "remove", "expected"),
    [
        ("---\na: 1\n---\nbody\n", ["a"], "body\n"),
        ("\ufeff---\r\na: 1\r\n---\r\nbody\r\n", ["a"], "\ufeffbody\r\n"),
        ("---\na: 1\n# mine\n---\nbody\n", ["a"], "---\n# mine\n---\nbody\n"),
        ("---\na: 1\n---\n---\nb: 2\n---\n", ["a"], "---\n---\n---\nb: 2\n---\n"),
        ("---\na: 1\nb: 2\n---\n", ["a", "b"], ""),
        ("---\na:\n  - x  # c\n\n# about b\nb: 2\n---\n", ["a"], "---\n\n# about b\nb: 2\n---\n"),
        ("---\na: |\n  x\n\n  y\n\nb: 2\n---\n", ["a"], "---\n\nb: 2\n---\n"),
        ("---\nb: 2\na:\n  x:\n    - 1\n---\n", ["a"], "---\nb: 2\n---\n"),
        ("---\n{a: 1, b: 2, c: 3}\n---\n", ["a"], "---\n{b: 2, c: 3}\n---\n"),
        ("---\n{a: 1, b: 2, c: 3}\n---\n", ["b", "c"], "---\n{a: 1}\n---\n"),
        ("---\n{a: 1}\n---\nx\n", ["a"], "---\n{}\n---\nx\n"),
    ],
)
def test_removing_takes_the_propertys_lines(text: str, remove: list[str], expected: str) -> None:
    assert expected == plan_properties(text, remove=remove)


@pytest.mark.parametrize(
    ("text", "items", "expected"),
    [
        ("---\ntags: one\n---\n", ["two"], "---\ntags:\n  - one\n  - two\n---\n"),
        ("---\ntags: one\n---\n", ["one"], "---\ntags: one\n---\n"),
        ("---\ntags:\n---\n", ["two"], "---\ntags:\n  - two\n---\n"),
        ("---\ntags: []\n---\n", ["two"], "---\ntags:\n  - two\n---\n"),
        ("x\n", ["two"], "---\ntags:\n  - two\n---\nx\n"),
        ("---\ntags:\n    - a # first\n    # second\n    - b\n\nz: 1\n---\n", ["c"], "---\ntags:\n    - a # first\n    # second\n    - b\n    - c\n\nz: 1\n---\n"),
        ("---\r\ntags:\r\n  - a\r\n---\r\n", ["c"], "---\r\ntags:\r\n  - a\r\n  - c\r\n---\r\n"),
        ("---\ntags: [ a,\n  b ]\n---\n", ["c"], "---\ntags: [ a,\n  b, c ]\n---\n"),
        ("---\nl:\n  - x\ntags: one\n---\n", ["two"], "---\nl:\n  - x\ntags:\n  - one\n  - two\n---\n"),
        ("---\ntags:\n  - |\n    text\n  - b: 1\n    c: 2\n---\n", ["d, e"], "---\ntags:\n  - |\n    text\n  - b: 1\n    c: 2\n  - d, e\n---\n"),
        ("---\n{tags: [a], b: 1}\n---\n", ["c"], "---\n{tags: [a, c], b: 1}\n---\n"),
        ('---\n{"tags": []}\n---\n', ["c"], '---\n{"tags": ["c"]}\n---\n'),
    ],
)  # fmt: skip
def test_adding_an_item_leaves_the_others_as_written(text: str, items: list[str], expected: str) -> None:
    assert expected == plan_properties(text, add_items={"tags": items})


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("---\na:\n- - x\n  - y\n- z\n---\n", {"a": [["x", "y"], "w"]}, "---\na:\n- - x\n  - y\n- w\n---\n"),
        ("---\na:\n  - x\n  # about y\n  - y\n  - z\n---\n", {"a": ["x", "z"]}, "---\na:\n  - x\n  # about y\n  - z\n---\n"),
        ("---\na: ['x', y]\n---\n", {"a": ["x", "w", "y"]}, "---\na: ['x', w, y]\n---\n"),
        ("---\na: [x,\n  'y\n  z']\n---\n", {"a": ["y z"]}, "---\na: [y z]\n---\n"),
        ("---\na: {x: 1}\n---\n", {"a": {"x": 2, "y": "1.0"}}, '---\na: {x: 2, "y": "1.0"}\n---\n'),
        ("---\na:\n    x: 1\n---\n", {"a": {"x": 2}}, "---\na:\n  x: 2\n---\n"),
        ("---\n{}\n---\n", {"a": 1}, "---\n{\"a\": 1}\n---\n"),
        ("---\n{b: 1}\n---\n", {"a": [1, "x y"]}, "---\n{b: 1, a: [1, x y]}\n---\n"),
        ("---\na: x\n---\n", {"a": "one\ntwo\n"}, "---\na: |\n  one\n  two\n---\n"),
        ("---\r\na: x # c\r\n---\r\n", {"a": "one\ntwo"}, "---\r\na: |- # c\r\n  one\r\n  two\r\n---\r\n"),
        ("---\na: x\n---\n", {"odd: key": 1, "#k": 2}, '---\na: x\n"odd: key": 1\n"#k": 2\n---\n'),
        ("---\n  a: x\n---\n", {"b": ["z"]}, "---\n  a: x\n  b:\n    - z\n---\n"),
        ("---\na: x\n---\n", {"b": None, "c": False, "d": "false"}, '---\na: x\nb:\nc: false\nd: "false"\n---\n'),
        ("---\na:\n  -\n  - x\n---\n", {"a": [None, "x", "z"]}, "---\na:\n  -\n  - x\n  - z\n---\n"),
    ],
)  # fmt: skip
def test_the_style_that_is_there_is_kept(text: str, values: dict[str, Any], expected: str) -> None:
    assert expected == plan_properties(text, values)


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"values": {"a": object()}}, "properties.a"),
        ({"values": {" a": 1}}, "properties"),
        ({"values": {"a": 1}, "remove": ["a"]}, "properties"),
        ({"values": {"a": 1}, "add_items": {"a": [1]}}, "properties"),
        ({"add_items": {"a": "text"}}, "add_items"),
        ({"add_items": {"m": [1]}}, "add_items"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(change: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        plan_properties("---\nm: {a: 1}\n---\n", **change)

    assert argument == caught.value.argument


@pytest.mark.parametrize(
    ("text", "values", "reason"),
    [
        ("---\na: 1\nb: 2\t\n---\n", {"a": 2}, "YAML does not parse"),
        ("---\na:\u2028- x\n---\n", {"a": ["x", "z"]}, "in place"),
        ("---\n~\n---\n", {"a": 2}, "not a map"),
        ('---\n{"a":\t1}\n---\n', {"a": 2}, "YAML does not parse"),
        ("---\na: 1\n---\n", {"a": "x" * 70_000}, "64 KB"),
    ],
)
def test_what_cannot_be_edited_in_place_is_refused(text: str, values: dict[str, Any], reason: str) -> None:
    with pytest.raises(FrontmatterInvalid) as caught:
        plan_properties(text, values)

    assert reason in caught.value.fields["reason"]


def test_a_block_written_with_carriage_returns_alone_is_edited() -> None:
    text = "---\ra:\r- x\r- z\rb: 1\r---\rbody"

    assert text.replace("- z\r", "- z\r- w\r") == plan_properties(text, add_items={"a": ["w"]})


def test_a_refusal_names_the_line_and_that_the_body_can_be_patched() -> None:
    with pytest.raises(FrontmatterInvalid, match=r"line 2: .*text below them can still be patched") as caught:
        plan_properties("---\ntitle: Reef: a report\ntags: [diving\n---\n\n# Reef\n", {"layer": "state"})

    assert 2 == caught.value.fields["line"]


@pytest.mark.parametrize(
    ("properties", "body", "expected"),
    [
        ({}, "# A\n", "# A\n"),
        ({}, "# A", "# A\n"),
        ({}, "", ""),
        ({"title": "기억", "tags": ["a", "b"], "n": None}, "\n# A\r\n", '---\ntitle: 기억\ntags:\n  - a\n  - b\n"n":\n---\n\n# A\n'),
        ({}, "---\na: 1\n---\nx\n", "---\n---\n---\na: 1\n---\nx\n"),
        ({"b": 1}, "---\na: 1\n---\n", "---\nb: 1\n---\n---\na: 1\n---\n"),
        ({"long": "word " * 60 + "end"}, "x", f"---\nlong: {'word ' * 60}end\n---\nx\n"),
    ],
)  # fmt: skip
def test_a_new_note_is_plain_readable_yaml_and_its_body(
    properties: dict[str, Any], body: str, expected: str
) -> None:
    assert expected == render_note(properties, body)


def test_a_new_note_with_too_many_properties_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="64 KB"):
        render_note({"a": "x" * 70_000}, "body")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.sampled_from(
        ["yes", "1.10", "12:30", "#x", "[[x]]", "@a", "a: b", "two\nlines", "- x", "2031-01-01", "", " "]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["k", "K 2", "no", "a:b"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(["a", "b", "c", "title", "tags", "yes", "odd key", "k: v", "2031", "ключ", "#h"])
MAPS = st.dictionaries(KEYS, VALUES, max_size=5)
BODIES = st.sampled_from(
    ["", "# T\n", "no newline", "\n\n---\nx: 1\n---\n", "- a\n- b\n\n", "---\nrule", "text\n\n\n"]
)
HAND_WRITTEN = st.lists(
    st.sampled_from(
        [
            "a: 1", "a: 'x'  # c", "a: [b, 'c', {d: 1}]", "a: {x: [1, 2], y: z}", "a:\n- x\n- 'y'  # c", "a:\n    - x\n    - y: 1\n      z: 2",
            "a: |\n  one\n\n  two\n", "a: >-\n  one\n  two", "a:", "a: ~ # c", "a:\n  x: 1\n  y:\n    - z", "a: one\n  two", "a:\n  next",
            "a: \"q\n  r\"", "a: [x,\n  y]", "'a': 2031-01-01", "a   : 1", "a: - b" , "a:    12:30",
        ]
    ),
    max_size=4,
)  # fmt: skip
FILLERS = st.sampled_from(["", "\n", "# comment\n", "\n# c: d\n\n"])


@st.composite
def notes(draw: st.DrawFn) -> str:
    """A note whose frontmatter somebody wrote by hand, in any line ending, with or without a BOM."""
    lines = draw(HAND_WRITTEN)
    block = draw(FILLERS)
    for name, line in zip("abcd", lines, strict=False):
        block += line.replace("a", name, 1) + "\n" + draw(FILLERS)
    body = draw(BODIES)
    text = f"---\n{block}---\n{body}" if draw(st.booleans()) else body
    text = draw(st.sampled_from(["", "\ufeff"])) + text
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def check_set(text: str, key: str, value: Any) -> None:
    before = split_frontmatter(text)
    try:
        after = plan_properties(text, {key: value})
    except FrontmatterInvalid:
        assert before.error is not None or not before.properties
        return
    read = split_frontmatter(after)

    assert read.error is None
    found = read.properties[key]
    # 2.0 for a 2 that stands there already is no change: JSON does not tell them apart.
    unchanged = after == text and {int, float} == {type(value), type(found)} and value == found
    assert same_value(value, found) or unchanged
    assert {k: v for k, v in before.properties.items() if k != key} == {
        k: v for k, v in read.properties.items() if k != key
    }
    assert text[before.span.end :] == after[read.span.end :]
    assert after == plan_properties(after, {key: value})
    if before.span.end > before.span.start:
        check_untouched_lines(
            text[before.inner.start : before.inner.end], after[read.inner.start : read.inner.end]
        )
        if key not in before.properties:
            assert text == plan_properties(after, remove=[key]) or not before.properties
    elif key not in before.properties:
        assert text == plan_properties(after, remove=[key])


def check_untouched_lines(before: str, after: str) -> None:
    """Every comment line that was there is there, in order."""
    kept = [line for line in before.splitlines(keepends=True) if line.startswith("#")]
    assert kept == [line for line in after.splitlines(keepends=True) if line.startswith("#")]


@given(notes(), KEYS, VALUES)
@settings(max_examples=300)
def test_a_property_set_is_read_back_and_nothing_else_moves(text: str, key: str, value: Any) -> None:
    check_set(text, key, value)


@pytest.mark.slow
@pytest.mark.no_cover
@given(notes(), KEYS, VALUES)
@settings(max_examples=10_000)
def test_a_property_set_is_read_back_in_ten_thousand_notes(text: str, key: str, value: Any) -> None:
    check_set(text, key, value)


@given(MAPS, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\ufeff"), max_size=60))
@settings(max_examples=200)
def test_a_rendered_note_reads_back(properties: dict[str, Any], body: str) -> None:
    text = render_note(properties, body)
    read = split_frontmatter(text)

    assert properties == read.properties
    assert body == text[read.span.end :] or body + "\n" == text[read.span.end :]
