from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.yaml_text import check_value, render_block_map, render_flow, render_key, render_text
from vault_memex.errors import InvalidArgument


@pytest.mark.parametrize(
    "text",
    [
        "plain", "two words", "a:b", "https://example.org/?q=1#top", "c#", "it's", 'say "hi"', "기억 🧠 память", "a - b", "a, b",
        "2031-07-01", "2031-07-01T10:00:00", "2031-07-01 10:00", "2031-07-01T10:00:00+09:00", "2031-02-30 notes",
        "v1.10", "1.2.3", "yesterday", "nullable", "x [[y]]", "10 %", "007 agent", "...and more",
    ],
)  # fmt: skip
def test_text_that_every_reader_takes_for_text_stays_bare(text: str) -> None:
    assert text == render_text(text)
    assert text == split_frontmatter(f"---\nk: {render_text(text)}\n---\n").properties["k"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", '""'), ("yes", '"yes"'), ("No", '"No"'), ("on", '"on"'), ("y", '"y"'), ("true", '"true"'), ("null", '"null"'),
        ("~", '"~"'), ("1.10", '"1.10"'), ("12:30", '"12:30"'), ("1:20:30.5", '"1:20:30.5"'), ("007", '"007"'),
        ("1_000", '"1_000"'), ("0x1F", '"0x1F"'), ("0o17", '"0o17"'), ("0b11", '"0b11"'), ("1e3", '"1e3"'), (".5", '".5"'),
        ("-3", '"-3"'), ("+.inf", '"+.inf"'), (".NaN", '".NaN"'), ("#x", '"#x"'), ("a #x", '"a #x"'), ("[[x]]", '"[[x]]"'),
        ("@bob", '"@bob"'), ("*b", '"*b"'), ("&b", '"&b"'), ("!t", '"!t"'), ("%d", '"%d"'), ("{{date}}", '"{{date}}"'),
        ("`c`", '"`c`"'), ("> q", '"> q"'), ("| p", '"| p"'), ("- a", '"- a"'), ("? a", '"? a"'), ("Re: plan", '"Re: plan"'),
        ("end:", '"end:"'), (" lead", '" lead"'), ("trail ", '"trail "'), ("a\nb", '"a\\nb"'), ("a\tb", '"a\\tb"'),
        ("a\u2028b", '"a\\u2028b"'), ("a\x85b", '"a\\x85b"'), ("\ufeffx", '"\\ufeffx"'), ('"q"', '"\\"q\\""'), ("=", '"="'),
        ("<<", '"<<"'), ("2031-02-30", '"2031-02-30"'), ("2031-01-01T25:00:00", '"2031-01-01T25:00:00"'),
        ("2031-01-01T10:00:00+30:00", '"2031-01-01T10:00:00+30:00"'), ("---", '"---"'), ("\\", "\\"), ("\x00", '"\\0"'),
        ("\U0010ffff", "\U0010ffff"), ("\ufffe", '"\\ufffe"'),
    ],
)  # fmt: skip
def test_text_that_a_reader_would_take_for_something_else_is_quoted(text: str, written: str) -> None:
    assert written == render_text(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_is_read_back_by_yaml_1_1_and_1_2(text: str) -> None:
    lines = render_block_map({"k": text, "l": [text, [text]], "m": {"n": text}})
    block = "\n".join(lines) + "\n"
    expected = {"k": text, "l": [text, [text]], "m": {"n": text}}

    assert expected == split_frontmatter(f"---\n{block}---\n").properties
    assert expected == yaml.load(block, Loader=_DatesAsText)


class _DatesAsText(yaml.SafeLoader):
    """YAML 1.1 as PyYAML reads it, but for dates: those are written bare on purpose."""


_DatesAsText.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_any_key_is_read_back(key: str) -> None:
    assert {key: 1} == split_frontmatter(f"---\n{render_key(key)}: 1\n---\n").properties


def test_lines_of_text_become_a_literal_block_where_that_is_safe() -> None:
    assert ["about: |-", "  one", "", "  two"] == render_block_map({"about": "one\n\ntwo"})
    assert ["about: |", "  one", "  two"] == render_block_map({"about": "one\ntwo\n"})
    assert ['about: "one \\ntwo"'] == render_block_map({"about": "one \ntwo"})
    assert ['about: " one\\ntwo"'] == render_block_map({"about": " one\ntwo"})
    assert ['about: "one\\n\\n"'] == render_block_map({"about": "one\n\n"})


def test_values_are_written_as_obsidian_writes_them() -> None:
    values = {
        "empty": None, "none": [], "map": {}, "on": True, "n": 3, "x": 1.5, "big": 1e22, "tags": ["a", "b c", None],
        "deep": [["x", "y, z"], {"k": 1, "l": ["m"]}], "nest": {"a": {"b": 1}, "c": "d"},
    }  # fmt: skip

    assert [
        "empty:", "none: []", "map: {}", '"on": true', '"n": 3', "x: 1.5", "big: 1.0e+22", "tags:", "  - a", "  - b c", "  - null",
        "deep:", '  - [x, "y, z"]', "  - k: 1", "    l:", "      - m", "nest:", "  a:", "    b: 1", "  c: d",
    ] == render_block_map(values)  # fmt: skip


def test_json_style_quotes_every_text() -> None:
    assert '{"a": "b", "c": [1, null, false]}' == render_flow({"a": "b", "c": [1, None, False]}, json=True)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {1: 2}, {"": 1}, {" a": 1}, {"k" * 201: 1}, b"x", object(), "\ud800", ["\ud800"]],
)
def test_a_value_that_no_property_can_hold_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgument, match=r"properties\.x"):
        check_value("properties.x", value)


def test_a_value_nested_too_deep_is_refused() -> None:
    value: list[object] = []
    for _ in range(40):
        value = [value]

    with pytest.raises(InvalidArgument, match="deeper"):
        check_value("properties.x", value)
