"""The operator grammar, and MATCH strings that a real FTS5 table runs to the same result as a look at every note."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.analyzer import analyze
from vault_memex.core.expression import check_terms, join_fields
from vault_memex.core.query import MatchPlan, Plan, build_match, check_query, parse_query

NOTES = (
    ("Rocket fuel", "The red rocket burns fuel."),
    ("Cats", "A cat and a dog. The state of the art."),
    ("Errors", "E-1042 came back in v1.2.3, see snake_case and camelCase."),
    ("茶", "我喝绿茶和红茶。"),
    ("책", "고양이가 그림책을 읽는다. GPT4는 GPU를 쓴다."),
    ("Ёлка", "Ёлки стоят в лесу, кошка спит."),
    ("", "to be or not to be"),
)


PLANS: tuple[Plan, ...] = ("exact", "all", "any", "prefix", "phrases")


def open_table(notes: Sequence[tuple[str, str]]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE f USING fts5(title, body, tokenize='ascii')")
    rows = [(i, " ".join(analyze(title)), " ".join(analyze(body))) for i, (title, body) in enumerate(notes)]
    database.executemany("INSERT INTO f(rowid, title, body) VALUES (?, ?, ?)", rows)
    return database


@pytest.fixture(scope="module")
def table() -> Iterator[sqlite3.Connection]:
    database = open_table(NOTES)
    yield database
    database.close()


def find_rows(database: sqlite3.Connection, plan: MatchPlan) -> set[int]:
    found = {row[0] for row in database.execute("SELECT rowid FROM f")}
    if plan.include is not None:
        found = {row[0] for row in database.execute("SELECT rowid FROM f WHERE f MATCH ?", (plan.include,))}
    if plan.exclude is not None:
        found -= {row[0] for row in database.execute("SELECT rowid FROM f WHERE f MATCH ?", (plan.exclude,))}
    return found


def find_titles(database: sqlite3.Connection, text: str, plan: Plan = "exact") -> set[str]:
    return {NOTES[i][0] for i in find_rows(database, build_match(parse_query(text), plan))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rocket fuel", {"Rocket fuel"}),
        ("rocket AND cat", set()),
        ("rocket & fuel", {"Rocket fuel"}),
        ("rocket OR cat", {"Rocket fuel", "Cats"}),
        ("rocket|cat", {"Rocket fuel", "Cats"}),
        ("rocket fuel OR cat dog", {"Rocket fuel", "Cats"}),
        ("rocket (fuel OR cat)", {"Rocket fuel"}),
        ("rocket or cat", set()),
        ("to not be", {""}),
        ("cat NOT dog", set()),
        ("rocket -dog", {"Rocket fuel"}),
        ("rocket !dog", {"Rocket fuel"}),
        ("rocket --fuel", {"Rocket fuel"}),
        ("NOT NOT rocket", {"Rocket fuel"}),
        ("NOT (rocket OR -cat)", {"Cats"}),
        ("-rocket -cat -茶 -책 -ёлка -error", {""}),
        ("(rocket OR cat) -(dog OR fish)", {"Rocket fuel"}),
        ('"red rocket"', {"Rocket fuel"}),
        ('"rocket red"', set()),
        ('"the state of the art"', {"Cats"}),
        ('"state art"', set()),
        ('"to be or not to be"', {""}),
        ('"burns fuel', {"Rocket fuel"}),
        ("rocket OR", {"Rocket fuel"}),
        ("(rocket", {"Rocket fuel"}),
        ("rocket) fuel", {"Rocket fuel"}),
        ("NOT", set()),
        ("OR AND NOT", set()),
        ("E-1042", {"Errors"}),
        ("E-1043", set()),
        ("1.2.3", {"Errors"}),
        ("v1.2", {"Errors"}),
        ("snake_case", {"Errors"}),
        ("camelcase", {"Errors"}),
        ("camel", {"Errors"}),
        ("rocket -> fuel", {"Rocket fuel"}),
        ("cat - dog", {"Cats"}),
        ("茶", {"茶"}),
        ("红", {"茶"}),
        ("绿茶", {"茶"}),
        ("绿红", set()),
        ('"绿茶和红"', {"茶"}),
        ("그림책", {"책"}),
        ("책", {"책"}),
        ("елка", {"Ёлка"}),
        ("кошками", {"Ёлка"}),
    ],
)
def test_operators_find_what_they_say(table: sqlite3.Connection, text: str, expected: set[str]) -> None:
    assert expected == find_titles(table, text)


def test_a_query_is_exact_when_or_not_or_a_phrase_occurs() -> None:
    assert [False, False, False, True, True, True, True, True] == [
        parse_query(text).exact for text in ("a b", "x AND y", "or not", "x OR y", "x|y", "NOT x", "x -y", '"x"')
    ]


def test_without_a_letter_or_digit_there_is_no_query() -> None:
    assert all(parse_query(text).is_empty for text in ("", " ", "*", '"-"', "()"))
    assert MatchPlan() == build_match(parse_query("*"))
    assert not parse_query("OR").is_empty


def test_only_operators_match_nothing(table: sqlite3.Connection) -> None:
    for plan in PLANS:
        assert set() == find_rows(table, build_match(parse_query("OR NOT"), plan))
        assert set() == find_rows(table, build_match(parse_query("OR NOT"), plan, columns=("title",)))


def test_stop_words_alone_are_kept_and_said() -> None:
    query = parse_query("who are we")

    assert query.only_stop_words
    assert ["who", "are", "we"] == [word.text for word in query.words]
    assert not parse_query("who are the Beatles").only_stop_words


def test_an_acronym_that_looks_like_a_stop_word_stays() -> None:
    assert ["IT", "department"] == [word.text for word in parse_query("the IT department").words]
    assert ["DEPARTMENT"] == [word.text for word in parse_query("IT DEPARTMENT").words]


def test_negative_only_queries_exclude() -> None:
    query = parse_query("-rocket NOT cat")

    assert query.negative_only
    assert MatchPlan(None, '("rocket" OR "cat")') == build_match(query)


def test_words_to_be_absent_are_not_ranked_by() -> None:
    query = parse_query('cat OR dog -"red hat"')

    assert MatchPlan('"cat" OR "dog"') == build_match(query, "any")


def test_groups_deeper_than_eight_read_as_spaces() -> None:
    deep = parse_query("(" * 9 + "rocket OR cat" + ")" * 9 + " fuel")
    deepest = parse_query("(" * 8 + "rocket OR cat" + ")" * 8 + " fuel")

    assert '(("rocket" OR "cat") AND "fuel")' == build_match(deepest).include
    assert '(("rocket" OR "cat") AND "fuel")' == build_match(deep).include
    assert parse_query("(" * 5000 + "rocket").words == parse_query("rocket").words


def test_all_words_takes_korean_particles_off(table: sqlite3.Connection) -> None:
    assert {"책"} == find_titles(table, "GPT4가 그림책은", "all")
    assert set() == find_titles(table, "GPT4가", "exact")


def test_any_word_ranks_by_every_term_and_by_numbers_with_what_they_count() -> None:
    assert '"red" OR "e 1042" OR "e" OR "1042"' == build_match(parse_query("red E-1042"), "any").include


def test_prefix_finds_words_that_begin_alike(table: sqlite3.Connection) -> None:
    assert {"Rocket fuel"} == find_titles(table, "rock", "prefix")
    assert '"happ"*' == build_match(parse_query("happy"), "prefix").include
    assert {"Errors"} == find_titles(table, "snake_cas", "prefix")


def test_phrases_are_the_quoted_ones_and_the_identifiers(table: sqlite3.Connection) -> None:
    assert {"Errors"} == find_titles(table, "what was E-1042", "phrases")
    assert set() == find_titles(table, "rocket fuel 2023", "phrases")


def test_columns_limit_where_words_may_stand(table: sqlite3.Connection) -> None:
    assert {0} == find_rows(table, build_match(parse_query("rocket -cat"), columns=("title",)))
    assert set() == find_rows(table, build_match(parse_query("red"), columns=("title",)))


WORDS = st.sampled_from(
    [
        "rocket",
        "fuel",
        "cat",
        "dog",
        "red",
        "the",
        "of",
        "be",
        "to",
        "or",
        "not",
        "E-1042",
        "1042",
        "v1.2.3",
        "snake_case",
        "camelCase",
        "茶",
        "绿茶",
        "和红",
        "책",
        "그림책",
        "을",
        "ёлки",
        "GPT4는",
        "AND",
        "OR",
        "NOT",
        "|",
        "&",
        "!",
        "-",
        "(",
        ")",
        '"',
        "-cat",
        "-(dog",
        "!red",
        '"red',
        '"',
    ]
)
QUERIES = st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=40), st.lists(WORDS).map("".join))


@given(QUERIES)
def test_sqlite_finds_what_a_look_at_every_note_finds(text: str) -> None:
    database = open_table(NOTES)
    query = parse_query(text)

    expected = {i for i, note in enumerate(NOTES) if query.is_empty or check_query(query, map(analyze, note))}

    assert expected == find_rows(database, build_match(query))
    database.close()


@given(QUERIES)
def test_all_words_means_each_word_stands_in_the_note(text: str) -> None:
    database = open_table(NOTES)
    query = parse_query(text)

    joined = [join_fields(map(analyze, note)) for note in NOTES]
    expected = {
        i
        for i, fields in enumerate(joined)
        if query.words and all(check_terms(word.loose_terms, fields) for word in query.words)
    }

    assert expected == find_rows(database, build_match(query, "all"))
    database.close()


@given(st.one_of(QUERIES, st.text(alphabet='()"-!|& abOR茶*:^{}+\0', max_size=300)))
def test_every_plan_of_every_text_runs(text: str) -> None:
    database = open_table(NOTES[:2])
    for plan in PLANS:
        find_rows(database, build_match(parse_query(text), plan))
        find_rows(database, build_match(parse_query(text), plan, columns=("title", "body")))
    database.close()


def test_the_longest_queries_run() -> None:
    database = open_table(NOTES[:2])
    for text in (
        "-a " * 682,
        "(x OR -y) " * 204,
        "a OR " * 409,
        "茶" * 2048,
        "NOT " * 512 + "x",
        '"a b" -c ' * 227,
    ):
        for plan in PLANS:
            find_rows(database, build_match(parse_query(text[:2048]), plan))
    database.close()
