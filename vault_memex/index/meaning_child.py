"""The meaning process: holds the embedding model and LanceDB, embeds for the leader, answers searches.

Started by `index.meaning_process.MeaningProcess`. Ends when its standard input closes, so never outlives its server,
and when nothing was asked for a while.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

from vault_memex.errors import MemexError
from vault_memex.index.child import read_message, write_message
from vault_memex.index.meaning_engine import Engine
from vault_memex.store.log import open_log
from vault_memex.store.vectors import VectorsBroken, VectorsUnavailable

log = logging.getLogger(__name__)

SEARCHERS = 2
CLOSE_SECONDS = 1.0  # for a tidy end once the server has gone; nothing is lost without one
LONG_CALLS = (
    "neighbours",
    "near_pairs",
    "calibrate",
)  # seconds; they wait for each other, and no search waits for them
ENDLESS_CALLS = ("calibrate_all",)  # many seconds


class Host:
    """Reads requests, answers them; searches run beside the embedding."""

    def __init__(self, engine: Engine, answers: IO[bytes], idle_seconds: float) -> None:
        self._engine = engine
        self._answers = answers
        self._idle_seconds = idle_seconds
        self._writing = threading.Lock()
        self._pool = ThreadPoolExecutor(SEARCHERS, thread_name_prefix="search")
        self._long = ThreadPoolExecutor(1, thread_name_prefix="long")
        self._endless = ThreadPoolExecutor(1, thread_name_prefix="endless")
        self._calibrating: Future[None] = Future()
        self._calibrating.set_result(None)
        self._last = time.monotonic()  # of a question; who only looks at the state keeps nothing alive

    def run(self, requests: IO[bytes]) -> None:
        """Serve until standard input closes. The first request says whether we lead."""
        threading.Thread(target=self._watch_idle, name="idle", daemon=True).start()
        loading = False
        while True:
            try:
                number, what, arguments = read_message(requests)
            except EOFError:
                return
            if number == 0:
                self._obey(what, arguments)
            elif what == "state":
                self._answer(number, "ok", self._engine.state())
            else:
                self._last = time.monotonic()
                self._choose_pool(what).submit(self._serve, number, what, arguments)
            if not loading:
                loading = True
                self._pool.submit(self._load)

    def _load(self) -> None:
        try:
            try:
                self._engine.load()
            except VectorsBroken:
                self._engine.reset()
                self._engine.load()
        except Exception as error:
            log.exception("meaning cannot be had")
            self._answer(0, "fault", _render_reason(error))
            os._exit(1)  # the server starts another process later
        self._answer(0, "ready", "")

    def _obey(self, what: str, arguments: tuple[Any, ...]) -> None:
        if what == "lead":
            self._engine.lead(*arguments)
        elif what == "prune":
            self._engine.prune()
        elif what == "calibrate_all" and self._calibrating.done():
            self._calibrating = self._endless.submit(self._calibrate)

    def _choose_pool(self, what: str) -> ThreadPoolExecutor:
        if what in ENDLESS_CALLS:
            return self._endless
        return self._long if what in LONG_CALLS else self._pool

    def _calibrate(self) -> None:
        try:
            self._engine.calibrate_all()
        except Exception as error:  # noqa: BLE001 -- nobody waits for it; it is asked for again
            log.info("distances are not measured: %s", _render_reason(error))

    def _serve(self, number: int, what: str, arguments: tuple[Any, ...]) -> None:
        try:
            value = self._engine.calls[what](*arguments)
        except VectorsBroken as error:
            self._engine.reset()
            self._answer(number, "error", f"the vectors are being made anew: {error}")
        except Exception as error:  # noqa: BLE001 -- the process lives on, and the reason reaches the answer
            self._answer(number, "error", _render_reason(error))
        else:
            self._answer(number, "ok", value)

    def _answer(self, number: int, outcome: str, value: object) -> None:
        with self._writing:
            try:
                write_message(self._answers, (number, outcome, value))
            except (OSError, ValueError):
                os._exit(0)  # the server has gone

    def _watch_idle(self) -> None:
        while True:
            time.sleep(self._idle_seconds / 10)
            if self._engine.busy:
                self._last = time.monotonic()
            elif time.monotonic() - self._last > self._idle_seconds:
                os._exit(0)  # nothing is lost: the stores commit what they hold


def _render_reason(error: Exception) -> str:
    if isinstance(error, MemexError | VectorsUnavailable):
        return str(error)
    return f"{type(error).__name__}: {error}"


def main(arguments: Sequence[str]) -> None:
    """Run the process: ROOT CACHE MODEL CATALOGUE-FINGERPRINT IDLE-SECONDS."""
    root, cache, model, fingerprint, idle_seconds = arguments
    open_log()
    # What libraries print must not get between our answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        engine = Engine(Path(root), Path(cache), model, fingerprint)
    except MemexError as error:
        write_message(answers, (0, "fault", error.message))
        sys.exit(1)
    Host(engine, answers, float(idle_seconds)).run(sys.stdin.buffer)
    threading.Timer(CLOSE_SECONDS, os._exit, (0,)).start()  # closing may wait for a model that is still loaded
    engine.close()
    os._exit(0)  # threads of native libraries must not keep the process


if __name__ == "__main__":
    main(sys.argv[1:])
