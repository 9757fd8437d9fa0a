"""What a server takes that nobody asks anything."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.client import RawClient
from benchmarks.figures import Figure
from benchmarks.freshness import wait_until_ready
from benchmarks.search import wait_for_meaning
from benchmarks.workbench import Workbench

LOOK_SECONDS = 3.0
BUSY_SHARE = 0.05  # of a core
LONGEST_SECONDS = 300.0


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield the share of one core, before the model was needed and with the model loaded."""
    vault = bench.lend_filled()
    with vault.serve() as client:
        client.start()
        wait_until_ready(client)
        yield Figure("idle, model not loaded", _measure_share(bench, client), "% of a core", 1.0)
        wait_for_meaning(client)
        yield Figure("measuring the vault's distances, once", _settle(bench, client), "s of a core")
        yield Figure("idle, model loaded", _measure_share(bench, client), "% of a core", 1.0)


def _settle(bench: Workbench, client: RawClient) -> float:
    """Return the processor seconds until nothing more is done that the first search began."""
    bench.say("waiting for what the first search began")
    before, until = client.processor_seconds(), time.perf_counter() + LONGEST_SECONDS
    used, last = 1.0, before
    while used > BUSY_SHARE * LOOK_SECONDS and time.perf_counter() < until:
        time.sleep(LOOK_SECONDS)
        now = client.processor_seconds()
        used, last = now - last, now
    return last - before


def _measure_share(bench: Workbench, client: RawClient) -> float:
    bench.say(f"doing nothing for {bench.scale.idle_seconds:.0f} s")
    before, started = client.processor_seconds(), time.perf_counter()
    time.sleep(bench.scale.idle_seconds)
    return 100 * (client.processor_seconds() - before) / (time.perf_counter() - started)
