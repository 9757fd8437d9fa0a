"""What `search` finds, in which order, and what its rows say: through the tool, in a vault that is made for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.meaning_here import MeaningHere
from vault_memex.errors import MemexError
from vault_memex.index.meaning import Meaning
from vault_memex.server.read_tools import SEARCH
from vault_memex.services.retrieval import SearchAnswer
from vault_memex.vault import open_vault

Search = Callable[..., SearchAnswer]

NOTES: dict[str, tuple[dict[str, Any], str]] = {
    "Kiln": ({"created": "2026-01-05", "updated": "2026-03-01"}, "rocket fuel for the kiln"),
    "Boat": ({"created": "2026-02-01", "updated": "2026-02-01T10:00:00+09:00"}, "rocket and oars"),
    "Tea": ({"created": "2026-02-02", "updated": "2026-02-02"}, "fuel for a well-known tea"),
    "Clay": ({"created": "2026-04-01T12:00:00Z", "updated": "2026-04-02T12:00:00Z"}, "the fuel of a rocket"),
    "Waiting": ({"created": "2026-01-01", "updated": "2026-01-01", "review": "pending"}, "not read by anybody"),
    "To be": ({"created": "2025-01-01", "updated": "2025-01-01", "tags": "[stage]"}, "to be or not to be"),
}


def write(root: Path, notes: dict[str, tuple[dict[str, Any], str]]) -> None:
    for title, (properties, body) in notes.items():
        head = "".join(f"{name}: {value}\n" for name, value in properties.items())
        (root / f"{title}.md").write_text(f"---\n{head}---\n{body}\n", encoding="utf-8")


def searching(root: Path, cache: Path, **flags: Any) -> Iterator[Search]:
    build = Meaning if flags else MeaningHere
    vault = open_vault(root, cache_dir=cache, flags={"connection": "tester", **flags}, build_meaning=build)
    vault.refresh()
    if isinstance(vault.meaning, MeaningHere):
        vault.meaning.embed_all()

    def search(**arguments: Any) -> SearchAnswer:
        value = SEARCH.run(vault, SEARCH.parse_arguments(arguments)).value
        assert isinstance(value, SearchAnswer)
        return value

    yield search
    vault.close(patient=False)


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Search]:
    """Searches by words alone."""
    root = tmp_path_factory.mktemp("words")
    write(root, NOTES)
    yield from searching(root, tmp_path_factory.mktemp("cache"), model="none")


def titles(answer: SearchAnswer) -> list[str]:
    return [row.title for row in answer.rows]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("rocket OR fuel", "Boat Clay Kiln Tea"),
        ("rocket | fuel", "Boat Clay Kiln Tea"),
        ("rocket NOT fuel", "Boat"),
        ("rocket -fuel", "Boat"),
        ("rocket !fuel", "Boat"),
        ("fuel NOT NOT rocket", "Clay Kiln"),
        ('"rocket fuel"', "Kiln"),
        ('"the fuel of a rocket"', "Clay"),  # stop words at its ends are dropped, inside they count
        ('"fuel rocket"', ""),
        ('"fuel of the"', "Clay Kiln Tea"),
        ("(oars OR tea) AND -kiln", "Boat Tea"),
        ("oars & rocket OR tea", "Boat Tea"),
        ("NOT -well-known -oars", "Tea"),
        ("rocket OR", "Boat Clay Kiln"),
        ('(rocket AND "fuel', "Clay Kiln"),
        ("(" * 30 + "oars OR tea" + ")" * 30, "Boat Tea"),
        ("oars OR zanzibar", "Boat"),
    ],
)
def test_operators_look_for_words_as_written_and_the_answer_says_so(
    search: Search, query: str, found: str
) -> None:
    answer = search(query=query)

    assert (found.split(), True) == (sorted(titles(answer)), answer.exact_match)
    assert answer.semantic_search_unavailable is None
    assert answer.rows == search(query=query, mode="exact").rows


def test_small_letters_and_hyphens_inside_words_are_no_operators(search: Search) -> None:
    for query in ("rocket or fuel", "well-known", "rocket and not fuel"):
        assert not search(query=query).exact_match
    assert ["Tea"] == titles(search(query="well-known tea", limit=1))


def test_operators_alone_find_nothing(search: Search) -> None:
    for query in ("OR", "NOT AND", "( OR )"):
        assert (0, []) == (search(query=query).total, titles(search(query=query)))


def test_stop_words_alone_are_a_question_of_meaning(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    write(root, {"Stop": ({}, "to be or not to be"), "Kiln": ({}, "kiln paint")})
    for search in searching(root, tmp_path / "own"):
        answer = search(query="to be or not", explain=True)

        assert (["Stop"], False) == (titles(answer), answer.exact_match)
        assert answer.rows[0].distance is not None


def test_without_a_letter_or_digit_there_is_no_query_and_notes_are_listed(search: Search) -> None:
    for query in ("", "*", " … !? "):
        answer = search(query=query)

        assert (["Clay", "Kiln", "Tea", "Boat", "Waiting", "To be"], False) == (titles(answer), answer.exact_match)
        assert {None} == {row.matched_text for row in answer.rows}


def test_what_is_only_excluded_lists_the_rest_by_date(search: Search) -> None:
    answer = search(query="-fuel")

    assert (["Boat", "Waiting", "To be"], True) == (titles(answer), answer.exact_match)


@pytest.mark.parametrize(
    ("order", "first", "last"),
    [
        ("updated_desc", "Clay", "To be"),
        ("updated_asc", "To be", "Clay"),
        ("created_desc", "Clay", "To be"),
        ("created_asc", "To be", "Clay"),
    ],
)
def test_an_order_is_by_change_or_creation_up_or_down(search: Search, order: str, first: str, last: str) -> None:
    for query in ("", "NOT zanzibar"):
        found = titles(search(query=query, order=order))

        assert (first, last, 6) == (found[0], found[-1], len(found))
    assert ["Clay", "Kiln", "Tea"] == titles(search(query="fuel -oars", order="updated_desc"))
    assert titles(search(query="fuel")) == titles(search(query="fuel", order="relevance"))


def test_what_waits_is_found_by_its_status_under_either_name(search: Search) -> None:
    for name in ("status", "review"):
        assert ["Waiting"] == titles(search(**{name: "pending"}))
        assert "Waiting" not in titles(search(**{name: "verified"}))
    assert ["pending"] == [row.review for row in search(query="anybody").rows]
    with pytest.raises(MemexError, match="review"):
        search(review="draft")


@pytest.mark.parametrize(
    ("dates", "found"),
    [
        ({"updated_after": "2026-03-01"}, "Clay Kiln"),  # its start counts
        ({"updated_after": "2026-03-01T00:00:01Z"}, "Clay"),
        ({"updated_before": "2026-03-01", "updated_after": "2026-02-01"}, "Boat Tea"),  # its start does not
        ({"updated_after": "2026-02-01T01:00:00Z", "updated_before": "2026-02-01T01:00:01Z"}, "Boat"),  # in UTC
        ({"updated_after": "2026-02-01T10:00:00+09:00", "updated_before": "2026-02-02"}, "Boat"),
        ({"created_after": "2026-04-01"}, "Clay"),
        ({"created_after": "2026-04-01T12:00:00"}, "Clay"),  # without offset: UTC
        ({"created_after": "2026-04-01T12:00:01"}, ""),
        ({"created_before": "2026-01-01"}, "To be"),
        ({"created_after": "2030-01-01"}, ""),  # the future is a date as others are
    ],
)
def test_after_includes_and_before_excludes_a_moment_or_the_start_of_a_day_in_utc(
    search: Search, dates: dict[str, str], found: str
) -> None:
    assert sorted(found.split() if found != "To be" else [found]) == sorted(titles(search(**dates)))


def test_a_tag_that_no_note_has_is_named(search: Search) -> None:
    some, none = search(tags=["stage", "nonesuch"]), search(tags=["nonesuch"], query="rocket")

    assert (["To be"], ("nonesuch",)) == (titles(some), some.unknown_tags)
    assert ([], ("nonesuch",)) == (titles(none), none.unknown_tags)


def test_without_a_model_an_answer_by_words_says_why_and_nothing_found_means_that_the_words_are_not_there(
    search: Search,
) -> None:
    found, missed = search(query="rocket"), search(query="zanzibar")

    for answer in (found, missed):
        assert "model = none" in (answer.semantic_search_unavailable or "")
    assert (0, ("zanzibar",)) == (missed.total, missed.missing_words)
    for unwanted in ({"mode": "exact", "query": "rocket"}, {"query": "rocket -tea"}, {"query": ""}):
        assert search(**unwanted).semantic_search_unavailable is None


LONG = "Berta " * 100
ROW: dict[str, Any] = {
    "created": "2026-01-05",
    "updated": "2026-03-01",
    "layer": "state",
    "source_url": "https://example.org/kiln",
    "tags": "[kiln, clay]",
    "summary": "How Berta is fired.",
    "cone": "8",
    "firing": '{cone: 8, by: "[[Tomas]]"}',
}


def test_a_row_says_what_a_note_is_and_where_it_answers(folder: Path, tmp_path: Path) -> None:
    (folder / "Studio").mkdir()
    write(folder, {"Studio/Firing": (ROW, "# Firing\n\n## Log\n\n### Lid\n\nThe lid was mended with mortar.")})
    for search in searching(folder, tmp_path / "own", model="none"):
        row = search(query="mortar").rows[0]

        assert ("Studio/Firing.md", "Firing", "state", "2026-03-01") == (
            row.path,
            row.title,
            row.layer,
            row.updated,
        )
        assert ("How Berta is fired.", ("clay", "kiln")) == (row.summary, tuple(sorted(row.tags)))
        assert ("https://example.org/kiln", "2026-01-05", None) == (row.source_url, row.created, row.superseded_by)
        assert {"cone": 8, "firing": {"cone": 8, "by": "[[Tomas]]"}} == row.properties
        assert (("Firing", "Log", "Lid"), "The lid was mended with mortar.") == (
            row.matched_section,
            row.matched_text,
        )
        assert row.chars == len("# Firing\n\n## Log\n\n### Lid\n\nThe lid was mended with mortar.\n")


@pytest.mark.parametrize("query", ["mortar", "", "wholesome"])
def test_the_texts_of_a_row_have_at_most_600_characters_whatever_the_note_says(
    folder: Path, tmp_path: Path, query: str
) -> None:
    tags = ", ".join(f"a-tag-that-is-rather-long-{number}" for number in range(30))
    long = {**ROW, "tags": f"[{tags}]", "summary": LONG, "source_url": "https://example.org/" + "k" * 290}
    long |= {f"property{number}": "value" * 8 for number in range(9)}
    headings = f"# {LONG}\n\n## {LONG}\n\n### Lid\n\n"
    write(folder, {f"A wholesome {'long ' * 30}title": (long, f"{headings}{LONG}with mortar {LONG}")})
    for search in searching(folder, tmp_path / "own", model="none"):
        row = search(query=query).rows[0]

        texts = [row.title, row.summary, row.matched_text, row.source_url, *row.matched_section, *row.tags]
        assert 600 >= sum(map(len, filter(None, texts))) + (
            len(json.dumps(row.properties)) if row.properties else 0
        )
        if query == "mortar":
            assert "with mortar" in (row.matched_text or "")
            assert "Lid" == row.matched_section[-1]
        assert len(row.matched_text or "") <= 300
        assert set((row.matched_text or "Berta").split()) <= {"Berta", "with", "mortar"}  # whole words


def test_a_passage_found_by_meaning_is_cut_between_words(folder: Path, tmp_path: Path) -> None:
    write(folder, {"Far": ({}, "paint kilns oarsmen " * 40)})
    for search in searching(folder, tmp_path / "own"):
        text = search(query="kilns paint", mode="hybrid").rows[0].matched_text or ""

        assert 250 < len(text) <= 300
        assert {"paint", "kilns", "oarsmen"} == set(text.split())
