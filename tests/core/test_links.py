"""Which file a link means (section 1.3, cases O11 and O14a), and the key under which it waits for files."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.links import LinkTarget, link_key, resolve_link
from vault_memex.core.text import name_key


def finder(paths: Sequence[str]) -> Callable[[str], list[str]]:
    files: dict[str, list[str]] = {}
    for path in paths:
        files.setdefault(name_key(path.rpartition("/")[2]), []).append(path)
    return lambda key: files.get(key, [])


TREE = finder(
    [
        "Roadmap.md",
        "t/kelp/Roadmap.md",
        "t/kelp/old/Roadmap.md",
        "t/otter/Roadmap.md",
        "t/kelp/Index.md",
        "t/otter/Index.md",
        "logs/2031/Index.md",
        "Solo.md",
        "m/chart.png",
        "m/chart.md",
        "kelpie/Deep.md",
    ]
)

TEAM_FILES = [
    "Roadmap.md",
    "teams/kelp/Roadmap.md",
    "teams/kelp/archive/Roadmap.md",
    "teams/otter/Roadmap.md",
    "teams/otter/Index.md",
    "teams/kelp/Index.md",
    "teams/kelp/plans/Q3.md",
    "logs/2031/Index.md",
    "Solo.md",
    "media/chart.png",
    "media/chart.md",
    "Budget v1.2.md",
    "teams/otter/Kelp.md",
    "teams/Kelp.md",
]
TEAMS = finder(TEAM_FILES)


@pytest.mark.parametrize(
    ("target", "source", "path"),
    [
        ("Roadmap", "t/kelp/Index.md", "Roadmap.md"),
        ("kelp/Roadmap", "Solo.md", "t/kelp/Roadmap.md"),
        ("elp/Roadmap", "Solo.md", None),
        ("../Roadmap", "t/kelp/old/Roadmap.md", "t/kelp/Roadmap.md"),
        ("./Index", "t/kelp/Roadmap.md", "t/kelp/Index.md"),
        ("../../../Solo", "t/kelp/Roadmap.md", None),
        ("..", "t/kelp/Roadmap.md", None),
        ("/otter/Roadmap", "Solo.md", None),
        ("/t/otter/Roadmap", "Solo.md", "t/otter/Roadmap.md"),
        ("index", "t/otter/Roadmap.md", "t/otter/Index.md"),
        ("Index", "t/kelp/old/Roadmap.md", "t/kelp/Index.md"),
        ("chart", "Solo.md", "m/chart.md"),
        ("chart.png", "Solo.md", "m/chart.png"),
        ("CHART.PNG", "Solo.md", "m/chart.png"),
        ("solo.MD", "t/kelp/Index.md", "Solo.md"),
        ("deep", "kelp/x.md", "kelpie/Deep.md"),
        ("", "Solo.md", "Solo.md"),
        ("nothing", "Solo.md", None),
        ("t/", "Solo.md", None),
        ("/", "Solo.md", None),
        ("https://ex.org", "Solo.md", None),
    ],
)
def test_a_link_means_the_file_it_means_in_obsidian(target: str, source: str, path: str | None) -> None:
    assert path == resolve_link(target, source, TREE).path


TEAM_LINKS: list[tuple[str, str, str | None]] = [
    ("Roadmap", "teams/kelp/Index.md", "Roadmap.md"),
    ("Index", "teams/otter/Roadmap.md", "teams/otter/Index.md"),
    ("Index", "logs/2031/Index.md", "logs/2031/Index.md"),
    ("kelp/Roadmap", "Solo.md", "teams/kelp/Roadmap.md"),
    ("archive/roadmap", "Solo.md", "teams/kelp/archive/Roadmap.md"),
    ("../Roadmap", "teams/kelp/plans/Q3.md", "teams/kelp/Roadmap.md"),
    ("/teams/otter/Roadmap", "Solo.md", "teams/otter/Roadmap.md"),
    ("/otter/Roadmap", "Solo.md", None),
    ("chart", "Solo.md", "media/chart.md"),
    ("chart.png", "Solo.md", "media/chart.png"),
    ("SOLO.MD", "teams/Kelp.md", "Solo.md"),
    ("Budget v1.2", "teams/Kelp.md", "Budget v1.2.md"),
    ("Budget\u00a0v1.2", "teams/Kelp.md", "Budget v1.2.md"),
    ("Kelp", "teams/otter/Index.md", "teams/otter/Kelp.md"),
    ("Kelp", "teams/kelp/Index.md", "teams/Kelp.md"),
    ("../kelp/Index.md", "teams/otter/Index.md", "teams/kelp/Index.md"),
]


@pytest.mark.parametrize(("target", "source", "path"), TEAM_LINKS)
def test_links_of_the_teams_vault(target: str, source: str, path: str | None) -> None:
    assert path == resolve_link(target, source, TEAMS).path


def test_an_ambiguous_link_names_all_candidates_best_first() -> None:
    found = resolve_link("Index", "Solo.md", TEAMS)

    assert (
        LinkTarget("logs/2031/Index.md", ("logs/2031/Index.md", "teams/kelp/Index.md", "teams/otter/Index.md"))
        == found
    )
    assert () == resolve_link("Roadmap", "Solo.md", TEAMS).candidates
    assert () == resolve_link("Index", "teams/otter/Roadmap.md", TEAMS).candidates


def test_equally_long_paths_are_ordered_by_name_whatever_the_order_they_come_in() -> None:
    paths = ["c/X.md", "a/X.md", "b/X.md"]

    assert {"a/X.md"} == {resolve_link("X", "Z.md", finder(order)).path for order in (paths, paths[::-1])}


def test_names_are_compared_without_unicode_form() -> None:
    decomposed = unicodedata.normalize("NFD", "회의록") + ".md"

    assert decomposed == resolve_link("회의록", "목차.md", finder([decomposed, "목차.md"])).path


def test_of_two_names_that_differ_in_case_the_one_written_is_meant() -> None:
    find = finder(["a.md", "A.md"])

    assert LinkTarget("A.md") == resolve_link("A.md", "x.md", find)
    assert LinkTarget("a.md") == resolve_link("a", "x.md", find)


def test_a_name_that_ends_twice_in_md_is_found_by_the_shorter_text() -> None:
    assert "x.md.md" == resolve_link("x.md", "y.md", finder(["x.md.md"])).path
    assert link_key("x.md") == link_key("f/X.md.md") == link_key("x")


@pytest.mark.parametrize(
    ("target", "key"),
    [
        ("a", "a"),
        ("f/A.md", "a"),
        ("chart.png", "chart.png"),
        ("Budget v1.2", "budget v1.2"),
        ("f/", ""),
        ("", ""),
    ],
)
def test_a_link_waits_under_its_last_part(target: str, key: str) -> None:
    assert key == link_key(target)


PATHS = st.lists(
    st.builds("/".join, st.lists(st.sampled_from(["a", "B", "c d", "é", "x.md", "ab"]), min_size=1, max_size=3)),
    max_size=8,
    unique=True,
)


@given(PATHS, st.sampled_from(["a", "a/b", "x", "x.md", "./a", "../a", "/a", "é", "c d", "ab/x", "."]), st.data())
def test_a_file_is_found_only_under_the_links_key(paths: list[str], target: str, data: st.DataObject) -> None:
    paths = [f"{path}.md" for path in paths]
    source = data.draw(st.sampled_from([*paths, "s.md"]))
    found = resolve_link(target, source, finder(paths))

    assert found.path is None or found.path in paths
    assert found.path is None or link_key(target) == link_key(found.path)
    assert found.candidates == () or (found.path == found.candidates[0] and len(found.candidates) > 1)
