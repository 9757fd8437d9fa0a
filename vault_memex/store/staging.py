"""What a change of many files waits for, many flushes at a time: a disk takes hardly longer for ten than for one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from vault_memex.store.disk import sync_folder, write_temp
from vault_memex.store.steps import Step

_FLUSHES = 8  # at a time


def stage_swaps(root: Path, steps: Sequence[Step]) -> dict[int, Path]:
    """Write the new bytes of the swaps beside their files, durable; return the hidden files by number of step.

    Files that an earlier step puts in place are left out. What was written before an error is left to recovery.
    """
    touched: set[str] = set()
    swaps: list[int] = []
    for number, step in enumerate(steps):
        if step.kind == "swap" and step.path not in touched:
            swaps.append(number)
        touched |= {step.path, step.to}
    if len(swaps) < 2:
        return {}

    def stage(number: int) -> Path:
        step = steps[number]
        file = root / step.path
        return write_temp(file.parent, step.before, step.new, like=file)

    with ThreadPoolExecutor(_FLUSHES, thread_name_prefix="staging") as threads:
        return dict(zip(swaps, threads.map(stage, swaps), strict=True))


def sync_folders(folders: Collection[Path]) -> None:
    """Make the names in all these folders durable."""
    if not folders:
        return
    with ThreadPoolExecutor(min(_FLUSHES, len(folders)), thread_name_prefix="staging") as threads:
        list(threads.map(sync_folder, folders))
