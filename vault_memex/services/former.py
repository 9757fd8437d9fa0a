"""What files held before and after journalled changes: from the vault's history, the undo store, or git."""

from __future__ import annotations

from collections.abc import Iterator

from vault_memex.core.revision import revision_of
from vault_memex.errors import NotFound
from vault_memex.store.git_log import find_committed
from vault_memex.store.journal import JournalEvent
from vault_memex.store.transaction import Stores


class Former:
    """Finds texts by their revision: what is returned is exactly what was there."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def get(self, event: JournalEvent, path: str, revision: str) -> bytes:
        """Return what a file held before an event. Raises NotFound when that is not kept any more."""
        found = self._find(event, path, revision, before=True)
        if found is None:
            raise NotFound(f"The former text of {path} is not kept any more; it cannot be put back.", path=path)
        return found

    def find_left(self, event: JournalEvent, path: str, revision: str) -> bytes | None:
        """Return what an event left in a file; None when that is not kept any more."""
        return self._find(event, path, revision, before=False)

    def number_of(self, path: str) -> int | None:
        """Return the number of the note that is, or was last, at a path."""
        number = self._stores.ids.number_of(path)
        if number is not None:
            return number
        former = self._stores.ids.find_former(path)  # looks at all that ever had a number
        return former[0] if len(former) == 1 else None

    def _find(self, event: JournalEvent, path: str, revision: str, *, before: bool) -> bytes | None:
        for data in self._yield_kept(event, path, revision, before=before):
            if data is not None and revision_of(data) == revision:
                return data
        return None

    def _yield_kept(
        self, event: JournalEvent, path: str, revision: str, *, before: bool
    ) -> Iterator[bytes | None]:
        stores = self._stores
        yield stores.undo.get(revision)
        if (versions := stores.versions) is not None:
            for number in dict.fromkeys((event.note_id, self.number_of(path))):
                if number is not None:
                    # What an event left is what a later one replaced.
                    yield from (versions.read(number, kept) for kept in versions.find_events(number))
        if stores.queue is not None:
            stores.queue.flush()
            yield find_committed(stores.queue.git, event.id, path, before=before)
