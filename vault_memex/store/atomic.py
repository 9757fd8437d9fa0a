"""Changing one file so that it is old or new, never torn, and nothing that somebody else saved is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from vault_memex.core.revision import revision_of
from vault_memex.errors import AlreadyExists, StaleRevision
from vault_memex.store.disk import (
    NO_BEFORE,
    exchange_names,
    read_bytes,
    remove_quietly,
    rename_new,
    sync_folder,
    write_all,
    write_temp,
)

Checkpoint = Callable[[str], None]
"""Called between the steps of a write with the step's name; tests stop a process there."""


Wait = Callable[[], object]
"""Called before the first name changes: returns when what must be on disk by then is there."""
Sync = Callable[[Path], object]
"""Makes the names in a folder durable, at once or as somebody else waits for it."""


def no_checkpoint(step: str) -> None:
    """Do nothing: the checkpoint of every real run."""
    del step


def no_wait() -> None:
    """Return at once: there is nothing to wait for."""


def create_file(
    file: Path,
    data: bytes,
    checkpoint: Checkpoint = no_checkpoint,
    *,
    ready: Wait = no_wait,
    sync: Sync = sync_folder,
) -> None:
    """Put a new file at a free name, durable. Raises FileExistsError; an existing file stays as it is."""
    temp = write_temp(file.parent, NO_BEFORE, data)
    checkpoint("temp written")
    try:
        ready()
        rename_new(temp, file)
    except BaseException:
        remove_quietly(temp)
        raise
    checkpoint("renamed")
    sync(file.parent)


def swap_file(
    file: Path,
    data: bytes,
    before: str,
    checkpoint: Checkpoint = no_checkpoint,
    *,
    ready: Wait = no_wait,
    sync: Sync = sync_folder,
    staged: Path | None = None,
) -> Path | None:
    """Replace a file that holds the revision `before`; return the hidden file that holds the old bytes.

    `staged` is the hidden file that holds the data already, durable.

    The name is swapped and what came out is hashed, so a save between look and swap shows: it is put back and
    StaleRevision raised. None is returned where the file system keeps nothing.
    """
    temp = staged or write_temp(file.parent, before, data, like=file)
    checkpoint("temp written")
    try:
        ready()
        swapped = exchange_names(temp, file)
    except BaseException:
        remove_quietly(temp)
        raise
    checkpoint("swapped")
    displaced = _check_displaced(file, temp, data, before) if swapped else _replace_compared(file, temp, before)
    sync(file.parent)
    return displaced


def write_in_place(file: Path, data: bytes, before: str, checkpoint: Checkpoint = no_checkpoint) -> None:
    """Overwrite a file's bytes, for hard links and folders that cannot be written.

    Not atomic: the caller must have stored the old bytes durably. On an error they are written back.
    """
    descriptor = os.open(file, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        old = os.read(descriptor, os.fstat(descriptor).st_size + 1)
        if revision_of(old) != before:
            raise _stale(revision_of(old))
        try:
            _overwrite(descriptor, data, checkpoint)
        except OSError:
            _overwrite(descriptor, old, no_checkpoint)
            raise
    finally:
        os.close(descriptor)


def move_file(source: Path, target: Path, before: str) -> None:
    """Rename a file that holds the revision `before` to a free name, durable. A change of case alone is fine."""
    if revision_of(read_bytes(source)) != before:
        raise _stale(revision_of(read_bytes(source)))
    try:
        rename_new(source, target)
    except FileExistsError:
        if not os.path.samefile(source, target) or source.parent != target.parent:
            raise
        os.rename(source, target)
    now = revision_of(read_bytes(target))
    if now != before:  # saved between the look and the rename: the save keeps its name
        rename_new(target, source)
        raise _stale(now)
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def remove_file(file: Path, before: str) -> None:
    """Remove a file that holds the revision `before`; another content stays and raises StaleRevision."""
    aside = file.parent / f".vmx-{os.urandom(3).hex()}-{before}.tmp"
    os.rename(file, aside)
    now = revision_of(read_bytes(aside))
    if now != before:
        rename_new(aside, file)
        raise _stale(now)
    os.unlink(aside)
    sync_folder(file.parent)


def keep_conflict_copy(kept: Path, file: Path, moment: float) -> Path:
    """Rename a kept file to `<stem> (conflict YYYY-MM-DD HHMMSS).md` beside the note; return where it is.

    `moment` is seconds since 1970; the name shows local time, as a person looks for it.
    """
    stamp = time.strftime("%Y-%m-%d %H%M%S", time.localtime(moment))
    for number in range(1, 1000):
        ending = f" (conflict {stamp}{'' if number == 1 else f' {number}'}){file.suffix}"
        stem = file.stem.encode("utf-8")[: 250 - len(ending.encode("utf-8"))].decode("utf-8", errors="ignore")
        target = file.parent / (stem + ending)
        try:
            rename_new(kept, target)
        except FileExistsError:
            continue
        sync_folder(file.parent)
        return target
    raise AlreadyExists(f"A thousand conflict copies of {file.name!r} exist. Merge some of them.", path=file.name)


def _check_displaced(file: Path, temp: Path, data: bytes, before: str) -> Path:
    now = _revision_or_none(temp)
    if now == before:
        return temp
    exchange_names(temp, file)  # theirs goes back
    if _revision_or_none(temp) == revision_of(data):
        remove_quietly(temp)
        raise _stale(now)
    # Somebody saved over ours between the two swaps. Both saves are theirs: keep the one that came out.
    copy = keep_conflict_copy(temp, file, time.time())
    raise StaleRevision(
        f"The file changed twice meanwhile; one save is kept as {copy.name!r}. Read it again.", revision=now
    )


def _replace_compared(file: Path, temp: Path, before: str) -> Path | None:
    """Where names cannot be swapped: compare, keep the old file under another name if links exist, replace."""
    try:
        now = revision_of(read_bytes(file))
        if now != before:
            raise _stale(now)
        kept = _link_aside(file, temp)
        os.replace(temp, file)
    except BaseException:
        remove_quietly(temp)
        raise
    return kept


def _link_aside(file: Path, temp: Path) -> Path | None:
    kept = temp.with_name(temp.name.replace(".vmx-", ".vmx-k"))
    try:
        os.link(file, kept)
    except OSError:
        return None
    return kept


def _overwrite(descriptor: int, data: bytes, checkpoint: Checkpoint) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    half = len(data) // 2
    write_all(descriptor, data[:half])
    checkpoint("half written in place")
    write_all(descriptor, data[half:])
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)


def _revision_or_none(file: Path) -> str | None:
    try:
        return revision_of(read_bytes(file))
    except OSError:
        return None  # a link or a device was put in the note's place


def _stale(now: str | None) -> StaleRevision:
    return StaleRevision("The file changed meanwhile. Read it again, then repeat the edit.", revision=now)
