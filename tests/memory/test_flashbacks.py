"""Old notes from elsewhere: which come up, and what is said of them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from tests.memory.notes import note
from vault_memex.memory.flashbacks import (
    Flashback,
    FlashbackSettings,
    find_flashbacks,
    find_lexical_neighbours,
    parse_flashback_settings,
    render_flashback,
    render_flashbacks,
)
from vault_memex.memory.thresholds import Thresholds

TODAY = date(2026, 11, 30)
ANCHOR = note("Studio/new.md", 50, created="2026-11-30")


def old(path: str, note_id: int | None = 48, days: int = 124, **values: Any) -> Any:
    return note(path, note_id, created=(TODAY - timedelta(days=days)).isoformat(), **values)


def flashbacks(
    *notes: Any, distance: float | None = 0.4, at: float = 0.18, anchor: Any = ANCHOR, **options: Any
) -> list[str]:
    settings = FlashbackSettings(limit=options.pop("limit", 3))
    found = find_flashbacks(
        anchor,
        [(n.path, at + i / 1000) for i, n in enumerate(notes)],
        {n.path: n for n in notes},
        settings,
        distance=distance,
        linked=options.get("linked", ()),
        superseded=options.get("superseded", ()),
        today=TODAY,
    )
    return [f.path for f in found]


def test_an_old_note_from_another_folder_comes_up_with_age_and_match() -> None:
    note_48 = old("House/damp.md", title="Damp in the pantry")

    (found,) = find_flashbacks(
        ANCHOR,
        [("House/damp.md", 0.18)],
        {note_48.path: note_48},
        FlashbackSettings(),
        distance=0.4,
        linked=(),
        superseded=(),
        today=TODAY,
    )

    assert 82 == found.percent
    assert '124 days ago: #48 "Damp in the pantry" (82% match)' == render_flashback(found)


@pytest.mark.parametrize(("days", "expected"), [(89, []), (90, ["House/a.md"])])
def test_a_note_must_be_90_days_old(days: int, expected: list[str]) -> None:
    assert expected == flashbacks(old("House/a.md", days=days))


def test_a_note_of_the_same_top_level_folder_never_comes_up() -> None:
    assert [] == flashbacks(old("Studio/a.md"), old("studio/deep/b.md"))


def test_at_the_root_each_note_is_elsewhere() -> None:
    assert ["a.md"] == flashbacks(old("a.md"))
    assert ["a.md", "House/b.md"] == flashbacks(old("a.md"), old("House/b.md"), anchor=note("new.md"))


def test_a_note_at_the_distance_is_too_far() -> None:
    assert [] == flashbacks(old("House/a.md"), at=0.4)
    assert ["House/a.md"] == flashbacks(old("House/a.md"), at=0.3999)


@pytest.mark.parametrize(
    "values",
    [{"layer": "rule"}, {"properties": {"review": "pending"}}, {"tags": ("Skill",)}, {"created": "some day"}],
)
def test_rules_skills_pending_and_undated_notes_never_come_up(values: dict[str, Any]) -> None:
    assert [] == flashbacks(note("House/a.md", **{"created": "2020-01-01", **values}))


def test_linked_superseded_and_vanished_notes_and_the_anchor_never_come_up() -> None:
    anchor = old("self.md")  # at the root, where no folder keeps it out

    assert [] == flashbacks(old("House/a.md"), linked={"House/a.md"})
    assert [] == flashbacks(old("House/a.md"), superseded={"House/a.md": "b.md"})
    assert [] == flashbacks(anchor, anchor=anchor)
    assert () == find_flashbacks(
        ANCHOR, [("gone.md", 0.1)], {}, FlashbackSettings(), distance=1, linked=(), superseded=(), today=TODAY
    )


def test_the_nearest_come_first_and_three_are_enough() -> None:
    notes = [old(f"House/{name}.md") for name in "dcba"]

    assert ["House/d.md", "House/c.md", "House/b.md"] == flashbacks(*notes)
    assert ["House/d.md"] == flashbacks(*notes, limit=1)


def test_a_limit_of_0_switches_flashbacks_off() -> None:
    assert [] == flashbacks(old("House/a.md"), limit=0)


def test_without_vectors_the_order_of_shared_words_counts_and_no_percentage_is_shown() -> None:
    notes = {n.path: n for n in (old("House/b.md", title="B"), old("House/a.md", title="A"))}

    found = find_flashbacks(
        ANCHOR,
        [("House/b.md", 0.9), ("House/a.md", 0.3)],
        notes,
        FlashbackSettings(),
        distance=None,
        linked=(),
        superseded=(),
        today=TODAY,
    )

    assert ["House/b.md", "House/a.md"] == [f.path for f in found]
    assert '124 days ago: #48 "B"' == render_flashback(found[0])


def test_three_shared_rare_words_make_a_lexical_neighbour() -> None:
    counts = {"kiln": 3, "celadon": 2, "icheon": 1, "soak": 4, "plate": 300, "clay": 500}
    candidates = {
        "a.md": {"kiln", "celadon", "icheon", "plate"},
        "b.md": {"kiln", "celadon", "plate", "clay"},
        "c.md": {"kiln", "celadon", "soak"},
    }

    found = find_lexical_neighbours({*counts, "unseen"}, candidates, counts, notes=1000)

    assert ["a.md", "c.md"] == [path for path, _ in found]
    assert 1 > found[0][1] > found[1][1] > 0.25
    assert [] == find_lexical_neighbours({"plate"}, candidates, counts, notes=1000)


def test_settings_come_from_the_environment() -> None:
    environment = {"MEMEX_FLASHBACK_DAYS": "30", "MEMEX_FLASHBACK_DIST": "0.25", "MEMEX_FLASHBACK_LIMIT": "0"}

    assert (FlashbackSettings(30, 0.25, 0), ()) == parse_flashback_settings(environment)
    assert (FlashbackSettings(90, None, 3), ()) == parse_flashback_settings({"MEMEX_FLASHBACK_DAYS": ""})


@pytest.mark.parametrize("value", ["-1", "a few", "3.5", "1e9", "٣", "99999999999"])
def test_a_count_that_is_none_leaves_the_default_and_a_warning(value: str) -> None:
    settings, warnings = parse_flashback_settings({"MEMEX_FLASHBACK_DAYS": value, "MEMEX_FLASHBACK_LIMIT": value})

    assert FlashbackSettings() == settings
    assert ["MEMEX_FLASHBACK_DAYS", "MEMEX_FLASHBACK_LIMIT"] == [w.partition("=")[0] for w in warnings]


@pytest.mark.parametrize("value", ["-0.1", "2.1", "near", "nan", "inf"])
def test_a_distance_that_is_none_leaves_the_default_and_a_warning(value: str) -> None:
    settings, warnings = parse_flashback_settings({"MEMEX_FLASHBACK_DIST": value})

    assert None is settings.distance
    assert 1 == len(warnings)


def test_the_smaller_of_0_4_and_the_calibrated_distance_applies_unless_the_person_chose() -> None:
    def related(value: float) -> Thresholds:
        return Thresholds(0.9, value, 0.02, 0.01, 0.2, 0.1)

    assert 0.0915 == FlashbackSettings().find_distance(related(0.0915))
    assert 0.4 == FlashbackSettings().find_distance(related(0.6))
    assert 0.55 == FlashbackSettings(distance=0.55).find_distance(related(0.0915))


def test_the_section_tells_to_tell_the_person() -> None:
    one = Flashback("a.md", None, "A", 1, None)

    assert (
        'Flashbacks (older notes from elsewhere; tell the person when one matters):\n- 1 day ago: "A"'
        == render_flashbacks([one])
    )
    assert "" == render_flashbacks([])
