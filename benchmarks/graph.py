"""Reads and writes of a knowledge graph: as many entities as notes, five observations and two relations each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.disk import time_durable_writes
from benchmarks.figures import Figure, median
from benchmarks.workbench import Workbench
from vault_memex.memory.knowledge import GraphLink, Observation, RelationLine
from vault_memex.memory.knowledge_edit import render_body
from vault_memex.memory.knowledge_graph import Entity, Relation, Triple
from vault_memex.server.graph_tools import GraphArguments, _graph
from vault_memex.services.knowledge_requests import GraphEdit, Observed
from vault_memex.vault import Vault, open_vault

WORDS = ("kiln", "glaze", "harbour", "letter", "winter", "ledger", "boat", "choir", "tea", "map")


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield the middle times of reads and writes in one process, and of the first read after a start."""
    count = bench.scale.notes
    root = bench.folder / "graph"
    bench.say(f"writing {count} entities")
    write_entities(root, count)
    vault = open_graph(root, bench.folder / "graph-cache")
    bench.say("indexing them")
    vault.refresh()
    vault.numbering.load()
    vault.knowledge.edit(GraphEdit(entities=(Entity("First", "thing"),)))  # numbers all notes
    vault.close(patient=False)
    vault = open_graph(root, bench.folder / "graph-cache")
    vault.refresh()
    bench.say("reading and writing the graph")
    yield Figure("first read of the graph after a start", time_one(vault.knowledge.read), "ms")
    rounds = max(3, bench.scale.rounds)
    reads: dict[str, Callable[[], object]] = {
        "list of the graph": lambda: _graph(vault, GraphArguments()),
        "query": lambda: _graph(vault, GraphArguments(query=f"{WORDS[3]} {count // 2}")),
        "query of two words": lambda: _graph(vault, GraphArguments(query="winter kiln")),
        "entities by name": lambda: _graph(vault, GraphArguments(names=["Entity 1", "Entity 2"])),
    }
    for name, read in reads.items():
        yield Figure(f"graph: {name}, p50", median([time_one(read) for _ in range(rounds)]), "ms", 100.0)
    yield from measure_writes(bench, vault, rounds)
    vault.close(patient=False)


def measure_writes(bench: Workbench, vault: Vault, rounds: int) -> Iterator[Figure]:
    floor = median(time_durable_writes(bench.folder, rounds))
    writes: dict[str, Callable[[int], GraphEdit]] = {
        "new entity": lambda n: GraphEdit(entities=(Entity(f"New {n}", "thing", (Observation("x"),)),)),
        "observation": lambda n: GraphEdit(observations=(Observed("Entity 5", (Observation(f"new {n}"),)),)),
        "relation": lambda n: GraphEdit(relations=(Relation(Triple("Entity 6", f"is {n}", "Entity 7")),)),
        "delete of an entity": lambda n: GraphEdit(delete_entities=(f"Entity {10 + n}",)),
    }
    for name, make in writes.items():
        times = [time_one(lambda n=n, make=make: vault.knowledge.edit(make(n))) for n in range(rounds)]  # type: ignore[misc]
        yield Figure(f"graph: {name}, p50", median(times), "ms", 50.0, floor=floor, floor_of="durable write")
    vault.knowledge.edit(GraphEdit(observations=(Observed("Entity 5", (Observation("last"),)),)))
    yield Figure("graph: read after a write", time_one(lambda: _graph(vault, GraphArguments())), "ms", 100.0)


def time_one(act: Callable[[], object]) -> float:
    """Return the milliseconds that one call takes."""
    started = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - started)


def write_entities(root: Path, count: int) -> None:
    """Write notes of entities, as the graph tools would."""
    folder = root / "entities" / "thing"
    folder.mkdir(parents=True)
    for n in range(count):
        texts = [f"{WORDS[(n + k) % 10]} {n} {WORDS[(n * k) % 10]}" for k in range(5)]
        links = [RelationLine("knows", GraphLink(f"Entity {(n * 7 + k) % count}")) for k in (1, 2)]
        body = render_body([*map(Observation, texts), *links])
        head = f"---\nid: {n + 1}\nentity_type: thing\nlayer: state\n---\n"
        (folder / f"Entity {n}.md").write_text(head + body, encoding="utf-8")


def open_graph(root: Path, cache: Path) -> Vault:
    """Open the vault without a model or commits."""
    return open_vault(root, cache_dir=cache, flags={"model": "none", "commit": "off"})
