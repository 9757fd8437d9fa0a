"""Thresholds fitted to a vault."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.notes import vectors_of
from vault_memex.errors import InvalidArgument
from vault_memex.memory.calibration import (
    EDITS,
    Samples,
    build_calibration,
    describe,
    draw_notes,
    draw_pairs,
    measure_background,
    measure_copy,
    measure_queries,
    render_copy,
)
from vault_memex.memory.thresholds import (
    SHIPPED,
    check_fixed,
    get_shipped,
    match_percent,
    needs_calibration,
    parse_calibration,
    render_calibration,
)

E5 = "multilingual-e5-small"
EVEN = [i / 1000 for i in range(1001)]  # its percentile p is p / 100


def test_a_large_vault_takes_the_percentiles_of_the_specification() -> None:
    found = build_calibration("another", 1000, Samples(EVEN, [0.0, 0.0005, 0.0009], EVEN)).thresholds

    assert 0.001 == found.related
    assert 0.01 == found.near
    assert (0.05, 0.005) == (found.query_weak, found.query_strong)
    assert found.certain == pytest.approx(0.7 * 0.00082)
    assert found.duplicate == pytest.approx(0.00082)


def test_what_answers_a_query_is_as_shipped_for_a_model_that_was_judged() -> None:
    found = build_calibration(E5, 1000, Samples(EVEN, [0.0], EVEN), {"query_weak": 0.3}).thresholds

    assert (0.3, SHIPPED[E5].query_strong) == (found.query_weak, found.query_strong)


@pytest.mark.parametrize(
    ("notes", "related"), [(30, 0.02), (50, 0.02), (100, 0.01), (500, 0.002), (50_000, 0.001)]
)
def test_related_is_the_distance_below_which_a_note_has_about_one_other(notes: int, related: float) -> None:
    assert related == build_calibration(E5, notes, Samples(EVEN)).thresholds.related


def test_a_duplicate_is_never_farther_than_what_is_related() -> None:
    found = build_calibration(E5, 1000, Samples(EVEN, [0.5] * 10)).thresholds

    assert found.duplicate == found.related


def test_what_is_refused_lies_nearer_than_what_is_said_even_when_copies_lie_far() -> None:
    found = build_calibration(E5, 1000, Samples(EVEN, [0.5] * 10)).thresholds

    assert 0.0007 == found.certain < found.duplicate


@given(
    st.lists(st.floats(0, 2), min_size=1, max_size=50),
    st.lists(st.floats(0, 2), max_size=20),
    st.lists(st.floats(0, 2), max_size=20),
    st.integers(0, 20_000),
)
def test_thresholds_ascend(background: list[float], copies: list[float], queries: list[float], notes: int) -> None:
    found = build_calibration(E5, notes, Samples(background, copies, queries)).thresholds

    assert 0 <= found.certain <= found.duplicate <= found.related <= found.near <= 2
    assert found.query_strong <= found.query_weak or not queries


def test_below_30_notes_and_without_samples_the_shipped_values_serve() -> None:
    small = build_calibration(E5, 29, Samples(EVEN))
    empty = build_calibration(E5, 100, Samples([]))

    assert (SHIPPED[E5], False) == (small.thresholds, small.measured) == (empty.thresholds, empty.measured)


def test_the_shipped_values_belong_to_the_model() -> None:
    assert get_shipped(E5) == get_shipped(f"intfloat/{E5}")
    assert get_shipped(E5).related < get_shipped("unknown").related


def test_values_in_the_configuration_win() -> None:
    found = build_calibration(E5, 1000, Samples(EVEN), {"related": 0.3, "certain": 0})

    assert (0.3, 0.0, 0.01) == (found.thresholds.related, found.thresholds.certain, found.thresholds.near)
    assert ("certain", "related") == found.fixed


@pytest.mark.parametrize("values", [{"relatd": 0.1}, {"near": "0.1"}, {"near": True}, {"near": 2.5}, {"near": -1}])
def test_a_value_that_is_no_distance_is_refused_by_name(values: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        check_fixed(values)

    assert next(iter(values)) == caught.value.argument


def test_it_is_measured_again_for_another_model_and_when_the_vault_doubles_or_halves() -> None:
    made = build_calibration(E5, 100, Samples(EVEN))

    assert needs_calibration(None, E5, 10)
    assert [False, False, True, True] == [needs_calibration(made, E5, notes) for notes in (199, 51, 200, 50)]
    assert needs_calibration(made, "other", 100)
    assert needs_calibration(build_calibration(E5, 29, Samples(EVEN)), E5, 30)


def test_what_is_kept_is_read_and_other_forms_are_not() -> None:
    made = build_calibration(E5, 100, Samples(EVEN), {"near": 0.2})
    kept = render_calibration(made)

    assert made == parse_calibration(kept)
    assert None is parse_calibration({})
    assert None is parse_calibration({**kept, "thresholds": {"near": 0.1}})
    assert None is parse_calibration({**kept, "thresholds": 7})
    assert None is parse_calibration({**kept, "notes": "many"})


def test_all_pairs_are_drawn_when_there_are_few_and_else_different_ones() -> None:
    assert [(0, 1), (0, 2), (1, 2)] == draw_pairs(3, 3, random.Random(1))
    pairs = draw_pairs(50, 200, random.Random(1))

    assert 200 == len(set(pairs))
    assert all(a < b < 50 for a, b in pairs)
    assert pairs == draw_pairs(50, 200, random.Random(1))
    assert [] == draw_pairs(1, 5, random.Random(1))


def test_different_notes_are_drawn() -> None:
    paths = [f"{n}.md" for n in range(20)]

    drawn = draw_notes(paths, 8, random.Random(1))

    assert 8 == len(set(drawn) & set(paths)) == len(drawn)
    assert sorted(paths[:3]) == sorted(draw_notes(paths[:3], 8, random.Random(1)))
    assert {tuple(draw_notes(paths, 1, random.Random(seed))) for seed in range(200)} == {(path,) for path in paths}


def test_the_background_is_between_notes_by_their_nearest_passages() -> None:
    vectors = vectors_of({"a.md": [(1, 0), (0, 1)], "b.md": [(0, 1)], "c.md": [(-1, 0)], "d.md": []})

    assert sorted([0.0, 1.0, 1.0]) == pytest.approx(sorted(measure_background(vectors, random.Random(1))))


def test_queries_are_measured_against_other_notes() -> None:
    vectors = vectors_of({"a.md": [(1, 0)], "b.md": [(0, 1)]})

    found = measure_queries(vectors, {"a.md": [1.0, 0.0]}, random.Random(1))

    assert {1.0} == set(found)
    assert [] == measure_queries(vectors_of({}), {"a.md": [1.0, 0.0]}, random.Random(1))


BODY = "One sentence is here. Another one follows it! And a third, longer than both of them? Yes.\n\nA last paragraph."


def test_copies_are_lightly_edited() -> None:
    copies = {edit: render_copy("Title", BODY, edit, random.Random(2)) for edit in EDITS}

    assert ("", BODY) == copies["title"]
    assert ("Title", BODY[: len(BODY) * 4 // 5]) == copies["fifth"]
    for edit in ("sentence", "words"):
        title, body = copies[edit] or ("", "")
        assert "Title" == title
        assert len(BODY) * 0.5 < len(body) < len(BODY)


def test_a_note_too_short_for_an_edit_has_no_such_copy() -> None:
    assert [False, True, True, True] == [
        render_copy("T", "Short.", edit, random.Random(1)) is None for edit in EDITS
    ]


def test_chinese_sentences_are_sentences() -> None:
    copy = render_copy("T", "第一句。第二句。第三句。", "sentence", random.Random(1))

    assert 8 == len((copy or ("", ""))[1])


def test_the_distance_of_a_copy_asks_for_all_of_the_draft() -> None:
    shared, own = [1.0, 0.0], [0.0, 1.0]

    assert 0.0 == measure_copy([shared], [shared, own])
    assert 0.5 == measure_copy([shared, own], [shared])


def test_percent_is_what_people_read() -> None:
    assert [82, 100, 0, 0] == [match_percent(d) for d in (0.18, 0.0, 1.0, 1.7)]


def test_a_sample_is_described_by_percentiles() -> None:
    assert (1001, ((1.0, 0.01), (50.0, 0.5))) == ((d := describe(EVEN, (1, 50))).count, d.percentiles)
    assert (0, ()) == ((d := describe([])).count, d.percentiles)
