"""What a search looks for, as values: words, and how they combine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vault_memex.core.analyzer import find_terms, is_paired, is_stop_term, without_particle

_IDENTIFIER = re.compile(r"(?=.*[A-Za-z])(?=.*[\d_])[!-~]+\Z")


@dataclass(frozen=True, slots=True)
class Word:
    """A word or quoted phrase to look for: its terms stand side by side in that order."""

    text: str
    terms: tuple[str, ...]
    quoted: bool = False

    @property
    def loose_terms(self) -> tuple[str, ...]:
        """The terms without a Korean particle, for everything but a query that is exact."""
        bare = self.text if self.quoted else without_particle(self.text)
        return self.terms if bare == self.text else tuple(find_terms(bare))

    @property
    def is_identifier(self) -> bool:
        """Whether it is written as one thing with parts and digits or underscores, such as E-1042 or v1.2.3."""
        return not self.quoted and len(self.terms) > 1 and _IDENTIFIER.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part matches."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part matches."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """`keep` matches and `drop` does not."""

    keep: Expr
    drop: Expr


Expr = Word | AllOf | AnyOf | Without


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked. `expr` is what must match, or, with `negative_only`, what must not; None matches nothing."""

    text: str
    words: tuple[Word, ...] = ()  # to be found, phrases too, each once; stop words only when there is nothing else
    expr: Expr | None = None
    negative_only: bool = False
    exact: bool = False  # OR, NOT or a phrase occurs: words as written, never meaning
    is_empty: bool = False  # no letter or digit: as if there were no query
    only_stop_words: bool = False

    @property
    def phrases(self) -> tuple[Word, ...]:
        """The quoted ones among the words."""
        return tuple(word for word in self.words if word.quoted)

    @property
    def identifiers(self) -> tuple[Word, ...]:
        """The words such as E-1042: a note that holds one is meant."""
        return tuple(word for word in self.words if word.is_identifier)

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms to be found, each once, without stop words unless nothing else is left."""
        terms = dict.fromkeys(term for word in self.words for term in word.terms)
        return tuple(term for term in terms if not is_stop_term(term)) or tuple(terms)


def is_open_ended(terms: Sequence[str]) -> bool:
    """Whether the last term may go on: a lone letter of a script that is indexed by pairs."""
    return len(terms[-1]) == 1 and is_paired(terms[-1])


def check_query(query: Query, fields: Iterable[Sequence[str]]) -> bool:
    """Whether a note matches the query as written.

    `fields` are the terms of its title, its body ...: a phrase never spans two.
    """
    return query.expr is not None and _check(query.expr, join_fields(fields)) != query.negative_only


def join_fields(fields: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the form of the fields that `check_terms` reads: their terms with a space around each."""
    return tuple(f" {' '.join(field)} " for field in fields)


def check_terms(terms: Sequence[str], joined: Iterable[str]) -> bool:
    """Whether the terms stand side by side in one of the fields."""
    wanted = f" {' '.join(terms)}" + ("" if is_open_ended(terms) else " ")
    return any(wanted in field for field in joined)


def _check(expr: Expr, joined: Sequence[str]) -> bool:
    match expr:
        case Word():
            return check_terms(expr.terms, joined)
        case AllOf():
            return all(_check(part, joined) for part in expr.parts)
        case AnyOf():
            return any(_check(part, joined) for part in expr.parts)
        case Without():
            return _check(expr.keep, joined) and not _check(expr.drop, joined)
