"""The search box: text to a `Query`, and a `Query` to SQLite FTS5 MATCH strings.

    rocket fuel              both words (a space, `AND` and `&` say the same)
    rocket OR fuel           either; `|` too. Adjacency binds tighter: a b OR c is (a b) OR c
    NOT fuel, -fuel, !fuel   not that word, phrase or (group); a double negation cancels
    "rocket fuel"            these words in this order
    (a OR b) c               groups, to a depth of eight; deeper ones read as spaces

Operators are upper case: `or` and `not` are words. A hyphen inside a word belongs to it, and a word of several
terms (`E-1042`, `snake_case`, most words in Chinese, Japanese and Korean) is looked for as a phrase. Nothing is a
syntax error: an open quote or bracket reaches to the end, an operator with nothing to work on is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from vault_memex.core.analyzer import find_runs, find_terms, is_stop_term
from vault_memex.core.expression import AllOf, AnyOf, Expr, Query, Without, Word, check_query
from vault_memex.core.match_plan import MatchPlan, Plan, build_match

__all__ = [
    "AllOf",
    "AnyOf",
    "Expr",
    "MatchPlan",
    "Plan",
    "Query",
    "Without",
    "Word",
    "build_match",
    "check_query",
    "parse_query",
]

DEEPEST_GROUP = 8


def parse_query(text: str) -> Query:
    """Return the query. Never raises; the caller checks the length."""
    if not any(map(str.isalnum, text)):
        return Query(text, is_empty=True)
    tokens = _find_tokens(text)
    exact = any(token in (_OR, _NOT) or (isinstance(token, Word) and token.quoted) for token in tokens)
    content = [t for t in tokens if not (isinstance(t, Word) and _is_stop_word(t, text))]
    only_stop_words = False
    if not any(isinstance(token, Word) for token in content):
        only_stop_words = any(isinstance(token, Word) for token in tokens) and not exact
        content = tokens
    parsed = _Parser(content).parse_either()
    if parsed is None:
        return Query(text, exact=exact)
    words = tuple(dict.fromkeys(_find_words(parsed.expr))) if not parsed.negated else ()
    return Query(text, words, parsed.expr, parsed.negated, exact, False, only_stop_words)


# --- text to tokens

_OR, _AND, _NOT, _OPEN, _CLOSE = "OR", "AND", "NOT", "(", ")"
_Token = Word | str

_PIECE = re.compile(
    r"""
    "(?P<phrase>[^"]*)"?            # to the end when it is not closed
    | (?P<mark>[()|&])
    | (?P<negation>(?:^|(?<=[\s(|&"!-]))[-!](?=[-!]*(?:[("]|[\#@]?\w)))
    | (?P<chunk>[^\s"()|&]+)
    """,
    re.VERBOSE,
)
_MARKS = {"(": _OPEN, ")": _CLOSE, "|": _OR, "&": _AND}
_JOINER = re.compile(r"[-_.@/:\\#+~=$%\u2010\u2011]*\Z")


def _find_tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    for piece in _PIECE.finditer(text):
        kind, value = piece.lastgroup, piece[piece.lastgroup or 0]
        if kind == "phrase":
            tokens += _find_phrase(value)
        elif kind == "mark":
            tokens.append(_MARKS[value])
        elif kind == "negation":
            tokens.append(_NOT)
        elif value in (_OR, _AND, _NOT):
            tokens.append(value)
        else:
            tokens += _split_words(value)
    return _limit_depth(tokens)


def _limit_depth(tokens: Iterable[_Token]) -> list[_Token]:
    """Drop the brackets of groups that lie too deep, and those that close nothing."""
    kept: list[_Token] = []
    depth = 0
    for token in tokens:
        if token == _OPEN:
            depth += 1
            if depth <= DEEPEST_GROUP:
                kept.append(token)
        elif token == _CLOSE:
            if 0 < depth <= DEEPEST_GROUP:
                kept.append(token)
            depth = max(0, depth - 1)
        else:
            kept.append(token)
    return kept


def _split_words(chunk: str) -> Iterator[Word]:
    """Yield the words of a text without spaces: E-1042 is one, `this,that` are two."""
    start = end = -1
    for run in find_runs(chunk):
        if start >= 0 and not _JOINER.match(chunk[end : run.start()]):
            yield from _build_word(chunk[start:end])
            start = run.start()
        start = run.start() if start < 0 else start
        end = run.end()
    if start >= 0:
        yield from _build_word(chunk[start:end])


def _build_word(text: str) -> Iterator[Word]:
    terms = tuple(find_terms(text))
    if terms:
        yield Word(text, terms)


def _find_phrase(text: str) -> Iterator[Word]:
    terms = find_terms(text)
    start, end = 0, len(terms)
    while start < end and is_stop_term(terms[start]):
        start += 1
    while start < end and is_stop_term(terms[end - 1]):
        end -= 1
    kept = tuple(terms[start:end] or terms)  # "to be or not to be" is all there is to look for
    if kept:
        yield Word(text.strip(), kept, quoted=True)


def _is_stop_word(word: Word, query: str) -> bool:
    """Whether the word says nothing. `IT` does, unless the whole query is in capitals."""
    if word.quoted or not all(map(is_stop_term, word.terms)):
        return False
    return len(word.text) < 2 or not word.text.isupper() or query.isupper()


# --- tokens to an expression


@dataclass(frozen=True, slots=True)
class _Signed:
    """Match `expr`, or everything except it."""

    expr: Expr
    negated: bool = False


class _Parser:
    """Recursive descent over the tokens; recursion is as deep as the groups are."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def parse_either(self) -> _Signed | None:
        sides = [self._parse_series()]
        while self._peek() == _OR:
            self._at += 1
            sides.append(self._parse_series())
        return _join_any(sides)

    def _parse_series(self) -> _Signed | None:
        parts: list[_Signed | None] = []
        negated = False
        while (token := self._peek()) not in (None, _OR, _CLOSE):
            self._at += 1
            if token == _NOT:
                negated = not negated
            elif token != _AND:
                part = _Signed(token) if isinstance(token, Word) else self._parse_group()
                if part:
                    parts.append(_Signed(part.expr, part.negated != negated))
                negated = False
        return _join_all(parts)

    def _parse_group(self) -> _Signed | None:
        found = self.parse_either()
        if self._peek() == _CLOSE:
            self._at += 1
        return found

    def _peek(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None


def _join_all(parts: Iterable[_Signed | None]) -> _Signed | None:
    wanted, unwanted = _split_signs(parts)
    if not wanted:
        return _Signed(_either(unwanted), True) if unwanted else None
    keep = wanted[0] if len(wanted) == 1 else AllOf(tuple(wanted))
    return _Signed(Without(keep, _either(unwanted)) if unwanted else keep)


def _join_any(parts: Iterable[_Signed | None]) -> _Signed | None:
    wanted, unwanted = _split_signs(parts)
    if not unwanted:
        return _Signed(_either(wanted)) if wanted else None
    keep = unwanted[0] if len(unwanted) == 1 else AllOf(tuple(unwanted))
    return _Signed(Without(keep, _either(wanted)) if wanted else keep, True)


def _split_signs(parts: Iterable[_Signed | None]) -> tuple[list[Expr], list[Expr]]:
    signed = [part for part in parts if part]
    return [p.expr for p in signed if not p.negated], [p.expr for p in signed if p.negated]


def _either(parts: Sequence[Expr]) -> Expr:
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _find_words(expr: Expr) -> Iterator[Word]:
    """Yield the words that a matching note may hold, in order."""
    match expr:
        case Word():
            yield expr
        case Without():
            yield from _find_words(expr.keep)
        case AllOf() | AnyOf():
            for part in expr.parts:
                yield from _find_words(part)
