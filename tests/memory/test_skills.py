"""Skills: slugs, what is served, and the version that tells one list from another."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.notes import note
from vault_memex.memory.skills import (
    LONGEST_SLUG,
    RESERVED,
    SURFACES,
    Skill,
    assign_slugs,
    build_skill,
    build_slug,
    check_skill,
    find_version,
    is_skill,
    parse_surfaces,
    render_names,
)

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Loading the kiln", "loading-the-kiln"),
        ("  TCP/IP -- for __us__!", "tcp-ip-for-us"),
        ("Рецепт борща №2", "рецепт-борща-2"),
        ("청자 유약", "청자-유약"),
        ("Cafe\u0301 Straße", "café-strasse"),
        ("हिन्दी पाठ", "हिन्दी-पाठ"),
        ("???", "skill"),
        ("a" * 63 + " tail", "a" * 63),
    ],
)
def test_a_slug_is_small_letters_digits_and_single_hyphens(title: str, slug: str) -> None:
    assert slug == build_slug(title)


@given(st.text(max_size=200))
def test_every_slug_holds_its_form_and_is_its_own_slug(text: str) -> None:
    slug = build_slug(text)

    assert 0 < len(slug) <= LONGEST_SLUG
    assert not slug.startswith("-")
    assert not slug.endswith("-")
    assert "--" not in slug
    assert not any(c.isspace() or c in "/?#%[]{}\t\n" for c in slug)
    assert slug == build_slug(slug)


TITLES = st.sampled_from(["Recall", "Guide", "Kiln", "kiln!", "Kiln 2", "x" * 64, "x" * 70, "?"])


@given(st.lists(TITLES, max_size=8), st.randoms(use_true_random=False))
def test_slugs_are_distinct_never_reserved_and_those_that_were_fixed_stay(titles: list[str], random: Any) -> None:
    notes = [note(f"{n}.md", n + 1, title=title, created=f"2026-01-{n + 1:02}") for n, title in enumerate(titles)]
    slugs = assign_slugs(notes, {})
    fixed = {path: slug for path, slug in slugs.items() if random.random() < 0.5}
    renamed = [replace(one, title=random.choice(["Kiln", "Glaze", one.title])) for one in notes]
    again = assign_slugs(renamed, fixed)

    assert len(notes) == len(set(slugs.values())) == len(set(again.values()))
    assert set(RESERVED).isdisjoint([*slugs.values(), *again.values()])
    assert all(len(slug) <= LONGEST_SLUG for slug in slugs.values())
    assert fixed == {path: again[path] for path in fixed}


def test_of_equal_titles_the_older_note_has_the_plain_slug_and_a_slug_of_ones_own_goes_before_what_was_fixed() -> (
    None
):
    notes = [
        note("New.md", 3, title="Kiln", created="2026-03-01"),
        note("Old.md", 2, title="Kiln", created="2025-03-01"),
        note("Own.md", 1, title="Kiln", properties={"slug": "My Way"}, created="2024-01-01"),
    ]

    assert {"Old.md": "kiln", "New.md": "kiln-2", "Own.md": "my-way"} == assign_slugs(notes, {"Own.md": "kiln-9"})
    assert "recall-2" == assign_slugs([note("R.md", title="Recall")], {})["R.md"]


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({}, ""),
        ({"review": "pending"}, "waits for your approval"),
        ({"skill_enabled": False}, "skill_enabled"),
        ({"skill_enabled": "no"}, "skill_enabled"),
        ({"skill_enabled": True}, ""),
        ({"skill_surfaces": ["elsewhere"]}, "skill_surfaces"),
        ({"valid_until": "2026-11-29"}, "expired"),
        ({"valid_until": "2026-11-30"}, ""),
        ({"valid_from": "2026-12-01"}, "not yet valid"),
        ({"superseded_by": "[[Other]]"}, "superseded"),
    ],
)
def test_a_note_is_served_when_it_is_approved_switched_on_and_holds(properties: dict[str, Any], why: str) -> None:
    found = check_skill(note("S.md", tags=("skill",), properties=properties), TODAY)

    assert bool(why) == bool(found)
    assert why in found


def test_the_tag_counts_without_case_and_one_below_it_does_not() -> None:
    assert is_skill(note("S.md", tags=("Skill",)))
    assert not is_skill(note("S.md", tags=("skill/old", "skills")))


@pytest.mark.parametrize(
    ("value", "surfaces"),
    [
        (None, SURFACES),
        ([], SURFACES),
        ("prompts", ("prompts",)),
        (["Resource", "tools"], ("tools", "resources")),
        (["nowhere"], ()),
    ],
)
def test_surfaces_are_a_list_or_a_word(value: Any, surfaces: tuple[str, ...]) -> None:
    assert surfaces == parse_surfaces(value)


def test_the_version_tells_slug_description_and_surfaces_apart_and_nothing_else() -> None:
    one = Skill("kiln", "Kiln", "How to load it.")
    other = Skill("glaze", "Glaze", "How to mix it.")
    version = find_version([one, other])

    assert len(version) == 12
    assert set(version) <= set("0123456789abcdef")
    assert version == find_version([other, replace(one, title="The kiln", path="Kiln.md", note_id=5)])
    for changed in (
        replace(one, slug="kilns"),
        replace(one, description="How to unload it."),
        replace(one, surfaces=("tools",)),
    ):
        assert version != find_version([changed, other])
    assert version != find_version([one])


def test_a_description_is_the_summary_on_one_line() -> None:
    skill = build_skill(note("S.md", 4, summary="How to\n  load\tit."), "s")

    assert ("s", "How to load it.", 4) == (skill.slug, skill.description, skill.note_id)


@given(st.lists(st.text("abc-", min_size=1, max_size=30), max_size=40), st.integers(40, 200))
def test_names_in_one_line_fit_and_say_how_many_are_missing(names: list[str], limit: int) -> None:
    line = render_names([Skill(name, "", "") for name in names], limit)
    shown = line.split(", ") if line else []

    assert len(line) <= limit
    if len(shown) < len(names) or shown != names:
        assert f"{len(names) - len(shown) + 1} more" == shown[-1]
        assert names[: len(shown) - 1] == shown[:-1]
