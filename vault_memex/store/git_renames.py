"""Which note a file was that came up at another place with another text: git's own detection of renames."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from vault_memex.store.git import Git, GitFailed

MOST_PATHS = 500  # of either kind; more at once are a move that content or numbers tell
_SINCE = "--since=90.days"  # of commits
_LIKE = "-M50%"
_RENAMED = re.compile(r"\s*R\d+")


def find_renames(git: Git, gone: Sequence[str], new: Sequence[str]) -> dict[str, str]:
    """Return by new path the one it was renamed from, committed or not; what git cannot tell is left out."""
    if git.mode() == "off" or not gone or not new or len(gone) > MOST_PATHS or len(new) > MOST_PATHS:
        return {}
    paths = ("--", *gone, *new)
    found: dict[str, str] = {}
    for look in (_look_at_commits, _look_at_files):
        try:
            pairs = list(_parse(look(git, new, paths)))
        except (GitFailed, OSError, subprocess.TimeoutExpired):
            continue
        found |= {to: path for path, to in pairs if path in gone and to in new}
    return found


def _look_at_commits(git: Git, _: Sequence[str], paths: Sequence[str]) -> bytes:
    options = ("-z", "--name-status", _LIKE, "--diff-filter=R", "--no-merges", "--format=", _SINCE)
    return git.run("--literal-pathspecs", "log", *options, *paths)


def _look_at_files(git: Git, new: Sequence[str], paths: Sequence[str]) -> bytes:
    """Compare the last commit with the files there are, in an index of our own: the person's stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        git.run("read-tree", "HEAD", index=index)
        git.run("--literal-pathspecs", "add", "--intent-to-add", "--force", "--", *new, index=index)
        options = ("-z", "--name-status", _LIKE, "--diff-filter=R", "--no-ext-diff", "HEAD")
        return git.run("--literal-pathspecs", "diff", *options, *paths, index=index)


def _parse(out: bytes) -> Iterator[tuple[str, str]]:
    """Yield (old path, new path)."""
    words = iter(out.decode("utf-8", errors="replace").split("\0"))
    for word in words:
        if _RENAMED.fullmatch(word):
            yield next(words), next(words)
