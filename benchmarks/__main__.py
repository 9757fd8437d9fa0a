"""Every target of the product, measured beside its floor in one run.

    python -m benchmarks                       all, on 10,000 notes: some ten minutes
    python -m benchmarks search patch          only these
    python -m benchmarks --large first_index   growth up to 50,000 notes
    python -m benchmarks --quick               small sizes: shows that it works, the figures say nothing

Wall times mean something on an idle machine only; the load beside each says whether it was one.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import (
    curation,
    detection,
    embedding,
    first_index,
    freshness,
    graph,
    idle,
    patch,
    save,
    scan,
    search,
    startup,
    web,
)
from benchmarks.figures import Figure, Report, print_reports, render_json
from benchmarks.workbench import FULL, LARGE, QUICK, Workbench

# Those that change notes come last: what they leave behind needs new vectors.
BENCHMARKS: Mapping[str, Callable[[Workbench], Iterator[Figure]]] = {
    "scan": scan.measure,
    "first_index": first_index.measure,
    "search": search.measure,
    "startup": startup.measure,
    "idle": idle.measure,
    "embedding": embedding.measure,
    "save": save.measure,
    "detection": detection.measure,
    "freshness": freshness.measure,
    "patch": patch.measure,
    "graph": graph.measure,
    "curation": curation.measure,
    "web": web.measure,
}


def run(names: Sequence[str], bench: Workbench) -> Iterator[Report]:
    """Yield the report of each benchmark as it ends."""
    for name in names:
        before, started = os.getloadavg()[0], time.perf_counter()
        figures = list(BENCHMARKS[name](bench))
        yield Report(name, figures, (before, os.getloadavg()[0]), time.perf_counter() - started)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmarks that were named and print what they found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; default: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to this file")
    parser.add_argument("--folder", type=Path, help="work in this folder instead of a temporary one")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    size.add_argument("--large", action="store_true", help="also 50,000 notes")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    names = [name for name in BENCHMARKS if name in options.names or not options.names]
    scale = QUICK if options.quick else LARGE if options.large else FULL
    console = Console(highlight=False, width=None if os.isatty(1) else 200)
    waiting = Console(stderr=True)
    with (
        tempfile.TemporaryDirectory(prefix="vault-memex-bench-", dir=options.folder) as folder,
        waiting.status("") as status,
    ):
        bench = Workbench(Path(folder), scale, status.update)
        reports = list(run(names, bench))
    print_reports(reports, console)
    if options.json:
        options.json.write_text(render_json(reports), encoding="utf-8")


if __name__ == "__main__":
    main()
