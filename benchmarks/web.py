"""The page in the browser over a vault with a tenth as many proposals as notes: how long each page takes to come."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

from benchmarks.figures import Figure, median
from benchmarks.workbench import Indexed, Workbench
from vault_memex.core.markdown import parse_note
from vault_memex.memory.hunks import plan_hunks
from vault_memex.memory.proposal_file import render_proposal
from vault_memex.memory.proposals import Proposal

GOAL = 300.0  # ms
DAY = "2026-11-30T08:00:00.000Z"
_ADDRESS = re.compile(r"http://\S+")


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield the milliseconds of each page: the first one after the start, and the middle of some rounds."""
    vault = bench.lend()
    vault.run_init()
    count = bench.scale.notes // 10
    bench.say(f"writing {count} proposals")
    paths = write_proposals(vault, count)
    pages = {
        "inbox": "",
        "last part of the inbox": f"?offset={max(0, count - 50)}",
        "a proposal": "proposal/1",
        "a note": f"note/{quote(paths[0])}",
        "journal": "journal",
        "latest notes": "search",
        "search": "search?q=winter+ledger&mode=exact",
        "inferences": "inferences",
        "signals": "signals",
        "tidying": "tidying",
    }
    with page(vault) as (client, base, cookie):
        yield Figure(f"page: first view, {count} proposals", ask(client, base, cookie), "ms", GOAL)
        for name, place in pages.items():
            times = [ask(client, base + place, cookie) for _ in range(max(3, bench.scale.rounds))]
            yield Figure(f"page: {name}, p50", median(times), "ms", GOAL)


def write_proposals(vault: Indexed, count: int) -> list[str]:
    """Write as many proposals as files, one each for as many notes; return the paths of those notes."""
    inbox = vault.root / "_memex" / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    rows = (vault.root / ".memex" / "ids.tsv").read_text(encoding="utf-8").splitlines()
    numbers = {row.split("\t")[1]: int(row.split("\t")[0]) for row in rows if row[:1].isdigit()}
    chosen = [note for note in vault.manifest.notes if note.path in numbers][:count]
    for number, note in enumerate(chosen, 1):
        text = (vault.root / note.path).read_text(encoding="utf-8")
        body = parse_note(text).body
        words = body.split(" ")
        words[len(words) // 2] += " indeed"
        change = plan_hunks(body, " ".join(words))
        proposal = Proposal(
            number, "edit", note.path, note.title, "claude-code", DAY, DAY, numbers[note.path], body=change
        )
        (vault.root / proposal.file).write_text(render_proposal(proposal), encoding="utf-8")
    return [note.path for note in chosen]


@contextmanager
def page(vault: Indexed) -> Iterator[tuple[HTTPConnection, str, str]]:
    """Serve the page; give a connection to it, the path of its pages and the cookie."""
    command = [sys.executable, "-m", "vault_memex", "ui", "--no-browser", "--vault", str(vault.root)]
    with subprocess.Popen(
        [*command, "--cache-dir", str(vault.cache)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            found = _ADDRESS.search(process.stdout.readline())
            assert found is not None
            parts = urlsplit(found[0])
            with closing(HTTPConnection("127.0.0.1", parts.port or 0, timeout=60)) as client:
                client.request("GET", f"{parts.path}?{parts.query}")
                answer = client.getresponse()
                answer.read()
                yield client, parts.path, (answer.getheader("set-cookie") or "").partition(";")[0]
        finally:
            process.terminate()


def ask(client: HTTPConnection, path: str, cookie: str) -> float:
    """Return the milliseconds until a page is there whole."""
    started = time.perf_counter()
    client.request("GET", path, headers={"cookie": cookie})
    answer = client.getresponse()
    answer.read()
    assert answer.status == 200, (path, answer.status)
    return 1000 * (time.perf_counter() - started)
