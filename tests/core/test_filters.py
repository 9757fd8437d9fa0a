"""Every filter of the search: requirements 0-12 to 0-15, 1-12 to 1-23, 3-08, 3-09 and the property cases 37 to 58."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.timing import cpu_seconds
from vault_memex.core.filters import (
    build_like,
    check_filters,
    find_unknown_tags,
    get_memory_type,
    is_known_folder,
    parse_filters,
    parse_properties,
)
from vault_memex.core.snapshot import NoteRecord
from vault_memex.errors import InvalidArgument

PROPERTIES: Mapping[str, Any] = {
    "priority": 3,
    "conf": 0.7,
    "flag": True,
    "due": "2025-03-10",
    "at": "2025-03-10T12:00:00",
    "word": "high",
    "list": ["red", "Blue"],
    "numbers": [1, 5],
    "status": "Active",
    "nested": {"owner": "ana", "deep": {"n": 5}},
    "people": [{"name": "Ana"}, {"name": "Bo"}],
    "a.b": "literal",
    "a": {"b": "path", "c": 1},
    "empty": "",
    "nothing": None,
    "café": "cafe\u0301",
    "价格": 9,
    "e\u0301tat": "ouvert",
    "groupe": {"e\u0301tat": ["ouvert"]},
}


def make_record(path: str = "Projects/2026/Plan.md", **fields: Any) -> NoteRecord:
    return NoteRecord(path=path, title="Plan", revision="0" * 32, **fields)


NOTE = make_record(properties=PROPERTIES, tags=("100%", "a_c", "back\\slash", "Area/Work"), aliases=("The Plan",))


PROPERTY_FILTERS: list[tuple[object, bool]] = [
    ({"priority": 3}, True),  # case 37
    ({"priority": "3"}, False),  # case 37; requirement 1-15: a number never equals text
    ({"priority": 3.0}, True),  # case 38
    ({"flag": True}, True),  # case 39
    ({"flag": "true"}, False),
    ({"flag": 1}, False),
    ({"priority": True}, False),
    ({"priority": {"$gt": 2, "$lt": 4}}, True),  # case 40
    ({"priority": {"gt": 2}}, True),
    ({"priority": {"gt": 3}}, False),
    ({"priority": {"$gte": 3, "$lte": 3.0}}, True),
    ({"conf": {"$lt": 1}}, True),
    ({"word": {"$lt": 5}}, False),  # case 41
    ({"due": {"$gt": 2000}}, False),  # case 42
    ({"due": {"$between": ["2025-03-01", "2025-03-31"]}}, True),  # case 43
    ({"due": {"$between": ["2025-03-10", "2025-03-10"]}}, True),
    ({"at": {"$lte": "2025-03-10"}}, True),  # case 44: a date bound covers its day
    ({"at": {"$lt": "2025-03-10"}}, False),
    ({"at": {"$gt": "2025-03-10"}}, False),
    ({"at": {"$gt": "2025-03-10T11:00:00"}}, True),
    ({"list": ["red"]}, True),  # case 45
    ({"list": {"$contains": "red"}}, True),
    ({"list": ["RED"]}, False),  # case 46
    ({"list": "red"}, True),  # case 47; requirement 1-15: equal, or the list contains it
    ({"list": ["red", "green"]}, False),  # case 48
    ({"list": ["Blue", "red"]}, True),
    ({"word": ["high"]}, True),  # requirement 1-16
    ({"list": {"$in": ["red"]}}, True),  # case 49
    ({"word": {"$in": ["low", "high"]}}, True),
    ({"word": {"$in": ["low"]}}, False),
    ({"status": "active"}, False),  # case 50
    ({"status": {"$contains": "ACT"}}, True),  # requirement 1-21
    ({"priority": {"$contains": 3}}, True),
    ({"nested.deep.n": {"$gt": 4}}, True),  # case 51
    ({"nested.owner": "ana"}, True),
    ({"nested.owner.x": "ana"}, False),
    ({"people.name": "Bo"}, True),  # requirement 1-20
    ({"people.name": ["Ana", "Bo"]}, True),
    ({"a.b": "literal"}, True),
    ({"a.b": "path"}, False),
    ({"a.c": 1}, True),
    ({"missing": None}, True),  # case 53
    ({"nothing": None}, True),
    ({"empty": None}, False),
    ({"empty": ""}, True),
    ({"missing": "x"}, False),
    ({"word": {"$exists": True}}, True),  # case 54
    ({"nothing": {"$exists": True}}, False),
    ({"nothing": {"$exists": False}}, True),
    ({"missing": {"$exists": False}}, True),
    ({"tags": ["100%"]}, True),  # case 55
    ({"tags": "100-percent"}, False),
    ({"tags": "abc"}, False),
    ({"tags": "a_c"}, True),
    ({"tags": "back\\slash"}, True),
    ({"aliases": "The Plan"}, True),
    ({"word": {"$ne": "high"}}, False),
    ({"word": {"$ne": "low"}}, True),
    ({"missing": {"$ne": "low"}}, True),
    ({"nothing": {"$ne": None}}, False),
    ({"list": {"$ne": "red"}}, False),
    ({"numbers": {"$gt": 2, "$lt": 4}}, False),  # one element must meet both
    ({"numbers": {"$gt": 4}}, True),
    ({"flag": {"$gt": 0}}, False),
    ({"café": "café"}, True),
    ({"价格": {"$gte": 9}}, True),
    ({"\u00e9tat": "ouvert"}, True),  # keys too are the same in either Unicode form
    ({"e\u0301tat": "ouvert"}, True),
    ({"groupe.\u00e9tat": "ouvert"}, True),
    ({"groupe.etat": "ouvert"}, False),
    ({"priority": 3, "word": "low"}, False),
    ({}, True),
    ('{"priority": 3}', True),
]


@pytest.mark.parametrize(("properties", "expected"), PROPERTY_FILTERS)
def test_a_property_filter_finds_the_note(properties: object, expected: bool) -> None:
    assert expected == check_filters(parse_filters(properties=properties), NOTE)


WRONG_PROPERTY_FILTERS: list[object] = [
    {"nested": {"owner": "ana"}},  # case 52
    {"x": {}},  # case 56
    {"x": []},
    {"x": {"$in": []}},
    {"x": {"$in": "a"}},
    {"x": {"$between": [1]}},
    {"x": {"$gt": None}},
    {"x": {"$gt": True}},
    {"bad key": 1},
    {"": 1},
    {"x": {"$gt": 10**400}},
    {"x": float("nan")},
    {"x": {"$between": [5, 1]}},  # case 57
    {"x": {"$between": [1, "a"]}},
    {"x": {"$contains": ""}},
    {"x": {"$exists": "yes"}},
    {"x": {"$regex": "a"}},
    {"x": [["a"]]},
    "not json",
    "[" * 100_000,
    "[1]",
    [1],
    3,
]


@pytest.mark.parametrize("properties", WRONG_PROPERTY_FILTERS)
def test_a_wrong_property_filter_is_refused_with_what_may_be_written(properties: object) -> None:
    with pytest.raises(InvalidArgument, match=r"\bis\b|[Ww]rite|Known") as caught:
        parse_properties(properties)

    assert "properties" == caught.value.argument
    assert len(caught.value.message) < 400


def test_an_unknown_operator_is_named_with_the_known_ones_and_the_path_to_a_grouped_value() -> None:
    with pytest.raises(InvalidArgument, match=r"'owner'.*\$between.*nested\.owner"):
        parse_properties({"nested": {"owner": "ana"}})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"tags": ["area"]}, True),
        ({"tags": "#AREA/work"}, True),
        ({"tags": ["area/work", "100%"]}, True),
        ({"tags": ["area", "other"]}, False),
        ({"tags": ["work"]}, False),
        ({"tags": ["are"]}, False),
        ({"folder": "projects"}, True),
        ({"folder": "Projects/"}, True),
        ({"folder": "projects/2026"}, True),
        ({"folder": "Projects/20"}, False),
        ({"folder": "2026"}, False),
        ({"folder": "Proj"}, False),
        ({"folder": "/"}, False),
        ({"folder": " "}, True),
        ({"path_filter": "%"}, True),
        ({"path_filter": "projects/%"}, True),
        ({"path_filter": "%plan"}, True),
        ({"path_filter": "%plan.md"}, False),
        ({"path_filter": "Projects/____/Plan"}, True),
        ({"path_filter": "Projects/___/Plan"}, False),
        ({"path_filter": "plan"}, False),
        ({"layer": "state"}, True),
        ({"layer": "PAST"}, False),
        ({"memory_type": "%"}, True),
        ({"memory_type": "auto"}, True),
        ({"memory_type": "Semantic"}, True),
        ({"memory_type": "sem%"}, True),
        ({"memory_type": "working"}, False),
        ({"review": "verified"}, True),
        ({"review": "pending"}, False),
        ({"date_from": "2026-04-10"}, True),
        ({"date_from": "2026-04-10T12:00Z"}, True),
        ({"date_from": "2026-04-10T12:00:00.000001Z"}, False),
        ({"date_from": "2026-04-11"}, False),
        ({"date_to": "2026-04-10"}, True),
        ({"date_to": "2026-04-10T12:00:00"}, True),
        ({"date_to": "2026-04-10T11:59:59Z"}, False),
        ({"date_to": "2026-04-09"}, False),
        ({"date_from": "2026-04", "date_to": "2026-04"}, True),
        ({"date_from": "2026", "date_to": "2026"}, True),
        ({"date_to": "2026-04-10T21:00:00+09:00"}, True),
        ({"date_to": "2026-04-10T20:59:59+09:00"}, False),
        ({"created_after": "2026-04-10"}, True),
        ({"created_after": "2026-04-10T12:00:00Z"}, True),
        ({"created_before": "2026-04-10T12:00:00Z"}, False),
        ({"created_before": "2026-04-11"}, True),
        ({"created_before": "2026-04-10"}, False),
        ({"updated_after": "2026-05-01"}, True),
        ({"updated_after": "2026-05-02"}, False),
        ({"updated_before": "2026-05-01"}, False),
        ({"updated_before": "9999-12-31"}, True),
        ({"date_to": "9999-12-31"}, True),
        ({"date_from": ""}, True),
    ],
)
def test_a_filter_lets_the_note_through(arguments: dict[str, Any], expected: bool) -> None:
    note = make_record(
        tags=("100%", "Area/Work"),
        layer="state",
        created="2026-04-10T12:00:00Z",
        updated="2026-05-01",
    )

    assert expected == check_filters(parse_filters(**arguments), note)


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"date_from": "yesterday"}, "date_from"),
        ({"date_to": "2026-02-30"}, "date_to"),
        ({"date_to": 5}, "date_to"),
        ({"created_after": "2026-13-01"}, "created_after"),
        ({"updated_before": "2026-04-10T25:00"}, "updated_before"),
        ({"date_from": "2026-05-01", "date_to": "2026-04-01"}, "date_from"),
        ({"created_after": "2026-05-01", "created_before": "2026-05-01"}, "created_after"),
        ({"layer": "future"}, "layer"),
        ({"review": "done"}, "review"),
        ({"memory_type": "project"}, "memory_type"),
        ({"path_filter": "a\\"}, "path_filter"),
        ({"path_filter": "a\0"}, "path_filter"),
        ({"path_filter": "a" * 513}, "path_filter"),
        ({"tags": [1]}, "tags"),
        ({"folder": 3}, "folder"),
        ({"layer": 3}, "layer"),
    ],
)
def test_a_wrong_filter_names_its_parameter(arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument, match=argument) as caught:
        parse_filters(**arguments)

    assert argument == caught.value.argument


def test_filters_that_say_nothing_are_empty() -> None:
    assert parse_filters(tags=[], folder="", path_filter="%", memory_type="auto", properties=None).is_empty
    assert parse_filters(properties={}).is_empty
    assert not parse_filters(layer="past").is_empty


def test_a_note_at_the_root_is_found_by_a_slash() -> None:
    assert check_filters(parse_filters(folder="/"), make_record("Plan.md"))
    assert not check_filters(parse_filters(folder="projects"), make_record("Plan.md"))


def test_a_note_without_a_date_passes_no_date_filter() -> None:
    assert not check_filters(parse_filters(date_to="2030-01-01"), make_record(created=""))


def test_a_time_zone_moves_the_day() -> None:
    late = make_record(created="2026-04-10T20:00:00Z")
    seoul = timezone(timedelta(hours=9))

    assert check_filters(parse_filters(date_from="2026-04-11", zone=seoul), late)
    assert not check_filters(parse_filters(date_from="2026-04-11"), late)


def test_unknown_tags_are_told_and_left_out_while_one_is_known() -> None:
    filters, unknown = find_unknown_tags(parse_filters(tags=["area", "ghost"]), ["Area/Work", "x"])
    nothing, both = find_unknown_tags(parse_filters(tags=["ghost", "spook"]), ["Area/Work"])

    assert ("ghost",) == unknown
    assert check_filters(filters, NOTE)
    assert ("ghost", "spook") == both
    assert not check_filters(nothing, NOTE)
    assert () == find_unknown_tags(parse_filters(), ["x"])[1]


def test_a_folder_is_known_when_a_note_lies_in_it() -> None:
    assert is_known_folder(parse_filters(folder="projects"), [NOTE.path])
    assert not is_known_folder(parse_filters(folder="proj"), [NOTE.path])
    assert is_known_folder(parse_filters(), [])


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "semantic"),
        ({"tags": ("User-Profile", "skill")}, "identity"),
        ({"tags": ("skill",)}, "procedural"),
        ({"layer": "rule"}, "procedural"),
        ({"layer": "state", "tags": ("working",)}, "working"),
        ({"layer": "state", "properties": {"valid_until": "2027-01-01"}}, "working"),
        ({"layer": "state"}, "semantic"),
        ({"layer": "past"}, "episodic"),
        ({"layer": "past", "properties": {"memory_type": "Working"}}, "working"),
        ({"layer": "past", "properties": {"memory_type": ""}}, "episodic"),
    ],
)
def test_memory_type_follows_tags_layer_and_validity(fields: dict[str, Any], expected: str) -> None:
    assert expected == get_memory_type(make_record(**fields))


def like(pattern: str, text: str) -> bool:
    """The definition: try every split."""
    if not pattern:
        return not text
    head, rest = pattern[0], pattern[1:]
    if head == "%":
        return any(like(rest, text[i:]) for i in range(len(text) + 1))
    if head == "\\":
        return bool(text) and text[0].casefold() == rest[0].casefold() and like(rest[1:], text[1:])
    return bool(text) and (head == "_" or text[0].casefold() == head.casefold()) and like(rest, text[1:])


@given(
    st.lists(st.sampled_from(["a", "B", "%", "_", "\\%", "\\_", "\\\\", "."]), max_size=8).map("".join),
    st.text(alphabet="abB%_\\.\n", max_size=8),
)
def test_ilike_means_what_it_means_in_sql(pattern: str, text: str) -> None:
    assert like(pattern, text) == (build_like(pattern).match(text) is not None)


def test_a_pattern_of_many_wildcards_is_fast() -> None:
    text = "a" * 249 + "b" * 200

    assert build_like("%a" * 250).match(text) is None
    assert 1 > cpu_seconds(lambda: build_like("%a" * 250).match(text))


@pytest.mark.no_cover
def test_ten_thousand_notes_are_checked_in_a_moment() -> None:
    records = [
        make_record(f"Folder {i % 7}/n{i}.md", tags=("x", "area/work"), created="2026-04-10")
        for i in range(10_000)
    ]
    filters = parse_filters(tags=["area"], date_from="2026-01-01")

    assert all(check_filters(filters, record) for record in records)
    assert 0.2 > cpu_seconds(lambda: [check_filters(filters, record) for record in records])  # some 12 ms
