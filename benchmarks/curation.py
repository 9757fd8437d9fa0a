"""What a curator asks before a run: the queue, what changed around notes, what waits; with a long journal behind it.

Times are of the processor, which other work on the machine hardly changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from benchmarks.figures import Figure, median
from benchmarks.workbench import Indexed, Workbench
from vault_memex.core.changes import Change, WriteFile
from vault_memex.core.snapshot import NoteRecord
from vault_memex.memory.hunks import plan_hunks
from vault_memex.memory.proposal_file import render_proposal
from vault_memex.memory.proposals import Proposal
from vault_memex.memory.runs import MOST_EXAMINED, Examined, RunRecord, render_details
from vault_memex.services.curation import QueueRequest
from vault_memex.services.curation_views import find_blast, find_last_curated, find_unenriched
from vault_memex.services.inbox_view import find_waiting
from vault_memex.store.journal import JournalEvent, render_event, render_moment
from vault_memex.vault import Vault, open_vault

GOAL = 200.0  # ms
PROPOSALS = 1_000  # of 10,000 notes


def measure(bench: Workbench) -> Iterator[Figure]:
    """Yield the first time of each view in a process, the middle of later ones, and the queue after a change."""
    made = bench.make(bench.scale.notes, "curation")
    bench.say("indexing and numbering them")
    made.run_init()
    bench.say("writing a journal and proposals")
    with_history(made, proposals=max(1, bench.scale.notes * PROPOSALS // 10_000))
    vault = open_for(made, "curator")
    try:
        vault.refresh()
        yield from measure_views(vault, max(3, bench.scale.rounds))
    finally:
        vault.close(patient=False)


def measure_views(vault: Vault, rounds: int) -> Iterator[Figure]:
    """Yield the figures of one open vault."""
    curation = vault.upkeep.curation

    def resolve(ref: str) -> NoteRecord:
        return vault.reading.find_note(ref)[0]

    views: dict[str, Callable[[], object]] = {
        "queue": lambda: curation.find_queue(QueueRequest(limit=100)),
        "blast radius": lambda: find_blast(curation, resolve, since_days=365, limit=100),
        "inbox": lambda: find_waiting(vault.review, vault.files, vault.sight, 50, 0),
        "notes without summary or tags": lambda: find_unenriched(curation, 100),
        "last curated": lambda: find_last_curated(curation, resolve),
    }
    vault.snapshot()
    for name, view in views.items():
        first = time_one(view)
        later = median([time_one(view) for _ in range(rounds)])
        yield Figure(f"curation: {name}", later, "ms", GOAL, remark=f"{first:.0f} ms the first time in a process")
    yield Figure(
        "curation: queue after a change", median(list(time_changed(vault, views["queue"], rounds))), "ms", GOAL
    )


def time_changed(vault: Vault, view: Callable[[], object], rounds: int) -> Iterator[float]:
    """Yield the milliseconds of a view after each of some edits of a note."""
    path = next(path for path, note in vault.snapshot().notes.items() if note.layer == "state")
    for _ in range(rounds):
        data = vault.files.read(path)
        text = f"{data.text}\nOne more line.\n".encode()
        vault.transactor.apply(
            Change("changed", path, "Add a line", (WriteFile(path, text, data.revision),), "ana")
        )
        vault.refresh()
        yield time_one(view)


def time_one(view: Callable[[], object]) -> float:
    """Return the milliseconds of the processor that one call takes."""
    started = time.process_time()
    view()
    return 1000 * (time.process_time() - started)


def open_for(made: Indexed, role: str) -> Vault:
    """Open the vault without a model or commits."""
    flags = {"model": "none", "commit": "off", "role": role, "connection": role}
    return open_vault(made.root, cache_dir=made.cache, flags=flags)


def with_history(made: Indexed, proposals: int) -> None:
    """Write what a year leaves: each note was added and read in two runs, every third changed since; proposals wait."""
    vault = open_for(made, "owner")
    try:
        vault.refresh()
        notes = list(vault.snapshot().notes.values())
        with vault.transactor.stores.lock.hold():
            write_journal(vault, notes)
        write_proposals(vault, [note for note in notes if note.layer == "state"][:proposals])
    finally:
        vault.close(patient=False)


def write_journal(vault: Vault, notes: Sequence[NoteRecord]) -> None:
    """Write the events of a year, without waiting for the disk for each."""
    now = datetime.now(UTC)
    events: list[JournalEvent] = []

    def note_event(kind: str, note: NoteRecord, days: float) -> None:
        at = render_moment(now - timedelta(days=days))
        texts = {"texts": {note.path: ["", "0" * 16, ""]}}
        event = JournalEvent(0, at, kind, kind, note.path, f"{kind} {note.title}", "ana", note.note_id)
        before = "0" * 32 if kind == "changed" else None
        events.append(replace(event, before=before, after=note.revision, details=texts))

    for number, note in enumerate(notes):
        note_event("added", note, 300 - number % 100)
    for days in (90, 30):
        for start in range(0, len(notes), MOST_EXAMINED):
            some = notes[start : start + MOST_EXAMINED]
            at = render_moment(now - timedelta(days=days))
            seen = tuple(Examined(n.path, n.title, n.note_id, "all", "nothing", revision=n.revision) for n in some)
            run = RunRecord("run_summary", "curator", at, "Read them.", examined=seen)
            events.append(
                JournalEvent(
                    0, at, "run_summary", "run_summary", "run.md", "Run", "curator", details=render_details(run)
                )
            )
    for number, note in enumerate(notes[::3]):
        note_event("changed", note, number % 20)
    append_all(vault, events)


def append_all(vault: Vault, events: Sequence[JournalEvent]) -> None:
    """Append the events in order of time to the months' files."""
    journal = vault.transactor.stores.journal
    first = journal.next_id()
    journal.folder.mkdir(parents=True, exist_ok=True)
    months: dict[str, list[bytes]] = {}
    for number, event in enumerate(sorted(events, key=lambda event: event.at), first):
        months.setdefault(event.at[:7], []).append(render_event(replace(event, id=number)))
    for month, lines in months.items():
        with (journal.folder / f"{month}.jsonl").open("ab") as stream:
            stream.write(b"".join(lines))


def write_proposals(vault: Vault, notes: Sequence[NoteRecord]) -> None:
    """Write an edit that waits for each of the notes."""
    at = render_moment(datetime.now(UTC))
    folder = vault.root / "_memex/inbox"
    folder.mkdir(parents=True, exist_ok=True)
    for number, note in enumerate(notes, 1):
        text = vault.files.read(note.path).text
        body = plan_hunks(text, f"{text}\nOne more line.\n")
        proposal = Proposal(
            number, "edit", note.path, note.title, "ana", at, at, note.note_id, note.revision, body
        )
        (vault.root / proposal.file).write_text(render_proposal(proposal), encoding="utf-8")
