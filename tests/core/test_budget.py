"""Tokens by rule: what a script costs, that parts add up, and that nothing is cut in two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.budget import count_quarters, count_tokens, cut_to_quarters

TEXTS = st.text(max_size=80) | st.text(
    alphabet="abc ,.12\nжё한국漢字かな\U0001f469\u200d\U0001f680é\u0301", max_size=80
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("four", 1),
        ("fives", 2),
        ("a b\nc", 2),
        ("E-1042", 6),
        ("жизнь", 4),
        ("도자기", 6),
        ("漢字かな", 7),
        ("—", 3),
        ("😀", 4),
    ],
)
def test_each_script_has_its_price(text: str, tokens: int) -> None:
    assert tokens == count_tokens(text)


@given(TEXTS, TEXTS)
def test_quarters_of_two_texts_add_up(one: str, other: str) -> None:
    assert count_quarters(one) + count_quarters(other) == count_quarters(one + other)


@given(TEXTS)
def test_no_letter_beyond_ascii_costs_less_than_three_quarters(text: str) -> None:
    assert count_tokens(text) * 4 >= len(text) + 2 * sum(not c.isascii() for c in text)


@given(TEXTS, st.integers(0, 200))
def test_a_cut_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    cut = cut_to_quarters(text, limit)

    assert text.startswith(cut)
    assert count_quarters(cut) <= limit
    assert cut == text or count_quarters(text) > limit


@given(st.text(alphabet="ab ж漢", max_size=80), st.integers(0, 200))
def test_a_cut_text_is_as_long_as_the_limit_allows(text: str, limit: int) -> None:
    cut = cut_to_quarters(text, limit)

    assert cut == text or count_quarters(text[: len(cut) + 1]) > limit
