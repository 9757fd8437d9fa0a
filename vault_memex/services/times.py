"""When notes were made and changed, as git tells it."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

from vault_memex.errors import MemexError
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.git import Git
from vault_memex.store.git_log import find_file_times, find_uncommitted

log = logging.getLogger(__name__)


def learn_times(root: Path, catalogue: Catalogue, is_closed: Callable[[], bool]) -> None:
    """Take creation and change times from git for notes whose frontmatter has none."""
    git = Git(root)
    try:
        edited = {file.path for file in find_uncommitted(git)} if git.mode() == "each" else set()
        times = {
            path: (known.first, None if path in edited else known.last)
            for path, known in find_file_times(git).items()
        }
        if times and not is_closed():
            catalogue.set_git_times(times)
    except (MemexError, OSError, sqlite3.ProgrammingError) as error:  # the last: closed meanwhile
        log.info("no times from git: %s", error)
