"""How long something computes, on a machine that has other work too."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the processor time of this thread for one call.

    Mark the test with `no_cover`: counting lines makes Python code three to ten times slower.
    """
    started = time.thread_time()
    call()
    return time.thread_time() - started
