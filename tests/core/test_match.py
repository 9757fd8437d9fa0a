"""Matched text in scripts with and without spaces, and the four conditions of a strong match (requirement 7.6)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.analyzer import analyze
from vault_memex.core.markdown import parse_note
from vault_memex.core.match import (
    MatchedText,
    check_strong,
    count_words,
    find_matched_text,
    find_missing_words,
    find_same_name,
)
from vault_memex.core.query import parse_query
from vault_memex.core.snapshot import NoteRecord

FILLER = "Nothing of note happened here for a while. " * 20

LONG = f"""---
tags: [rocket]
---
# Log

Rocket talk, once. {FILLER}

## Engines

{FILLER}The red rocket burned its fuel in the new engine and landed. {FILLER}

## Notes
Fuel alone.
"""


def find(text: str, query: str, limit: int = 300) -> MatchedText:
    found = find_matched_text(parse_note(text), parse_query(query).terms, limit)
    assert found is not None
    return found


def test_the_window_holds_most_different_words_and_names_its_section() -> None:
    found = find(LONG, "rocket engine fuel")

    assert ("Log", "Engines") == found.heading_path
    assert "red rocket burned its fuel in the new engine" in found.text
    assert len(found.text) <= 300


def test_words_stay_whole() -> None:
    found = find(LONG, "rocket engine fuel", limit=60)

    words = LONG.split()
    assert all(word in words for word in found.text.split())
    assert {"rocket", "fuel", "engine"} <= set(found.text.split())


def test_the_text_is_what_the_span_says_with_white_space_folded() -> None:
    found = find("# A\n\none\ntwo   rocket\nthree", "rocket")

    assert "one two rocket three" == found.text
    assert ("A",) == found.heading_path


def test_a_short_note_is_shown_whole() -> None:
    assert "We met Ana about the rocket." == find("We met Ana about the rocket.", "rocket").text


def test_the_window_stays_in_its_section() -> None:
    assert "rocket" == find("## A\nfuel\n## B\nrocket\n## C\ncat", "rocket").text


def test_a_word_in_a_heading_shows_the_heading() -> None:
    found = find("# A\ntext\n## Rocket\nfuel", "rocket")

    assert ("## Rocket fuel", ("A", "Rocket")) == (found.text, found.heading_path)


def test_frontmatter_is_not_shown() -> None:
    assert find_matched_text(parse_note("---\nx: rocket\n---\nbody"), ("rocket",)) is None
    assert find_matched_text(parse_note("body"), ()) is None


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        (
            "前言。" * 200 + "我喜欢喝绿茶和红茶，也喜欢咖啡。" + "后记。" * 200,
            "绿茶 咖啡",
            "绿茶和红茶，也喜欢咖啡",
        ),
        ("前言。" * 200 + "我喝茶。" + "后记。" * 200, "茶", "我喝茶"),
        ("머리말 " * 200 + "어제 그림책을 읽었다 " + "끝 " * 200, "그림책", "그림책을 읽었다"),
        ("序文。" * 200 + "ハリー・ポッターを読んだ。" + "終。" * 200, "ポッター", "ポッターを読んだ"),
        ("Вступление. " * 100 + "Ёлки стоят в лесу. " + "Конец. " * 100, "елка", "Ёлки стоят в лесу."),
        ("Intro. " * 100 + "Call getHTTPResponse now. " + "End. " * 100, "response", "getHTTPResponse"),
        ("Intro. " * 100 + "It was E-1042 again. " + "End. " * 100, "E-1042", "E-1042"),
    ],
)
def test_every_script_finds_its_words(text: str, query: str, expected: str) -> None:
    found = find(text, query)

    assert expected in found.text
    assert len(found.text) <= 300


@given(st.text(alphabet="ab 茶책\n#`-", max_size=80), st.text(alphabet="ab茶책 ", max_size=6), st.integers(1, 40))
def test_matched_text_is_bounded_and_comes_from_the_body(text: str, query: str, limit: int) -> None:
    note = parse_note(text)
    found = find_matched_text(note, parse_query(query).terms, limit)

    if found is not None:
        assert 0 < len(found.text) <= limit
        assert note.body_start <= found.span.start < found.span.end <= len(text)
        assert found.text == " ".join(text[found.span.start : found.span.end].split())


RECORD = NoteRecord(
    path="Projects/Rocket/Red plan.md",
    title="The Red Plan",
    revision="0" * 32,
    aliases=("RP",),
    former_titles=("Old plan",),
    tags=("space/mars",),
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("the red  plan", "title"),
        ("Red plan", "title"),
        ("[[rp]]", "alias"),
        ('"old plan"', "former title"),
        ("#Space/Mars", "tag"),
        ("rocket", "path segment"),
        ("plan", None),
        ("*", None),
        ('""', None),
    ],
)
def test_a_note_called_like_the_query_is_strong(query: str, expected: str | None) -> None:
    parsed = parse_query(query)
    reason = check_strong(parsed, RECORD, all_words=False, phrases=False)

    assert (f"{expected} equals the query" if expected else None) == (reason.why if reason else None)
    assert (expected if expected != "path segment" else None) == find_same_name(parsed, RECORD)


@pytest.mark.parametrize(
    ("query", "evidence", "expected"),
    [
        ("red cats", {"all_words": True, "phrases": False}, "words"),
        ("red cats", {"all_words": False, "phrases": True}, None),
        ('"red cats" x', {"all_words": False, "phrases": True}, "phrase"),
        ("who are we", {"all_words": True, "phrases": False}, None),
        ("red cats", {"all_words": False, "phrases": False, "distance": 0.1, "query_strong": 0.15}, "meaning"),
        ("red cats", {"all_words": False, "phrases": False, "distance": 0.15, "query_strong": 0.15}, "meaning"),
        ("red cats", {"all_words": False, "phrases": False, "distance": 0.2, "query_strong": 0.15}, None),
        ("red cats", {"all_words": False, "phrases": False, "distance": 0.1}, None),
        ("red OR cats", {"all_words": False, "phrases": False, "distance": 0.1, "query_strong": 0.15}, None),
    ],
)
def test_a_match_is_strong_by_words_a_phrase_or_meaning(
    query: str, evidence: dict[str, Any], expected: str | None
) -> None:
    reason = check_strong(parse_query(query), RECORD, **evidence)

    assert expected == (reason.kind if reason else None)


def test_meaning_never_makes_a_match_strong_when_a_word_occurs_nowhere_in_the_vault() -> None:
    vault = {"red", "cat", "범죄", "죄도", "도시", "gpt4"}

    def has_terms(terms: Collection[str]) -> Collection[str]:
        return vault & set(terms)

    query = parse_query("red zyzzyva 범죄도시는 GPT4가 책")
    missing = find_missing_words(query, has_terms)
    reason = check_strong(
        query, RECORD, all_words=False, phrases=False, distance=0.01, query_strong=0.15, missing_words=missing
    )

    assert ["zyzzyva"] == [word.text for word in missing]
    assert reason is None
    assert () == find_missing_words(parse_query("red cats"), has_terms)


def test_words_found_are_counted_by_word_not_by_term() -> None:
    fields = [analyze("Red plan"), analyze("E-1042 and 그림책을")]

    assert 3 == count_words(parse_query("red E-1042 그림책은 E-1043"), fields)
