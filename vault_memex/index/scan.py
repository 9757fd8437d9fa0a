"""The vault's files as the disk has them: the truth that the catalogue is compared with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from vault_memex.core.changes import Signature
from vault_memex.errors import VaultError

OpenFolder = Callable[[str], AbstractContextManager[Iterator["os.DirEntry[str]"]]]

_NOTE_ENDINGS = frozenset((".md", ".MD", ".Md", ".mD"))
SKILLS = "_memex/skills/"


@dataclass(frozen=True, slots=True)
class _Rules:
    ignore: tuple[str, ...]
    open_folder: OpenFolder


@dataclass(slots=True)
class Scan:
    """What one pass over the vault found."""

    root: tuple[int, int]  # device and inode of the vault folder
    notes: dict[str, Signature] = field(default_factory=dict)
    attachments: set[str] = field(default_factory=set)
    unreadable: list[str] = field(default_factory=list)  # folders; nothing is known of what lies under them
    skipped: list[str] = field(default_factory=list)  # names that are not text
    folders: int = 1


def scan_vault(root: Path, ignore: tuple[str, ...] = (), open_folder: OpenFolder = os.scandir) -> Scan:
    """Return the signature of every note and the names of all other files.

    Hidden names, `_memex` save for its skills, ignored paths and symbolic links are left out; links are left out
    wherever they lead, because a file inside is found under its own name and one outside is not of the vault.
    Raises VaultError when the vault folder itself cannot be read; says nothing of folders below it that cannot.
    """
    rules = _Rules(ignore, open_folder)
    try:
        stat = os.stat(root)
        scan = Scan((stat.st_dev, stat.st_ino))
        pending = _scan_folder(os.fspath(root), "", rules, scan)
    except OSError as error:
        raise VaultError(f"The vault folder cannot be read: {error.strerror}. Is its disk mounted?") from error
    while pending:
        folder, prefix = pending.pop()
        try:
            pending += _scan_folder(folder, prefix, rules, scan)
        except (FileNotFoundError, NotADirectoryError):
            continue  # gone since its parent was read
        except OSError:
            scan.unreadable.append(prefix.rstrip("/"))
    return scan


def is_in_scope(path: str, ignore: tuple[str, ...] = ()) -> bool:
    """Whether a scan would look at the path, judged by its name alone."""
    parts = path.split("/")
    if any(part.startswith(".") or not part for part in parts):
        return False
    folders = ["/".join(parts[: i + 1]) for i in range(len(parts))]
    return not any(_is_left_out(folder, ignore) for folder in folders[:-1]) and not _is_file_left_out(path, ignore)


def is_note(name: str) -> bool:
    """Whether a file of that name is a note."""
    return name[-3:] in _NOTE_ENDINGS


def _scan_folder(folder: str, prefix: str, rules: _Rules, scan: Scan) -> list[tuple[str, str]]:
    """Add what lies in one folder; return its folders that are in scope, each with the prefix of its paths."""
    ignore, inner = rules.ignore, []
    guarded = bool(ignore) or prefix in ("", "_memex/")
    notes, attachments, sign = scan.notes, scan.attachments, Signature.of
    with rules.open_folder(folder) as entries:
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            path = prefix + name
            if not path.isascii() and not _is_text(path):
                scan.skipped.append(path.encode("utf-8", "backslashreplace").decode())
            elif entry.is_file(follow_symlinks=False):
                if guarded and _is_file_left_out(path, ignore):
                    continue
                if name[-3:] in _NOTE_ENDINGS:
                    try:
                        notes[path] = sign(entry.stat(follow_symlinks=False))
                    except FileNotFoundError:
                        continue
                else:
                    attachments.add(path)
            elif entry.is_dir(follow_symlinks=False) and not (guarded and _is_left_out(path, ignore)):
                scan.folders += 1
                inner.append((entry.path, path + "/"))
    return inner


def _is_left_out(folder: str, ignore: tuple[str, ...]) -> bool:
    foreign = folder.startswith("_memex/") and not (folder + "/").startswith(SKILLS)
    return foreign or _matches(folder, ignore)


def _is_file_left_out(path: str, ignore: tuple[str, ...]) -> bool:
    return (path.startswith("_memex/") and not path.startswith(SKILLS)) or _matches(path, ignore)


def _matches(path: str, ignore: tuple[str, ...]) -> bool:
    return any(path == pattern.rstrip("/") or fnmatchcase(path, pattern) for pattern in ignore)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
