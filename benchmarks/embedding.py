"""How fast passages get their vectors, beside the bare model; and searches meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path

from benchmarks.client import RawClient
from benchmarks.figures import Figure, percentile
from benchmarks.search import find_queries
from benchmarks.vectors import find_texts
from benchmarks.workbench import Indexed, Workbench
from vault_memex.config import Config
from vault_memex.store.embedding import find_spec
from vault_memex.store.model_folder import find_model_dir

PATIENCE = 600.0
BARE_BATCH = 4  # the fastest size for this model on two cores
EVERYTHING = 1_000_000


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield passages a second in the server and bare, and how long searches take while it embeds."""
    vault = bench.make(bench.scale.embedded_notes, "embedding")
    bench.say("embedding")
    texts = find_texts(vault, EVERYTHING)
    bare = _run_bare(bench, texts)
    with vault.serve("--commit", "off") as client:
        client.start()
        ours, total = _time_worker(client)
    bare = max(bare, _run_bare(bench, texts))
    yield Figure(
        f"vectors of {total} passages",
        ours,
        "a second",
        0.9 * bare,
        "higher",
        bare,
        "fastembed alone",
        remark="target: 0.9 of the floor",
    )
    again = Indexed(vault.root, vault.cache.with_name("embedding-again"), vault.manifest)
    with again.serve("--commit", "off") as client:
        client.start()
        times, used = _time_searches(client, again)
    yield Figure(
        "search while embedding, p95",
        percentile(times, 0.95),
        "ms",
        150.0,
        remark=f"{len(times)} searches, {used} of them with meaning",
    )


def _time_worker(client: RawClient) -> tuple[float, int]:
    """Return passages a second from when the model is loaded to the last commit of vectors, and how many."""
    begun: tuple[float, int] | None = None
    until = time.perf_counter() + PATIENCE
    while time.perf_counter() < until:
        meaning = client.call("status")["structuredContent"]["meaning"]
        done, now = meaning.get("embedded", 0), time.perf_counter()
        if begun is None and meaning["state"] == "embedding":
            begun = now, done
        if begun and meaning["state"] == "ready" and done == meaning["passages"]:
            return (done - begun[1]) / (now - begun[0]), done
        time.sleep(0.25)
    raise RuntimeError(f"not embedded within {PATIENCE:.0f} s: {meaning}")


def _time_searches(client: RawClient, vault: Indexed) -> tuple[list[float], int]:
    """Return the milliseconds of searches while there is something to embed, and how many had meaning."""
    times: list[float] = []
    used = 0
    for query in cycle(find_queries(vault, 100)):
        meaning = client.call("status")["structuredContent"]["meaning"]
        if meaning["state"] == "unavailable" or client.seconds_since_start() > PATIENCE:
            raise RuntimeError(str(meaning))
        if meaning["state"] == "ready":
            return times, used
        if meaning["state"] == "embedding":
            started = time.perf_counter()
            found = client.call("search", query=query)["structuredContent"]
            times.append(1000 * (time.perf_counter() - started))
            used += not found.get("semantic_search_unavailable")
        time.sleep(0.1)
    raise AssertionError("unreachable")


def _run_bare(bench: Workbench, texts: Sequence[str]) -> float:
    file = bench.folder / "texts.json"
    file.write_text(json.dumps(texts), encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.embedding", str(file)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def embed_bare(texts: Sequence[str]) -> float:
    """Return how many texts a second fastembed embeds when nothing else is done."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    spec = find_spec(Config().model, find_model_dir())
    assert spec.find_folder is not None
    TextEmbedding.add_custom_model(
        model="bare",
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf="bare"),
        dim=384,
        model_file=spec.model_file,
    )
    engine = TextEmbedding("bare", specific_model_path=str(spec.find_folder()))
    ordered = sorted((spec.passage_prefix + text for text in texts), key=len, reverse=True)
    list(engine.embed(ordered[:BARE_BATCH], batch_size=BARE_BATCH))
    started = time.perf_counter()
    list(engine.embed(ordered, batch_size=BARE_BATCH))
    return len(texts) / (time.perf_counter() - started)


if __name__ == "__main__":
    print(embed_bare(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
