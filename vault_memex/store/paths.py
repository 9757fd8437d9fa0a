"""Containment: a path argument names one place inside the vault, or is refused."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vault_memex.core.canvas import is_canvas
from vault_memex.errors import (
    AmbiguousTitle,
    InvalidArgument,
    NotFound,
    NotWritable,
    PathOutsideVault,
    ReservedFolder,
    VaultError,
)
from vault_memex.store.names import MAX_PATH_BYTES, find_name_fault, is_hidden_name, twin_key

Door = Literal["read", "note", "canvas", "internal"]
"""Who asks: a reader, a writer of notes, a rename that a canvas has to follow, or the program writing its own
`_memex` files."""

INTERNAL_FOLDER = "_memex"
_LONGEST = 4096  # bytes of any path
_DRIVE_OR_SCHEME = re.compile(r"[A-Za-z]:[\\/]|[A-Za-z][A-Za-z0-9+.-]+://|\\\\|~(/|$)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path argument leads. `path` is spelled as on disk and goes through no link."""

    path: str
    file: Path  # absolute, real
    exists: bool


def resolve_place(root: Path, path: str, door: Door) -> Place:
    """Return the place a vault path names. `root` must be a real path (no links).

    An existing name is found by its NFC and case twins and keeps its spelling on disk. Links inside the vault are
    followed. Raises PathOutsideVault, ReservedFolder, InvalidArgument, NotWritable, AmbiguousTitle.
    """
    parts = _parse_parts(path, door)
    folder, seen, links = root, list[str](), 0
    queue = list(reversed(parts))
    while queue:
        name = queue.pop()
        found = _find_entry(folder, name, path)
        if found is None:
            return _place_of_new(root, seen, [name, *reversed(queue)], path, door)
        target = folder / found
        mode = os.lstat(target).st_mode
        if stat.S_ISLNK(mode):
            links += 1
            folder, seen, mode = _follow_link(root, target, path, door)
        else:
            folder, seen = target, [*seen, found]
        if queue and not stat.S_ISDIR(mode):
            raise InvalidArgument(
                "path", f"{_shown(path)}: {name!r} is a file, not a folder. Rename it, or name another folder."
            )
    _check_reserved(seen, path, door)
    return _checked_existing(Place("/".join(seen), folder, True), path, door)


def _parse_parts(path: str, door: Door) -> list[str]:
    if not path:
        raise InvalidArgument("path", "The path is empty. Name a note, for example `Folder/Note.md`.")
    if "\0" in path or any(0xD800 <= ord(c) <= 0xDFFF for c in path):
        raise InvalidArgument("path", f"{_shown(path)}: the path holds a character no file name has.")
    if len(path.encode("utf-8")) > _LONGEST:
        raise InvalidArgument("path", f"The path is longer than {_LONGEST} bytes.")
    if path.startswith(("/", "\\")) or _DRIVE_OR_SCHEME.match(path):
        raise PathOutsideVault(
            f"{_shown(path)} is not relative to the vault. Write the path from the vault's top."
        )
    if ".." in re.split(r"[\\/]", path):
        raise PathOutsideVault(f"{_shown(path)}: `..` is not followed. Write the path from the vault's top.")
    if path.endswith("/"):
        raise InvalidArgument("path", f"{_shown(path)} names a folder. Name a note in it.")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts:
        raise InvalidArgument("path", f"{_shown(path)} names the vault itself. Name a note.")
    for part in parts:
        if len(part.encode("utf-8")) > 255:
            raise InvalidArgument("path", f"{_shown(path)}: a name is longer than 255 bytes.")
    _check_reserved(parts, path, door)
    return parts


def _check_reserved(parts: list[str], path: str, door: Door) -> None:
    for part in parts:
        if is_hidden_name(part):
            raise ReservedFolder(f"{_shown(path)}: names that begin with a dot are not for notes.")
    inside = bool(parts) and twin_key(parts[0]) == INTERNAL_FOLDER
    if door in ("note", "canvas") and inside:
        raise ReservedFolder(f"{_shown(path)}: `{INTERNAL_FOLDER}` belongs to the program. Choose another folder.")
    if door == "internal" and not inside:
        raise ReservedFolder(f"{_shown(path)} is not in `{INTERNAL_FOLDER}`.")


