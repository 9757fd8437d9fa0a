"""Frontmatter: where the block is, what its values are, and what it may not hold (table P, cases O6f, O7, O8)."""

from __future__ import annotations

import time

import frontmatter as python_frontmatter
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.frontmatter import NoteHandler, NoteLoader, read_frontmatter, split_frontmatter
from vault_memex.core.markdown import parse_note
from vault_memex.core.text import Span


def properties_of(block: str) -> dict[str, object]:
    found = split_frontmatter(f"---\n{block}\n---\n")
    assert found.error is None
    return dict(found.properties)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\na: 1\n---\nbody", "body"),
        ("---  \na: 1\n--- \t\nbody", "body"),
        ("---\na: 1\n---", ""),
        ("\ufeff---\na: 1\n---\nbody", "body"),
        ("---\r\na: 1\r\n---\r\nbody\r\n", "body\r\n"),
        ("---\ra: 1\r---\rbody", "body"),
        ('---\n{\n\t"a": 1\n}\n---\nbody', "body"),
        ("---\na: 1\n---\n\n\nbody\n---\nmore", "\n\nbody\n---\nmore"),
    ],
)
def test_a_block_is_read_and_the_body_starts_behind_it(text: str, body: str) -> None:
    note = parse_note(text)

    assert {"a": 1} == dict(note.properties)
    assert body == note.body
    assert text == text[: note.frontmatter.span.end] + note.body
    assert text[: note.frontmatter.span.start] in ("", "\ufeff")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "\n---\na: 1\n---\n",
        " ---\na: 1\n---\n",
        "---\na: 1\n",
        "----\na: 1\n---\n",
        "---a\na: 1\n---\n",
    ],
)
def test_what_is_no_block_on_line_1_is_body(text: str) -> None:
    note = parse_note(text)

    assert (Span(0, 0), Span(0, 0), None) == (
        note.frontmatter.span,
        note.frontmatter.inner,
        note.frontmatter.error,
    )
    assert text == note.body


def test_a_bom_without_a_block_is_not_body() -> None:
    note = parse_note("\ufeff# Log\n")

    assert "# Log\n" == note.body
    assert ["Log"] == [heading.text for heading in note.headings]


@pytest.mark.parametrize(
    "text", ["---\n---\nbody", "---\n\n---\nbody", "---\n# only a comment\n---\nbody", "---\n~\n---\nbody"]
)
def test_an_empty_block_has_no_properties_and_no_error(text: str) -> None:
    note = parse_note(text)

    assert {} == dict(note.properties)
    assert None is note.frontmatter.error
    assert "body" == note.body


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2031-02-03", "2031-02-03"),
        ("2031-02-03T10:00:00", "2031-02-03T10:00:00"),
        ("010", 10),
        ("-7", -7),
        ("0o17", 15),
        ("0x1F", 31),
        ("yes", "yes"),
        ("No", "No"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("1e3", 1000.0),
        ("1.50", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("+.5e-1", 0.05),
        ("0b11", "0b11"),
        ("1e", "1e"),
        ("+", "+"),
        (".", "."),
        ("1.2.3", "1.2.3"),
        ("", None),
        ("~", None),
        ("Null", None),
        ("'007'", "007"),
        ('"true"', "true"),
        ("=", "="),
        ("<<", "<<"),
        ("[b, a]", ["b", "a"]),
        ("{x: 1, y: [2]}", {"x": 1, "y": [2]}),
    ],
)
def test_values_follow_the_yaml_1_2_core_schema(written: str, value: object) -> None:
    found = properties_of(f"k: {written}")["k"]

    assert (type(value), value) == (type(found), found)


def test_json_with_escapes_that_yaml_does_not_know_is_read() -> None:
    assert {"a": "\U0001f600", "b": {"c": [1, None]}} == properties_of(
        '{"a": "\\ud83d\\ude00", "b": {"c": [1, null]}}'
    )


