"""Who has which notes in hand for the next half hour: advice between connections, kept in the cache."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from vault_memex.errors import VaultError, VaultLocked
from vault_memex.store.locks import VaultLock

LEASE = timedelta(minutes=30)
_WAIT = 5.0  # seconds


class Leases:
    """Reservations by connection, in `leases.json` under a lock of their own. A damaged or missing file is none."""

    def __init__(self, cache: Path) -> None:
        self._file = cache / "leases.json"
        self._lock = VaultLock(cache, "leases.lock")

    def reserve(
        self, connection: str, now: datetime, choose: Callable[[Collection[str]], Sequence[str]]
    ) -> Collection[str]:
        """Reserve what `choose` returns, instead of what the connection had; return what the others have.

        `choose` gets what others have, and no other reserves meanwhile.
        """
        try:
            with self._lock.hold(_WAIT):
                kept = self._read(now)
                others = _find_others(kept, connection)
                chosen = list(choose(others))
                kept.pop(connection, None)
                if chosen:
                    kept[connection] = ((now + LEASE).isoformat(), chosen)
                self._write(kept)
                return others
        except (VaultError, VaultLocked):  # nobody frees the lock, or the cache cannot be written: no advice then
            return self.find_others(connection, now)

    def find_others(self, connection: str, now: datetime) -> Collection[str]:
        """Return what other connections have in hand."""
        return _find_others(self._read(now), connection)

    def release(self, connection: str) -> None:
        """Free all that a connection has reserved."""
        with suppress(VaultError, VaultLocked), self._lock.hold(_WAIT):
            kept = self._read(None)
            if kept.pop(connection, None) is not None:
                self._write(kept)

    def _read(self, now: datetime | None) -> dict[str, tuple[str, Sequence[str]]]:
        """Return the reservations that still hold."""
        try:
            raw = json.loads(self._file.read_text(encoding="utf-8"))
            kept = {str(name): (str(until), [str(one) for one in notes]) for name, (until, notes) in raw.items()}
            return {
                name: (until, notes)
                for name, (until, notes) in kept.items()
                if now is None or now < datetime.fromisoformat(until)
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write(self, kept: Mapping[str, tuple[str, Sequence[str]]]) -> None:
        fresh = self._file.with_suffix(".tmp")
        with suppress(OSError):  # a cache that cannot be written gives no advice
            fresh.write_text(json.dumps(kept), encoding="utf-8")
            os.replace(fresh, self._file)


def _find_others(kept: Mapping[str, tuple[str, Sequence[str]]], connection: str) -> frozenset[str]:
    return frozenset(note for name, (_, notes) in kept.items() if name != connection for note in notes)