def _find_entry(folder: Path, name: str, path: str) -> str | None:
    """Return the entry's spelling on disk: exact, else equal under NFC, else equal without case."""
    if _exists_as_spelled(folder, name):
        return name
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise VaultError(f"{_shown(path)}: the folder cannot be read ({error.strerror}).") from None
    key = twin_key(name)
    # Of plain letters the key is the lower case: in a folder of 10,000 notes that is most of what a look costs.
    twins = [n for n in names if (n.lower() if n.isascii() else twin_key(n)) == key]
    composed = unicodedata.normalize("NFC", name)
    twins = [n for n in twins if unicodedata.normalize("NFC", n) == composed] or twins
    if len(twins) > 1:
        raise AmbiguousTitle(path, sorted(twins))
    return twins[0] if twins else None


def _exists_as_spelled(folder: Path, name: str) -> bool:
    try:
        os.lstat(folder / name)
    except OSError:
        return False
    if os.name == "posix" and os.uname().sysname == "Linux":
        return True
    # A case-blind file system answers to any spelling; only the folder's list has the real one.
    try:
        return name in os.listdir(folder)
    except OSError:
        return False


def _follow_link(root: Path, link: Path, path: str, door: Door) -> tuple[Path, list[str], int]:
    """Return (real path, its parts, its mode) of a link's end, which must be inside the vault and exist."""
    try:
        real = Path(os.path.realpath(link, strict=True))
    except OSError:
        end = Path(os.path.realpath(link))
        if end != root and root not in end.parents:
            raise PathOutsideVault(f"{_shown(path)} is a link that leads out of the vault.") from None
        if door == "read":
            raise NotFound(f"{_shown(path)} is a link to nothing.") from None
        raise NotWritable(f"{_shown(path)} is a link to nothing. Name the note itself.") from None
    if real != root and root not in real.parents:
        raise PathOutsideVault(f"{_shown(path)} is a link that leads out of the vault.")
    parts = list(real.relative_to(root).parts)
    _check_reserved(parts, path, door)
    return real, parts, os.lstat(real).st_mode


def _place_of_new(root: Path, seen: list[str], names: list[str], path: str, door: Door) -> Place:
    parts = [*seen, *(unicodedata.normalize("NFC", name) for name in names)]
    _check_reserved(parts, path, door)
    place = Place("/".join(parts), root.joinpath(*parts), False)
    if door == "read":
        return place
    if door == "canvas":
        raise NotFound(f"{_shown(path)} is gone: it was removed or moved meanwhile.")
    for name in parts[len(seen) :]:
        fault = find_name_fault(name)
        if fault:
            raise InvalidArgument("path", f"{_shown(path)}: {name!r} cannot be created: {fault}.")
    if not seen and parts[0].startswith("~"):
        raise InvalidArgument("path", f"{_shown(path)}: `~` is not a home folder here. Choose another name.")
    if len(place.path.encode("utf-8")) > MAX_PATH_BYTES:
        raise InvalidArgument("path", f"{_shown(path)}: the path is longer than {MAX_PATH_BYTES} bytes.")
    _check_extension(parts[-1], path, door)
    if os.path.lexists(place.file.with_name(f".{place.file.name}.icloud")):
        raise NotWritable(f"{_shown(path)} is in iCloud only. Download it in the Finder, then try again.")
    return place


def _checked_existing(place: Place, path: str, door: Door) -> Place:
    mode = os.lstat(place.file).st_mode
    if stat.S_ISDIR(mode):
        raise InvalidArgument("path", f"{_shown(path)} is a folder. Name a note in it.")
    if not stat.S_ISREG(mode):
        raise InvalidArgument("path", f"{_shown(path)} is not an ordinary file.")
    if door != "read":
        _check_extension(place.path, path, door)
    return place


def _check_extension(name: str, path: str, door: Door) -> None:
    if door == "note" and not name.casefold().endswith(".md"):
        raise InvalidArgument("path", f"{_shown(path)}: a note's name ends in `.md`.")
    if door == "canvas" and not is_canvas(name):
        raise InvalidArgument("path", f"{_shown(path)} is no canvas: its name does not end in `.canvas`.")


def _shown(path: str) -> str:
    """Return the argument as it may stand in a message: quoted, the invisible escaped, at most 120 long."""
    return repr(path if len(path) <= 120 else path[:117] + "...")
