"""What a note says: links, tags and block ids (tables W and M, cases O9 and O10)."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import shared
from vault_memex.core.blocks import BodyReader
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import Link

Row = tuple[str, str, str, str | None]


def row(link: Link) -> Row:
    return link.kind, link.target, link.subpath, link.display


def links_of(text: str) -> list[Row]:
    return [row(link) for link in parse_note(text).links]


def wiki(target: str, subpath: str = "", display: str | None = None) -> Row:
    return "wiki", target, subpath, display


def embed(target: str, subpath: str = "", display: str | None = None) -> Row:
    return "embed", target, subpath, display


def md(target: str, subpath: str = "", display: str | None = "x") -> Row:
    return "markdown", target, subpath, display


WIKILINKS: list[tuple[str, list[Row]]] = [
    ("[[a]]", [wiki("a")]),
    ("[[a|b c]]", [wiki("a", "", "b c")]),
    ("[[a#h]]", [wiki("a", "#h")]),
    ("[[a#h#h2]]", [wiki("a", "#h#h2")]),
    ("[[a#^id]]", [wiki("a", "#^id")]),
    ("[[#h]] [[#^id]]", [wiki("", "#h"), wiki("", "#^id")]),
    ("![[a]]", [embed("a")]),
    ("![[p.png|100]] ![[p.png|640x480]]", [embed("p.png", "", "100"), embed("p.png", "", "640x480")]),
    ("![[d.pdf#page=3]]", [embed("d.pdf", "#page=3")]),
    ("[[folder/a]] [[a.md]] [[A.MD]]", [wiki("folder/a"), wiki("a.md"), wiki("A.MD")]),
    ("| k | v |\n| - | - |\n| [[a\\|b]] | [[c|d]] |", [wiki("a", "", "b")]),
    ("[[a||b]]", [wiki("a", "", "|b")]),
    ("[[|x]]", [wiki("|x")]),
    ("[[]] [[ ]] [[#]]", []),
    ("[[sq]uare]]", [wiki("sq]uare")]),
    ("[[out [[in]] x]]", [wiki("in")]),
    ("[[[a]]]", [wiki("a")]),
    ("[[a\nb]]", []),
    ("[[a\u00a0b]]", [wiki("a b")]),
    ("[[https://ex.org]]", [wiki("https://ex.org")]),
    ("\\[\\[a\\]\\] \\[[a]]", []),
    ("\\![[a]]", [wiki("a")]),
    ("`[[a]]` and ``x [[a]] ` y``", []),
    ("`open [[a]]", [wiki("a")]),
    ("`two\n[[a]] lines`", []),
    ("```\n[[a]]\n```", []),
    ("~~~~\n[[a]]\n~~~\n[[b]]\n~~~~\n[[c]]", [wiki("c")]),
    ("text\n\n    [[a]]", []),
    ("- x\n\n      [[code]]\n\n  [[b]]", [wiki("b")]),
    ("x <!-- [[a]] --> [[b]]", [wiki("b")]),
    ("x <!-- [[a]]\n[[b]] --> [[c]]", [wiki("c")]),
    ("<!--\n[[a]]\n\n# h\n[[b]]\n-->\n\n[[c]]", [wiki("c")]),
    ("<div>[[a]]</div>", []),
    ('x <a href="[[a]]">[[b]]</a>', [wiki("b")]),
    ("a < b [[c]] > d", [wiki("c")]),
    ("%% [[a]] %%", [wiki("a")]),
    ("%%\n[[a]]\n\n[[b]]\n%%\n[[c]]", [wiki("a"), wiki("b"), wiki("c")]),
    ("# [[a]]\n\n- [[b]]\n\n> [!note] [[c]]\n> [[d]]\n\n[^1]: [[e]]", [wiki(name) for name in "abcde"]),
    ("[^1]: first\n\n    second [[a]]\n\ntext\n\n    [[code]]", [wiki("a")]),
    ("| [[a]] | b |\n|---|---|\n| c | [[d]] |\n\n[[e]]", [wiki("a"), wiki("d"), wiki("e")]),
    ("[[constructor]] [[a $1 b]]", [wiki("constructor"), wiki("a $1 b")]),
    ("[[pa#th/x]]", [wiki("pa", "#th/x")]),
    ("[[a#[^1]]] [[a#[^n]|f]]", [wiki("a", "#[^1]"), wiki("a", "#[^n]", "f")]),
    ("- %%\n[[a]] %%\n\n# h [[b]]", [wiki("a"), wiki("b")]),
    ("[[##x]] [[^^x]]", [wiki("", "##x"), wiki("^^x")]),
    ("[[ a # b | c ]]", [wiki("a", "# b", "c")]),
    ("$[[a]]$ costs $5 and [[b]] or $6", [wiki("b")]),
    ("$$\n[[a]]\n\n# no\n$$\n\n[[b]]", [wiki("b")]),
    ("$$ [[a]] $$ $$ [[b]]", [wiki("b")]),
]


@pytest.mark.parametrize(("text", "expected"), WIKILINKS, ids=[text for text, _ in WIKILINKS])
def test_wikilinks_are_those_obsidian_sees(text: str, expected: list[Row]) -> None:
    assert expected == links_of(text)


MARKDOWN_LINKS: list[tuple[str, list[Row]]] = [
    ("[x](a%20b.md)", [md("a b.md")]),
    ("[x](a%20b)", [md("a b")]),
    ("[x](<a b.md>) [x](<a b.md> \"t\") [x](a.md 't') [x](a.md (t))", [md("a b.md")] * 2 + [md("a.md")] * 2),
    ("[x](a b.md)", []),
    ("[x](../b.md) [x](./b.md) [x](/f/b.md)", [md("../b.md"), md("./b.md"), md("/f/b.md")]),
    ("[x](https://e.org) [x](mailto:a@b.c) [x](obsidian://open?vault=x) [x](//host/a)", []),
    ("[x](#h) [x](#^id)", [md("", "#h"), md("", "#^id")]),
    ("[x](b.md#h#h2)", [md("b.md", "#h#h2")]),
    ("[](b.md) [x]() [x](<>) [ ](b.md)", []),
    ("![x|100](p.png) ![](q.png)", [embed("p.png", "", "x|100"), embed("q.png")]),
    ("[x](a%23b.md)", [md("a", "#b.md")]),
    ("[x][r]\n\n[r]: b.md", []),
    ("[r]: [[a]]\n\n[s]: <b c.md> '[[t]]'", []),
    ("[x](a(b).md) [x](a\\).md)", [md("a(b).md"), md("a).md")]),
    ("[x](b.md", []),
    ("[x] (b.md)", []),
    ("[x](#) [x](<# >)", []),
    ("[x](" + "(" * 17 + ")" * 18, []),
    ("[x](a(b", []),
    ("\\[x](b.md)", []),
    ("[a [b](c.md) d](e.md)", [md("c.md", "", "b")]),
    ("[![i](p.png)](c.md)", [md("c.md", "", "![i](p.png)"), embed("p.png", "", "i")]),
    ("[`]`](b.md)", [md("b.md", "", "`]`")]),
    ("[x](%EC%9E%A5.md) [x](%FF.md) [x](a&amp;b.md)", [md("장.md"), md("%FF.md"), md("a&b.md")]),
    ("[x](b.md)[x](c.md)", [md("b.md"), md("c.md")]),
    ("[x\ny](b.md)", [md("b.md", "", "x\ny")]),
]


@pytest.mark.parametrize(("text", "expected"), MARKDOWN_LINKS, ids=[text for text, _ in MARKDOWN_LINKS])
def test_markdown_links_are_those_that_point_into_the_vault(text: str, expected: list[Row]) -> None:
    assert expected == links_of(text)


FRONTMATTER_LINKS: list[tuple[str, list[tuple[str | None, str, str, str | None, str]]]] = [
    ('up: "[[a]]"', [("up", "a", "", None, "[[a]]")]),
    ("rel: ['[[a]]', '[[b#h|B]]']", [("rel.0", "a", "", None, "[[a]]"), ("rel.1", "b", "#h", "B", "[[b#h|B]]")]),
    ('up: "see [[a]] there"', []),
    ('up: "[[a]] [[b]]"', []),
    ("up: [[a]]", []),
    ('src: "[t](a%20b.md)"', [("src", "a b.md", "", "t", "[t](a%20b.md)")]),
    ('src: "[t](https://e.org)"', []),
    ("up: '[[it''s]]'", [("up", "it's", "", None, "[[it''s]]")]),
    ('src: "[\\u0074](a.md)"', [("src", "a.md", "", "t", '"[\\u0074](a.md)"')]),
    ('src: "\\u0021[[a]]"', []),
    ('up: "[[\\u0061]]"', [("up", "a", "", None, "[[\\u0061]]")]),
    ('m:\n  deep: "[[a]]"', [("m.deep", "a", "", None, "[[a]]")]),
    ("up: >-\n  [[a]]", [("up", "a", "", None, "[[a]]")]),
    ('up: "![[a]]"', []),
]


@pytest.mark.parametrize(("block", "expected"), FRONTMATTER_LINKS, ids=[block for block, _ in FRONTMATTER_LINKS])
def test_a_property_is_a_link_when_it_is_nothing_else(
    block: str, expected: list[tuple[str | None, str, str, str | None, str]]
) -> None:
    note = parse_note(f"---\n{block}\n---\n")

    assert expected == [
        (link.key, link.target, link.subpath, link.display, note.text[slice(*link.span)]) for link in note.links
    ]


def test_an_unquoted_link_in_a_property_is_noticed() -> None:
    (notice,) = parse_note("---\nup: [[a]]\n---\n").notices

    assert "`up`" in notice
    assert () == parse_note("---\nup: [a, [b]]\n---\n").notices


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[[a]]", "a"),
        ("![[ f/a #h|x]]", "f/a"),
        ("|k|\n|-|\n|[[a\\|b]]|", "a"),
        ("[x](a%20b.md#h)", "a%20b.md"),
        ("[x](<a b.md> 't')", "a b.md"),
        ("[[#h]]", ""),
        ("[x](#h)", ""),
        ("---\nup: '[[it''s|x]]'\n---\n", "it''s"),
    ],
)
def test_the_place_of_the_path_is_where_it_is_written(text: str, written: str) -> None:
    (link,) = parse_note(text).links

    assert written == text[slice(*link.target_span)]


TAGS: list[tuple[str, list[str]]] = [
    ("#a #B/c-1 #y1984 #1984", ["a", "B/c-1", "y1984"]),
    ('(#a) "#b" x#c .#d \u2014#e', []),
    ("[box #in] [see #lk](https://e.org/#frag)", ["in", "lk"]),
    ("[#a](b.md) [#b] [#c](https://e.org)", ["a", "c"]),
    ("#one#two #x/#y", ["one", "two", "x", "y"]),
    ("#메모/회의 #заметка_2 #メモ #done✅", ["메모/회의", "заметка_2", "メモ", "done✅"]),
    ("`#c` <!-- #h --> $#m$", []),
    ("```\n#c\n```\n\n    #d\n\n<div>#d</div>", []),
    ("%% #k %%", ["k"]),
    ("#end. #end, #a-b! #c_d?", ["end", "end", "a-b", "c_d"]),
    ("\\#esc", []),
    ("\\[#x", ["x"]),
    ("\\[\\[#Escaped Links\\]\\]", ["Escaped"]),
    ("a\t#tab b\u00a0#nbsp c\u3000#wide", ["tab", "nbsp", "wide"]),
    ("*#a* **#b** ~~#c~~ ==#d== *#e x*#f 2*#g", ["a", "b", "c", "d", "e"]),
    ("~#a~ =#b= a*#c* *#d", []),
    ("> #q\n>#r\n- #l\n- [ ] #t\n# #h\n|a|\n|-|\n|#c|", ["q", "r", "l", "t", "h", "c"]),
    ("# h\n#tag\n#\n##no", ["tag"]),
    ("[[a #no]] [x](b.md \"#no\") <a href='#no'>", []),
    ("#a/ #a// #/ #12/", ["a", "a"]),
    ("#a\u200bb #c\u2014d", ["a", "c"]),
    ("https://e.org/#frag https://e.org/ #ok", ["ok"]),
]


@pytest.mark.parametrize(("text", "expected"), TAGS, ids=[text for text, _ in TAGS])
def test_tags_are_those_obsidian_sees(text: str, expected: list[str]) -> None:
    note = parse_note(text)

    assert expected == [tag.name for tag in note.inline_tags]
    assert [f"#{name}" for name in expected] == [text[slice(*tag.span)] for tag in note.inline_tags]


@pytest.mark.parametrize(
    ("block", "tags", "aliases", "notices"),
    [
        ("tags:\n  - one\n  - two", ["one", "two"], [], 0),
        ("tags: [one]", ["one"], [], 0),
        ("tags: one", ["one"], [], 0),
        ("tags: a, b", [], [], 1),
        ("tags: a b", [], [], 1),
        ('tags: [x, "#x", X]', ["x"], [], 0),
        ("tags:", [], [], 0),
        ("tags: []", [], [], 0),
        ("tags: [2031, a b, y2031]", ["y2031"], [], 1),
        ("tags: 5", [], [], 1),
        ("tags: {a: 1}", [], [], 1),
        ("aliases: one", [], ["one"], 0),
        ("aliases: a, b", [], [], 1),
        ("aliases: [a, b, a, 7, ' ', ~]", [], ["a", "b", "7"], 0),
        ("aliases:\n  - a, b", [], ["a, b"], 0),
        ("tag: x\nalias: y\nTAGS: [z]\nALIASES: [w]", [], [], 0),
    ],
)
def test_tags_and_aliases_of_the_frontmatter(
    block: str, tags: list[str], aliases: list[str], notices: int
) -> None:
    note = parse_note(f"---\n{block}\n---\n")

    assert (tags, aliases, notices) == (list(note.tags), list(note.aliases), len(note.notices))


TAGS_NOTE = """---
tags:
  - Alpha
  - "#delta/x"
