"""One file's bytes for the index, with the signature they belong to."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import dataclass
from typing import NamedTuple

from vault_memex.config import Config
from vault_memex.core.changes import Signature
from vault_memex.core.revision import revision_of
from vault_memex.index.document import build_document
from vault_memex.store.disk import read_file
from vault_memex.store.files import MAX_BYTES
from vault_memex.store.indexed import IndexedNote, Touch

RACY_NS = 2_000_000_000  # clocks of file systems are coarse: a second change this soon may look like the first


class KnownNote(NamedTuple):
    """What the catalogue has of a path that is to be read."""

    revision: str | None  # None: not read yet
    size: int


NEW = KnownNote(None, 0)


@dataclass(frozen=True, slots=True)
class FileBytes:
    """Settled bytes."""

    data: bytes
    signature: Signature
    racy: bool


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a path gave no note."""

    path: str
    reason: str  # "gone"; "busy": look again; else what the system says


def read_note(root: str, path: str, known: KnownNote, config: Config) -> IndexedNote | Touch | Unread:
    """Return the note for the catalogue, or a touch when its bytes are those the catalogue has."""
    try:
        found = read_settled(os.path.join(root, path))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EINVAL):  # the last: no ordinary file any more
            return Unread(path, "gone")
        return Unread(path, error.strerror or type(error).__name__)
    if found is None:
        return Unread(path, "busy")
    if not found.data and known.size and found.racy:
        return Unread(path, "busy")  # most likely an editor between truncating and writing
    if known.revision is not None and revision_of(found.data) == known.revision:
        return Touch(path, found.signature, found.racy)
    return build_document(path, found.data, found.signature, config, racy=found.racy)


def read_settled(file: str) -> FileBytes | None:
    """Return the bytes of an ordinary file; None when it changed meanwhile. Raises what `read_file` raises."""
    now = time.time_ns()
    found = read_file(file, MAX_BYTES)
    if not found.is_whole:
        return None
    signature = Signature.of(found.after)
    return FileBytes(found.data, signature, is_racy(signature, now))


def is_racy(signature: Signature, now_ns: int) -> bool:
    """Whether the file changed so shortly before `now_ns` that its signature may hide another change."""
    return abs(now_ns - max(signature.mtime_ns, signature.ctime_ns)) < RACY_NS
