"""Canvases follow a rename: the strings that name the file change and no other byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.canvas import is_canvas, plan_canvas

MOVES = {"People/Old.md": 'People/New "x".md'}
CANVAS = """{\r
\t"nodes":[\r
\t\t{"id":"1","type":"file","file":"People/Old.md","subpath":"#Plan","x":-1.50,"y":0},\r
\t\t{"file":"People\\/\\u004fld.md","id":"2","type":"file","extra":{"type":"file","file":"People/Old.md"}},\r
\t\t{"id":"3","type":"text","text":"People/Old.md","file":"People/Old.md"},\r
\t\t{"id":"4","type":"group","label":"People/Old.md"},\r
\t\t{"id":"5","type":"file","file":"Old.md"}\r
\t],\r
\t"edges":[{"type":"file","file":"People/Old.md"}],\r
\t"more":{"nodes":[{"type":"file","file":"People/Old.md"}]}\r
}"""


def test_only_the_paths_of_file_nodes_change() -> None:
    first, second = '"file":"People/Old.md","subpath"', '"People\\/\\u004fld.md"'
    new = '"People/New \\"x\\".md"'
    expected = CANVAS.replace(first, f'"file":{new},"subpath"').replace(second, new)

    assert expected == plan_canvas(CANVAS, MOVES)
    assert MOVES["People/Old.md"] == json.loads(expected)["nodes"][0]["file"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "People/Old.md",
        '{"nodes":[{"type":"file","file":"People/Old.md"}',
        '["nodes",{"type":"file","file":"People/Old.md"}]',
        '{"nodes":{"type":"file","file":"People/Old.md"}}',
        '{"nodes":[{"type":"file","file":["People/Old.md"]}]}',
        '{"nodes":[{"type":"file","file":"people/old.md"}]}',
        "[" * 100_000,
    ],
)
def test_what_names_no_file_stays(text: str) -> None:
    assert None is plan_canvas(text, MOVES)


def test_a_name_is_the_same_in_either_unicode_form() -> None:
    canvas = '\ufeff{"nodes":[{"type":"file","file":"e\u0301.md"}]}'

    assert '\ufeff{"nodes":[{"type":"file","file":"메모.md"}]}' == plan_canvas(canvas, {"\u00e9.md": "메모.md"})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("a/b.md"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["nodes", "type", "file", 'x"', "{"]), inner | st.just("file"), max_size=4
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.just("nodes"), st.lists(VALUES, max_size=4)), st.sampled_from([None, 1]), st.booleans())
def test_any_canvas_says_what_it_said_with_the_file_nodes_renamed(
    canvas: dict[str, list[object]], indent: int | None, ascii_only: bool
) -> None:
    wanted = json.loads(json.dumps(canvas))
    for node in wanted.get("nodes", []):
        if isinstance(node, dict) and node.get("type") == "file" and node.get("file") == "a/b.md":
            node["file"] = "c.md"
    planned = plan_canvas(json.dumps(canvas, indent=indent, ensure_ascii=ascii_only), {"a/b.md": "c.md"})

    assert (None if wanted == canvas else wanted) == (None if planned is None else json.loads(planned))


def test_a_canvas_is_known_by_its_name() -> None:
    assert [True, True, False] == [is_canvas(path) for path in ("a/b.canvas", "B.CANVAS", "canvas.md")]
