"""The commit of the files that `init` makes."""

from __future__ import annotations

from vault_memex.store.change_event import build_commit_file
from vault_memex.store.commits import CommitQueue, QueuedCommit
from vault_memex.store.files import VaultFiles
from vault_memex.store.git import CommitRequest, Git

_NAMES = ("config.toml", ".gitattributes", ".gitignore")


def commit_setup(files: VaultFiles, queue: CommitQueue | None, at: str) -> str:
    """Commit the settings and the git files of `.memex`; return what was done, or what is left to do.

    `at` is the moment as the journal writes it. The answer is empty where git has no part in the vault.
    """
    paths = [f".memex/{name}" for name in _NAMES if files.memex_folder(name).is_file()]
    if queue is None:
        add = f"not committed; to keep them in git: git add {' '.join(paths)}"
        return add if Git(files.root).mode() == "each" else ""
    found = tuple(build_commit_file(files.root, path, (files.root / path).read_bytes()) for path in paths)
    queued = queue.submit(QueuedCommit(CommitRequest(found, "Set up vault-memex", "owner", at)))
    queue.flush()
    if queued.result.error:
        return queued.result.error
    return "committed: Set up vault-memex" if queued.result.commit else ""
