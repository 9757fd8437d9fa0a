"""Worker processes for a first index: parsing is CPU work, and this process has its tools to answer.

Plain children that speak pickle over their own pipes. They inherit neither the server's stdin nor its stdout, do
not import its main module, and hold none of its locks. A child that fails is made up for in this process.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import vault_memex
from vault_memex.config import Config
from vault_memex.index.reading import KnownNote, Unread, read_note
from vault_memex.store.indexed import IndexedNote, Touch

WORKERS = 2
CHUNK = 100  # notes
_AHEAD = 4  # finished chunks that wait to be stored; bounds memory

Wanted = tuple[str, KnownNote]
Reading = IndexedNote | Touch | Unread


class Task(NamedTuple):
    """Notes to read; what travels to a worker."""

    root: str
    wanted: Sequence[Wanted]
    config: Config


def read_notes(root: str, wanted: Sequence[Wanted], config: Config) -> Generator[Reading]:
    """Read notes in this process, in order."""
    for path, known in wanted:
        yield read_note(root, path, known, config)


def read_notes_parallel(
    root: str, wanted: Sequence[Wanted], config: Config, workers: int = WORKERS
) -> Generator[Reading]:
    """Read notes in worker processes, in any order."""
    chunks: queue.SimpleQueue[Task] = queue.SimpleQueue()
    count = 0
    for start in range(0, len(wanted), CHUNK):
        chunks.put(Task(root, wanted[start : start + CHUNK], config))
        count += 1
    done: queue.Queue[list[Reading]] = queue.Queue(_AHEAD)
    stop = threading.Event()
    threads = [
        threading.Thread(target=_drive_worker, args=(chunks, done, stop), name=f"index-worker-{n}", daemon=True)
        for n in range(workers)
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(count):
            yield from done.get()
    finally:
        stop.set()
        while any(thread.is_alive() for thread in threads):
            _drain(done)
            for thread in threads:
                thread.join(0.01)


def _drain(done: queue.Queue[list[Reading]]) -> None:
    try:
        while True:
            done.get_nowait()
    except queue.Empty:
        pass


def _drive_worker(
    chunks: queue.SimpleQueue[Task], done: queue.Queue[list[Reading]], stop: threading.Event
) -> None:
    """Feed one worker until no chunk is left."""
    worker = _start_worker()
    try:
        while not stop.is_set():
            try:
                task = chunks.get_nowait()
            except queue.Empty:
                return
            results = _ask(worker, task) if worker else None
            if results is None:
                _end(worker)
                worker = None
                results = list(read_notes(*task))
            done.put(results)
    finally:
        _end(worker)


def _start_worker() -> subprocess.Popen[bytes] | None:
    if not sys.executable:
        return None
    package = os.fspath(Path(vault_memex.__file__).parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        # -P: the working folder, which may be the vault, must not be a place to import from.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "vault_memex.index.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # Ctrl-C is for the server; the end of the pipe ends the worker
        )
    except OSError:
        return None


def _ask(worker: subprocess.Popen[bytes], task: Task) -> list[Reading] | None:
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        pickle.dump(task, worker.stdin, pickle.HIGHEST_PROTOCOL)
        worker.stdin.flush()
        # The bytes come from our own child, over a pipe that nobody else has.
        results: list[Reading] = pickle.load(worker.stdout)  # noqa: S301
    except (OSError, EOFError, pickle.UnpicklingError):
        return None
    return results


def _end(worker: subprocess.Popen[bytes] | None) -> None:
    if worker is None:
        return
    assert worker.stdin is not None
    assert worker.stdout is not None
    with suppress(OSError):
        worker.stdin.close()
    worker.stdout.close()
    try:
        worker.wait(2)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


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
            task: Task = pickle.load(tasks)  # noqa: S301 -- from our own parent
        except EOFError:
            return
        pickle.dump(list(read_notes(*task)), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
        gc.collect()


if __name__ == "__main__":
    main()
