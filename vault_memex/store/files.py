"""The vault's files: where a path leads, and what a settled file says."""

from __future__ import annotations

import errno
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vault_memex.core.changes import Signature
from vault_memex.core.encoding import decode_note
from vault_memex.core.revision import revision_of
from vault_memex.errors import FileBusy, InvalidArgument, NotFound, PathOutsideVault, TooLarge, VaultError
from vault_memex.store.disk import find_read_only_reason, os_error_as_memex, read_file
from vault_memex.store.paths import Door, Place, resolve_place

MAX_BYTES = 256 * 1024 * 1024
YOUNG_NS = 20_000_000  # a file saved so lately may still be being saved
EMPTY_YOUNG_NS = 200_000_000  # an empty one is most likely an editor between truncating and writing
GIVE_UP = 2.0  # seconds
_PAUSE = 0.005  # seconds
_REMEMBERED = 256

MEMEX_FOLDER = ".memex"


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as it was at one settled moment."""

    path: str  # as spelled on disk
    data: bytes
    text: str  # "" for a binary file
    encoding: str
    revision: str
    signature: Signature
    not_writable: str  # why it cannot be edited; empty when it can


class VaultFiles:
    """Access to the files under one vault folder, which may itself be reached through a link."""

    def __init__(
        self,
        root: Path,
        *,
        now_ns: Callable[[], int] = time.time_ns,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        try:
            self.root = Path(os.path.realpath(root, strict=True))
        except OSError:
            raise VaultError(f"There is no folder {str(root)!r}. Name the folder of your vault.") from None
        if not self.root.is_dir():
            raise VaultError(f"{str(root)!r} is not a folder. Name the folder of your vault.")
        self._inode = os.stat(self.root).st_ino
        self._now_ns = now_ns
        self._wait = wait
        self._own: OrderedDict[Signature, None] = OrderedDict()

    def resolve(self, path: str, writing: bool = False) -> Path:
        """Return the real file a vault path names; with `writing`, only where a note may be written."""
        return self.find_place(path, "note" if writing else "read").file

    def find_place(self, path: str, door: Door = "read") -> Place:
        """Return where the path leads, whether or not something is there."""
        try:
            return resolve_place(self.root, path, door)
        except OSError as error:
            raise os_error_as_memex(error, path) from None

    def read(self, path: str, door: Door = "read") -> FileText:
        """Return the file once nobody is writing it.

        Raises NotFound when nothing is there, FileBusy when it does not settle in 2 s, TooLarge over 256 MiB.
        """
        place = self.find_place(path, door)
        if not place.exists:
            raise NotFound(f"There is no file {path!r} in the vault.", path=path)
        try:
            data, status = self._read_settled(place.file, path)
        except OSError as error:
            if error.errno == errno.EINVAL:
                raise InvalidArgument("path", f"{path!r} is not an ordinary file.") from None
            if error.errno == errno.EFBIG:
                raise TooLarge(f"{path!r} is {error.strerror}, which is the most that is read.") from None
            raise os_error_as_memex(error, path) from None
        decoded = decode_note(data)
        reason = decoded.not_writable or find_read_only_reason(place.file, status)
        return FileText(
            place.path, data, decoded.text, decoded.encoding, revision_of(data), Signature.of(status), reason
        )

    def find_internal(self, folder: str) -> tuple[str, ...]:
        """Return the paths of the Markdown files directly in a folder of `_memex`, ascending."""
        try:
            names = os.listdir(self.root / folder)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise os_error_as_memex(error, folder) from None
        return tuple(f"{folder}/{name}" for name in sorted(names) if name.endswith(".md") and name[0] != ".")

    def signature(self, file: Path) -> Signature:
        """Return the signature of a file just written by us and remember it: it needs no settling."""
        signature = Signature.of(os.lstat(file))
        self._own[signature] = None
        if len(self._own) > _REMEMBERED:
            self._own.popitem(last=False)
        return signature

    def check_root(self) -> None:
        """Raise VaultError when the vault folder went away or another one is in its place (unmounted, moved)."""
        try:
            inode = os.stat(self.root).st_ino
        except OSError:
            raise VaultError("The vault folder is gone. Mount it or put it back, then try again.") from None
        if inode != self._inode:
            raise VaultError("Another folder is in the vault's place. Restart the server to use it.")

    def memex_folder(self, *parts: str) -> Path:
        """Return a folder or file under `.memex`; it need not exist. A link out of the vault is refused."""
        wanted = self.root.joinpath(MEMEX_FOLDER, *parts)
        real = Path(os.path.realpath(wanted))
        if self.root not in real.parents:
            raise PathOutsideVault("`.memex` is a link that leads out of the vault. Replace it by a folder.")
        if parts and self.root.joinpath(MEMEX_FOLDER).is_file():
            raise VaultError(
                "`.memex` is a file; the program's own folder has that name. Rename or remove the file."
            )
        return real

    def read_settings(self) -> str:
        """Return the text of `.memex/config.toml`, "" when there is none."""
        return self._read_own("config.toml")

    def read_connections(self) -> str:
        """Return the text of `.memex/connections.toml`, "" when there is none."""
        return self._read_own("connections.toml")

    def _read_own(self, name: str) -> str:
        try:
            return self.memex_folder(name).read_bytes().decode("utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise InvalidArgument(name, f".memex/{name} is not UTF-8. Save it as UTF-8.") from None
        except OSError as error:
            raise os_error_as_memex(error, f".memex/{name}") from None

    def read_obsidian_settings(self) -> str:
        """Return the text of `.obsidian/app.json`, "" when it cannot be read: it only shapes how links are written."""
        try:
            return (self.root / ".obsidian" / "app.json").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def _read_settled(self, file: Path, path: str) -> tuple[bytes, os.stat_result]:
        until = self._now_ns() + int(GIVE_UP * 1e9)
        while True:
            found = read_file(file, MAX_BYTES)
            if found.is_whole and self._is_quiet(found.after):
                return found.data, found.after
            if self._now_ns() > until:
                raise FileBusy(f"{path!r} is being written just now. Try again in a moment.", path=path)
            self._wait(_PAUSE)

    def _is_quiet(self, status: os.stat_result) -> bool:
        age = self._now_ns() - status.st_mtime_ns
        young = YOUNG_NS if status.st_size else EMPTY_YOUNG_NS
        return not 0 <= age < young or Signature.of(status) in self._own