@pytest.mark.parametrize(
    ("block", "word"),
    [
        ('{"a": "\\ud83d\\ude00", "a": 1}', "twice"),
        ('{"a": "\\ud83d\\ude00", "b": ' + "[" * 40 + "]" * 40 + "}", "32 levels"),
        ('{"a": "\\ud83d\\ude00", "b": [' + "1," * 2_000 + "1]}", "2000 values"),
        ('{"a": "\\ud83d\\ude00", ', "escape"),
        ('{"a": "\\ud83d"}', "half of a character"),
        ('{"\\ude00": 1}', "half of a character"),
        ('{"a": "\\ud83d\\ude00", "b": ' + "9" * 5_000 + "}", "1000 digits"),
        ('{"a": "\\ud83d\\ude00", "b": ' + "[" * 30_000, "32 levels"),
    ],
)
def test_json_has_the_same_limits(block: str, word: str) -> None:
    assert word in str(split_frontmatter(f"---\n{block}\n---\n").error)


@pytest.mark.parametrize("word", [".inf", "-.INF", ".nan", "1e400", "-1e400", "1.8e308"])
def test_what_json_has_no_number_for_stays_text(word: str) -> None:
    assert {"k": word, "l": [word, 1]} == properties_of(f"k: {word}\nl: [{word}, 1]")


def test_numbers_of_json_blocks_have_the_same_limits() -> None:
    block = '{"a": "\\ud83d\\ude00", "b": NaN, "c": -Infinity, "d": 1e400, "e": 2}'

    assert {
        "a": "\U0001f600",
        "b": "NaN",
        "c": "-Infinity",
        "d": "1e400",
        "e": 2,
    } == properties_of(block)


def test_keys_are_text() -> None:
    assert {"1": "a", "true": "b", "2031-01-01": "c", "~": "d", "<<": "e"} == properties_of(
        "1: a\ntrue: b\n2031-01-01: c\n~: d\n<<: e"
    )


def test_the_tide_table_is_read_as_written() -> None:
    found = properties_of(
        "title: 'Tide table'   # keep the quotes\ncreated: 2031-05-06\ncode: \"007\"\nratio: 1.50\nflags: [b, a]\n"
        'aliases:\n- Ebb\n- "Flow: high"\n# reviewed by Ines\ndue: 2031-06-01'
    )

    assert {
        "title": "Tide table",
        "created": "2031-05-06",
        "code": "007",
        "ratio": 1.5,
        "flags": ["b", "a"],
        "aliases": ["Ebb", "Flow: high"],
        "due": "2031-06-01",
    } == found


@pytest.mark.parametrize(
    ("block", "word", "line"),
    [
        ("title: Reef: a report\ntags: [diving", "mapping values", 2),
        ("a: 1\nb: 2\na: 3", "'a' occurs twice", 4),
        ("m:\n  x: 1\n  x: 2", "'x' occurs twice", 4),
        ("- a\n- b", "a list", 2),
        ("just text", "a single value", 2),
        ("5", "a single value", 2),
        ("a: &x [1]\nb: *x", "anchors", 2),
        ("a: &x 1", "anchors", 2),
        ("a: 1\nb: !!python/object:os.system ls", "tags", 3),
        ("a: !custom 1", "tags", 2),
        ("? [a]\n: 1", "key", 2),
        ("a: {{date}}", "key", 2),
        ("owner: @name", "cannot start any token", 2),
        ("a: 1\n...\nb: 2", "document", 4),
        ("n: " + "9" * 100_000, "larger", None),
        ("n: " + "9" * 5_000, "cannot be read", None),
        ("a: [" + "1," * 2_001 + "]", "2000 values", None),
        ("a: " + "[" * 33 + "]" * 33, "32 levels", 2),
        ("a: " + "[" * 30_000, "", None),
        ("x" * 70_000 + ": 1", "64 KB", None),
        ("k: 가" + "나" * 30_000, "64 KB", None),
        ("a: \x07", "character", None),
        ("a: \ud800", "cannot be read", None),
    ],
)
def test_a_block_that_breaks_a_rule_has_no_properties_but_a_reason(
    block: str, word: str, line: int | None
) -> None:
    started = time.process_time()
    note = parse_note(f"---\n{block}\n---\n# Body\n\n[[a]] #survey\n")
    seconds = time.process_time() - started

    assert {} == dict(note.properties)
    assert note.frontmatter.error is not None
    assert word in note.frontmatter.error
    if line is not None:
        assert line == note.frontmatter.error_line
    assert ("survey",) == note.tags
    assert ["a"] == [link.target for link in note.links]
    assert block == note.text[slice(*note.frontmatter.inner)].rstrip("\n")
    assert [note.notices[0]] == [n for n in note.notices if "cannot be read" in n]
    assert seconds < 0.5


