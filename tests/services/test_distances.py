"""The distances in force: shipped, measured, fixed by the person."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import OpenVault
from tests.meaning_here import MeaningHere
from vault_memex.config import parse_config
from vault_memex.errors import InvalidArgument
from vault_memex.memory.thresholds import get_shipped
from vault_memex.vault import open_vault

PAIRS = "The kiln trips the breaker {0} times.\n\nRye bread number {0} rises in the pantry."


def fill(folder: Path, notes: int) -> None:
    for number in range(notes):
        (folder / f"{number}.md").write_text(PAIRS.format(number), encoding="utf-8")


def test_without_meaning_the_shipped_distances_are_in_force(folder: Path, opening: OpenVault) -> None:
    found = opening(folder, model="none").distances.find()

    assert (False, get_shipped("none")) == (found.measured, found.thresholds)


def test_measured_distances_survive_a_restart_and_the_persons_own_win(folder: Path) -> None:
    fill(folder, 30)
    vault = open_vault(folder, build_meaning=MeaningHere)
    vault.refresh()
    assert isinstance(vault.meaning, MeaningHere)
    vault.meaning.embed_all()
    measured = vault.distances.measure(whole=True)
    vault.close()
    (folder / ".memex").mkdir(exist_ok=True)
    (folder / ".memex/config.toml").write_text("[distances]\nrelated = 0.07\n", encoding="utf-8")
    vault = open_vault(folder, build_meaning=MeaningHere)
    vault.refresh()
    fixed = vault.distances.find()
    vault.close()

    assert (True, 30, ()) == (measured.measured, measured.notes, measured.fixed)
    assert measured.thresholds.near == fixed.thresholds.near
    assert (0.07, ("related",)) == (fixed.thresholds.related, fixed.fixed)


def test_settings_name_the_distance_or_knob_that_is_wrong() -> None:
    for text, fault in (
        ("[distances]\nrelted = 0.1", "relted"),
        ("[distances]\nrelated = 3", "related"),
        ("distances = 3", "distances"),
        ("[signals]\narc = 3", "arc"),
        ("[signals]\narc_least = 0.5", "arc_least"),
        ("[signals]\narc_least = 20", "arc_least"),
        ("[signals]\narc_density = 2", "arc_density"),
        ("[signals]\nburst_window = true", "burst_window"),
        ('[signals]\nignored_tags = "a"', "ignored_tags"),
    ):
        with pytest.raises(InvalidArgument) as caught:
            parse_config(text)

        assert fault == caught.value.argument


def test_a_chosen_distance_of_a_signal_is_not_replaced_by_the_measured_one(
    folder: Path, opening: OpenVault
) -> None:
    config = parse_config("[signals]\narc_distance = 0.2\nignored_tags = ['#Chores']\n[distances]\nrelated = 0.07")
    settings = config.signals.with_calibration(opening(folder).distances.find())
    assert settings == config.signals  # nothing measured, nothing fixed in that vault

    fixed = opening(folder, distances={"related": 0.07}).distances.find()
    settings = config.signals.with_calibration(fixed)

    assert (0.2, 0.07, {"chores"}) == (settings.arc_distance, settings.stale_distance, settings.ignored_tags)
