"""What journal and commit say of a change."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from vault_memex.core.changes import Change
from vault_memex.store.git import CommitFile, CommitRequest
from vault_memex.store.journal import KINDS, FileState, JournalEvent, render_moment
from vault_memex.store.steps import FileResult


def build_event(
    change: Change, results: Sequence[FileResult], number: int, now: datetime, details: Mapping[str, Any]
) -> JournalEvent:
    """Return the event of a change that is about to be made."""
    main = next((r for r in results if change.path in (r.path, r.from_path)), results[0])
    states = tuple(FileState(r.path, r.from_path, r.before, r.after) for r in results)
    plain = len(results) == 1 and main.path == change.path
    return JournalEvent(
        id=number,
        at=render_moment(now),
        kind=KINDS.get(change.op, change.op),
        op=change.op,
        path=change.path,
        title=change.title,
        actor=change.actor,
        note_id=change.note_id,
        from_path=main.from_path if main.path == change.path else None,
        reason=change.reason,
        before=main.before,
        after=main.after,
        files=() if plain else states,
        details=details,
    )


def build_request(event: JournalEvent, files: Sequence[CommitFile]) -> CommitRequest:
    """Return the commit of an event with the files as it leaves them."""
    trailers = (
        ("Memex-Op", event.op),
        ("Memex-Note", "" if event.note_id is None else str(event.note_id)),
        ("Memex-Actor", event.actor),
        ("Memex-Proposal", str(event.details.get("proposal", ""))),
        ("Memex-Event", str(event.id)),
    )
    return CommitRequest(tuple(files), event.title, event.actor, event.at, trailers, event.reason)


def build_commit_file(root: Path, path: str, data: bytes | None) -> CommitFile:
    """Return what a commit says of a file of the vault; `data` None: it is gone."""
    executable = False
    if data is not None:
        with contextlib.suppress(OSError):
            executable = bool(os.lstat(root / path).st_mode & 0o100)
    return CommitFile(path, data, executable)
