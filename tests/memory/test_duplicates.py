"""Duplicates at writing: certain ones, similar ones, and what is neither."""

from __future__ import annotations

import pytest

from tests.memory.notes import note, vault
from vault_memex.memory.duplicates import (
    Duplicate,
    NewNote,
    build_shingles,
    find_duplicates,
    join_hits,
    measure_overlap,
    parse_duplicate_distance,
    render_duplicate,
)
from vault_memex.memory.thresholds import Thresholds

THRESHOLDS = Thresholds(near=0.2, related=0.1, duplicate=0.02, certain=0.01, query_weak=0.2, query_strong=0.1)
SNAPSHOT = vault(note("House/Damp.md", 1), note("Studio/Damp.md", 2), note("Kitchen/Soup.md", 3))
TEXT = "Warm wet air from the kitchen meets the cold stone and condenses there in the night."


def found(
    title: str = "New",
    path: str = "House/New.md",
    body: str = "Something else entirely.",
    bodies: dict[str, str] | None = None,
    distances: list[tuple[str, float]] | None = None,
    chosen: float | None = None,
) -> list[tuple[str, str, str]]:
    draft = NewNote(title, path, body)
    duplicates = find_duplicates(draft, SNAPSHOT, bodies or {}, distances, THRESHOLDS, chosen_distance=chosen)
    return [(d.path, d.kind, d.reason) for d in duplicates]


def test_the_same_title_in_the_same_folder_is_certain() -> None:
    assert [("House/Damp.md", "certain", "title")] == found("DAMP", "House/Damp (2).md")


def test_the_same_title_in_another_folder_is_none() -> None:
    assert [] == found("Damp", "Boat/Damp.md")


def test_the_same_text_but_for_white_space_is_certain() -> None:
    bodies = {"Studio/Damp.md": TEXT.replace(" ", "\n  ")}

    assert [("Studio/Damp.md", "certain", "text")] == found(body=TEXT, bodies=bodies, distances=[])


@pytest.mark.parametrize(("above", "below"), [(f"# Damp\n\n{TEXT}", TEXT), (TEXT, f"\n# Damp\n{TEXT}\n")])
def test_the_same_text_under_a_heading_of_its_own_is_certain(above: str, below: str) -> None:
    bodies = {"Studio/Damp.md": below}

    assert [("Studio/Damp.md", "certain", "text")] == found(body=above, bodies=bodies, distances=[])


@pytest.mark.parametrize(("one", "other"), [(f"# Wall\n{TEXT}", f"# Roof\n{TEXT}"), ("# Wall\n## Log", "## Log")])
def test_two_subjects_or_a_bare_template_are_not_the_same_text(one: str, other: str) -> None:
    assert [] == found(body=one, bodies={"Studio/Damp.md": other}, distances=[])


def test_two_empty_bodies_are_not_the_same_text() -> None:
    assert [] == found(body=" \n", bodies={"Studio/Damp.md": ""})


@pytest.mark.parametrize(
    ("distance", "expected"),
    [(0.01, ["certain"]), (0.011, ["similar"]), (0.02, ["similar"]), (0.021, [])],
)
def test_distances_decide_where_there_are_vectors(distance: float, expected: list[str]) -> None:
    assert expected == [kind for _, kind, _ in found(distances=[("Studio/Damp.md", distance)])]


def test_the_number_that_the_person_chose_decides_what_is_similar() -> None:
    distances = [("Studio/Damp.md", 0.008), ("Kitchen/Soup.md", 0.004)]

    assert [("Kitchen/Soup.md", "certain", "meaning")] == found(distances=distances, chosen=0.005)
    assert [("Kitchen/Soup.md", "similar", "meaning")] == found(distances=[("Kitchen/Soup.md", 0.3)], chosen=0.4)


