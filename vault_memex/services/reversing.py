"""The edits that take a journalled change back, from the bytes the files had."""

from __future__ import annotations

from collections.abc import Callable

from vault_memex.core.canvas import is_canvas
from vault_memex.core.changes import FileEdit, MoveFile, RemoveFile, WriteFile
from vault_memex.core.revision import revision_of
from vault_memex.errors import NotFound
from vault_memex.store.journal import FileState, JournalEvent
from vault_memex.store.transaction import Stores


def plan_reversal(event: JournalEvent, find_bytes: Callable[[str, str], bytes | None]) -> tuple[FileEdit, ...]:
    """Return the edits that make the files of a change as they were before it, last first.

    Each names what the change left: applying them fails where somebody has changed a file since. `find_bytes` gets
    a path and a revision. Raises NotFound when the old bytes are not kept any more.
    """
    files = event.files or (FileState(event.path, event.from_path, event.before, event.after),)
    edits: list[FileEdit] = []
    for file in reversed(files):
        if file.from_path is not None and file.after is not None:
            edits.append(MoveFile(file.path, file.from_path, file.after))
        path = file.from_path or file.path
        if file.before == file.after:
            continue
        if file.before is None and file.after is not None:
            edits.append(RemoveFile(path, file.after))
        elif file.before is not None:
            data = find_bytes(path, file.before)
            if data is None:
                raise NotFound(f"The former text of {path} is not kept any more; it cannot be put back.")
            edits.append(WriteFile(path, data, file.after, in_canvas=is_canvas(path)))
    return tuple(edits)


def find_former(stores: Stores, event: JournalEvent, path: str, revision: str) -> bytes | None:
    """Return what a file held before an event, from the vault's history or the undo store."""
    numbers = (event.note_id, stores.ids.number_of(path))
    for number in numbers if stores.versions is not None else ():
        data = stores.versions.read(number, event.id) if number is not None and stores.versions else None
        if data is not None and revision_of(data) == revision:
            return data
    return stores.undo.get(revision)