def test_signs_inside_texts_are_no_anchors_or_tags() -> None:
    assert {"a": "x & y * z!", "b": "R&D", "c": "*x", "d": 5} == properties_of(
        "a: x & y * z!\nb: R&D\nc: '*x'\nd: 5 # !t &a *b"
    )


def test_an_alias_bomb_is_refused_at_once() -> None:
    bomb = "\n".join(["a0: &a0 [x, x]", *(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]" for i in range(1, 12))])

    assert {} == dict(split_frontmatter(f"---\n{bomb}\n---\n").properties)


def test_bom_and_crlf_leave_no_trace_in_tags_and_headings() -> None:
    data = b"\xef\xbb\xbf---\r\ntags:\r\n  - sea\r\nlayer: state\r\n---\r\n# Log\r\n\r\n- one\r\n- two\r\n"
    note = parse_note(data.decode("utf-8"))

    assert ("sea",) == note.tags
    assert {"tags": ["sea"], "layer": "state"} == dict(note.properties)
    assert [("Log", "# Log")] == [(h.text, note.text[slice(*h.span)]) for h in note.headings]


def test_places_of_texts_that_may_be_links_are_exact() -> None:
    text = '\ufeff---\r\nup: "[[한국]]"\r\nnear:\r\n  - \'[[a]]\'\r\nm: {x: "[t](b.md)"}\r\n---\r\n'
    places = read_frontmatter(text).places

    assert [("up", '"[[한국]]"'), ("near.0", "'[[a]]'"), ("m.x", '"[t](b.md)"')] == [
        (place.key, text[slice(*place.span)]) for place in places
    ]


def test_python_frontmatter_reads_by_the_same_rules() -> None:
    text = "---\ndue: 2031-02-03\nt: 12:30\ncontent: x\n---\n\nBody ---\n"
    metadata, content = python_frontmatter.parse(text, handler=NoteHandler())

    assert {"due": "2031-02-03", "t": "12:30", "content": "x"} == metadata
    assert "Body ---" == content.strip()
    assert NoteHandler().detect(text)
    assert not NoteHandler().detect("---\nno end\n")
    assert {"a": "yes"} == yaml.load("a: yes", Loader=NoteLoader)


def test_the_handler_says_that_there_is_no_block() -> None:
    with pytest.raises(ValueError, match="no frontmatter"):
        NoteHandler().split("text")


def test_the_c_parser_is_there() -> None:
    assert yaml.__with_libyaml__


YAMLISH = st.text(alphabet="ab:-[]{}\"'#&*!|>\n\t ,.0123eE~%@`\r\u2028\ufeff가", max_size=60)


@given(YAMLISH, st.sampled_from(["\n", "\r\n"]))
def test_no_block_makes_reading_raise_and_each_has_properties_or_a_reason(block: str, ending: str) -> None:
    text = f"---{ending}{block}{ending}---{ending}"
    found = split_frontmatter(text)

    assert all(isinstance(key, str) for key in found.properties)
    assert not (found.error and found.properties)
    assert 0 <= found.span.start <= found.inner.start <= found.inner.end <= found.span.end <= len(text)
