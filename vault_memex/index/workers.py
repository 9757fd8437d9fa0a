"""Worker processes for a first index: parsing is CPU work, and this process has its tools to answer.

A worker that fails is made up for in this process.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from typing import NamedTuple

from vault_memex.config import Config
from vault_memex.index.child import end_child, read_message, start_child, write_message
from vault_memex.index.reading import KnownNote, Unread, read_note
from vault_memex.store.indexed import IndexedNote, Touch

WORKERS = 2
CHUNK = 100  # notes
END_SECONDS = 2.0
_AHEAD = 4  # finished chunks that wait to be stored; bounds memory

Wanted = tuple[str, KnownNote]
Outcome = IndexedNote | Touch | Unread


class Task(NamedTuple):
    """Notes to read; what travels to a worker."""

    root: str
    wanted: Sequence[Wanted]
    config: Config


def read_notes(root: str, wanted: Sequence[Wanted], config: Config) -> Generator[Outcome]:
    """Read notes in this process, in order."""
    for path, known in wanted:
        yield read_note(root, path, known, config)


def read_notes_parallel(
    root: str, wanted: Sequence[Wanted], config: Config, workers: int = WORKERS
) -> Generator[Outcome]:
    """Read notes in worker processes, in any order."""
    chunks: queue.SimpleQueue[Task] = queue.SimpleQueue()
    count = 0
    for start in range(0, len(wanted), CHUNK):
        chunks.put(Task(root, wanted[start : start + CHUNK], config))
        count += 1
    done: queue.Queue[list[Outcome]] = queue.Queue(_AHEAD)
    stop = threading.Event()
    started: list[subprocess.Popen[bytes]] = []
    threads = [
        threading.Thread(
            target=_drive_worker, args=(chunks, done, stop, started), name=f"index-worker-{n}", daemon=True
        )
        for n in range(workers)
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(count):
            yield from done.get()
    finally:
        stop.set()
        for worker in started:
            worker.kill()  # at once: it only reads, and whoever stops a pass must not wait for its chunk
        while any(thread.is_alive() for thread in threads):
            _drain(done)
            for thread in threads:
                thread.join(0.01)


def _drain(done: queue.Queue[list[Outcome]]) -> None:
    try:
        while True:
            done.get_nowait()
    except queue.Empty:
        pass


def _drive_worker(
    chunks: queue.SimpleQueue[Task],
    done: queue.Queue[list[Outcome]],
    stop: threading.Event,
    started: list[subprocess.Popen[bytes]],
) -> None:
    """Feed one worker until no chunk is left."""
    worker = _start_worker()
    try:
        started += [worker] if worker else []
        while not stop.is_set():
            try:
                task = chunks.get_nowait()
            except queue.Empty:
                return
            results = _ask(worker, task) if worker else None
            if results is None and stop.is_set():
                return
            if results is None:
                _end(worker)
                worker = None
                results = list(read_notes(*task))
            done.put(results)
    finally:
        _end(worker)


def _start_worker() -> subprocess.Popen[bytes] | None:
    try:
        return start_child("vault_memex.index.workers", quiet=True)
    except OSError:
        return None


def _ask(worker: subprocess.Popen[bytes], task: Task) -> list[Outcome] | None:
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        write_message(worker.stdin, task)
        results: list[Outcome] = read_message(worker.stdout)
    except (OSError, EOFError):
        return None
    return results


def _end(worker: subprocess.Popen[bytes] | None) -> None:
    if worker is not None:
        end_child(worker, END_SECONDS)


def main() -> None:
    """Answer tasks from stdin on stdout until stdin ends."""
    import gc

    # Token trees make collections dear, and nothing here outlives its chunk; what is imported is never looked at.
    gc.disable()
    gc.freeze()
    tasks, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    while True:
        try:
            task: Task = read_message(tasks)
        except EOFError:
            return
        write_message(answers, list(read_notes(*task)))
        gc.collect()


if __name__ == "__main__":
    main()
