"""A restart on a vault that did not change."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.workbench import Workbench
from vault_memex.vault import open_vault


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield the scan beside a bare one, and the whole command."""
    vault, rounds = bench.lend(), bench.scale.rounds
    vault.run_index("--no-vectors")  # settles what was read so soon after writing that it is looked at twice
    opened = open_vault(vault.root, cache_dir=vault.cache)
    try:
        bare, ours = [], []
        for _ in range(rounds):
            bare.append(_time(lambda: scan_bare(vault.root)))
            ours.append(_time(opened.indexer.reconcile))
    finally:
        opened.close()
    commands = [vault.run_index("--no-vectors")[1] for _ in range(rounds)]
    yield Figure(
        f"no-change scan of {bench.scale.notes:,} notes",
        1000 * min(ours),
        "ms",
        floor=1000 * min(bare),
        floor_of="scandir + stat",
        ratio_goal=2.0,
    )
    yield Figure("vault-memex index, nothing changed", min(commands), "s", 1.0)


def scan_bare(root: Path) -> int:
    """Return the number of files below a folder, after a stat of each."""
    count, pending = 0, [os.fspath(root)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def _time(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started
