"""`vault-memex index`."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json, progress


@dataclass(frozen=True, slots=True)
class IndexResult:
    """What an index run did."""

    notes: int
    added: int
    changed: int
    removed: int
    moved: int
    seconds: float
    passages: int = 0
    embedded: int = 0
    embedding_seconds: float = 0.0
    meaning: str = ""


def run(options: argparse.Namespace) -> int:
    """Scan the vault, index what changed, embed what is new."""
    with opened(options) as vault:
        if options.rebuild:
            vault.forget_index()
        started = time.perf_counter()
        with progress("Indexing words and links") as advance:
            report = vault.refresh(verify=options.verify, progress=advance)
        seconds = time.perf_counter() - started
        embedded, passages, meaning = 0, 0, "left out (--no-vectors)"
        started = time.perf_counter()
        if not options.no_vectors:
            with progress("Embedding passages") as advance:
                embedded, passages, meaning = vault.embed_all(advance)
        result = IndexResult(
            notes=vault.catalogue.count_notes(),
            added=len(report.added),
            changed=len(report.changed),
            removed=len(report.removed),
            moved=len(report.moved),
            seconds=round(seconds, 3),
            passages=passages,
            embedded=embedded,
            embedding_seconds=round(time.perf_counter() - started, 3),
            meaning=meaning,
        )
    if options.json:
        print_json(result)
        return 0
    print(
        f"{result.notes} notes in {result.seconds:.2f} s: {result.added} added, {result.changed} changed, "
        f"{result.moved} moved, {result.removed} removed."
    )
    print(f"Meaning: {embedded} of {passages} passages embedded. {meaning}".rstrip())
    return 0
