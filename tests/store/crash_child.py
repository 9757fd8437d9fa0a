"""Applies one change and stops the process dead at a given checkpoint. Run by test_crash_recovery.

    python crash_child.py TEMPLATE OUT SCENARIO

For k = 0, 1, 2, ... copies TEMPLATE to OUT/k and forks a child that applies the scenario's change there and
is killed (SIGKILL) at its k-th checkpoint; ends when a child reaches the end alive. Prints how many were killed.

    python crash_child.py VAULT CHECKPOINT SCENARIO here

Dies in VAULT itself, at the first checkpoint of that name.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from vault_memex.core.changes import Change, MoveFile, WriteFile
from vault_memex.core.revision import revision_of
from vault_memex.store.displaced import Sweeper
from vault_memex.store.files import VaultFiles
from vault_memex.store.ids import Ids
from vault_memex.store.journal import Journal
from vault_memex.store.locks import VaultLock
from vault_memex.store.transaction import Stores, Transactor
from vault_memex.store.undo import UndoStore

OLD, NEW = b"old line\n" * 400, b"new line, longer\n" * 500
A, B = "A.md", "Sub/B.md"


def replacing(path: str, old: bytes, new: bytes) -> WriteFile:
    return WriteFile(path, new, revision_of(old))


SCENARIOS = {
    "swap": Change("changed", A, "t", (replacing(A, OLD, NEW),)),
    "create": Change("created", "New/C.md", "t", (WriteFile("New/C.md", NEW, None),)),
    "move": Change("renamed", "New/A2.md", "t", (MoveFile(A, "New/A2.md", revision_of(OLD)),)),
    "hard_link": Change("changed", "Linked.md", "t", (replacing("Linked.md", OLD, NEW),)),
    "relinked": Change(  # two of them say the same
        "renamed",
        "A2.md",
        "t",
        (
            MoveFile(A, "A2.md", revision_of(OLD)),
            *(replacing(path, b"[[A]]\n", b"[[A2]]\n") for path in (B, "Sub/C.md")),
            replacing("Other.md", b"x", b"[[A2]]\n"),
        ),
    ),
    "several": Change(
        "renamed",
        "New/A2.md",
        "t",
        (
            replacing(B, b"[[A]]\n", b"[[A2]]\n"),
            MoveFile(A, "New/A2.md", revision_of(OLD)),
            replacing("New/A2.md", OLD, NEW),
            WriteFile("D.md", b"made", None),
            replacing("Linked.md", OLD, NEW),
        ),
    ),
}


def open_plain(vault: Path, checkpoint: object = None) -> Transactor:
    """Return a transactor without threads, so that a fork is whole."""
    files = VaultFiles(vault)
    cache = vault.parent / f"{vault.name}-cache"
    journal, ids = Journal(files.memex_folder("journal")), Ids(files.memex_folder("ids.tsv"))
    stores = Stores(files, journal, ids, VaultLock(cache), UndoStore(cache / "undo"), Sweeper())
    return Transactor(stores, **({"checkpoint": checkpoint} if checkpoint else {}))  # type: ignore[arg-type]


def run_until(vault: Path, scenario: str, stop_at: int) -> None:
    seen = 0

    def stop(step: str) -> None:
        nonlocal seen
        del step
        if seen == stop_at:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1

    open_plain(vault, stop).apply(SCENARIOS[scenario])


def die_here(vault: Path, scenario: str, step: str) -> None:
    def stop(name: str) -> None:
        if name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    open_plain(vault, stop).apply(SCENARIOS[scenario])


def main() -> None:
    if sys.argv[4:] == ["here"]:
        die_here(Path(sys.argv[1]), sys.argv[3], sys.argv[2])
        return
    template, out, scenario = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    for k in range(200):
        vault = out / str(k)
        shutil.copytree(template, vault)
        os.link(vault / "Linked.md", out / f"{k}-other-name")
        child = os.fork()
        if child == 0:
            run_until(vault, scenario, k)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            print(k, os.WEXITSTATUS(status))
            return


if __name__ == "__main__":
    main()
