from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.links import FindFiles, resolve_link
from vault_memex.core.markdown import parse_note
from vault_memex.core.refactor import LinkSettings, plan_moves, plan_rename, plan_retarget
from vault_memex.core.text import name_key
from vault_memex.errors import InvalidArgument


def files_of(paths: Mapping[str, Any] | list[str]) -> FindFiles:
    return lambda key: [path for path in paths if name_key(path.rpartition("/")[2]) == key]


def notes_of(vault: Mapping[str, str]) -> dict[str, Any]:
    return {path: parse_note(text) for path, text in vault.items() if path.endswith(".md")}


def renamed(text: str, old: str = "Old.md", new: str = "New.md", **others: str) -> str:
    """Return what a note `Index.md` becomes when a file is renamed."""
    vault = {"Index.md": text, old: "", **{name.replace("__", "/") + ".md": body for name, body in others.items()}}
    return plan_rename(old, new, notes_of(vault), files_of(vault)).get("Index.md", text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[Old]]", "[[New]]"),
        ("[[old#H]]", "[[New#H]]"),
        ("[[Old#H#Deeper]]", "[[New#H#Deeper]]"),
        ("![[Old#^b]]", "![[New#^b]]"),
        ("[[Old|shown]]", "[[New|shown]]"),
        ("[[Old|Old]]", "[[New|New]]"),
        ("[[Old#H|Old]]", "[[New#H|New]]"),
        ("[[Old.md]]", "[[New.md]]"),
        ("[[Old.md|Old.md]]", "[[New.md|New.md]]"),
        ("[[ Old | Old ]]", "[[ New | New ]]"),
        ("[[/Old]]", "[[/New]]"),
        ("[[./Old]]", "[[./New]]"),
        ('[Old](Old.md "t")', '[New](New.md "t")'),
        ("[see](<Old.md>)", "[see](<New.md>)"),
        ("[see](Old.md#Top)", "[see](New.md#Top)"),
        ("[see](Old)", "[see](New)"),
        ("![see](./Old.md)", "![see](./New.md)"),
        ("| a |\n| - |\n| [[Old\\|x]] [[Old\\|Old]] |", "| a |\n| - |\n| [[New\\|x]] [[New\\|New]] |"),
        ("[a][Old]\n\n[Old]: Old.md\n", "[a][Old]\n\n[Old]: New.md\n"),
        ('[r]: <Old.md#H> "Old"\r\n[s]: old\r\n', '[r]: <New.md#H> "Old"\r\n[s]: New\r\n'),
        ("> [r]:\n> ./Old.md 'x'\n", "> [r]:\n> ./New.md 'x'\n"),
        ("x\n[r]: Old.md\n\n[^1]: Old.md\n", "x\n[r]: Old.md\n\n[^1]: Old.md\n"),
        ("[r]: https://e.org/Old.md\n[s]: Other.md\n", "[r]: https://e.org/Old.md\n[s]: Other.md\n"),
        ("# About [[Old]]\n> - [[Old]]\n", "# About [[New]]\n> - [[New]]\n"),
        ("%% [[Old]] %%", "%% [[New]] %%"),
        ("`[[Old]]` <!-- [[Old]] --> Old \\[[Old\\]]", "`[[Old]]` <!-- [[Old]] --> Old \\[[Old\\]]"),
        ("```\n[[Old]]\n```\n[[Old]]\r\n", "```\n[[Old]]\n```\n[[New]]\r\n"),
        ("[[#H]] [[Other]] [[Older]]", "[[#H]] [[Other]] [[Older]]"),
        ("\ufeff[[Old]]\r\n[[Old]]", "\ufeff[[New]]\r\n[[New]]"),
    ],
)  # fmt: skip
def test_a_rename_rewrites_the_path_and_keeps_the_form(before: str, after: str) -> None:
    assert after == renamed(before)


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("[a](Old.md)", "New name (2).md", "[a](New%20name%20%282%29.md)"),
        ("[a](<Old.md>)", "New name (2).md", "[a](<New name (2).md>)"),
        ("[a](Old.md)", "목차 100%.md", "[a](목차%20100%25.md)"),
        ("[a](<Old.md>)", "50%20.md", "[a](<50%2520.md>)"),
        ("[a](Old.md)", "A&amp;B.md", "[a](A%26amp;B.md)"),
        ("[[Old]]", "New name (2).md", "[[New name (2)]]"),
        ("[[Old]]", "map.png.md", "[[map.png]]"),
        ("[a](Old.md)", "sub/New.md", "[a](New.md)"),
        ("[[Old|Old]]", "sub/Old.md", "[[Old|Old]]"),
        ("[[./Old]]", "sub/Old.md", "[[./sub/Old]]"),
        ("[[/Old]]", "sub/Old.md", "[[/sub/Old]]"),
    ],
)
def test_a_new_name_is_written_so_that_it_is_read_back(before: str, new: str, after: str) -> None:
    assert after == renamed(before, new=new)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('---\nup: "[[Old]]"   # mine\nz: 1\n---\n', '---\nup: "[[New]]"   # mine\nz: 1\n---\n'),
        ("---\nup: '[[Old#H|Old]]'\n---\n", "---\nup: '[[New#H|New]]'\n---\n"),
        ('---\nnear:\n- "[[Sea]]"\n- "[[Old]]"\n---\n[[Old]]', '---\nnear:\n- "[[Sea]]"\n- "[[New]]"\n---\n[[New]]'),
        ('---\nnear: ["[[Old]]", "[t](Old.md)"]\n---\n', '---\nnear: ["[[New]]", "[t](New.md)"]\n---\n'),
        ('---\nm: {up: "[[Old]]"}\n---\n', '---\nm: {up: "[[New]]"}\n---\n'),
        ('---\nnear.0: "[[Old]]"\nnear: ["[[Old]]", x]\n---\n', '---\nnear.0: "[[New]]"\nnear: ["[[New]]", x]\n---\n'),
        ('---\nup: "see [[Old]]"\nraw: [[Old]]\n---\n', '---\nup: "see [[Old]]"\nraw: [[Old]]\n---\n'),
        ('---\nup: "[[Old]]"\nbad: a: b\n---\n[[Old]]', '---\nup: "[[Old]]"\nbad: a: b\n---\n[[New]]'),
    ],
)  # fmt: skip
def test_a_link_in_the_frontmatter_changes_alone(before: str, after: str) -> None:
    assert after == renamed(before)


