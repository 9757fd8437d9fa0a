"""Finds known phrases (titles, tags) in a text, as whole words, thousands of them at once.

All beginnings of all phrases are one set, so a text is walked once: from each word on as long as some phrase
begins so. In scripts without spaces between words each letter is a word; a Korean word may carry a particle.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from vault_memex.core.text import Span

_NO_SPACES = (
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0eb9\u0ebb-\u0ecd\u1000-\u1049\u1050-\u109d\u1780-\u17d3"  # Thai etc.
)
_WORD = re.compile(f"[{_NO_SPACES}]|[^\\W_{_NO_SPACES}]+")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_SPACELESS = re.compile(f"[{_NO_SPACES}]")
_CONNECTORS = frozenset("-_/@#\\=&+~")
_MOST_WORDS = 16
_PARTICLES = frozenset(
    (
        *(
            "은",
            "는",
            "이",
            "가",
            "을",
            "를",
            "의",
            "에",
            "와",
            "과",
            "도",
            "만",
            "로",
            "랑",
            "나",
            "께",
            "야",
            "아",
        ),
        *(
            "으로",
            "에서",
            "에게",
            "한테",
            "까지",
            "부터",
            "보다",
            "처럼",
            "이랑",
            "이나",
            "하고",
            "마다",
            "조차",
            "밖에",
        ),
        *(
            "께서",
            "라고",
            "이다",
            "이라",
            "에는",
            "에도",
            "에만",
            "로는",
            "로도",
            "와는",
            "과는",
            "만은",
            "이라고",
        ),
        *("에서는", "에서도", "에게는", "한테서", "으로는", "으로도", "까지도", "부터는", "이라는"),
    )
)
_LONGEST_PARTICLE = 3


class Word(NamedTuple):
    """A word of a text, folded for comparison."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A phrase found in a text."""

    phrase: str  # as it was given to the index
    span: Span


def find_words(text: str, start: int = 0, end: int | None = None) -> Iterator[Word]:
    """Yield the words of a text in order, compared without case and Unicode form."""
    stop = len(text) if end is None else end
    for found in _WORD.finditer(text, start, stop):
        yield Word(_fold(found.group()), found.start(), found.end())


@lru_cache(maxsize=1 << 14)
def _fold(word: str) -> str:
    return word.lower() if word.isascii() else unicodedata.normalize("NFC", word).casefold()


class PhraseIndex:
    """Phrases to look for. They may be added and dropped, by one thread at a time.

    A phrase of a single word is found only as it is written (`Home`, not `home`), and only if it has a capital or
    its script has none: otherwise every use of a common word would count. `loose` lifts that.
    """

    def __init__(self, phrases: Iterable[str], *, loose: bool = False) -> None:
        self._loose = loose
        self._begins: dict[str, int] = {}  # how many phrases begin so and go on
        self._phrases: dict[str, list[str]] = {}
        for phrase in dict.fromkeys(phrases):
            self.add(phrase)

    def add(self, phrase: str) -> None:
        """Look for a phrase that is not there yet."""
        words = [word.text for word in find_words(phrase)]
        if not 0 < len(words) <= _MOST_WORDS or not self._is_telling(phrase, words):
            return
        known = self._phrases.setdefault(" ".join(words), [])
        known.append(phrase)
        if len(known) == 1:
            for begin in _find_begins(words):
                self._begins[begin] = self._begins.get(begin, 0) + 1

    def drop(self, phrase: str) -> None:
        """Look for a phrase no longer, if it was looked for."""
        words = [word.text for word in find_words(phrase)]
        known = self._phrases.get(" ".join(words), [])
        if phrase not in known:
            return
        known.remove(phrase)
        if not known:
            del self._phrases[" ".join(words)]
            for begin in _find_begins(words):
                self._begins[begin] -= 1
                if not self._begins[begin]:
                    del self._begins[begin]

    def _is_telling(self, phrase: str, words: Sequence[str]) -> bool:
        letters = sum(map(len, words))
        if not any(char.isalpha() for char in phrase):
            return False
        if _HANGUL.search(phrase) or _SPACELESS.search(phrase):
            return letters >= 2
        if letters < 3:
            return False
        return self._loose or len(words) > 1 or phrase != phrase.lower() or phrase == phrase.upper()

    def find_in(self, text: str, spans: Sequence[Span]) -> Iterator[Occurrence]:
        """Yield the occurrences inside the spans in order; of several that begin at one word the longest."""
        for span in spans:
            words = list(find_words(text, *span))
            at = 0
            while at < len(words):
                found = self._find_at(text, span, words, at)
                if found is None:
                    at += 1
                    continue
                yield found[0]
                at = found[1]

    def _find_at(self, text: str, span: Span, words: Sequence[Word], at: int) -> tuple[Occurrence, int] | None:
        """Return the longest phrase from a word on, and the word after it."""
        best: tuple[Occurrence, int] | None = None
        key = ""
        for place in range(at, min(at + _MOST_WORDS, len(words))):
            word = words[place]
            head = f"{key} " if key else ""
            for ending in _find_endings(word):
                for phrase in self._phrases.get(head + ending, ()):
                    occurrence = Occurrence(phrase, Span(words[at].start, word.start + len(ending)))
                    if self._fits(text, span, occurrence):
                        best = (occurrence, place + 1)
            key = head + word.text
            if key not in self._begins:
                break
        return best

    def _fits(self, text: str, span: Span, found: Occurrence) -> bool:
        """Whether what stands there is the phrase, not part of a longer word, address or file name."""
        start, end = found.span
        written = text[start:end]
        first, last = _find_ends(found.phrase)
        wanted = found.phrase[first:last]
        single = not any(char.isspace() for char in wanted) and not _SPACELESS.search(wanted)
        same = written == wanted if single and not self._loose else _same(written, wanted)
        if not same:
            return False
        before = text[start - 1] if start > span.start else " "
        after = text[end] if end < span.end else " "
        if before in _CONNECTORS or after in _CONNECTORS:
            return False
        return not (after == "." and end + 1 < span.end and text[end + 1].isalnum()) and before != "."


def _find_begins(words: Sequence[str]) -> list[str]:
    return [" ".join(words[:size]) for size in range(1, len(words))]


def _find_endings(word: Word) -> tuple[str, ...]:
    """Return what may be the last word of a phrase: the word, and a Korean one without a particle before it."""
    if not _HANGUL.match(word.text[-1]):
        return (word.text,)
    sizes = range(min(_LONGEST_PARTICLE, len(word.text) - 1), 0, -1)
    return (*(word.text[:-size] for size in sizes if word.text[-size:] in _PARTICLES), word.text)


@lru_cache(maxsize=1 << 14)
def _find_ends(phrase: str) -> tuple[int, int]:
    """Return where the first word of a phrase starts and the last one ends."""
    words = list(find_words(phrase))
    return words[0].start, words[-1].end


def _same(one: str, other: str) -> bool:
    return [*map(_fold, one.split())] == [*map(_fold, other.split())]
