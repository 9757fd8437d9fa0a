"""The first index of a vault: words and links. Also the parser alone, in as many processes, as its floor."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import yaml
from markdown_it import MarkdownIt

from benchmarks.figures import Figure
from benchmarks.workbench import Workbench
from vault_memex.index.workers import WORKERS

FLOOR_NOTES = 2_000


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield notes a second for each size, and how the rate holds up as the vault grows."""
    rates: dict[int, float] = {}
    for notes in bench.scale.growth:
        vault = bench.make(notes, "first")
        floor = measure_floor(vault.root)
        bench.say(f"first index of {notes} notes")
        answer, seconds = vault.run_index("--no-vectors")
        rates[notes] = notes / answer["seconds"]
        yield Figure(
            f"first index, {notes:,} notes",
            rates[notes],
            "notes/s",
            1_200.0 if notes == bench.scale.notes else None,
            "higher",
            floor,
            "read + YAML + block tokens",
            remark=f"whole command {seconds:.1f} s",
        )
    first, last = min(rates), max(rates)
    if last > first:
        yield Figure(
            f"growth: rate at {last:,} notes to that at {first:,}", rates[last] / rates[first], "", 0.8, "higher"
        )


def measure_floor(root: Path) -> float:
    """Return how many notes a second as many processes parse as the index has workers."""
    command = [sys.executable, "-m", "benchmarks.first_index", str(root)]
    workers = [
        subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, text=True) for number in range(WORKERS)
    ]
    return sum(float(worker.communicate()[0]) for worker in workers)


def parse_share(root: Path, share: int) -> float:
    """Return the notes a second of one process that reads, splits off YAML and makes block tokens."""
    files = sorted(root.rglob("*.md"))[share::WORKERS][: FLOOR_NOTES // WORKERS]
    markdown = MarkdownIt("commonmark").enable("table")
    markdown.core.ruler.enableOnly(["normalize", "block"])
    loader = yaml.CSafeLoader
    started = time.perf_counter()
    for file in files:
        with open(file, "rb") as stream:
            text = stream.read().decode()
        _, block, body = text.split("---\n", 2)
        yaml.load(block, loader)
        markdown.parse(body)
    return len(files) / (time.perf_counter() - started)


if __name__ == "__main__":
    print(parse_share(Path(sys.argv[1]), int(sys.argv[2])))
