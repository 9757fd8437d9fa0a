"""The threads of the sample vault, found with its own calibration; distances were measured once with the model."""

from __future__ import annotations

from tests.memory.sample import (
    DISTANCES,
    LINKED,
    NEIGHBOURS,
    NOTES,
    PROPERTY_LINKS,
    SNAPSHOT,
    TODAY,
    UNRESOLVED,
)
from vault_memex.core.snapshot import Snapshot
from vault_memex.memory.amendments import build_amendments, check_validity
from vault_memex.memory.calibration import Samples, build_calibration
from vault_memex.memory.detection import detect_signals
from vault_memex.memory.flashbacks import FlashbackSettings, find_flashbacks
from vault_memex.memory.hints import TitleIndex, find_link_hints
from vault_memex.memory.house_rules import RuleSettings, build_house_rules, build_rule, find_rules
from vault_memex.memory.signals import SignalSettings

CALIBRATION = build_calibration("multilingual-e5-small", len(NOTES), Samples(list(DISTANCES.values())))
AMENDMENTS = build_amendments(SNAPSHOT, PROPERTY_LINKS)
SIGNALS = detect_signals(
    SNAPSHOT,
    UNRESOLVED,
    LINKED,
    neighbours=NEIGHBOURS,
    amendments=AMENDMENTS,
    settings=SignalSettings().with_calibration(CALIBRATION),
    today=TODAY,
).signals


def of_kind(kind: str) -> list[tuple[str, ...]]:
    return [signal.notes for signal in SIGNALS if signal.kind == kind]


def flashbacks(path: str) -> list[str]:
    found = find_flashbacks(
        SNAPSHOT.notes[path],
        NEIGHBOURS.find_near(path),
        SNAPSHOT.notes,
        FlashbackSettings(),
        distance=FlashbackSettings().find_distance(CALIBRATION.thresholds),
        linked=LINKED.get(path, ()),
        superseded=AMENDMENTS.successors,
        today=TODAY,
    )
    return [f.path for f in found]


def test_the_distances_are_of_the_notes_that_are_there() -> None:
    pairs = {path for pair in DISTANCES for path in pair}

    assert set(SNAPSHOT.notes) == pairs


def test_the_wrist_runs_through_five_notes() -> None:
    assert [
        (
            "Journal/2024/2024-11-17.md",
            "Health/2025-02-20 Physiotherapist.md",
            "Decisions/2025-06-30 Three throwing days a week.md",
            "Studio/Log/2025-10-12 After the autumn market.md",
            "Boat/2026-03-07 First row of the year.md",
        )
    ] == of_kind("hidden_arc")


def test_life_overtook_the_plan_for_berta() -> None:
    assert [
        (
            "Studio/Kiln Berta.md",
            "Studio/Log/2026-09-21 Berta trips again.md",
            "Decisions/2026-09-30 Berta is retired.md",
            "Meetings/2026-10-14 Electrician about the kiln feed.md",
            "Studio/Log/2026-11-08 First firing in the front-loader.md",
        )
    ] == of_kind("stale_state")


def test_celadon_is_back() -> None:
    assert ["celadon"] == [signal.detail for signal in SIGNALS if signal.kind == "tag_burst"]


def test_one_link_of_each_sort_dangles() -> None:
    found = {
        signal.detail: (signal.notes[0], signal.suggestion) for signal in SIGNALS if signal.kind == "dangling_link"
    }

    assert {
        "typo": ("Journal/2026/2026-11-29.md", "Projects/Boathouse renovation.md"),
        "forward": ("Loose ends.md", ""),
        "placeholder": ("Studio/Mixing a glaze batch.md", ""),
    } == found


def test_the_damp_in_the_pantry_comes_back_and_the_defaults_neither_flood_nor_stay_silent() -> None:
    everything = {path: flashbacks(path) for path in NOTES}

    assert ["House/Damp in the pantry.md"] == everything["Studio/Log/2026-11-24 Damp in the drying room.md"]
    assert 5 <= sum(map(bool, everything.values())) <= len(NOTES) // 4


def test_the_percentile_of_large_vaults_would_be_silent_here() -> None:
    strict = build_calibration("multilingual-e5-small", 1000, Samples(list(DISTANCES.values()))).thresholds.related

    assert strict < DISTANCES["House/Damp in the pantry.md", "Studio/Log/2026-11-24 Damp in the drying room.md"]
    assert [] == [p for pair, d in DISTANCES.items() if d < strict and "damp" in str(pair).lower() for p in pair]


def test_the_longer_soak_corrects_the_april_decision_and_the_market_pitch_has_expired() -> None:
    def status(path: str) -> tuple[str, str | None]:
        validity = check_validity(SNAPSHOT.notes[path], AMENDMENTS, TODAY)
        return validity.status, validity.successor

    corrected = "Decisions/2025-04-10 Cone 6 for the café line.md"
    assert ("superseded", "Decisions/2025-09-02 The liner needs a longer soak.md") == status(corrected)
    assert ("superseded", "Studio/Clay body M-14.md") == status("Studio/Clay body S-20.md")
    assert ("expired", None) == status("Projects/Market pitch 2026.md")


def test_three_house_rules_are_in_force() -> None:
    rules = [build_rule(n, NOTES[n.path].body) for n in find_rules(SNAPSHOT.notes.values())]
    built = build_house_rules(rules, RuleSettings())

    assert 3 == len(built.included)
    assert "### Say where it comes from\n\nWhen you tell me something" in built.text


def test_link_hints_in_the_sample_vault_name_real_mentions() -> None:
    titles = TitleIndex(SNAPSHOT)
    path = "Health/2025-02-20 Physiotherapist.md"

    assert () == find_link_hints(NOTES[path].text, path, (), titles)
    for path, parsed in NOTES.items():
        for hint in find_link_hints(parsed.text, path, LINKED.get(path, ()), titles):
            assert 1 == parsed.text.count(hint.find)


def test_a_second_vault_without_the_notes_finds_nothing() -> None:
    empty = Snapshot(1, {})

    found = detect_signals(
        empty, [], {}, neighbours=None, amendments=AMENDMENTS, settings=SignalSettings(), today=TODAY
    )

    assert () == found.signals
