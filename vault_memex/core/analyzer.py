"""Text to index terms, by script. Documents and queries go through the same door, so they agree.

Latin letters: case folded, accents stripped, English stem. Cyrillic: `ё` as `е`, Russian stem. Hangul, Han, kana
(and the South-East Asian scripts without spaces between words): overlapping pairs. Other scripts: case folded.

A term holds letters and digits only (ASCII ones are `a-z0-9`), so SQLite's `ascii` tokenizer splits
`" ".join(terms)` back into exactly these terms. Terms of a document stand in the order of its words, so a phrase
is found as a phrase. After them come, once each, terms that only help to find a document:

- the parts of `camelCase` (the joined word has its place in the text: `case` and `camelcase` both find it);
- the last letter of each paired run, so that each letter begins some term, and a query of one letter finds it as a
  prefix wherever it stands.

Stop words are left out of queries only, so that phrases keep their inner words.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from operator import add

from py_rust_stemmers import SnowballStemmer

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_NO_SPACES = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0eb9\u0ebb-\u0ecd\u1000-\u1049\u1050-\u109d\u1780-\u17d3"
_HANGUL = "\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\ud7b0-\ud7fb"
# Marks that stand inside words but are no letters for `\w`: accents, points, and the vowel signs of India.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963\u0971-\u0df3\u3099\u309a"
)
_PAIRED = f"{_HAN}{_KANA}{_NO_SPACES}"
_LETTER = f"[^\\W_{_PAIRED}{_HANGUL}]"
_WORD = f"{_LETTER}+(?:[{_MARKS}]+{_LETTER}*)*"
_RUN = re.compile(f"{_WORD}(?:['’]{_WORD})*|[{_PAIRED}]+|[{_HANGUL}]+")
_PAIRED_RUN = re.compile(f"[{_PAIRED}{_HANGUL}]+")
_STRIPPED = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)
_LATIN_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
_APOSTROPHE = re.compile("['’]")
_CONTRACTIONS = frozenset(("s", "t", "d", "m", "ll", "re", "ve"))
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z]{2})|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_VERSION = re.compile(r"[vV][0-9]+\Z")
_HAS_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")

_CACHED_CHUNK = 32  # code points: longer ones hardly come twice
_LONGEST_TERM = 64  # code points: beyond that it is no word (base64, a hash of hashes)

_english = SnowballStemmer("english")
_russian = SnowballStemmer("russian")


def analyze(text: str) -> list[str]:
    """Return the terms of a document's text: those of its words in order, then those that only help to find it."""
    terms: list[str] = []
    extras: list[tuple[str, ...]] = []
    for chunk in text.split():
        found, extra = _cached_terms(chunk) if len(chunk) <= _CACHED_CHUNK else _build_terms(chunk)
        terms += found
        extras += extra
    for group in dict.fromkeys(extras):
        terms += group
    return terms


def find_terms(text: str) -> list[str]:
    """Return the terms of the text's words in order, and nothing else."""
    terms: list[str] = []
    for chunk in text.split():
        terms += (_cached_terms(chunk) if len(chunk) <= _CACHED_CHUNK else _build_terms(chunk))[0]
    return terms


def find_runs(text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
    """Return the runs of letters and digits. The terms of a run do not depend on what stands around it."""
    return _RUN.finditer(text, start, end)


def is_paired(term: str) -> bool:
    """Whether the term comes from a script that is indexed by pairs of letters."""
    return _PAIRED_RUN.match(term) is not None


def is_stop_term(term: str) -> bool:
    """Whether the term says nothing by itself: a stop word, a pair of a Chinese question."""
    return term in STOP_WORDS or (_HAN_STOP_PAIR.match(term) is not None and term not in _HAN_WORDS)


def without_particle(word: str) -> str:
    """Return a Korean word without the particle glued to it, where it is plain that it is one."""
    at = _PAIRED_RUN.split(word)  # a word of letters, then one Hangul run: GPT4는
    if len(at) == 2 and at[0] and not at[1] and word[len(at[0]) :] in _PARTICLES:
        return at[0]
    for ending, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word[: -len(ending)]
    return word


_Terms = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]
"""The terms in order, and the groups of terms that only help to find the text."""


