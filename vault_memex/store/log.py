"""The log of a server's processes: on standard error, and never a reason to wait.

Few clients promise to read a server's standard error. Once its pipe is full, a write to it waits for ever; so one
thread writes, and what it cannot get rid of is dropped.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
from contextlib import suppress
from typing import TextIO

MOST_WAITING = 200  # records


class ImpatientHandler(logging.Handler):
    """Hands records to a thread that writes them; drops them while that thread is held up."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(logging.WARNING)
        self._stream = stream
        self._waiting: queue.Queue[str] = queue.Queue(MOST_WAITING)
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record over; never waits."""
        with suppress(queue.Full):
            self._waiting.put_nowait(self.format(record))

    def _write(self) -> None:
        while True:
            line = self._waiting.get()
            with suppress(OSError, ValueError):  # closed: the client has gone
                self._stream.write(line + "\n")
                self._stream.flush()


def open_log() -> None:
    """Send warnings and errors of this process to standard error."""
    handler = ImpatientHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
