"""Search in the server: words and meaning together, and words alone; and recall, whose answer is a pack of texts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from benchmarks.client import RawClient
from benchmarks.figures import Figure, median, percentile
from benchmarks.workbench import Indexed, Workbench
from vault_memex.config import Config
from vault_memex.store.embedding import find_embedder
from vault_memex.store.model_folder import find_model_dir

WARM_SECONDS = 60.0
PACK_TOKENS = 4_000


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield median and 95th percentile over markers (one right answer) and pairs of common words."""
    vault = bench.lend_filled()
    queries = find_queries(vault, bench.scale.searches)
    bench.say("searching")
    floor = _time_floor(vault, queries)
    with vault.serve() as client:
        client.start()
        wait_for_meaning(client)
        times = time_searches(client, queries)
        packs = time_searches(client, queries, "recall", max_tokens=PACK_TOKENS)
    yield from _show("hybrid search", times, (25.0, 60.0), floor, "query vector + 30,000 products")
    yield from _show(f"recall of {PACK_TOKENS:,} tokens", packs)
    with vault.serve("--model", "none") as client:
        client.start()
        client.find_paths("ledger")
        times = time_searches(client, queries)
    yield from _show("search by words", times)
    rare, common = times[::2], times[1::2]
    yield Figure("  of a word in one note, p50", median(rare), "ms")
    yield Figure("  of two common words, p50", median(common), "ms")


def find_queries(vault: Indexed, count: int) -> list[str]:
    """Return queries of the vault, rare and common ones in turn."""
    rare = [query.text for query in vault.manifest.queries if query.expected]
    common = [query.text for query in vault.manifest.queries if not query.expected]
    pairs = zip(rare * count, common * count, strict=False)
    return [text for pair, _ in zip(pairs, range(count // 2 + 1), strict=False) for text in pair][:count]


def time_searches(client: RawClient, queries: Sequence[str], tool: str = "search", **more: object) -> list[float]:
    """Return the milliseconds of each search."""
    times = []
    for query in queries:
        started = time.perf_counter()
        client.call(tool, query=query, **more)
        times.append(1000 * (time.perf_counter() - started))
    return times


def wait_for_meaning(client: RawClient) -> None:
    """Search until an answer used meaning; the model is loaded by the first question."""
    until = time.perf_counter() + WARM_SECONDS
    while time.perf_counter() < until:
        found = client.call("search", query="what was decided about the budget")["structuredContent"]
        if not found.get("semantic_search_unavailable"):
            return
        time.sleep(0.2)
    raise RuntimeError("no meaning: " + str(found.get("semantic_search_unavailable")))


def _time_floor(vault: Indexed, queries: Sequence[str]) -> list[float]:
    """Return the milliseconds that the model and the product with all vectors take for each query."""
    import numpy as np

    embedder = find_embedder(Config().model, find_model_dir())
    rows = np.random.default_rng(7).random((3 * len(vault.manifest.notes), embedder.dimension), np.float32)
    embedder.embed_query("warm")
    times = []
    for query in queries:
        started = time.perf_counter()
        scores = rows @ embedder.embed_query(query)
        np.argpartition(-scores, 50)
        times.append(1000 * (time.perf_counter() - started))
    return times


def _show(
    what: str,
    times: Sequence[float],
    goals: tuple[float | None, float | None] = (None, None),
    floor: Sequence[float] = (),
    floor_of: str = "",
) -> Iterator[Figure]:
    for label, share, goal in (("p50", 0.5, goals[0]), ("p95", 0.95, goals[1])):
        yield Figure(
            f"{what}, {label}",
            percentile(times, share),
            "ms",
            goal,
            floor=percentile(floor, share) if floor else None,
            floor_of=floor_of,
        )
