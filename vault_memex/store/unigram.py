"""The default model's tokenizer in a quarter of the memory that the `tokenizers` library takes for it.

That library makes a tree of hash maps of the 250,000 pieces, 280 MB; here they are one dictionary. Words come again
and again and each is taken apart once, so embedding is as fast. Both give the same numbers for the same text, but
that a note which writes `<s>` has written three letters and no mark of the model's.
"""

from __future__ import annotations

import json
import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_BLANKS = re.compile(r"(?:[^\S\x1c-\x1f]|[\u200b\u2060\ufeff])+")  # what they call blank, and Python a little more
_WORD = re.compile("\u2581[^\u2581]*")  # a word with the mark that stands for the blank before it
_MARK = "\u2581"
_UNKNOWN_PENALTY = 10.0  # how far a letter that no piece has scores below the worst piece
_WORDS_KEPT = 1 << 14
_SPECIALS = ("<s>", "</s>", "<pad>", "<unk>")


@dataclass(frozen=True, slots=True)
class Encoded:
    """The numbers of one text, padded to the longest of its batch."""

    ids: list[int]
    attention_mask: list[int]


class Unigram:
    """A tokenizer of the one form that `e5_weights` writes. Safe to share between threads."""

    def __init__(self, pieces: Sequence[tuple[str, float]], limit: int) -> None:
        """Take pieces with their scores, <s>, </s>, <pad> and <unk> among them; no text gets more than `limit`."""
        numbers = {piece: number for number, (piece, _) in enumerate(pieces)}
        self._begin, self._end, self._padding, self._unknown = map(numbers.pop, _SPECIALS)
        self._numbers = numbers
        self._scores = array("d", [score for _, score in pieces])
        self._unknown_score = min(self._scores) - _UNKNOWN_PENALTY
        self._reach: dict[str, int] = {}  # length of the longest piece that begins with a letter
        for piece in numbers:
            self._reach[piece[:1]] = max(len(piece), self._reach.get(piece[:1], 0))
        self._limit = limit
        self._split = lru_cache(maxsize=_WORDS_KEPT)(self._split_word)

    def encode_batch(self, texts: Iterable[str]) -> list[Encoded]:
        """Return the numbers of each text."""
        rows = [self._encode(text) for text in texts]
        longest = max(map(len, rows), default=0)
        free = [longest - len(row) for row in rows]
        return [
            Encoded(row + [self._padding] * left, [1] * len(row) + [0] * left)
            for row, left in zip(rows, free, strict=True)
        ]

    def _encode(self, text: str) -> list[int]:
        plain = _BLANKS.sub(" ", unicodedata.normalize("NFKC", text)).replace(" ", _MARK)
        if plain and not plain.startswith(_MARK):
            plain = _MARK + plain
        numbers = [self._begin]
        for word in _WORD.findall(plain):
            numbers += self._split(word)
            if len(numbers) >= self._limit:
                break
        return [*numbers[: self._limit - 1], self._end]

    def _split_word(self, word: str) -> tuple[int, ...]:
        """Return the pieces whose scores have the greatest sum; unknown letters side by side are one."""
        numbers, scores, unknown = self._numbers, self._scores, self._unknown
        size = len(word)
        best = [0.0, *[-float("inf")] * size]
        steps = [(0, 0)] * (size + 1)  # where the last piece up to here starts, and its number
        for start in range(size):
            before = best[start]
            if word[start] not in numbers:
                step = before + self._unknown_score
                if step > best[start + 1]:
                    best[start + 1], steps[start + 1] = step, (start, unknown)
            for stop in range(start + 1, min(size, start + self._reach.get(word[start], 0)) + 1):
                number = numbers.get(word[start:stop])
                if number is not None and before + scores[number] > best[stop]:
                    best[stop], steps[stop] = before + scores[number], (start, number)
        found: list[int] = []
        at = size
        while at:
            at, number = steps[at]
            if number != unknown or found[-1:] != [unknown]:
                found.append(number)
        return tuple(reversed(found))


def open_unigram(folder: Path) -> Unigram:
    """Return the tokenizer of a folder that `e5_weights` made."""
    limit = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))["model_max_length"]
    pieces = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return Unigram(pieces, limit)
