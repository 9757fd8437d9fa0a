"""From the start of the process to its first answers, and the memory it takes."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.client import Memory, RawClient
from benchmarks.figures import Figure
from benchmarks.search import wait_for_meaning
from benchmarks.workbench import Indexed, Workbench, memex_command

# The least a server over the same SDK can be: one tool that says yes.
BARE = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare", log_level="WARNING")
@server.tool()
def get() -> str:
    return "yes"
server.run()
"""


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield the best of several starts, then the memory of one server through its stages."""
    vault = bench.lend_filled()
    bench.say("starting servers")
    rounds = [(_start_bare(), *_start(vault)) for _ in range(bench.scale.rounds)]
    bare, hello, got, found, memory = (list(column) for column in zip(*rounds, strict=True))
    floor = min(bare)
    yield Figure("spawn to initialize", min(hello), "s", floor=floor, floor_of="bare SDK server, first answer")
    yield Figure("spawn to first get", min(got), "s", 1.0, floor=floor)
    yield Figure("spawn to first search by words", min(found), "s", 1.0, floor=floor)
    yield _measure_hook(bench, vault)
    yield from _show_memory("memory before the model", max(memory, key=lambda m: m.together), 150.0)
    yield from _measure_embedding(bench)
    yield from _measure_use(vault)


def _measure_hook(bench: Workbench, vault: Indexed) -> Figure:
    """Return the least processor time of the hook that gives an assistant the house rules."""
    rules = memex_command("rules", vault.root, vault.cache, "--hook")
    _take_cpu(rules)  # the first one puts them together and keeps them
    rounds = range(3 * bench.scale.rounds)
    floor = min(_take_cpu([sys.executable, "-c", "pass"]) for _ in rounds)
    return Figure(
        "rules hook, processor time",
        min(_take_cpu(rules) for _ in rounds),
        "s",
        0.1,
        floor=floor,
        floor_of="bare interpreter",
    )


def _take_cpu(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _start_bare() -> float:
    with RawClient([sys.executable, "-c", BARE]) as client:
        client.start()
        client.call("get")
        return client.seconds_since_start()


def _start(vault: Indexed) -> tuple[float, float, float, Memory]:
    with vault.serve("--commit", "off") as client:
        client.start()
        hello = client.seconds_since_start()
        client.call("get", ref=vault.manifest.notes[0].title)
        got = client.seconds_since_start()
        client.find_paths(vault.manifest.notes[1].marker, mode="exact")
        found = client.seconds_since_start()
        time.sleep(0.5)  # the first scan is over
        return hello, got, found, client.memory()


def _measure_embedding(bench: Workbench) -> Iterator[Figure]:
    vault = bench.make(bench.scale.embedded_notes, "memory")
    bench.say("memory while embedding")
    peak = Memory(0, 0)
    with vault.serve() as client:
        client.start()
        until = time.perf_counter() + 120
        while time.perf_counter() < until:
            meaning = client.call("status")["structuredContent"]["meaning"]
            peak = max(peak, client.memory(), key=lambda m: m.together)
            if meaning["state"] == "ready" and meaning["embedded"] == meaning["passages"] > 0:
                break
            time.sleep(0.1)
    yield from _show_memory("memory while embedding, most", peak, 650.0)


def _measure_use(vault: Indexed) -> Iterator[Figure]:
    with vault.serve() as client:
        client.start()
        wait_for_meaning(client)
        yield from _show_memory("memory with the model in use", client.memory(), None)


def _show_memory(what: str, memory: Memory, goal: float | None) -> Iterator[Figure]:
    parts = f"server {memory.server:.0f}, meaning process {memory.children:.0f}"
    yield Figure(what, memory.together, "MB", goal, remark=parts)
