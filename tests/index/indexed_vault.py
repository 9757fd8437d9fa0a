"""Vaults on disk with their catalogue, and what two catalogues are compared by."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vault_memex.config import Config
from vault_memex.core.match_plan import build_match
from vault_memex.core.query import parse_query
from vault_memex.index.indexer import Indexer
from vault_memex.store.catalogue import Catalogue


class IndexedVault:
    """A vault folder with an open catalogue."""

    def __init__(self, folder: Path, config: Config | None = None, **options: Any) -> None:
        self.root = folder / "vault"
        self.cache = folder / "index"
        self.root.mkdir(parents=True, exist_ok=True)
        self.config = config or Config()
        self.options = options
        self.catalogue = Catalogue.open(self.cache)
        self.indexer = Indexer(self.root, self.catalogue, self.config, **options)

    def reopen(self) -> None:
        self.catalogue.close()
        self.catalogue = Catalogue.open(self.cache)
        self.indexer = Indexer(self.root, self.catalogue, self.config, **self.options)

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
        return file

    def notes(self) -> list[str]:
        return list(self.catalogue.load_snapshot().notes)

    def search(self, word: str) -> list[str]:
        return find_word(self.catalogue, word)

    def close(self) -> None:
        self.catalogue.close()


def find_word(catalogue: Catalogue, word: str) -> list[str]:
    """Return the paths of the notes that hold the word."""
    return [hit.path for hit in catalogue.search_words(build_match(parse_query(word)))]


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Return once the condition holds, looking again every few milliseconds; fail at the deadline."""
    pause = threading.Event()
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "the deadline passed"
        pause.wait(0.005)


_QUERIES = (
    "SELECT path, is_note, name_key, mtime_ns, ctime_ns, size, inode FROM files",
    (
        "SELECT path, revision, record, own_id, own_created, file_created, own_updated, file_updated"
        " FROM notes JOIN files USING(id)"
    ),
    (
        "SELECT source.path, ordinal, kind, target, subpath, display, property, start, end, link_key, other.path, ambiguous"
        " FROM links JOIN files AS source ON source.id = source LEFT JOIN files AS other ON other.id = resolved"
    ),
    "SELECT link_key, path FROM definitions JOIN files ON files.id = source",
    "SELECT path, ordinal, hex(hash), heading_path, start, end, chars FROM passages JOIN files ON files.id = note",
    "SELECT path, title, aliases, headings, tags, body FROM words JOIN files ON files.id = words.rowid",
    "SELECT term, doc, cnt FROM vocabulary",
    (
        "SELECT count(*) FROM notes UNION ALL SELECT count(*) FROM words UNION ALL SELECT count(*) FROM links"
        " UNION ALL SELECT count(*) FROM definitions UNION ALL SELECT count(*) FROM passages"
    ),
)


def dump(cache: Path) -> list[list[tuple[object, ...]]]:
    """Return everything a catalogue says, without row numbers and the marks of when it was read."""
    db = sqlite3.connect(cache / "catalogue.sqlite")
    try:
        db.execute("INSERT INTO words(words) VALUES('integrity-check')")
        return [sorted(db.execute(query).fetchall(), key=repr) for query in _QUERIES]
    finally:
        db.close()


def put_back_mtime(file: Path, data: bytes) -> None:
    """Write in place bytes of any size and give the file the mtime it had."""
    before = os.stat(file)
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
