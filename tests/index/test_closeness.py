"""Which notes lie near a text or a note: the meaning engine over a real catalogue."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.index.indexed_vault import IndexedVault
from tests.meaning_here import MeaningHere
from vault_memex.index.meaning import MeaningUnavailable, NearAnswer, NearQuestion
from vault_memex.memory.kept_calibration import KeptCalibration, parse_kept

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


def test_only_notes_nearer_than_asked_for_are_given(vault: IndexedVault, meaning: MeaningHere) -> None:
    vault.write("Kiln.md", KILN)
    vault.write("Twin.md", KILN)
    vault.write("Bread.md", BREAD)
    index(vault, meaning)

    (twin, distance), (bread, farther) = meaning.near_of("Kiln.md", 5)

    assert ("Twin.md", "Bread.md") == (twin, bread)
    assert [(twin, distance)] == meaning.begin_near_of("Kiln.md", 5, below=farther, answer_within=1.0)()


def test_nothing_is_near_a_note_that_does_not_exist(vault: IndexedVault, meaning: MeaningHere) -> None:
    vault.write("Kiln.md", KILN)
    index(vault, meaning)

    assert [] == meaning.near_of("Gone.md", 5)


def test_before_anything_is_embedded_closeness_is_unavailable(vault: IndexedVault, meaning: MeaningHere) -> None:
    vault.write("Kiln.md", KILN)
    vault.indexer.reconcile()

    with pytest.raises(MeaningUnavailable, match="No passage"):
        meaning.near_notes([KILN], 5)


# -- neighbours of all notes


def ask(
    meaning: MeaningHere, *, states: tuple[str, ...] = (), excluded: frozenset[str] = frozenset()
) -> NearAnswer:
    return meaning.neighbours(NearQuestion(0.4, 0.4, states, excluded))


def test_notes_that_are_each_others_nearest_are_mutual_and_excluded_ones_are_not(
    vault: IndexedVault, meaning: MeaningHere
) -> None:
    for name in ("One", "Two", "Three"):
        vault.write(f"{name}.md", f"{KILN} {name}")
    vault.write("Bread.md", BREAD)
    index(vault, meaning)

    assert [("One.md", "Three.md"), ("One.md", "Two.md"), ("Three.md", "Two.md")] == sorted(ask(meaning).mutual)
    assert [("One.md", "Three.md")] == ask(meaning, excluded=frozenset(["Two.md"])).mutual


def test_a_state_gets_its_near_notes_nearest_first(vault: IndexedVault, meaning: MeaningHere) -> None:
    vault.write("State.md", KILN)
    vault.write("Same.md", KILN)
    vault.write("Alike.md", KILN.replace("breaker", "fuse"))
    vault.write("Bread.md", BREAD)
    index(vault, meaning)

    assert ["Same.md", "Alike.md"] == [path for path, _ in ask(meaning, states=("State.md",)).near["State.md"]]


def test_neighbours_follow_changed_new_and_removed_notes_as_if_made_anew(
    vault: IndexedVault, meaning: MeaningHere
) -> None:
    for number in range(12):
        vault.write(f"{number}.md", f"{KILN} {'again ' * number}")
    index(vault, meaning)
    ask(meaning)
    (vault.root / "3.md").unlink()
    vault.write("4.md", BREAD)
    vault.write("new.md", f"{KILN} once more")
    index(vault, meaning)

    followed = ask(meaning, states=("5.md",))
    (vault.cache / "neighbours.bin").unlink()

    assert ask(meaning, states=("5.md",)) == followed


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"\x02\0\0\0\0\0\0\0{}"])
def test_damaged_neighbours_are_made_anew(vault: IndexedVault, meaning: MeaningHere, data: bytes) -> None:
    vault.write("One.md", KILN)
    vault.write("Two.md", KILN)
    index(vault, meaning)
    before = ask(meaning)
    (vault.cache / "neighbours.bin").write_bytes(data)

    assert before == ask(meaning)


def test_a_vault_that_is_hardly_embedded_is_not_judged(vault: IndexedVault, meaning: MeaningHere) -> None:
    for number in range(20):
        vault.write(f"{number}.md", f"{KILN} {number}")
    vault.indexer.reconcile()

    with pytest.raises(MeaningUnavailable, match="0 of 20 passages"):
        ask(meaning)


# -- calibration


def kept(vault: IndexedVault) -> KeptCalibration:
    found = parse_kept(vault.catalogue.get_state("calibration"))
    assert found is not None
    return found


def test_a_vault_of_thirty_notes_is_measured_first_between_notes_then_whole(
    vault: IndexedVault, meaning: MeaningHere
) -> None:
    for number in range(30):
        vault.write(f"Note {number}.md", f"{KILN} It happened {number} times.\n\n{BREAD} Loaf {number} failed.")
    index(vault, meaning)

    meaning.calibrate()
    quick = kept(vault)
    meaning.calibrate(whole=True)
    whole = kept(vault)

    assert (True, False, {"two notes"}) == (quick.calibration.measured, quick.complete, {*quick.distributions})
    assert (True, True) == (whole.calibration.measured, whole.complete)
    assert {"two notes", "a note and an edited copy", "a title and another note"} == {*whole.distributions}
    assert quick.calibration.thresholds.related == whole.calibration.thresholds.related
    assert 435 == whole.distributions["two notes"].count


def test_a_small_vault_keeps_the_shipped_distances(vault: IndexedVault, meaning: MeaningHere) -> None:
    vault.write("One.md", KILN)
    index(vault, meaning)

    meaning.calibrate(whole=True)

    assert (False, True, 1) == (
        kept(vault).calibration.measured,
        kept(vault).complete,
        kept(vault).calibration.notes,
    )


def test_measuring_again_waits_for_the_vault_to_double(vault: IndexedVault, meaning: MeaningHere) -> None:
    for number in range(30):
        vault.write(f"{number}.md", f"{KILN} {number}")
    index(vault, meaning)
    meaning.calibrate(whole=True)
    for number in range(30, 59):
        vault.write(f"{number}.md", f"{BREAD} {number}")
    index(vault, meaning)
    meaning.calibrate(whole=True)
    before = kept(vault).calibration.notes
    vault.write("59.md", BREAD)
    index(vault, meaning)
    meaning.calibrate(whole=True)

    assert (30, 60) == (before, kept(vault).calibration.notes)
