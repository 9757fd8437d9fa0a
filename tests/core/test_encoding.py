from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.encoding import decode_note
from vault_memex.core.revision import revision_of

KOREAN = "회의록 결정 사항은 다음과 같다. 도서관은 삼월에 다시 문을 연다. 모두에게 알리고 안내문을 붙인다. " * 8
RUSSIAN = (
    "Протокол встречи. Решили открыть библиотеку в марте и повесить объявление у входа, чтобы все знали. " * 8
)


@given(st.text().filter(lambda text: "\0" not in text))
def test_utf8_text_comes_back_byte_for_byte(text: str) -> None:
    data = text.encode("utf-8", errors="ignore")

    decoded = decode_note(data)

    assert data == decoded.text.encode("utf-8")
    assert ("utf-8", "") == (decoded.encoding, decoded.not_writable)


def test_byte_order_mark_stays_in_the_text() -> None:
    assert "\ufeff# A" == decode_note(b"\xef\xbb\xbf# A").text


@pytest.mark.parametrize(("text", "codec"), [(KOREAN, "cp949"), (RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r")])
def test_other_encodings_are_read_but_not_writable(text: str, codec: str) -> None:
    decoded = decode_note(text.encode(codec))

    assert text == decoded.text
    assert "not UTF-8" in decoded.not_writable


def test_nul_in_the_head_means_binary() -> None:
    assert ("", "binary") == (decode_note(b"PNG\0\1").text, decode_note(b"PNG\0\1").encoding)


@given(st.binary(max_size=300))
def test_no_bytes_make_decoding_fail(data: bytes) -> None:
    assert isinstance(decode_note(data).text, str)


def test_revision_is_128_bits_of_blake2b() -> None:
    assert "cae66941d9efbd404e4d88758ea67670" == revision_of(b"")
