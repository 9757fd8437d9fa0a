"""One thread for what may go on while the disk is waited for elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Beside:
    """Does one thing after another on a thread of its own, which starts with the first.

    Two files that are flushed at the same time take a disk hardly longer than one.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="beside")

    def begin(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> Future[T]:
        """Begin it and return what waits for it; its errors are raised there."""
        return self._thread.submit(work, *arguments, **named)

    def close(self) -> None:
        """Take nothing more."""
        self._thread.shutdown(wait=False)
