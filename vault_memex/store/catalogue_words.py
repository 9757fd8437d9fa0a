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
    excluded = "(SELECT rowid FROM words WHERE words MATCH :exclude)"
    if include is None:
        without = "" if exclude is None else f" WHERE files.id NOT IN {excluded}"
        sql = f"SELECT path, 0.0 FROM files JOIN notes USING(id){without} ORDER BY path LIMIT :limit"  # noqa: S608
    else:
        columns = ", ".join(str(float(weight)) for weight in weights)
        without = "" if exclude is None else f" AND rowid NOT IN {excluded}"
        best = (
            f"SELECT rowid, -bm25(words, {columns}) AS score FROM words WHERE words MATCH :include{without}"  # noqa: S608
            " ORDER BY score DESC, rowid LIMIT :limit"
        )
        # The paths of the best alone are looked up: thousands may match.
        sql = f"SELECT path, score FROM files JOIN ({best}) AS best ON id = best.rowid ORDER BY score DESC, path"  # noqa: S608
    values = {"include": include, "exclude": exclude, "limit": -1 if limit is None else limit}
    return [WordHit(path, score) for path, score in db.execute(sql, values)]


def find_matching(db: sqlite3.Connection, include: str, paths: Iterable[str]) -> frozenset[str]:
    """Return those of the paths whose notes match the FTS5 expression."""
    rows = db.execute(
        "SELECT path FROM files WHERE path IN (SELECT value FROM json_each(?))"
        # The plus keeps SQLite from walking all that match instead of the paths.
        " AND +id IN (SELECT rowid FROM words WHERE words MATCH ?)",
        (json.dumps(list(paths)), include),
    )
    return frozenset(row[0] for row in rows)


def find_common(db: sqlite3.Connection, terms: Iterable[str], notes: int) -> frozenset[str]:
    """Return those of the terms that so many notes hold, or more."""
    probe = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1 OFFSET ?"
    return frozenset(term for term in terms if db.execute(probe, (_quoted(term), notes - 1)).fetchone())


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


def find_terms(db: sqlite3.Connection, path: str) -> tuple[str, ...]:
    """Return the terms that a note is found by, each once, as they stand in title, aliases, headings, tags, body."""
    row = db.execute(
        f"SELECT {', '.join(COLUMNS)} FROM words WHERE rowid = (SELECT id FROM files WHERE path = ?)",  # noqa: S608
        (path,),
    ).fetchone()
    return tuple(dict.fromkeys(" ".join(row).split())) if row else ()


def find_known_terms(db: sqlite3.Connection, terms: Iterable[str]) -> frozenset[str]:
    """Return those of the terms that occur anywhere in the vault."""
    probe = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"
    return frozenset(term for term in terms if db.execute(probe, (_quoted(term),)).fetchone())


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
