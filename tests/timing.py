"""How long something computes, on a machine that has other work too."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


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
