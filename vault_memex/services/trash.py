"""Deleting is moving to `_memex/trash`, with a line in `tombstones.tsv` that says who, when and why."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from vault_memex.core.changes import Change, MoveFile, WriteFile
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import stem_of
from vault_memex.errors import NotFound
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.ids import escape_field
from vault_memex.store.journal import render_moment
from vault_memex.store.layout import TRASH_FOLDER
from vault_memex.store.names import file_name_for_title, numbered_name

TOMBSTONES = f"{TRASH_FOLDER}/tombstones.tsv"
HEAD = "id\ttitle\tpath\twhen\tby\treason\tpurged\n"


class Trash:
    """Plans of what goes into the trash."""

    def __init__(self, files: VaultFiles, clock: Callable[[], datetime]) -> None:
        self._files = files
        self._clock = clock

    def plan_delete(
        self, record: NoteRecord, file: FileText, number: int | None, reason: str, actor: str
    ) -> Change:
        """Return the change that moves a note to the trash and remembers it there."""
        where = self._find_free_path(record, number)
        fields = (
            "" if number is None else str(number),
            record.title,
            record.path,
            render_moment(self._clock()),
            actor,
            reason.strip(),
            "",
        )
        line = "\t".join(escape_field(field) for field in fields) + "\n"
        return Change(
            op="deleted",
            path=record.path,
            title=f"Delete {record.title}",
            edits=(MoveFile(record.path, where, file.revision), self._plan_tombstone(line)),
            actor=actor,
            note_id=number,
            reason=reason.strip(),
        )

    def _find_free_path(self, record: NoteRecord, number: int | None) -> str:
        prefix = stem_of(record.path) if number is None else f"{number:04d}"
        name = file_name_for_title(f"{prefix}--{record.title}")
        for copy in range(1, 10_000):
            path = f"{TRASH_FOLDER}/{name if copy == 1 else numbered_name(name, copy)}"
            if not self._files.find_place(path, "internal").exists:
                return path
        raise AssertionError("ten thousand notes of one name in the trash")

    def _plan_tombstone(self, line: str) -> WriteFile:
        try:
            present = self._files.read(TOMBSTONES, "internal")
        except NotFound:
            return WriteFile(TOMBSTONES, (HEAD + line).encode("utf-8"), None)
        gap = b"" if present.data.endswith(b"\n") or not present.data else b"\n"
        return WriteFile(TOMBSTONES, present.data + gap + line.encode("utf-8"), present.revision)
