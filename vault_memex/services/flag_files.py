"""The flags in `_memex/flags`, which the person may also write, change and delete by hand."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime

from vault_memex.core.changes import Signature
from vault_memex.errors import MemexError, NotFound
from vault_memex.memory.flags import FLAGS_FOLDER, Flag, find_flagged, parse_flag
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.journal import render_moment


class FlagFiles:
    """Reads flags. A file is parsed anew only when it changed."""

    def __init__(self, files: VaultFiles) -> None:
        self._files = files
        self._parsed: dict[str, tuple[Signature, Flag]] = {}

    def find(self) -> dict[int, Flag]:
        """Return all flags by the number of their note, oldest first; also of notes that are gone."""
        flags: dict[int, Flag] = {}
        for path in self._files.find_internal(FLAGS_FOLDER):
            number = find_flagged(path)
            flag = self._parse(path, number) if number is not None else None
            if flag is not None:
                flags.setdefault(flag.note_id, flag)
        return dict(sorted(flags.items(), key=lambda one: (one[1].raised, one[0])))

    def get(self, note_id: int | None) -> Flag | None:
        """Return the flag on a note. A file that cannot be read hides no note: then there is none."""
        if note_id is None:
            return None
        try:
            file = self.read(note_id)
        except MemexError:
            return None
        return build_flag(file, note_id) if file is not None else None

    def read(self, note_id: int) -> FileText | None:
        """Return the file of a note's flag as it is now."""
        for path in self._files.find_internal(FLAGS_FOLDER):
            if find_flagged(path) == note_id:
                try:
                    return self._files.read(path, "internal")
                except NotFound:  # gone this instant
                    continue
        return None

    def _parse(self, path: str, number: int) -> Flag | None:
        try:
            sign = Signature.of(os.lstat(self._files.root / path))
            known = self._parsed.get(path)
            if known is not None and known[0] == sign:
                return known[1]
            flag = build_flag(self._files.read(path, "internal"), number)
        except (OSError, MemexError):
            return None
        self._parsed[path] = (sign, flag)
        return flag


def build_flag(file: FileText, number: int) -> Flag:
    """Return the flag in a file; when it does not say since when, since it was last written."""
    flag = parse_flag(file.text, number)
    written = datetime.fromtimestamp(file.signature.mtime_ns / 1e9, UTC)
    return flag if flag.raised else replace(flag, raised=render_moment(written))
