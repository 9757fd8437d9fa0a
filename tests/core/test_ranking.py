"""Fusion of word and meaning lists: scores, exact hits, freshness, demotion, order and explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, pstdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.query import parse_query
from vault_memex.core.ranking import (
    Evidence,
    Hit,
    Ranked,
    ScoredList,
    build_weights,
    find_freshness,
    fuse,
    fuse_scores,
)
from vault_memex.core.snapshot import NoteRecord

NOW = "2026-11-30"


def make_record(path: str, **fields: Any) -> NoteRecord:
    return NoteRecord(path=path, title=path.removesuffix(".md"), revision="0" * 32, **fields)


def words(*hits: tuple[str, float]) -> ScoredList:
    return ScoredList("words", 0.5, [Hit(*hit) for hit in hits])


def meaning(*hits: tuple[str, float]) -> ScoredList:
    return ScoredList("meaning", 0.5, [Hit(path, score, i) for i, (path, score) in enumerate(hits)])


def rank(lists: Sequence[ScoredList], query: str = "some question", **evidence: Any) -> list[Ranked]:
    records = evidence.pop("records", None)
    if records is None:
        records = {hit.path: make_record(hit.path) for one in lists for hit in one.hits}
    return fuse(lists, parse_query(query), Evidence(records, **evidence), NOW)


def find_paths(ranked: Sequence[Ranked]) -> list[str]:
    return [note.path for note in ranked]


def test_a_note_that_both_find_comes_first() -> None:
    ranked = rank([words(("a", 9), ("b", 8), ("c", 1)), meaning(("d", 0.9), ("b", 0.89), ("a", 0.7))])

    assert ["b", "a", "d", "c"] == find_paths(ranked)


def test_a_rare_word_in_one_note_outweighs_a_near_meaning() -> None:
    near = meaning(*((f"n{i}", 0.85 - i / 1000) for i in range(40)), ("rare", 0.80))

    assert "rare" == rank([words(("rare", 7.0)), near])[0].path


def test_without_vectors_the_order_is_that_of_the_words() -> None:
    assert ["a", "b", "c"] == find_paths(rank([words(("a", 3), ("b", 2), ("c", 1)), meaning()]))


def test_hits_after_the_fiftieth_keep_their_order_behind() -> None:
    many = words(*((f"n{i:03}", 200.0 - i) for i in range(120)))

    assert sorted(hit.path for hit in many.hits) == find_paths(rank([many]))


LISTS = st.lists(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 30)), min_size=2, unique_by=lambda hit: hit[0]),
    min_size=1,
    max_size=3,
)


@given(LISTS)
def test_the_order_is_that_of_weighted_z_scores_with_the_minimum_for_what_is_missing(
    lists: list[list[tuple[str, float]]],
) -> None:
    scored = [
        ScoredList("meaning", 0.5, [Hit(p, round(s, 2)) for p, s in sorted(one, key=lambda hit: -hit[1])])
        for one in lists
    ]
    paths = {hit.path for one in scored for hit in one.hits}
    expected = dict.fromkeys(paths, 0.0)
    for one in scored:
        scores = [hit.score for hit in one.hits]
        z = {hit.path: (hit.score - fmean(scores)) / (pstdev(scores) + 1e-9) for hit in one.hits}
        for path in paths:
            expected[path] += 0.5 * z.get(path, min(z.values()))

    fused = fuse_scores(scored)

    shift = fmean(expected[path] - fused[path] for path in paths)
    assert all(abs(expected[path] - fused[path] - shift) < 0.01 for path in paths)


@pytest.mark.parametrize(
    ("query", "evidence", "expected"),
    [
        ("Weak", {}, 2),
        ("nick", {}, 2),
        ("#topic", {}, 2),
        ('x "a phrase"', {"phrases": {"Weak.md"}}, 1),
        ("weak note", {}, 0),
    ],
)
def test_exact_hits_come_before_fusion(query: str, evidence: dict[str, Any], expected: int) -> None:
    records = {
        "Strong.md": make_record("Strong.md"),
        "Weak.md": make_record("Weak.md", aliases=("Nick",), tags=("topic",)),
    }
    ranked = rank([words(("Strong.md", 9), ("Weak.md", 1))], query, records=records, **evidence)

    assert ("Weak.md" if expected else "Strong.md") == ranked[0].path
    assert expected == next(note.exact for note in ranked if note.path == "Weak.md")


def test_a_current_state_note_wins_a_near_tie_and_other_layers_gain_nothing() -> None:
    fresh = make_record("fresh", layer="state", updated="2026-11-29")

    assert 1.06 == pytest.approx(find_freshness(make_record("x", layer="state", updated=NOW), NOW))
    assert 1 + 0.06 / 2.718281828 == pytest.approx(
        find_freshness(make_record("x", layer="state", updated="2026-08-02"), NOW)
    )
    assert 1.0 == find_freshness(make_record("x", layer="past", updated=NOW), NOW)
    assert 1.06 == pytest.approx(find_freshness(make_record("x", layer="state", updated="2030-01-01"), NOW))
    assert 1.0 == pytest.approx(find_freshness(make_record("x", layer="state"), NOW))
    lists = [words(("old", 5.1), ("fresh", 5.0), ("c", 1.0))]
    records = {"old": make_record("old"), "fresh": fresh, "c": make_record("c")}
    assert ["fresh", "old", "c"] == find_paths(rank(lists, records=records))


def test_superseded_notes_lose_half_and_say_so() -> None:
    ranked = rank([words(("a", 5), ("b", 4), ("c", 1))], demoted={"a"})

    assert ["b", "a", "c"] == find_paths(ranked)
    assert "superseded or expired" in ranked[1].why


def test_a_note_that_has_every_word_in_its_name_wins_a_near_tie() -> None:
    records = {
        "Plan.md": make_record("Boathouse plan.md", aliases=("Renovation",)),
        "Log.md": make_record("Log.md"),
        "House.md": make_record("Boathouse.md"),
    }
    records = {path: replace(record, path=path) for path, record in records.items()}
    lists = [words(("Log.md", 10.0), ("House.md", 9.9), ("Plan.md", 9.8), ("x", 1.0))]

    ranked = rank(
        lists, "renovation of the boathouse", records=records, all_words={"Log.md", "Plan.md", "House.md"}
    )

    assert ["Plan.md", "Log.md", "House.md"] == find_paths(ranked)


def test_equal_notes_stand_by_latest_change_then_path() -> None:
    records = {
        "a": make_record("a", updated="2026-01-01"),
        "b": make_record("b", updated="2026-02-01T10:00:00Z"),
        "c": make_record("c", updated="2026-02-01T10:00:00Z"),
        "d": make_record("d"),
    }

    assert ["b", "c", "a", "d"] == find_paths(
        rank([words(("d", 1), ("c", 1), ("b", 1), ("a", 1))], records=records)
    )


def test_a_note_keeps_its_nearest_passages_and_counts_once() -> None:
    near = ScoredList("meaning", 0.5, [Hit("a", 0.9, 4), Hit("b", 0.8, 0), Hit("a", 0.7, 2), Hit("a", 0.6, 9)])
    ranked = fuse([near], parse_query("x"), Evidence({p: make_record(p) for p in "ab"}), NOW, passages_per_note=2)

    assert [("a", (4, 2)), ("b", (0,))] == [(note.path, note.passages) for note in ranked]
    assert {"meaning": 0.9} == dict(ranked[0].scores)


def test_notes_that_are_not_in_the_snapshot_are_left_out() -> None:
    assert ["a"] == find_paths(rank([words(("gone", 2), ("a", 1))], records={"a": make_record("a")}))


def test_each_note_says_why_it_is_there() -> None:
    ranked = rank(
        [
            words(("E-1042", 5), ("b", 2)),
            meaning(("b", 0.82), ("c", 0.8)),
            ScoredList("prefix", 0.15, [Hit("d", 1)]),
        ],
        "E-1042 came back",
        all_words={"E-1042"},
        phrases={"E-1042"},
        found_words={"b": 2},
    )
    why = {note.path: note.why for note in ranked}

    assert ("identifier occurs", "all words") == why["E-1042"]
    assert ("words 2 of 3", "meaning distance 0.180") == why["b"]
    assert ("meaning distance 0.200",) == why["c"]
    assert ("words that begin alike",) == why["d"]
    assert "all_words" == ranked[0].tier
    assert {"related"} == {note.tier for note in ranked[1:]}
    assert 0.18 == pytest.approx(next(n.distance for n in ranked if n.path == "b"))
    assert ranked[0].distance is None


def test_without_explanation_the_order_is_the_same_and_nothing_is_said() -> None:
    lists = [words(("a", 3), ("b", 2)), meaning(("b", 0.9), ("c", 0.8))]
    query, evidence = parse_query("c"), Evidence({path: make_record(path) for path in "abc"})

    told = fuse(lists, query, evidence, NOW)
    silent = fuse(lists, query, evidence, NOW, explain=False)

    assert all(one.why for one in told)
    assert [replace(one, why=()) for one in told] == silent


def test_weights_follow_the_weight_of_meaning() -> None:
    assert {"words": 0.5, "prefix": 0.15, "meaning": 0.5} == dict(build_weights(0.5))
    assert {"words": 1.0, "prefix": 0.3, "meaning": 0.0} == dict(build_weights(0.0))
