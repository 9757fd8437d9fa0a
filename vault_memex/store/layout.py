"""The program's own folders in a vault: what is in them from the start, and where a vault's cache lies."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vault_memex.errors import StaleRevision
from vault_memex.store.atomic import create_file
from vault_memex.store.cache_place import find_cache_path
from vault_memex.store.disk import NO_BEFORE, remove_quietly, sync_folder, write_temp
from vault_memex.store.files import VaultFiles

TRASH_FOLDER = "_memex/trash"

_MEMEX = {
    ".gitattributes": "ids.tsv merge=union\njournal/*.jsonl merge=union\n",
    ".gitignore": "pending/\nhistory/\n",
}
_TRASH = {".gitattributes": "tombstones.tsv merge=union\n"}


def init_layout(files: VaultFiles) -> tuple[str, ...]:
    """Make `.memex` with its git files; return the vault paths that are new. Existing files stay as they are.

    The union merge keeps the lines of both sides when two machines' vaults are merged. The files are inside our
    own folders so that the owner's `.gitattributes` and `.gitignore` are not touched.
    """
    return _fill(files, files.memex_folder(), ".memex", _MEMEX)


def init_trash(files: VaultFiles) -> tuple[str, ...]:
    """Do the same for `_memex/trash`, once something is in it."""
    return _fill(files, files.root / TRASH_FOLDER, TRASH_FOLDER, _TRASH)


def write_settings(files: VaultFiles, text: str) -> bool:
    """Write `.memex/config.toml`, whole or not at all; return False when there is one already."""
    init_layout(files)
    try:
        create_file(files.memex_folder("config.toml"), text.encode("utf-8"))
    except FileExistsError:
        return False
    return True


def write_connections(files: VaultFiles, before: str, text: str) -> None:
    """Write `.memex/connections.toml`, whole or not at all. Raises StaleRevision when it is not `before` any more."""
    init_layout(files)
    file = files.memex_folder("connections.toml")
    temp = write_temp(file.parent, NO_BEFORE, text.encode("utf-8"), like=file if file.exists() else None)
    try:
        if files.read_connections() != before:
            raise StaleRevision("Somebody changed .memex/connections.toml meanwhile. Try again.")
        os.replace(temp, file)
    except BaseException:
        remove_quietly(temp)
        raise
    sync_folder(file.parent)


def find_cache_folder(root: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the cache folder of a vault, outside it: under VAULT_MEMEX_CACHE_DIR or the user's cache folder."""
    return Path(find_cache_path(root, environment))


class CacheFolder(NamedTuple):
    """Where a vault's index lies, and what a status should say of it."""

    folder: Path
    remark: str = ""


def find_usable_cache(wanted: Path) -> CacheFolder:
    """Return the cache folder if it can be written, else one in the system's temporary folder.

    All servers of one user find the same one, because they also meet there for their locks.
    """
    try:
        _check_writable(wanted)
    except OSError as error:
        said = error.strerror or type(error).__name__
    else:
        return CacheFolder(wanted)
    number = os.getuid() if hasattr(os, "getuid") else 0
    base = Path(tempfile.gettempdir()) / f"vault-memex-{number}"
    folder = base / wanted.name
    try:
        base.mkdir(mode=0o700, exist_ok=True)
        status = os.lstat(base)
        if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != number):
            return CacheFolder(wanted)  # somebody else's: opening the wanted one tells what is wrong with it
        _check_writable(folder)
    except OSError:
        return CacheFolder(wanted)
    return CacheFolder(
        folder, f"the cache folder {wanted} cannot be written ({said}): the index is in {folder} meanwhile"
    )


def _check_writable(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def _fill(files: VaultFiles, folder: Path, shown: str, wanted: Mapping[str, str]) -> tuple[str, ...]:
    new: list[str] = []
    for name, text in wanted.items():
        file = folder / name
        if not os.path.lexists(file):
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            new.append(f"{shown}/{name}")
    if new:
        sync_folder(folder)
        sync_folder(files.root)
    return tuple(new)
