"""The house rules as last put together, kept in the cache for hooks that start in every session.

Kept with the text is what it was made from: the catalogue's revision, the files of all rule notes and their folders,
the settings and the day. While none of that has changed in a way that can matter, the text is the right one; else it
is put together anew. Only the standard library is imported, and little of it: a hook has 100 ms.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Collection, Mapping
from contextlib import closing

FILE_NAME = "rules.json"
CATALOGUE = "catalogue.sqlite"
SETTINGS = ".memex/config.toml"
VARIABLES = ("MEMEX_INJECT_RULES", "MEMEX_RULES_MAX_CHARS")
FORMAT = 1
YOUNG_NS = 50_000_000  # a file changed so lately may change again without looking different
MOST_CHANGES = 500  # notes; with more it is quicker to begin anew
_TELLING = ('"rule"', '"amends"', '"superseded_by"')  # in the record of a note that can matter
_CHANGED = "SELECT path, record FROM notes JOIN files USING(id) WHERE changed > ? LIMIT ?"


def keep_rules(
    folder: str,
    root: str,
    *,
    revision: int,
    paths: Collection[str],
    texts: Mapping[str, object],
    day: str,
) -> bool:
    """Keep the texts, made from these rule notes at this catalogue revision; return whether that could be done.

    `day` is the day on which they hold, empty when that does not matter.
    """
    made_from = _describe(root, paths)
    newest = max([0, *(mark[0] for mark in made_from.values() if mark)])
    if time.time_ns() - newest < YOUNG_NS:
        return False
    kept = {
        "head": _find_head(),
        "catalogue": [os.stat(os.path.join(folder, CATALOGUE)).st_ino, revision],
        "day": day,
        "notes": sorted(paths),
        "files": made_from,
        "texts": dict(texts),
    }
    file = os.path.join(folder, FILE_NAME)
    draft = f"{file}.{os.getpid()}"
    try:
        with open(draft, "w", encoding="utf-8") as stream:
            json.dump(kept, stream)
        os.replace(draft, file)
    except OSError:
        return False
    return True


def read_kept_rules(folder: str, root: str, today: str) -> dict[str, object] | None:
    """Return the texts that were kept, or None when they may be out of date or there are none.

    While the index is being made anew, as after an update of the program, the files alone decide.
    """
    try:
        with open(os.path.join(folder, FILE_NAME), encoding="utf-8") as stream:
            kept = json.load(stream)
        inode, revision = kept["catalogue"]
        holds = (
            kept["head"] == _find_head()
            and kept["day"] in ("", today)
            and kept["files"] == _describe(root, kept["notes"])
            and not _has_news(os.path.join(folder, CATALOGUE), inode, revision, kept["notes"])
        )
        return _check_texts(kept["texts"]) if holds else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, sqlite3.Error):
        return None  # damaged; it is put together anew


def _check_texts(texts: dict[str, object]) -> dict[str, object]:
    """Return the texts; raises an error of their form, also for one that cannot be printed."""
    for name in ("text", "hook"):
        text = texts[name]
        if not isinstance(text, str):
            raise TypeError(name)
        text.encode("utf-8")
    return dict(texts)


def _find_head() -> list[object]:
    return [FORMAT, *(os.environ.get(name, "") for name in VARIABLES)]


def _describe(root: str, paths: Collection[str]) -> dict[str, list[int]]:
    """Return what the files of rules, their folders and the settings look like from outside; [] for one that is gone.

    A new file in a folder changes the folder.
    """
    folders = {path.rpartition("/")[0] or "." for path in paths}
    return {name: _find_marks(os.path.join(root, name)) for name in sorted({SETTINGS, *folders, *paths})}


def _find_marks(file: str) -> list[int]:
    try:
        status = os.stat(file)
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino]


def _has_news(catalogue: str, inode: int, revision: int, paths: Collection[str]) -> bool:
    """Whether the index has since met a change that can matter to the rules."""
    with closing(sqlite3.connect(f"file:{_quoted(catalogue)}?mode=ro", uri=True, timeout=0.2)) as db:
        meta = dict(db.execute("SELECT key, value FROM meta"))
        if "complete" not in meta:
            return False
        if inode != os.stat(catalogue).st_ino or not meta["log_start"] <= revision <= meta["revision"]:
            return True
        removed = {row[0] for row in db.execute("SELECT path FROM removed WHERE changed > ?", (revision,))}
        changed = db.execute(_CHANGED, (revision, MOST_CHANGES)).fetchall()
    rules = {*paths}
    return (
        len(changed) == MOST_CHANGES
        or not rules.isdisjoint(removed)
        or any(path in rules or any(word in record for word in _TELLING) for path, record in changed)
    )


def _quoted(path: str) -> str:
    """Return a path as it is written in a URI of SQLite."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
