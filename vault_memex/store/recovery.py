"""Reversing the steps of a change that did not come to its end, deciding only by what is on disk.

Each file may hold the bytes before, the bytes after, or a third state that somebody else made. The first two are
brought back to before; a third state is never overwritten: it stays, and the old bytes are put beside it.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vault_memex.core.revision import revision_of
from vault_memex.errors import StaleRevision
from vault_memex.store.atomic import (
    create_file,
    keep_conflict_copy,
    move_file,
    remove_file,
    swap_file,
    write_in_place,
)
from vault_memex.store.disk import exchange_names, read_bytes, remove_quietly, sync_folder, write_temp
from vault_memex.store.displaced import check_displaced, find_temps
from vault_memex.store.steps import Step


@dataclass(frozen=True, slots=True)
class Reversal:
    """What reversing came to. Paths are vault paths."""

    conflicts: tuple[str, ...]  # conflict copies that were made
    third_states: tuple[str, ...]  # files that hold neither old nor new bytes, left as they are


_Temps = Mapping[tuple[Path, str], Sequence[Path]]  # by folder and the revision in the name


@dataclass(frozen=True, slots=True)
class _Scene:
    """Where steps are reversed: one look at each folder serves thousands of them."""

    root: Path
    moment: float
    temps: _Temps


def check_all_done(root: Path, steps: tuple[Step, ...]) -> bool:
    """Whether every file is as it should be after the last step."""
    final: dict[str, str] = {}
    for step in steps:
        if step.kind == "move":
            final[step.path] = ""
        final[step.to] = step.after  # "" when it was removed
    return all(_revision_at(root / path) == revision for path, revision in final.items())


def check_undone(root: Path, steps: tuple[Step, ...]) -> bool:
    """Whether a write of one file left it as it was: the name it swapped was lost with the power."""
    return (
        len(steps) == 1
        and steps[0].kind in ("swap", "create")
        and _revision_at(root / steps[0].path) == steps[0].before
    )


def reverse_steps(root: Path, steps: tuple[Step, ...], folders: tuple[str, ...], moment: float) -> Reversal:
    """Bring all files back to before the steps, last step first; remove our temporary files and new folders.

    `moment` (seconds since 1970) names conflict copies.
    """
    swapped = {step.path: _revision_at(root / step.path) != step.before for step in steps if step.kind == "swap"}
    conflicts: list[Path] = []
    third_states: list[str] = []
    scene = _Scene(root, moment, _find_temps(root, steps))
    for step in reversed(steps):
        restored, copy = _REVERSE[step.kind](scene, step)
        if not restored:
            third_states.append(step.to)
        if copy is not None:
            conflicts.append(copy)
    conflicts += _remove_temps(root, steps, swapped, moment)
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            (root / folder).rmdir()  # only when empty
    shown = tuple(sorted(copy.relative_to(root).as_posix() for copy in conflicts))
    return Reversal(shown, tuple(third_states))


def settle_temps(root: Path, steps: tuple[Step, ...], moment: float) -> tuple[str, ...]:
    """Remove temporary files of steps that are all done; return conflict copies, as vault paths."""
    copies = _remove_temps(root, steps, {step.path: True for step in steps}, moment)
    return tuple(copy.relative_to(root).as_posix() for copy in copies)


def _reverse_create(scene: _Scene, step: Step) -> tuple[bool, Path | None]:
    file = scene.root / step.path
    now = _revision_at(file)
    if now == step.after:
        with contextlib.suppress(StaleRevision):
            remove_file(file, step.after)
            return True, None
    return now == "", None


def _reverse_removal(scene: _Scene, step: Step) -> tuple[bool, Path | None]:
    file = scene.root / step.path
    now = _revision_at(file)
    if now == "":
        file.parent.mkdir(parents=True, exist_ok=True)
        create_file(file, step.old)
        return True, None
    return now == step.before, None


def _reverse_move(scene: _Scene, step: Step) -> tuple[bool, Path | None]:
    source, target = scene.root / step.path, scene.root / step.to
    same = _is_same_file(source, target)
    if _revision_at(target) == step.after and (same or not os.path.lexists(source)):
        if same and source.name in os.listdir(source.parent):
            return True, None
        source.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(StaleRevision):
            move_file(target, source, step.after)
            return True, None
    return _revision_at(source) == step.before, None


def _reverse_write(scene: _Scene, step: Step) -> tuple[bool, Path | None]:
    file = scene.root / step.path
    now = _revision_at(file)
    if now in (step.before, ""):  # gone: a move before it was not done, or the owner removed the note
        return True, None
    with contextlib.suppress(StaleRevision):
        if now == step.after and _swap_back(file, step, scene.temps):
            return True, None
        if now == step.after or (step.kind == "in_place" and _is_torn(file, step)):
            _write_old(file, step, now)
            return True, None
    return False, _put_old_beside(file, step, scene.moment)


def _write_old(file: Path, step: Step, now: str) -> None:
    if step.kind == "in_place":
        write_in_place(file, step.old, now)
        return
    displaced = swap_file(file, step.old, now)
    if displaced is not None:
        remove_quietly(displaced)


def _swap_back(file: Path, step: Step, temps: _Temps) -> bool:
    """Exchange the note with the displaced file that has the old bytes: needs no space on a full disk."""
    for kept in temps.get((file.parent, step.before), ()):
        if _revision_at(kept) != step.before:
            continue
        if not exchange_names(kept, file):
            os.replace(kept, file)
            return True
        if _revision_at(kept) == step.after:
            remove_quietly(kept)
            sync_folder(file.parent)
            return True
        exchange_names(kept, file)  # a save slipped in: it goes back
        return False
    return False


def _is_torn(file: Path, step: Step) -> bool:
    """Whether the bytes are those of a write in place that stopped: new ones up to a point, then old ones."""
    try:
        data = read_bytes(file)
    except OSError:
        return False
    split = next((i for i, pair in enumerate(zip(data, step.new, strict=False)) if pair[0] != pair[1]), None)
    split = min(len(data), len(step.new)) if split is None else split
    # Where old and new agree after the split point the prefix only reaches further, which does no harm.
    return data[split:] == step.old[split:] or data == step.new[: len(data)]


def _put_old_beside(file: Path, step: Step, moment: float) -> Path | None:
    if not file.parent.is_dir():
        return None
    temp = write_temp(file.parent, step.before, step.old)
    return keep_conflict_copy(temp, file, moment)


def _remove_temps(root: Path, steps: tuple[Step, ...], swapped: dict[str, bool], moment: float) -> list[Path]:
    """Remove temporary files of these steps; one that an editor wrote into becomes a conflict copy."""
    copies: list[Path] = []
    temps = _find_temps(root, steps)
    for step in steps:
        file = root / step.to
        wanted = "new" if step.kind == "create" else step.before
        for temp in temps.get((file.parent, wanted), ()):
            if step.kind == "swap" and swapped[step.path] and _revision_at(temp) != step.after:
                copy = check_displaced(temp, file, wanted, moment)
                copies += [copy] if copy is not None else []
            else:
                remove_quietly(temp)
    return copies


def _find_temps(root: Path, steps: tuple[Step, ...]) -> _Temps:
    found: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for folder in {(root / path).parent for step in steps for path in (step.path, step.to)}:
        for temp, before in find_temps(folder):
            found[folder, before].append(temp)
    return found


def _revision_at(file: Path) -> str:
    """Return the revision of what is at a name; "" for nothing, "?" for what is no file. Raises OSError else."""
    try:
        return revision_of(read_bytes(file))
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EINVAL, errno.EISDIR, errno.ENXIO):
            return "?"  # a link, a folder, a FIFO
        raise


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


_REVERSE: dict[str, Callable[[_Scene, Step], tuple[bool, Path | None]]] = {
    "create": _reverse_create,
    "move": _reverse_move,
    "remove": _reverse_removal,
    "swap": _reverse_write,
    "in_place": _reverse_write,
}
