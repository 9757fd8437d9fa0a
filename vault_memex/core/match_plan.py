"""A `Query` as SQLite FTS5 MATCH strings over the analyzer's terms.

Every term stands in quotes, and terms hold letters and digits only, so nothing can be injected.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from vault_memex.core.expression import AllOf, AnyOf, Expr, Query, Without, Word, is_open_ended

Plan = Literal["exact", "all", "any", "prefix", "phrases"]

MOST_RANKING_TERMS = 128  # a pasted page would make the any-word query slow, and its rest adds nothing
MOST_PREFIXES = 32  # each reads all terms that begin so
MATCHES_NOTHING = '""'
_SHORTEST_PREFIX = 3  # letters
_HAS_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """FTS5 MATCH strings. Without `include` all notes match but the excluded; with neither, all notes do."""

    include: str | None = None
    exclude: str | None = None


def build_match(
    query: Query, plan: Plan = "exact", columns: Sequence[str] = (), common: Collection[str] = ()
) -> MatchPlan:
    """Return the MATCH strings of a plan, limited to the columns when some are given.

    `exact`: the query as written; all notes for a query without a letter or digit. `all`: every word. `any`: any
    term, for ranking; an identifier also counts as a whole. `prefix`: words that begin like the query's words.
    `phrases`: every quoted phrase and identifier. A plan with nothing to look for matches no note.

    Words made of `common` terms are left out of `prefix`: they are found as they are, and what begins like them
    costs the more the more notes hold it.
    """
    if plan == "prefix":
        return MatchPlan(_with_columns(_render_prefix(query, common) or MATCHES_NOTHING, columns))
    if plan != "exact":
        return MatchPlan(_with_columns(_PLANS[plan](query) or MATCHES_NOTHING, columns))
    if query.is_empty:
        return MatchPlan()
    found = _with_columns(_render(query.expr) if query.expr else MATCHES_NOTHING, columns)
    return MatchPlan(None, found) if query.negative_only else MatchPlan(found)


def _render_terms(terms: Sequence[str]) -> str:
    return f'"{" ".join(terms)}"' + ("*" if is_open_ended(terms) else "")


def _render(expr: Expr) -> str:
    match expr:
        case Word():
            return _render_terms(expr.terms)
        case AllOf():
            return f"({' AND '.join(map(_render, expr.parts))})"
        case AnyOf():
            return f"({' OR '.join(map(_render, expr.parts))})"
        case Without():
            return f"({_render(expr.keep)} NOT {_render(expr.drop)})"


def _render_all(query: Query) -> str:
    return " AND ".join(_render_terms(word.loose_terms) for word in query.words)


def _render_any(query: Query) -> str:
    # A number and what it counts or names say more together (28조, 1989年, E-1042) than each alone.
    whole = [w.loose_terms for w in query.words if w.quoted or _HAS_DIGIT.search(w.text) or len(w.terms) == 1]
    found = {terms: _render_terms(terms) for terms in whole}
    found |= {(term,): f'"{term}"' for term in query.terms if (term,) not in found}
    return " OR ".join(list(found.values())[:MOST_RANKING_TERMS])


def _render_prefix(query: Query, common: Collection[str]) -> str:
    words = [
        word
        for word in query.words
        if not word.quoted and len(word.terms[-1]) >= _SHORTEST_PREFIX and not all(t in common for t in word.terms)
    ]
    parts = (f'"{" ".join((*word.terms[:-1], _find_prefix(word)))}"*' for word in words)
    return " OR ".join(islice(parts, MOST_PREFIXES))


def _render_phrases(query: Query) -> str:
    return " AND ".join(_render_terms(word.terms) for word in (*query.phrases, *query.identifiers))


def _find_prefix(word: Word) -> str:
    """Return what the stem and the word as written begin with: `happi` and `happy` give `happ`."""
    term, written = word.terms[-1], word.text.casefold()
    size = next((n for n in range(len(term), 0, -1) if term[:n] in written), len(term))
    return term[:size]


def _with_columns(found: str, columns: Sequence[str]) -> str:
    if not columns:
        return found
    names = " ".join('"{}"'.format(name.replace('"', '""')) for name in columns)
    return f"{{{names}}} : ({found})"


_PLANS = {"all": _render_all, "any": _render_any, "phrases": _render_phrases}
