"""The steps of a change: checked against the disk before the first byte is written, done in order, reversible."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vault_memex.core.changes import Change, MoveFile, RemoveFile, WriteFile
from vault_memex.core.revision import revision_of
from vault_memex.core.text import base_of, folder_of
from vault_memex.errors import AlreadyExists, InvalidArgument, NotFound, NotWritable, PatchNoop, StaleRevision
from vault_memex.store.atomic import (
    Checkpoint,
    Sync,
    Wait,
    create_file,
    move_file,
    no_wait,
    remove_file,
    swap_file,
    write_in_place,
)
from vault_memex.store.disk import find_read_only_reason, sync_folder
from vault_memex.store.files import VaultFiles
from vault_memex.store.names import find_name_fault, twin_key
from vault_memex.store.paths import INTERNAL_FOLDER, Door, Place

StepKind = Literal["create", "swap", "in_place", "move", "remove"]


@dataclass(frozen=True, slots=True)
class Step:
    """One file operation. Paths are spelled as on disk."""

    kind: StepKind
    path: str
    to: str  # of a move; else the path itself
    before: str  # "" for a new file
    after: str  # "" for a removal
    old: bytes
    new: bytes  # b"" for a move and a removal


@dataclass(frozen=True, slots=True)
class FileResult:
    """What a change does to one file, all its steps together."""

    path: str
    from_path: str | None  # when it moved
    before: str | None  # None for a new file
    after: str | None  # None for a removed one
    data: bytes | None


@dataclass(frozen=True, slots=True)
class _Known:
    """A file as it will be after the steps so far."""

    path: str
    revision: str
    data: bytes


def prepare_steps(files: VaultFiles, change: Change, internal: bool) -> tuple[Step, ...]:
    """Return the steps of a change, every precondition checked against the files as they are now.

    Nothing is written. Raises StaleRevision, NotFound, AlreadyExists, NotWritable, PatchNoop, and what a path
    may raise.
    """
    known: dict[str, _Known | None] = {}  # by path as written in the change; None: moved away
    steps: list[Step] = []
    for edit in change.edits:
        if isinstance(edit, WriteFile):
            step = _prepare_write(files, edit, internal, known)
            known[edit.path] = known[step.path] = _Known(step.path, step.after, step.new)
        elif isinstance(edit, MoveFile):
            step = _prepare_move(files, edit, internal, known)
            known[edit.path] = known[step.path] = None
            known[edit.to] = known[step.to] = _Known(step.to, step.after, step.old)
        else:
            step = _prepare_removal(files, edit, internal)
            known[edit.path] = known[step.path] = None
        steps.append(step)
    if not steps:
        raise PatchNoop("The change has no edits, so nothing was written.")
    return tuple(steps)


def apply_step(
    files: VaultFiles,
    step: Step,
    checkpoint: Checkpoint,
    *,
    ready: Wait = no_wait,
    sync: Sync = sync_folder,
    staged: Path | None = None,
) -> Path | None:
    """Do one step, durable; return the hidden file that holds the displaced bytes, if one was left.

    `ready` is waited for before anything can be seen to have changed. A write leaves the folder to `sync`. `staged`
    is the hidden file that has a swap's new bytes already.
    """
    file = files.root / step.path
    if step.kind == "swap":
        return swap_file(file, step.new, step.before, checkpoint, ready=ready, sync=sync, staged=staged)
    if step.kind != "create":
        ready()
    if step.kind == "in_place":
        write_in_place(file, step.new, step.before, checkpoint)
    elif step.kind == "create":
        make_folders(files.root, folder_of(step.path))
        create_file(file, step.new, checkpoint, ready=ready, sync=sync)
    elif step.kind == "remove":
        remove_file(file, step.before)
    else:
        make_folders(files.root, folder_of(step.to))
        move_file(file, files.root / step.to, step.before)
    return None


def build_results(steps: tuple[Step, ...]) -> tuple[FileResult, ...]:
    """Return what the steps do to each file together, in order of first touch."""
    results: dict[str, FileResult] = {}
    for step in steps:
        earlier = results.pop(step.path, None)
        before = earlier.before if earlier else step.before or None
        origin = earlier.from_path if earlier else None
        if step.kind == "move" and (earlier is None or earlier.before is not None):
            origin = origin or step.path
        data = None if step.kind == "remove" else step.old if step.kind == "move" else step.new
        from_path = origin if origin != step.to else None
        results[step.to] = FileResult(step.to, from_path, before, step.after or None, data)
    return tuple(results.values())


def missing_folders(files: VaultFiles, steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Return the folders the steps will make, outermost first."""
    missing: list[str] = []
    for step in steps:
        folder, chain = folder_of(step.to), list[str]()
        while folder and folder not in missing and not (files.root / folder).is_dir():
            chain.append(folder)
            folder = folder_of(folder)
        missing += reversed(chain)
    return tuple(missing)


