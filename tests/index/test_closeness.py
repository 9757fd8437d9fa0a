"""Which notes lie near a text or a note: the meaning engine over a real catalogue."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.index.indexed_vault import IndexedVault
from tests.meaning_here import MeaningHere
from vault_memex.index.meaning import MeaningUnavailable

KILN = "The kiln trips the breaker when the lid element heats."
BREAD = "Rye bread rises slowly in a cold pantry over night."


@pytest.fixture
def meaning(vault: IndexedVault) -> Iterator[MeaningHere]:
    opened = MeaningHere(vault.root, vault.cache, "hash", "")
    yield opened
    opened.close()


def index(vault: IndexedVault, meaning: MeaningHere) -> None:
    vault.indexer.reconcile()
    meaning.embed_all()


def test_a_text_finds_the_note_that_says_the_same_with_a_distance_of_nearly_nothing(
    vault: IndexedVault, meaning: MeaningHere
) -> None:
    vault.write("Kiln.md", KILN)
    vault.write("Bread.md", BREAD)
    index(vault, meaning)

    found = meaning.near_notes([f"Kiln\n\n{KILN}", f"Bread\n\n{BREAD}"], 10)

    assert ["Kiln.md", "Bread.md"] == [hits[0][0] for hits in found]
    assert all(hits[0][1] < 0.2 < hits[1][1] for hits in found)


def test_equal_passages_of_two_notes_are_both_found(vault: IndexedVault, meaning: MeaningHere) -> None:
    vault.write("a/Kiln.md", KILN)
    vault.write("b/Kiln.md", KILN)
    index(vault, meaning)

    assert ["a/Kiln.md", "b/Kiln.md"] == [path for path, _ in meaning.near_notes([KILN], 1)[0]]


def test_a_note_is_not_near_itself_and_each_other_note_stands_once(
    vault: IndexedVault, meaning: MeaningHere
) -> None:
    vault.write("Kiln.md", f"# One\n{KILN}\n\n# Two\n{BREAD}")
    vault.write("Long.md", f"# One\n{KILN}\n\n# Two\n{BREAD}\n")
    vault.write("Bread.md", BREAD)
    index(vault, meaning)

    found = meaning.near_of("Kiln.md", 10)

    assert ["Long.md", "Bread.md"] == [path for path, _ in found]
    assert found == sorted(found, key=lambda hit: hit[1])


def test_a_note_whose_vectors_are_not_there_yet_is_embedded_on_the_way(
    vault: IndexedVault, meaning: MeaningHere
) -> None:
    vault.write("Kiln.md", KILN)
    index(vault, meaning)
    vault.write("New.md", KILN)
    vault.indexer.reconcile()

    assert ["Kiln.md"] == [path for path, _ in meaning.near_of("New.md", 5)]


def test_nothing_is_near_a_note_that_does_not_exist(vault: IndexedVault, meaning: MeaningHere) -> None:
    vault.write("Kiln.md", KILN)
    index(vault, meaning)

    assert [] == meaning.near_of("Gone.md", 5)


def test_before_anything_is_embedded_closeness_is_unavailable(vault: IndexedVault, meaning: MeaningHere) -> None:
    vault.write("Kiln.md", KILN)
    vault.indexer.reconcile()

    with pytest.raises(MeaningUnavailable, match="No passage"):
        meaning.near_notes([KILN], 5)
