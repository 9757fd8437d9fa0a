"""Reads and replaces the file that mirrors the knowledge graph, wherever the person has it."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path

from vault_memex.errors import InvalidArgument
from vault_memex.store.disk import NO_BEFORE, os_error_as_memex, sync_folder, write_temp
from vault_memex.store.names import is_hidden_name, twin_key
from vault_memex.store.paths import INTERNAL_FOLDER

VARIABLE = "MEMORY_FILE_PATH"
SETTLED_SECONDS = 2.0  # longer than the steps in which file systems count time
FileSignature = tuple[int, int, int, int]


def find_memory_file(root: Path, environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the file that MEMORY_FILE_PATH names, `~` expanded, relative to the vault; None when it is not set."""
    named = environment.get(VARIABLE, "")
    if not named:
        return None
    try:
        file = Path(os.path.normpath(root / Path(named).expanduser()))
    except RuntimeError as error:
        raise InvalidArgument(VARIABLE, f"{VARIABLE} = {named!r}: {error} Write the whole path.") from None
    if root in file.parents:
        inside = file.relative_to(root).parts
        if file.suffix.lower() == ".md":
            raise InvalidArgument(
                VARIABLE, f"{VARIABLE} = {named!r} would be a note. Name a .json or .jsonl file."
            )
        if any(is_hidden_name(part) for part in inside) or twin_key(inside[0]) == INTERNAL_FOLDER:
            raise InvalidArgument(
                VARIABLE, f"{VARIABLE} = {named!r} lies among a program's own files. Name one in another folder."
            )
    kind = _find_odd_kind(file)
    if kind is not None:
        raise InvalidArgument(VARIABLE, f"{VARIABLE} = {named!r} is {kind}. Name a .json or .jsonl file.")
    return file


def _find_odd_kind(file: Path) -> str | None:
    """Return what there is in place of a file; reading a pipe would wait for ever, and a folder is never replaced."""
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        return None if error.errno == errno.EACCES else f"no place for a file ({error.strerror})"
    if stat.S_ISDIR(mode):
        return "a folder"
    return None if stat.S_ISREG(mode) else "a pipe or device"


def read_memory_file(file: Path) -> bytes | None:
    """Return the file's bytes, None when there is none."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise os_error_as_memex(error, str(file)) from error


def find_signature(file: Path) -> FileSignature | None:
    """Return what tells that the file is as it was; None where there is none, or it is so new that nothing tells."""
    try:
        found = file.stat()
    except OSError:
        return None
    if time.time() - max(found.st_mtime, found.st_ctime) < SETTLED_SECONDS:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def replace_memory_file(file: Path, data: bytes) -> None:
    """Put the data in place whole or not at all. A link stays one: the file that it leads to is replaced."""
    real = Path(os.path.realpath(file))
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        os.replace(write_temp(real.parent, NO_BEFORE, data, real if real.exists() else None), real)
        sync_folder(real.parent)
    except OSError as error:
        raise os_error_as_memex(error, str(file)) from error
