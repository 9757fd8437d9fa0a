"""Terms of six languages, and the properties the keyword index relies on."""

from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.analyzer import (
    STOP_WORDS,
    analyze,
    find_terms,
    is_stop_term,
    without_particle,
)

TERM = re.compile(r"[a-z0-9\u0080-\U0010ffff]+\Z")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running runs, RUNNER", "run run runner"),
        ("Ångström naïve straße Łódź", "angstrom naiv strass lodz"),
        ("Luther's they’ll don't O’Brien", "luther they don o brien"),
        ("Ёлки и ёлка за́мок Москвою", "елк и елк замок москв"),
        ("和红茶", "和红 红茶"),
        ("ハリー・ポッター", "ハリ リー ポッ ッタ ター"),
        ("범죄도시의 책", "범죄 죄도 도시 시의 책"),
        ("NBA球员 GPT4는", "nba 球员 gpt4 는"),
        ("Ｆｕｌｌ ｶﾅ ﬁx ½", "full カナ fix 1 2"),
        ("E-1042 v1.2.3 snake_case", "e 1042 v 1 2 3 snake case"),
        ("हिन्दी में Ελλάδα مُحَمَّد", "हिन्दी में ελλαδα محمد"),
        ("ภาษา", "ภา าษ ษา"),
        ("!? — … 🎉 ـ", ""),
    ],
)
def test_words_become_terms_by_script(text: str, expected: str) -> None:
    assert expected.split() == find_terms(text)


def test_a_document_also_holds_camel_case_parts_and_the_last_letter_of_each_run() -> None:
    assert ["camelcas", "camel", "case"] == analyze("camelCase")
    assert ["gethttprespons", "get", "http", "respons"] == analyze("getHTTPResponse")
    assert ["绿茶", "红茶", "茶"] == analyze("绿茶，红茶")
    assert ["책을", "을"] == analyze("책을")


def test_acronyms_in_the_plural_are_one_word() -> None:
    assert ["pdfs", "api"] == analyze("PDFs API")


def test_chinese_content_pairs_with_a_question_letter_are_kept() -> None:
    assert not is_stop_term("目的")
    assert not is_stop_term("哪吒")
    assert is_stop_term("什么")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("회의에서", "회의"),
        ("그림은", "그림"),
        ("데이터베이스가", "데이터베이스"),
        ("고양이", "고양이"),
        ("가을", "가을"),
        ("GPT4는", "GPT4"),
        ("GPT", "GPT"),
    ],
)
def test_a_korean_particle_is_taken_off_only_where_it_plainly_is_one(word: str, expected: str) -> None:
    assert expected == without_particle(word)


def test_stop_words_are_terms_that_documents_hold() -> None:
    assert {"the", "what", "что"} <= STOP_WORDS
    assert "the" in analyze("The cat")


@given(st.text())
def test_terms_hold_letters_and_digits_that_the_ascii_tokenizer_keeps_together(text: str) -> None:
    terms = analyze(text)

    assert all(TERM.match(term) for term in terms)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE f USING fts5(x, tokenize='ascii')")
    database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(f, instance)")
    database.execute("INSERT INTO f VALUES (?)", (" ".join(terms),))
    assert terms == [row[0] for row in database.execute("SELECT term FROM v ORDER BY offset")]
    database.close()


@given(st.text(), st.text())
def test_terms_do_not_depend_on_what_stands_in_another_line(first: str, second: str) -> None:
    assert find_terms(first) + find_terms(second) == find_terms(f"{first}\n{second}")


@given(st.text(min_size=33, max_size=80))
def test_long_and_short_chunks_give_the_same_terms(text: str) -> None:
    chunk = "".join(text.split())

    assert find_terms(chunk) == find_terms(f" {chunk} ")
    assert set(find_terms(chunk)) <= set(analyze(chunk))
