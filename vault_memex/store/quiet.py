"""Making much that stays, without the collector of cycles looking through it again and again meanwhile."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside: list[bool] = []  # for each caller inside, whether collections were on when it came


@contextmanager
def without_collections(*, keep: bool = False) -> Iterator[None]:
    """Hold collections off; with `keep`, later ones do not look at what there is at the end.

    Several threads may be inside at once: collections go on when the last one is out. What is kept still goes when
    nothing refers to it; only cycles among it would stay.
    """
    with _lock:
        _inside.append(gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            if keep:
                gc.freeze()
            if len(_inside) > 1:
                _inside.pop()  # the first entry says what is to be restored
            elif _inside.pop():
                gc.enable()
