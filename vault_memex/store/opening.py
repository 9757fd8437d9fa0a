"""One call that opens everything a vault's writes need."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from vault_memex.config import CommitMode
from vault_memex.store.atomic import Checkpoint, no_checkpoint
from vault_memex.store.commits import CommitQueue
from vault_memex.store.displaced import Sweeper
from vault_memex.store.files import VaultFiles
from vault_memex.store.git import Git
from vault_memex.store.ids import Ids
from vault_memex.store.journal import Journal
from vault_memex.store.locks import VaultLock
from vault_memex.store.transaction import Stores, Transactor
from vault_memex.store.undo import UndoStore
from vault_memex.store.versions import Versions


def open_transactor(
    files: VaultFiles,
    cache_dir: Path,
    commit: CommitMode = "auto",
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    checkpoint: Checkpoint = no_checkpoint,
) -> Transactor:
    """Return a transactor with its stores. It writes nothing into the vault until the first change.

    `commit`: "auto" and "each" commit every write when the vault is the top of a git work tree; "batch" commits
    all writes together when flushed or closed. Close it to make the last commits.
    """
    git = Git(files.root) if commit != "off" else None
    queue = CommitQueue(git, cache_dir, commit == "batch") if git is not None and git.mode() == "each" else None
    sweeper = Sweeper()
    sweeper.start()
    stores = Stores(
        files=files,
        journal=Journal(files.memex_folder("journal")),
        ids=Ids(files.memex_folder("ids.tsv")),
        lock=VaultLock(cache_dir),
        undo=UndoStore(cache_dir / "undo"),
        sweeper=sweeper,
        queue=queue,
        versions=Versions(files.memex_folder("history")) if queue is None else None,
    )
    return Transactor(stores, now, checkpoint)
