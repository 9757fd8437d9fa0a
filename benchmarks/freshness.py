"""From an edit to the search that finds it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.client import RawClient
from benchmarks.figures import Figure, median, percentile
from benchmarks.workbench import Indexed, Workbench
from vault_memex.config import Config

PATIENCE = 30.0
POLL = 0.005


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield the times of single edits by another program, of many at once, and of the server's own."""
    vault = bench.lend()
    with vault.serve("--model", "none") as client:
        client.start()
        wait_until_ready(client)
        bench.say("editing from outside")
        times = [_edit_outside(client, vault, number) for number in range(bench.scale.edits)]
        floor = 1000 * Config().debounce_seconds
        yield Figure("outside edit to found, p50", median(times), "ms", 300.0, floor=floor, floor_of="debounce")
        yield Figure("outside edit to found, p95", percentile(times, 0.95), "ms", 1_000.0)
        many = _edit_many(client, vault, bench.scale.many)
        yield Figure(f"{bench.scale.many} files at once, all found", many, "s", 3.0)
        missed = sum(not _find_own_write(client, vault, number) for number in range(bench.scale.edits))
        yield Figure("own writes that the next search missed", missed, "", 0.0)


def wait_until_ready(client: RawClient) -> None:
    """Wait until the server has compared its index with the files."""
    _wait(lambda: client.call("status")["structuredContent"]["index"]["state"] == "ready")


def _edit_outside(client: RawClient, vault: Indexed, number: int) -> float:
    """Return the milliseconds until a word that another program wrote is found."""
    word, path = f"qzoutside{number}", vault.manifest.notes[number].path
    _append(vault.root / path, word)
    return 1000 * _wait(lambda: client.find_paths(word, mode="exact") == [path])


def _edit_many(client: RawClient, vault: Indexed, count: int) -> float:
    paths = [note.path for note in vault.manifest.notes[-count:]]
    for path in paths:
        _append(vault.root / path, "qzmany")
    return _wait(
        lambda: client.call("search", query="qzmany", mode="exact")["structuredContent"]["total"] >= len(paths)
    )


def _find_own_write(client: RawClient, vault: Indexed, number: int) -> bool:
    notes = vault.editable
    word, path = f"qzown{number}", notes[number % len(notes)].path
    client.call("edit", ref=path, patch=[{"append": word}])
    return client.find_paths(word, mode="exact") == [path]


def _append(file: Path, word: str) -> None:
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"\n{word}\n")


def _wait(true: Callable[[], bool]) -> float:
    """Return the seconds until it is true."""
    started = time.perf_counter()
    while not true():
        if time.perf_counter() - started > PATIENCE:
            raise RuntimeError(f"not seen within {PATIENCE:.0f} s")
        time.sleep(POLL)
    return time.perf_counter() - started
