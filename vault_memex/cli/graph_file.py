"""`vault-memex graph import` and `graph export`: the file of the reference memory server."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from vault_memex.cli.opening import opened
from vault_memex.errors import NotFound
from vault_memex.memory.knowledge_graph import without_ended
from vault_memex.memory.memory_file import parse_memory_file, render_memory_file
from vault_memex.store.memory_file import read_memory_file, replace_memory_file


def run(options: argparse.Namespace) -> int:
    """Import or export; status 1 when something could not be taken in."""
    return _import(options) if options.part == "import" else _export(options)


def _import(options: argparse.Namespace) -> int:
    data = sys.stdin.buffer.read() if options.file == "-" else read_memory_file(Path(options.file).expanduser())
    if data is None:
        raise NotFound(f"There is no file {options.file!r}.")
    read = parse_memory_file(data.decode("utf-8", "replace"))
    with opened(options) as vault:
        vault.refresh()
        before = vault.knowledge.read()
        vault.knowledge.add_missing(read.graph)
        after = vault.knowledge.read()
    new, made = len(after.entities) - len(before.entities), len(after.relations) - len(before.relations)
    print(
        f"{new} of {len(read.graph.entities)} entities and {made} of {len(read.graph.relations)} relations are new."
    )
    there = {entity.name for entity in after.entities}
    missing = [f"a note {e.name!r} is there, and is no entity" for e in read.graph.entities if e.name not in there]
    faults = [*read.faults, *missing]
    for fault in faults:
        print(f"skipped: {fault}", file=sys.stderr)
    return 1 if faults else 0


def _export(options: argparse.Namespace) -> int:
    with opened(options) as vault:
        vault.refresh()
        graph = vault.knowledge.read()
        shown = graph if options.ended else without_ended(graph, vault.knowledge.today())
    text = render_memory_file(shown)
    if options.file == "-":
        sys.stdout.write(text)
    else:
        replace_memory_file(Path(options.file).expanduser(), text.encode("utf-8"))
        print(f"{len(shown.entities)} entities, {len(shown.relations)} relations: {options.file}")
    return 0