def _build_terms(chunk: str) -> _Terms:
    terms: list[str] = []
    extras: list[tuple[str, ...]] = []
    for run in _RUN.findall(chunk):
        if unicodedata.is_normalized("NFKC", run):
            _add_run(run, terms, extras)
        else:  # full width, half width, ligatures, letters and accents apart
            for plain in _RUN.findall(unicodedata.normalize("NFKC", run)):
                _add_run(plain, terms, extras)
    return tuple(terms), tuple(extras)


_cached_terms = lru_cache(maxsize=1 << 16)(_build_terms)


def _add_run(run: str, terms: list[str], extras: list[tuple[str, ...]]) -> None:
    if _PAIRED_RUN.match(run):
        if len(run) == 1:
            terms.append(run)
        else:
            terms += map(add, run, run[1:])
            extras.append((run[-1],))
        return
    words = _APOSTROPHE.split(run)
    if len(words) > 1 and words[-1].casefold() in _CONTRACTIONS:
        words.pop()
    for word in words:
        _add_word(word, terms, extras)


def _add_word(word: str, terms: list[str], extras: list[tuple[str, ...]]) -> None:
    if _VERSION.match(word):
        terms += ("v", word[1:])
        return
    term = _fold_word(word)
    if term:
        terms.append(term)
    if _HAS_CAMEL.search(word):
        parts = (_fold_word(part) for part in _CAMEL.findall(word) if len(part) > 1)
        extras.append(tuple(part for part in parts if part))


def _fold_word(word: str) -> str:
    """Return the word's stem; "" when it has no letter or digit."""
    word = word.casefold()[:_LONGEST_TERM]
    if word.isascii():
        return str(_english.stem_word(word))
    word = _STRIPPED.sub("", unicodedata.normalize("NFKC", word))
    first = next((letter for letter in word if letter.isalpha()), "")
    if "\u0400" <= first <= "\u052f":
        return str(_russian.stem_word(word.replace("ё", "е")))
    word = _STRIPPED.sub("", unicodedata.normalize("NFD", word)).translate(_LATIN_LETTERS)
    if word.isascii():
        return str(_english.stem_word(word))
    return unicodedata.normalize("NFC", word) if any(map(str.isalnum, word)) else ""


_STOP_TEXT = """
a an the and or of to in on at by for from with as is are was were be been being do does did has have had what when
where which who whom whose why how that this these those it its i you he she they we me my your his her their our
him them about into than then there can could would should will shall may might must not no so if while during
и в во на с со к ко о об от до за из у по для что как где когда кто какой какая какое какие каких каком какую
почему зачем чей это эта этот эти был была было были быть есть ли же бы не но а или то при
무엇 뭐 누구 누가 언제 어디 어디서 어디에 왜 어떻게 어떤 어느 얼마
"""

STOP_WORDS = frozenset(find_terms(_STOP_TEXT))
"""Terms that say nothing by themselves in English, Russian and Korean."""

_HAN_STOP_PAIR = re.compile("(?:.?[什么麼谁誰的].?|.[哪吗嗎呢]|哪[些个個里裡年位种種一])\\Z")
_HAN_WORDS = frozenset(("什锦", "目的", "标的", "的士", "的确", "的確"))

_TWO_SYLLABLES = ("에서", "에게", "까지", "부터", "으로", "처럼", "보다", "한테", "에는", "에도")
_PARTICLES = frozenset((*_TWO_SYLLABLES, *"은는이가을를의에와과도로만나"))
# How many syllables must be left: nouns end in 이, 가, 도, 로 or 과 too (고양이, 작가).
_ENDINGS = (
    *((ending, 2) for ending in (*_TWO_SYLLABLES, *"은는을를의에")),
    *((ending, 3) for ending in "이가도로와과만"),
)
