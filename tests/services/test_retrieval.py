"""What a search finds, in which order, and what it says of itself; the model is a hash of words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.meaning_here import MeaningHere
from vault_memex.core.filters import parse_filters
from vault_memex.services import retrieval
from vault_memex.services.retrieval import SearchRequest
from vault_memex.vault import Vault, open_vault

CROWD = 600  # notes: more than any search looks at


@pytest.fixture
def vault(folder: Path) -> Iterator[Vault]:
    """One note that says little of the kiln in a folder of its own, behind a crowd that says nothing else."""
    (folder / "Log").mkdir()
    for number in range(CROWD):
        (folder / f"Log/{number}.md").write_text("kiln kiln kiln\n", encoding="utf-8")
    (folder / "Plans").mkdir()
    (folder / "Plans/Boat.md").write_text("kiln paint kiln paint kiln paint\n", encoding="utf-8")
    opened = open_vault(folder, flags={"connection": "tester"}, build_meaning=MeaningHere)
    opened.refresh()
    assert isinstance(opened.meaning, MeaningHere)
    opened.meaning.embed_all()
    yield opened
    opened.close(patient=False)


def test_a_filter_finds_the_note_that_stands_behind_hundreds_by_words(vault: Vault) -> None:
    answer = vault.retrieval.search(
        SearchRequest("kiln", filters=parse_filters(folder="Plans"), words_only="not asked")
    )

    assert (1, ["Plans/Boat.md"]) == (answer.total, [row.path for row in answer.rows])


def test_where_more_match_than_are_ranked_the_total_is_said_to_be_the_least(vault: Vault) -> None:
    cut = vault.retrieval.search(SearchRequest("kiln", words_only="not asked"))
    whole = vault.retrieval.search(SearchRequest("kiln", mode="exact"))

    assert (retrieval.PAGE_DEPTH, True) == (cut.total, cut.total_is_least)
    assert "at least 190 more" in " ".join(cut.notes)
    assert (CROWD + 1, False) == (whole.total, whole.total_is_least)
    assert "at least" not in " ".join(whole.notes)


def test_pages_neither_skip_nor_repeat(vault: Vault) -> None:
    whole = vault.retrieval.find(SearchRequest("kiln boat")).ranked
    pages = [vault.retrieval.search(SearchRequest("kiln boat", offset=at, limit=25)) for at in range(0, 300, 25)]

    assert [note.path for note in whole] == [row.path for page in pages for row in page.rows]
    assert len(whole) >= retrieval.PAGE_DEPTH


def test_a_filter_finds_the_note_that_stands_behind_hundreds_by_meaning(vault: Vault) -> None:
    answer = vault.retrieval.search(SearchRequest("kiln", filters=parse_filters(folder="Plans"), explain=True))

    assert ["Plans/Boat.md"] == [row.path for row in answer.rows]
    assert answer.rows[0].distance is not None


def test_a_wide_filter_looks_deeper_by_meaning(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "FEW_NOTES", 0)

    answer = vault.retrieval.search(
        SearchRequest("kiln", filters=parse_filters(folder="Log"), limit=25, explain=True)
    )

    assert [True] * 25 == [row.distance is not None for row in answer.rows]


def test_pages_of_equal_notes_hold_each_note_once(vault: Vault) -> None:
    paths = [
        row.path
        for offset in range(0, 100, 25)
        for row in vault.retrieval.search(SearchRequest("kiln", limit=25, offset=offset)).rows
    ]

    assert 100 == len(set(paths))
    assert paths[:25] == [row.path for row in vault.retrieval.search(SearchRequest("kiln", limit=25)).rows]


def test_a_common_word_is_not_looked_for_by_its_beginning_and_a_rare_one_is(
    vault: Vault, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "COMMON_NOTES", CROWD)
    (folder / "Plans/Rare.md").write_text("kilning paintwork\n", encoding="utf-8")
    vault.refresh()

    answer = vault.retrieval.search(SearchRequest("kiln paint", words_only="not asked", limit=25, explain=True))

    assert {"Plans/Boat.md": "all words", "Plans/Rare.md": "words that begin alike"} == {
        row.path: row.why for row in answer.rows if row.path.startswith("Plans")
    }


def test_words_are_looked_up_while_meaning_is_asked_for(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    search_words, begin = vault.catalogue.search_words, vault.meaning.begin_search

    def note_words(*arguments: Any) -> Any:
        order.append("words")
        return search_words(*arguments)

    def note_meaning(*arguments: Any, **more: Any) -> Any:
        wait = begin(*arguments, **more)
        order.append("asked")
        return lambda: (order.append("waited"), wait())[1]

    monkeypatch.setattr(vault.catalogue, "search_words", note_words)
    monkeypatch.setattr(vault.meaning, "begin_search", note_meaning)
    vault.retrieval.search(SearchRequest("kiln"))

    assert ["asked", "words", "words", "waited"] == order


@pytest.mark.parametrize(
    ("fixed", "weak", "strong"),
    [
        ({}, ["Plan.md"], ["Plan.md"]),
        ({"query_weak": 0.01}, [], []),
        ({"query_strong": 0.01}, ["Plan.md"], []),
    ],
)
def test_distances_that_the_person_fixed_decide_what_answers_a_query(
    folder: Path, fixed: dict[str, float], weak: list[str], strong: list[str]
) -> None:
    (folder / "Plan.md").write_text("kiln paint oars bread\n", encoding="utf-8")
    (folder / "Tea.md").write_text("tea\n", encoding="utf-8")
    flags = {"connection": "tester", "distances": fixed}
    opened = open_vault(folder, flags=flags, build_meaning=MeaningHere)
    try:
        opened.refresh()
        assert isinstance(opened.meaning, MeaningHere)
        opened.meaning.embed_all()
        query = "kiln paint oars tea"

        found = opened.retrieval.search(SearchRequest(query, explain=True))
        sure = opened.retrieval.search(SearchRequest(query, mode="strict"))
    finally:
        opened.close(patient=False)

    assert weak == [row.path for row in found.rows if row.distance is not None]
    assert strong == [row.path for row in sure.rows]