def make_folders(root: Path, folder: str) -> None:
    """Make a folder of the vault and what leads to it, durable."""
    if folder and not (root / folder).is_dir():
        make_folders(root, folder_of(folder))
        try:
            os.mkdir(root / folder)
        except FileExistsError:
            return
        sync_folder((root / folder).parent)


def _door_of(path: str, internal: bool) -> Door:
    first = path.lstrip("./").partition("/")[0]
    return "internal" if internal and twin_key(first) == INTERNAL_FOLDER else "note"


def _prepare_write(files: VaultFiles, edit: WriteFile, internal: bool, known: dict[str, _Known | None]) -> Step:
    after = revision_of(edit.data)
    door = "canvas" if edit.in_canvas else _door_of(edit.path, internal)
    place = files.find_place(edit.path, door)
    for key in (edit.path, place.path):
        if key in known:
            current = known[key]
            break
    else:
        current = _read_known(files, place, edit.path, door)
    if current is None and edit.before is None:
        return Step("create", place.path, place.path, "", after, b"", edit.data)
    if current is None:
        raise NotFound(f"{edit.path!r} is gone: it was removed or moved meanwhile. Nothing was written.")
    if edit.before is None:
        raise AlreadyExists(
            f"{current.path!r} exists already. Edit it, or choose another name.", path=current.path
        )
    if current.revision != edit.before:
        raise StaleRevision(
            f"{edit.path!r} changed meanwhile. Read it again, then repeat the edit.", revision=current.revision
        )
    if after == current.revision:
        raise PatchNoop(f"{edit.path!r} would stay as it is. Nothing was written.")
    kind = _write_kind(files.root / current.path)
    return Step(kind, current.path, current.path, current.revision, after, current.data, edit.data)


def _prepare_removal(files: VaultFiles, edit: RemoveFile, internal: bool) -> Step:
    if _door_of(edit.path, internal) != "internal":
        raise InvalidArgument("path", f"{edit.path!r}: notes are moved to the trash, not removed.")
    place = files.find_place(edit.path, "internal")
    current = _read_known(files, place, edit.path, "internal")
    if current is None:
        raise NotFound(f"{edit.path!r} is gone: it was removed or moved meanwhile.")
    if current.revision != edit.before:
        raise StaleRevision(f"{edit.path!r} changed meanwhile. Read it again.", revision=current.revision)
    return Step("remove", place.path, place.path, current.revision, "", current.data, b"")


def _read_known(files: VaultFiles, place: Place, path: str, door: Door) -> _Known | None:
    if not place.exists:
        return None
    note = files.read(place.path, door)
    if note.not_writable:
        raise NotWritable(f"{path!r} was not changed. {note.not_writable}")
    return _Known(note.path, note.revision, note.data)


def _write_kind(file: Path) -> StepKind:
    """Return how an existing file is written: its other names and a closed folder rule a swap out."""
    try:
        linked = os.lstat(file).st_nlink > 1
    except FileNotFoundError:
        return "swap"  # it comes to be there by an earlier step
    return "in_place" if linked or not os.access(file.parent, os.W_OK) else "swap"


def _prepare_move(files: VaultFiles, edit: MoveFile, internal: bool, known: dict[str, _Known | None]) -> Step:
    current = known.get(edit.path)
    if edit.path not in known:
        door = _door_of(edit.path, internal)
        place = files.find_place(edit.path, door)
        if place.exists:
            note = files.read(place.path, door)
            reason = find_read_only_reason(place.file, os.lstat(place.file))
            if reason:
                raise NotWritable(f"{edit.path!r} was not moved. {reason}")
            current = _Known(note.path, note.revision, note.data)
    if current is None:
        raise NotFound(f"{edit.path!r} is gone: it was removed or moved meanwhile. Nothing was moved.")
    if current.revision != edit.before:
        raise StaleRevision(
            f"{edit.path!r} changed meanwhile. Read it again, then move it.", revision=current.revision
        )
    to = _find_free_place(files, edit, current, internal, known)
    return Step("move", current.path, to, current.revision, current.revision, current.data, b"")


def _find_free_place(
    files: VaultFiles, edit: MoveFile, current: _Known, internal: bool, known: dict[str, _Known | None]
) -> str:
    target = files.find_place(edit.to, _door_of(edit.to, internal))
    if known.get(target.path) is None and (target.path in known or not target.exists):
        return target.path
    if target.path != current.path:
        raise AlreadyExists(f"{target.path!r} exists already. Choose another name.", path=target.path)
    # The target is the note itself under another spelling: a change of case or of Unicode form.
    name = unicodedata.normalize("NFC", base_of(edit.to))
    folder = folder_of(current.path)
    fault = find_name_fault(name)
    if fault or name == base_of(current.path):
        raise InvalidArgument("path", f"{edit.to!r}: {fault or 'the note has this name already'}.")
    return f"{folder}/{name}" if folder else name
