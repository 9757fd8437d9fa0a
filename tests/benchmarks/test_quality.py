"""Search by words keeps its measured quality in English, Russian and Chinese."""

from __future__ import annotations

import pytest

from benchmarks.quality import measure_words, read_set
from tests.conftest import shared

# Measured, less one point.
FLOORS = {
    "xquad-en": (92.9, 98.2, 95.9),
    "xquad-ru": (90.0, 97.8, 94.3),
    "xquad-zh": (92.4, 98.2, 95.5),
    "cmrc": (97.2, 98.8, 98.1),
}


@pytest.mark.parametrize("name", FLOORS)
def test_words_alone_find_the_passages_that_answer(name: str) -> None:
    folder = shared("bench")

    found = measure_words(read_set(folder, name))

    first, recall, ndcg = FLOORS[name]
    assert first <= found.first
    assert recall <= found.recall
    assert ndcg <= found.ndcg
