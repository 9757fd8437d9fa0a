"""New notes through the server, compared by meaning with all others before and after they are written."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from benchmarks.disk import time_durable_writes
from benchmarks.figures import Figure, percentile
from benchmarks.generate import plan_notes, render_body
from benchmarks.search import wait_for_meaning
from benchmarks.workbench import Workbench
from vault_memex.vault import open_vault

WARM_UP = 3
SIZE = 700  # bytes of a body
CALIBRATION_SECONDS = 120.0


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield median and 95th percentile of a save with its duplicates, hints and flashbacks."""
    vault = bench.lend_filled()
    floors = time_durable_writes(bench.folder, bench.scale.saves)
    plans = plan_notes(bench.scale.saves + WARM_UP, random.Random(11))
    bench.say("measuring distances")  # which a server does once, beside its first answers
    opened = open_vault(vault.root, cache_dir=vault.cache)
    opened.distances.measure(whole=True, patience=CALIBRATION_SECONDS)
    opened.close()
    bench.say("saving")
    times = []
    with vault.serve("--commit", "off") as client:
        client.start()
        wait_for_meaning(client)
        for plan in plans:
            body, _ = render_body(random.Random(f"save {plan.number}"), plans, plan, SIZE)
            what = {"title": f"Saved {plan.title}", "body": body, "layer": plan.layer, "tags": list(plan.tags)}
            started = time.perf_counter()
            client.call("save", **what, folder="Saved", allow_duplicate=True)
            times.append(1000 * (time.perf_counter() - started))
    for label, share, goal in (("p50", 0.5, None), ("p95", 0.95, 150.0)):
        yield Figure(
            f"save of a note, compared by meaning, {label}",
            percentile(times[WARM_UP:], share),
            "ms",
            goal,
            floor=percentile(floors, share),
            floor_of="durable write",
        )
