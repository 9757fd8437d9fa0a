"""Time in tests: how long something computes, on a machine that has other work too, and a clock that a test sets."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from datetime import datetime


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the processor time of this thread for one call.

    Mark the test with `no_cover`: counting lines makes Python code three to ten times slower. What other tests keep
    in memory is not looked through meanwhile.
    """
    gc.freeze()
    try:
        started = time.thread_time()
        call()
        return time.thread_time() - started
    finally:
        gc.unfreeze()


class Clock:
    """A clock that a test sets."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now