@pytest.mark.parametrize(
    ("before", "old", "new", "value"),
    [
        ("---\nup: '[[Old]]'\nn: 1\n---\n", "Old.md", "It's.md", "[[It's]]"),
        ("---\nup: '[[It''s|It''s]]'\nn: 1\n---\n", "It's.md", "New.md", "[[New|New]]"),
        ("---\nup: '[[It''s#a|b]]'\nn: 1\n---\n", "It's.md", "That's.md", "[[That's#a|b]]"),
        ('---\nup: "[[Old]]"\nn: 1\n---\n', "Old.md", 'A "b".md', '[[A "b"]]'),
        ("---\nup: '[it''s](Old.md)'\nn: 1\n---\n", "Old.md", "It's.md", "[it's](It's.md)"),
    ],
)
def test_a_name_that_needs_other_quotes_reads_back(before: str, old: str, new: str, value: str) -> None:
    after = renamed(before, old, new)

    assert {"up": value, "n": 1} == split_frontmatter(after).properties
    assert after.endswith("\nn: 1\n---\n")


def test_a_display_text_that_is_an_alias_stays() -> None:
    vault = {"Index.md": "[[Old|Old]]", "Old.md": "---\naliases: [old]\n---\n"}

    assert {"Index.md": "[[New|Old]]"} == plan_rename("Old.md", "New.md", notes_of(vault), files_of(vault))


def test_an_attachment_keeps_its_extension_and_its_size() -> None:
    vault = {"Index.md": "![[map.png|300]] [map.png](map.png)", "map.png": ""}

    assert {"Index.md": "![[plan.png|300]] [plan.png](plan.png)"} == plan_rename(
        "map.png", "plan.png", notes_of(vault), files_of(vault)
    )


