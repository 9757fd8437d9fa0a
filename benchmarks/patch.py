"""Edits of a 2 KB note through the server."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator

from benchmarks.client import RawClient
from benchmarks.disk import time_durable_writes
from benchmarks.figures import Figure, median, percentile
from benchmarks.workbench import Indexed, Workbench

WARM_UP = 3


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield median and 95th percentile, without commits and with one commit each; and the first edit of all."""
    vault = bench.lend()
    bench.say("editing, no commits")
    yield from _measure_mode(bench, vault, "off")
    subprocess.run(["git", "init", "-q"], cwd=vault.root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=vault.root, check=True)
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost")
    subprocess.run(["git", *who, "commit", "-qm", "start"], cwd=vault.root, check=True)
    bench.say("editing, one commit each")
    yield from _measure_mode(bench, vault, "each")
    subprocess.run(["rm", "-rf", ".git"], cwd=vault.root, check=True)


def _measure_mode(bench: Workbench, vault: Indexed, commit: str) -> Iterator[Figure]:
    floors = time_durable_writes(bench.folder, bench.scale.patches)
    with vault.serve("--model", "none", "--commit", commit) as client:
        client.start()
        client.find_paths("ledger")
        first = edit(client, vault, 0)
        for number in range(WARM_UP):
            edit(client, vault, number)
        times = [edit(client, vault, number) for number in range(bench.scale.patches)]
    what = f"edit of a note, commits {commit}"
    yield Figure(f"{what}, p50", median(times), "ms", 10.0, floor=median(floors), floor_of="durable write")
    floor = percentile(floors, 0.95)
    yield Figure(f"{what}, p95", percentile(times, 0.95), "ms", 50.0, floor=floor, floor_of="durable write")
    yield Figure(f"first {what}", first, "ms", remark="numbers all notes" if commit == "off" else "")


def edit(client: RawClient, vault: Indexed, number: int) -> float:
    """Make one edit; return its milliseconds."""
    note = vault.editable[number % len(vault.editable)]
    change = {"find": note.marker, "replace": f"{note.marker} n{number}"}
    started = time.perf_counter()
    client.call("edit", ref=note.path, patch=[change])
    return 1000 * (time.perf_counter() - started)
