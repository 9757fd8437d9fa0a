"""Looking for signals in a large vault: the first time, when nothing changed, after ten notes changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.client import RawClient
from benchmarks.figures import Figure
from benchmarks.freshness import wait_until_ready
from benchmarks.search import wait_for_meaning
from benchmarks.workbench import Indexed, Workbench

CHANGED = 10
PATIENCE = 120.0
WATCH_SECONDS = 0.02
ROWS, COLUMNS, DIMENSIONS = 512, 2_048, 384


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield the seconds of each look through the server, and what it occupies meanwhile beyond what it did before."""
    vault = bench.lend_filled()
    bench.say("numbering the notes")
    vault.run_init()
    with vault.serve("--tools", "core,insights") as client:
        client.start()
        wait_until_ready(client)
        wait_for_meaning(client)
        passages = client.call("status")["structuredContent"]["meaning"]["passages"]
        bench.say("looking for signals")
        floor = _time_products(passages)
        first = _look(client)
        yield Figure(
            f"signals of {len(vault.manifest.notes)} notes, first look",
            first.seconds,
            "s",
            5.0,
            floor=floor,
            floor_of=f"products of {passages} passages",
            remark=f"{first.found} found, {first.processor:.1f} s of processor",
        )
        yield Figure("memory beyond that before, at most", first.growth, "MB", 100.0)
        again = _look(client)
        yield Figure("again, nothing changed", 1000 * again.seconds, "ms", 200.0)
        bench.say(f"changing {CHANGED} notes")
        _change(client, vault)
        later = _look(client)
        remark = f"{later.processor:.1f} s of processor"
        yield Figure(f"after {CHANGED} notes changed", later.seconds, "s", 2.0, remark=remark)


class Look(NamedTuple):
    """What one look for signals took."""

    seconds: float
    processor: float  # seconds on all cores
    growth: float  # MB beyond what server and children had before, at most
    found: int


def _look(client: RawClient) -> Look:
    before, used = client.memory().together, client.processor_seconds()
    with _Watch(client) as watch:
        started = time.perf_counter()
        found = client.call("insights", kind="signals", limit=1)["structuredContent"]
        seconds = time.perf_counter() - started
    if found.get("unavailable"):
        raise RuntimeError(found["unavailable"])
    return Look(seconds, client.processor_seconds() - used, watch.most - before, found["total"])


class _Watch:
    """Remembers the most memory that the server and its children had, in MB."""

    def __init__(self, client: RawClient) -> None:
        self._client = client
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.most = 0.0

    def _run(self) -> None:
        while not self._done.wait(WATCH_SECONDS):
            self.most = max(self.most, self._client.memory().together)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def _change(client: RawClient, vault: Indexed) -> None:
    """Change notes from outside and wait until their new passages have vectors."""
    for note in vault.manifest.notes[:CHANGED]:
        with (vault.root / note.path).open("a", encoding="utf-8") as stream:
            stream.write("\nqzdetection: the kiln was fired once more.\n")
    until = time.perf_counter() + PATIENCE
    while time.perf_counter() < until:
        told = client.call("search", query="qzdetection", mode="exact")["structuredContent"]
        meaning = client.call("status")["structuredContent"]["meaning"]
        if told["total"] >= CHANGED and meaning["embedded"] == meaning["passages"]:
            return
        time.sleep(0.1)
    raise RuntimeError(f"not embedded within {PATIENCE:.0f} s")


def _time_products(passages: int) -> float:
    """Return the seconds of the bare products of all passages with all, each pair once."""
    matrix = np.random.default_rng(7).random((passages, DIMENSIONS), np.float32)
    memory = np.empty((ROWS, COLUMNS), np.float32)
    started = time.perf_counter()
    for row in range(0, passages, ROWS):
        for column in range(row, passages, COLUMNS):
            rows, columns = matrix[row : row + ROWS], matrix[column : column + COLUMNS]
            np.matmul(rows, columns.T, out=memory[: len(rows), : len(columns)])
    return time.perf_counter() - started