def test_links_of_the_moved_note_still_mean_the_same_files() -> None:
    vault = {
        "a/Old.md": "[[../Top]] [[./Near]] [n](Near.md) [[Far]] [[#H]] [[Old]]",
        "a/Near.md": "",
        "Near.md": "",
        "Top.md": "",
        "b/Far.md": "",
    }
    after = plan_rename("a/Old.md", "c/d/Old.md", notes_of(vault), files_of(vault))

    assert {"a/Old.md": "[[../../Top]] [[../../a/Near]] [n](Near.md) [[Far]] [[#H]] [[Old]]"} == after


def test_a_folder_moves_with_its_inner_links() -> None:
    vault = {"a/X.md": "[[./Y]] [[../Z]]", "a/Y.md": "[[a/X]]", "Z.md": "[[a/X]] [[X]]"}
    after = plan_moves({"a/X.md": "b/c/X.md", "a/Y.md": "b/c/Y.md"}, notes_of(vault), files_of(vault))

    assert {"a/X.md": "[[./Y]] [[../../Z]]", "a/Y.md": "[[X]]", "Z.md": "[[X]] [[X]]"} == after


def test_a_name_that_becomes_ambiguous_is_written_as_a_path() -> None:
    vault = {"Index.md": "[[Plan]] [[x/Plan]]", "x/Plan.md": "", "y/Draft.md": ""}

    assert {"Index.md": "[[x/Plan]] [[x/Plan]]"} == plan_rename(
        "y/Draft.md", "y/Plan.md", notes_of(vault), files_of(vault)
    )


def test_a_name_that_the_new_file_would_capture_is_written_as_a_path() -> None:
    vault = {"Index.md": "[[Plan#H|Plan]]", "x/Plan.md": "", "Draft.md": ""}

    assert {"Index.md": "[[x/Plan#H|Plan]]"} == plan_rename(
        "Draft.md", "Plan.md", notes_of(vault), files_of(vault)
    )


def test_a_link_that_meant_nothing_is_left_to_the_new_file() -> None:
    assert "[[New]]" == renamed("[[New]]")


def test_a_link_that_was_ambiguous_before_stays_as_it_is() -> None:
    vault = {"Index.md": "[[Plan]]", "x/Plan.md": "", "y/Plan.md": "", "Old.md": ""}

    assert {} == plan_rename("Old.md", "New.md", notes_of(vault), files_of(vault))


@pytest.mark.parametrize(
    ("form", "after"),
    [
        ("shortest", "[[New]] [n](New.md)"),
        ("absolute", "[[b/New]] [n](b/New.md)"),
        ("relative", "[[../b/New]] [n](../b/New.md)"),
    ],
)
def test_the_vaults_setting_says_how_a_path_is_written(form: Any, after: str) -> None:
    vault = {"a/Index.md": "[[Old]] [n](Old.md)", "b/Old.md": ""}

    assert {"a/Index.md": after} == plan_rename(
        "b/Old.md", "b/New.md", notes_of(vault), files_of(vault), LinkSettings(form)
    )


def test_a_relative_path_that_would_be_read_otherwise_gets_a_dot() -> None:
    vault = {"a/Index.md": "[[Old]]", "a/x/Old.md": "", "x/New.md": ""}
    after = plan_rename("a/x/Old.md", "a/x/New.md", notes_of(vault), files_of(vault), LinkSettings("relative"))

    assert {"a/Index.md": "[[./x/New]]"} == after


def test_a_note_named_like_an_attachment_keeps_its_md() -> None:
    vault = {"Index.md": "[[Old]]", "Old.md": "", "map.png": ""}

    assert {"Index.md": "[[map.png.md]]"} == plan_rename("Old.md", "map.png.md", notes_of(vault), files_of(vault))


def test_a_twin_that_differs_in_case_does_not_stop_an_exact_name() -> None:
    vault = {"Index.md": "[[Old]]", "Old.md": "", "NEW.md": ""}

    assert {"Index.md": "[[New]]"} == plan_rename("Old.md", "New.md", notes_of(vault), files_of(vault))


@pytest.mark.parametrize("new", ["A#B.md", "A|B.md", "A]]B.md"])
def test_a_name_that_no_wikilink_can_hold_is_refused(new: str) -> None:
    with pytest.raises(InvalidArgument, match="breaks links"):
        renamed("[[Old]]", new=new)