tag: ignored
---
#alpha at the start, #Beta/gamma-1 in text.
(#paren) "#quote" .#dot word#glued
[box #inbox] and [see #linktag](https://example.org/#frag)
#2031 #y2031
#한국어/메모 #заметка_2 #日本語
`#code` <!-- #html --> %% #hidden %%
\\#escaped and $x #math$
#one#two #end.
"""


def test_the_tags_of_a_note_are_of_both_sources_each_once() -> None:
    expected = [
        "Alpha",
        "delta/x",
        "Beta/gamma-1",
        "inbox",
        "linktag",
        "y2031",
        "한국어/메모",
        "заметка_2",
        "日本語",
        "hidden",
        "one",
        "two",
        "end",
    ]

    assert expected == list(parse_note(TAGS_NOTE).tags)


def test_the_links_of_the_atlas() -> None:
    cases = shared("cases/obsidian.md").read_text(encoding="utf-8")
    start = cases.index("`````markdown\n", cases.index("## O10")) + len("`````markdown\n")
    note = parse_note(cases[start : cases.index("`````", start)])

    assert [
        ("frontmatter", "World", "", None),
        ("frontmatter", "Sea", "#North", "north sea"),
        wiki("Rivers"),
        wiki("Lakes"),
        wiki("Lakes", "", "the lakes"),
        wiki("Lakes", "#Deep#Cold"),
        wiki("Lakes", "#^l1"),
        wiki("", "#Atlas of Rivers"),
        embed("Lakes"),
        embed("map.png", "", "300"),
        wiki("Comment"),
        wiki("Lakes", "", "L"),
        md("Lake list.md", "#Top", "md"),
        md("Lake list.md", "", "angle"),
        md("", "#Top", "same"),
        wiki("Callout"),
        wiki("Foot"),
    ] == [row(link) for link in note.links]
    assert ["up", "near.0"] == [link.key for link in note.links if link.key]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text ^Id-1", [("id-1", "text ^Id-1")]),
        ("two\nlines ^b\n\nnext", [("b", "two\nlines ^b")]),
        ("not at ^b the end", []),
        ("glued^b", []),
        ("under ^a_b", []),
        ("- one ^a\n  - two ^b\n- three", [("a", "- one ^a"), ("b", "  - two ^b")]),
        ("- one ^a\n\n  more\n- two", [("a", "- one ^a\n\n  more")]),
        ("- one\n- two\n\n^list", [("list", "- one\n- two")]),
        ("> quote\n\n^q\n\nx", [("q", "> quote")]),
        ("|a|\n|-|\n|b|\n\n^t", [("t", "|a|\n|-|\n|b|")]),
        ("`code ^b`", []),
        ("```\nx ^b\n```\n\n^c", [("c", "```\nx ^b\n```")]),
        ("^alone", [("alone", "^alone")]),
        ("# Heading ^h", []),
        ("text ^b\r\n\r\n> q ^c\r\n", [("b", "text ^b"), ("c", "> q ^c")]),
    ],
)
def test_a_block_id_names_its_block(text: str, expected: list[tuple[str, str]]) -> None:
    assert expected == [(block.id, text[slice(*block.span)]) for block in parse_note(text).blocks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One ##", [(1, "One")]),
        ("   ## B\n    ## C", [(2, "B")]),
        ("text\n    ```\n# h", [(1, "h")]),
        ("- # In a list\n> ## In a quote", [(1, "In a list"), (2, "In a quote")]),
        ("Set\n===\n\ntwo\nlines\n---", [(1, "Set"), (2, "two lines")]),
        ("## Notes on [[x]] `c`", [(2, "Notes on [[x]] `c`")]),
        ("#no\n####### seven\n##\ttab", [(2, "tab")]),
        ("| a |\n|---|\n| `## x` |\n## y", [(2, "y")]),
        ("%%\n# hidden\n%%\n# seen", [(1, "seen")]),
        ("%% open\n# seen", [(1, "seen")]),
        ("%%%%\n# seen\n%%", [(1, "seen")]),
        ("<div>\n# no\n</div>\n\n# yes", [(1, "yes")]),
        ("##", [(2, "")]),
        ("# \u0000x", [(1, "\ufffdx")]),
        ("# a\r# b\r\n# c", [(1, "a"), (1, "b"), (1, "c")]),
        ("# a\u2028# b", [(1, "a\u2028# b")]),
    ],
)
def test_headings_are_where_markdown_has_them(text: str, expected: list[tuple[int, str]]) -> None:
    assert expected == [(heading.level, heading.text) for heading in parse_note(text).headings]


def test_a_heading_knows_those_above_it() -> None:
    note = parse_note("## A\n#### B\n### C\n# D\n## E\n")

    assert [("A",), ("A", "B"), ("A", "C"), ("D",), ("D", "E")] == [heading.path for heading in note.headings]


PIECES = st.sampled_from(
    [
        "[[",
        "]]",
        "[",
        "]",
        "(",
        ")",
        "![[",
        "|",
        "#",
        "#t",
        "^id",
        "`",
        "``",
        "```",
        "<!--",
        "-->",
        "%",
        "%%",
        "$",
        "$$",
        "\\",
        "*",
        "_",
        "~~",
        "==",
        ">",
        "-",
        "1.",
        "---",
        "===",
        "---",
        ":",
        "<",
        "<a>",
        "http://x",
        "a",
        "b",
        "가",
        "😀",
        ".md",
        "%20",
        "&amp;",
        '"',
        "'",
        "~~~",
        "tags:",
        "aliases:",
    ]
) | st.sampled_from(
    ["\n", "\n\n", "\r\n", "\r", " ", "    ", "\t", "\u00a0", "\u200b", "\u2028", "\0", "\ud800", "\ufeff"]
)
TEXTS = st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=80)


@given(TEXTS)
def test_no_text_makes_parsing_raise_and_every_place_is_what_it_says(text: str) -> None:
    note = parse_note(text)
    spans = [*note.headings, *note.links, *note.inline_tags, *note.blocks, note.frontmatter]

    assert all(0 <= item.span.start <= item.span.end <= len(text) for item in spans)
    for link in note.links:
        shown = text[slice(*link.span)]
        assert (
            shown.startswith("[[" if link.kind == "wiki" else "[" if link.kind == "markdown" else ("![", "["))
            or link.key
        )
        assert link.span.start <= link.target_span.start <= link.target_span.end <= link.span.end
        assert link.target or link.subpath
    for tag in note.inline_tags:
        assert f"#{tag.name}" == text[slice(*tag.span)]
    for heading in note.headings:
        shown = text[slice(*heading.span)].replace("\0", "\ufffd")
        assert heading.text.split(" ")[0] in shown
        assert heading.span.start == 0 or text[heading.span.start - 1] in "\r\n\ufeff"
    for block in note.blocks:
        assert block.id == block.id.lower()
    assert [link.span for link in note.links if not link.key] == sorted(
        link.span for link in note.links if not link.key
    )


def test_the_reading_of_a_large_note_is_not_kept() -> None:
    text = "- item\n" * 40_000

    assert 0 == len(parse_note(text).headings)
    assert [] == [
        kept for kept in gc.get_objects() if isinstance(kept, BodyReader) and len(kept.text) == len(text)
    ]
