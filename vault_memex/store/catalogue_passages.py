"""Passages: where a text hash stands in the vault, and which hashes still have to be embedded."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassageRow:
    """One place of one passage. Equal texts share the hash and have a row each."""

    hash: str
    path: str
    ordinal: int
    heading_path: tuple[str, ...]
    start: int
    end: int
    chars: int


_MOST_VALUES = 500  # in one statement

_ROWS = "SELECT hash, path, ordinal, heading_path, start, end, chars FROM passages JOIN files ON files.id = note"


def get_passages(db: sqlite3.Connection, hashes: Iterable[str]) -> tuple[PassageRow, ...]:
    """Return the places of these hashes in the order given, then by path; a hash that left the vault has none."""
    rows: dict[str, list[PassageRow]] = {value: [] for value in hashes}
    for some in _batches([bytes.fromhex(value) for value in rows]):
        marks = ",".join("?" * len(some))
        for found in db.execute(f"{_ROWS} WHERE hash IN ({marks}) ORDER BY path, ordinal", some):
            row = _build_row(found)
            rows[row.hash].append(row)
    return tuple(row for places in rows.values() for row in places)


def find_notes(db: sqlite3.Connection, hashes: Iterable[str]) -> list[tuple[str, str]]:
    """Return (hash, path of a note) for each note that has a passage of these hashes, in no order."""
    values = [bytes.fromhex(value) for value in dict.fromkeys(hashes)]
    rows: list[tuple[str, str]] = []
    for some in _batches(values):
        marks = ",".join("?" * len(some))
        found = db.execute(
            f"SELECT DISTINCT hash, path FROM passages JOIN files ON files.id = note WHERE hash IN ({marks})",  # noqa: S608
            some,
        )
        rows += ((value.hex(), path) for value, path in found)
    return rows


def find_passages(db: sqlite3.Connection, path: str) -> tuple[PassageRow, ...]:
    """Return the passages of a note in their order."""
    return tuple(_build_row(row) for row in db.execute(_ROWS + " WHERE path = ? ORDER BY ordinal", (path,)))


def find_unembedded(db: sqlite3.Connection, model: str, limit: int) -> tuple[PassageRow, ...]:
    """Return passages that have no vector of the model yet, each hash once, of the last changed notes first."""
    rows = db.execute(
        f"{_ROWS} WHERE NOT EXISTS"  # noqa: S608 -- a constant
        " (SELECT 1 FROM embedded WHERE model = ? AND embedded.hash = passages.hash)"
        " ORDER BY passages.id DESC",
        (model,),
    )
    found: dict[str, PassageRow] = {}
    for row in rows:
        if len(found) >= limit:
            break
        passage = _build_row(row)
        found.setdefault(passage.hash, passage)
    return tuple(found.values())


def find_unembedded_notes(db: sqlite3.Connection, model: str) -> frozenset[str]:
    """Return the notes that have a passage without a vector of the model."""
    rows = db.execute(
        "SELECT path FROM files WHERE id IN (SELECT note FROM passages WHERE NOT EXISTS"
        " (SELECT 1 FROM embedded WHERE model = ? AND embedded.hash = passages.hash))",
        (model,),
    )
    return frozenset(path for (path,) in rows)


def mark_embedded(db: sqlite3.Connection, model: str, hashes: Iterable[str]) -> None:
    """Note that the vectors of these hashes are stored."""
    rows = [(model, bytes.fromhex(value)) for value in hashes]
    db.executemany("INSERT OR IGNORE INTO embedded VALUES(?, ?)", rows)


def count_embedded(db: sqlite3.Connection, model: str) -> tuple[int, int]:
    """Return (done, total) over the distinct passages of the vault."""
    row = db.execute(
        "SELECT count(embedded.hash), count(*) FROM (SELECT DISTINCT hash FROM passages) AS wanted"
        " LEFT JOIN embedded ON embedded.hash = wanted.hash AND model = ?",
        (model,),
    ).fetchone()
    return int(row[0]), int(row[1])


def set_embedded(db: sqlite3.Connection, model: str, hashes: Iterable[str]) -> None:
    """Note that these hashes have their vectors and no others."""
    db.execute("DELETE FROM embedded WHERE model = ?", (model,))
    mark_embedded(db, model, hashes)


def find_hashes(db: sqlite3.Connection, paths: Iterable[str] | None = None) -> set[str]:
    """Return the hash of every passage of the vault, or of these notes."""
    if paths is None:
        return {row[0].hex() for row in db.execute("SELECT DISTINCT hash FROM passages")}
    query = "SELECT hash FROM passages WHERE note = (SELECT id FROM files WHERE path = ?)"
    return {row[0].hex() for path in paths for row in db.execute(query, (path,))}


def load_note_hashes(db: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Return the passage hashes of every note in their order, by path ascending."""
    found: dict[str, list[str]] = {}
    rows = db.execute("SELECT path, hash FROM passages JOIN files ON files.id = note ORDER BY path, ordinal")
    for path, value in rows:
        found.setdefault(path, []).append(value.hex())
    return {path: tuple(hashes) for path, hashes in found.items()}


def _batches(values: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (values[start : start + _MOST_VALUES] for start in range(0, len(values), _MOST_VALUES))


def _build_row(row: tuple[bytes, str, int, str, int, int, int]) -> PassageRow:
    value, path, ordinal, heading_path, *rest = row
    return PassageRow(value.hex(), path, ordinal, tuple(json.loads(heading_path)), *rest)


def load_first_headings(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return (path, heading) of the notes that begin with a heading, by path."""
    return db.execute(
        "SELECT path, json_extract(heading_path, '$[0]') FROM passages JOIN files ON files.id = note"
        " WHERE ordinal = 0 AND heading_path != '[]' ORDER BY path"
    ).fetchall()