def test_a_merge_points_links_to_the_other_note_and_keeps_what_is_shown() -> None:
    vault = {
        "Index.md": "[[A]] [[A#H|A]] [A](A.md) ![[A|text]]",
        "x/B.md": '---\nup: "[[A]]"\n---\n',
        "A.md": "[[A]] [[./y]] [y](y.md)",
        "y.md": "",
    }

    assert {
        "Index.md": "[[B]] [[B#H|A]] [A](B.md) ![[B|text]]",
        "x/B.md": '---\nup: "[[B]]"\n---\n',
        "A.md": "[[B]] [[../y]] [y](y.md)",
    } == plan_retarget("A.md", "x/B.md", notes_of(vault), files_of(vault))


NAMES = ["Plan", "plan", "Map", "목차", "v1.2", "a b"]
PATHS = st.builds(
    lambda folder, name: f"{folder}{name}.md", st.sampled_from(["", "a/", "a/b/", "c/"]), st.sampled_from(NAMES)
)
TARGETS = st.builds(
    lambda lead, folder, name, end: f"{lead}{folder}{name}{end}",
    st.sampled_from(["", "", "", "./", "../", "/"]),
    st.sampled_from(["", "", "a/", "b/"]),
    st.sampled_from(NAMES),
    st.sampled_from(["", "", ".md"]),
)
FORMS = ["[[{}]]", "[[{}|x]]", "[[{}#H]]", "![[{}#^b|{}]]", "[x](<{}>)", "`[[{}]]`", "text {}"]
LINKS = st.builds(lambda form, target: form.replace("{}", target), st.sampled_from(FORMS), TARGETS)
VAULTS = st.dictionaries(PATHS, st.lists(LINKS, max_size=4).map("\n".join), min_size=1, max_size=6)
BARE = re.compile(r"\[\[[^\]]*\]\]|\(<[^>]*>\)")


@given(VAULTS, PATHS, st.sampled_from(["shortest", "relative", "absolute"]), st.data())
@settings(max_examples=200)
def test_after_a_rename_every_link_means_what_it_meant(
    vault: dict[str, str], new: str, form: Any, data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from(sorted(vault)))
    if any(path != old and name_key(path) == name_key(new) for path in vault):
        return
    before = files_of(vault)
    texts = {**vault, **plan_rename(old, new, notes_of(vault), before, LinkSettings(form))}
    moved = {(new if path == old else path): text for path, text in texts.items()}

    for path, text in vault.items():
        now = new if path == old else path
        check_links(path, text, before, now, moved[now], files_of(moved), {old: new})


@given(VAULTS, st.sampled_from(["shortest", "relative", "absolute"]), st.data())
@settings(max_examples=200)
def test_after_a_merge_every_link_means_what_it_meant_or_the_note_that_stays(
    vault: dict[str, str], form: Any, data: st.DataObject
) -> None:
    old, new = data.draw(st.sampled_from(sorted(vault))), data.draw(st.sampled_from(sorted(vault)))
    if old == new:
        return
    before = files_of(vault)
    texts = {**vault, **plan_retarget(old, new, notes_of(vault), before, LinkSettings(form))}
    after = files_of([path for path in vault if path != old])

    for path, text in vault.items():
        check_links(path, text, before, new if path == old else path, texts[path], after, {old: new})


def check_links(
    path: str, text: str, before: FindFiles, now: str, text_now: str, after: FindFiles, moves: Mapping[str, str]
) -> None:
    """Check that a note's links mean what they meant, moved files where they are, and that nothing else changed."""
    assert BARE.sub("", text) == BARE.sub("", text_now)
    links, links_now = parse_note(text).links, parse_note(text_now).links
    assert len(links) == len(links_now)
    for link, link_now in zip(links, links_now, strict=True):
        meant = resolve_link(link.target, path, before).path
        if meant is not None:
            assert moves.get(meant, meant) == resolve_link(link_now.target, now, after).path
        else:
            assert link.target == link_now.target
        assert link.subpath == link_now.subpath
