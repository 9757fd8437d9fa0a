"""The keyword index: FTS5 over the terms that `core.analyzer` makes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

COLUMNS = ("title", "aliases", "headings", "tags", "body")


@dataclass(frozen=True, slots=True)
class WordHit:
    """A note that matches."""

    path: str
    score: float  # BM25, larger is better; 0.0 when only exclusions were asked for


def search_words(
    db: sqlite3.Connection, include: str | None, exclude: str | None, weights: Sequence[float], limit: int | None
) -> list[WordHit]:
    """Return the notes that match the FTS5 expressions, best first, then by path.

    Without `include` every note that does not match `exclude` is a hit. `weights` has one number a column.
    """
    if len(weights) != len(COLUMNS):
        raise ValueError(f"weights are for {', '.join(COLUMNS)}")
    without = (
        "" if exclude is None else " AND files.id NOT IN (SELECT rowid FROM words WHERE words MATCH :exclude)"
    )
    if include is None:
        sql = f"SELECT path, 0.0 FROM files JOIN notes USING(id) WHERE true{without} ORDER BY path LIMIT :limit"  # noqa: S608
    else:
        columns = ", ".join(str(float(weight)) for weight in weights)
        sql = (
            f"SELECT path, -bm25(words, {columns}) AS score FROM words JOIN files ON files.id = words.rowid"  # noqa: S608
            f" WHERE words MATCH :include{without} ORDER BY score DESC, path LIMIT :limit"
        )
    values = {"include": include, "exclude": exclude, "limit": -1 if limit is None else limit}
    return [WordHit(path, score) for path, score in db.execute(sql, values)]


def count_term(db: sqlite3.Connection, term: str) -> int:
    """Return how many notes hold the term."""
    row = db.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
    return int(row[0]) if row else 0


def count_terms(db: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
    """Return how many notes hold each of the terms; those that none holds are left out."""
    rows = db.execute(
        "SELECT term, doc FROM json_each(?) CROSS JOIN vocabulary ON term = json_each.value",
        (json.dumps(list(dict.fromkeys(terms))),),
    )
    return {term: int(count) for term, count in rows}


def find_terms(db: sqlite3.Connection, path: str) -> frozenset[str]:
    """Return the terms that a note is found by."""
    row = db.execute(
        f"SELECT {', '.join(COLUMNS)} FROM words WHERE rowid = (SELECT id FROM files WHERE path = ?)",  # noqa: S608
        (path,),
    ).fetchone()
    return frozenset(term for column in row for term in column.split()) if row else frozenset()


def find_known_terms(db: sqlite3.Connection, terms: Iterable[str]) -> frozenset[str]:
    """Return those of the terms that occur anywhere in the vault."""
    probe = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"
    return frozenset(term for term in terms if db.execute(probe, (_quoted(term),)).fetchone())


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