def test_without_vectors_shared_runs_of_words_decide() -> None:
    words = TEXT.split()
    near = " ".join(words[:-1])
    half = " ".join(words[:10]) + " and then the wind turned to the north again"

    assert [("Studio/Damp.md", "certain", "words")] == found(body=TEXT, bodies={"Studio/Damp.md": near})
    assert [("Studio/Damp.md", "similar", "words")] == found(
        body=" ".join(words[:10]), bodies={"Studio/Damp.md": TEXT}
    )
    assert [] == found(body=TEXT, bodies={"Studio/Damp.md": half})


def test_words_are_not_compared_where_there_are_vectors() -> None:
    assert [] == found(body=TEXT, bodies={"Studio/Damp.md": TEXT + " Again."}, distances=[])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "金継ぎは割れたことを隠さない直した跡が新しい景色になる",
            "金継ぎは割れたことを隠さない。直した跡が、新しい景色になる!",
        ),
        (
            "집은 배랑 똑같아 물이 어디로 들어올지만 생각하면 돼",
            "집은 배랑 똑같아. 물이 어디로 들어올지만 생각하면 돼!",
        ),
        ("Мамин, с поправками. Мама поправок не признаёт", "мамин с поправками мама поправок НЕ признаёт"),
    ],
)
def test_shingles_work_in_every_script(one: str, other: str) -> None:
    assert 1.0 == measure_overlap(build_shingles(one), build_shingles(other))


def test_chinese_texts_that_differ_a_little_are_similar() -> None:
    one = "三伏天的时候我们在院子里晒青瓷的坯子每一个都要翻三次"
    other = "三伏天的时候我们在院子里晒青瓷的坯子每一个要翻两次"

    assert 0.4 <= measure_overlap(build_shingles(one), build_shingles(other)) < 0.8


def test_short_texts_have_one_shingle_and_empty_ones_none() -> None:
    assert {("two", "words")} == build_shingles("Two words")
    assert 0.0 == measure_overlap(build_shingles("..."), build_shingles("..."))


def test_certain_ones_come_first_then_the_best_match_and_three_of_each() -> None:
    notes = vault(*(note(f"{name}.md") for name in "abcdefghi"))
    distances = [(f"{name}.md", 0.004 * place) for place, name in enumerate("abcdefghi")]
    duplicates = find_duplicates(NewNote("x", "x.md", "y"), notes, {}, distances, THRESHOLDS)

    assert ["a.md", "b.md", "c.md", "d.md", "e.md", "f.md"] == [d.path for d in duplicates]
    assert ["certain"] * 3 + ["similar"] * 3 == [d.kind for d in duplicates]


def test_unknown_notes_and_the_draft_itself_are_passed_over() -> None:
    assert [] == found(path="Studio/Damp.md", distances=[("gone.md", 0.0), ("Studio/Damp.md", 0.0)])


def test_the_better_reason_for_one_note_counts() -> None:
    assert [("House/Damp.md", "certain", "title")] == found(
        "Damp", "House/Damp (2).md", distances=[("House/Damp.md", 0.015)]
    )


def test_passages_are_joined_by_their_mean_and_a_missing_one_is_as_far_as_the_last_hit() -> None:
    hits = [[("a.md", 0.0), ("a.md", 0.3), ("b.md", 0.2)], [("a.md", 0.1), ("c.md", 0.4)]]

    assert [("a.md", 0.05), ("b.md", pytest.approx(0.3)), ("c.md", pytest.approx(0.35))] == join_hits(hits)
    assert [] == join_hits([])


def test_the_person_may_set_the_distance_in_the_environment() -> None:
    assert (0.3, ()) == parse_duplicate_distance({"MEMEX_DUPLICATE_DIST": "0.3"})
    assert (None, ()) == parse_duplicate_distance({})
    for value in ("3", "-1", "x", "nan"):
        distance, warnings = parse_duplicate_distance({"MEMEX_DUPLICATE_DIST": value})
        assert (None, 1) == (distance, len(warnings))


def test_a_duplicate_is_named_with_its_match() -> None:
    assert '#12 "Damp" (97% match)' == render_duplicate(Duplicate("a.md", 12, "Damp", "similar", "meaning", 97))
    assert '"Damp" (97% match)' == render_duplicate(Duplicate("a.md", None, "Damp", "similar", "meaning", 97))
