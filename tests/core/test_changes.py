"""The file signature."""

from __future__ import annotations

import os
from pathlib import Path

from vault_memex.core.changes import Signature


def test_a_same_size_edit_with_the_mtime_put_back_changes_the_signature(tmp_path: Path) -> None:
    note = tmp_path / "n.md"
    note.write_bytes(b"aaa")
    before = note.stat()
    note.write_bytes(b"bbb")
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))

    first, second = Signature.of(before), Signature.of(note.stat())

    assert (first.mtime_ns, first.size, first.inode) == (second.mtime_ns, second.size, second.inode)
    assert first != second
