"""The few system calls that safe writing rests on: swap two names, rename without overwriting, durable files."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import stat
import sys
from pathlib import Path
from typing import NamedTuple

from vault_memex.core.changes import Signature
from vault_memex.errors import AlreadyExists, MemexError, NotFound, NotWritable, VaultError

TEMP_PREFIX, TEMP_SUFFIX = ".vmx-", ".tmp"
NO_BEFORE = "new"  # stands in a temp name where the revision of the displaced file would

_AT_FDCWD = -100
_NO_REPLACE, _EXCHANGE = 1, 2  # Linux renameat2
_MAC_SWAP, _MAC_EXCL = 2, 4  # macOS renamex_np
_UNSUPPORTED = frozenset((errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV, errno.EPERM))


def exchange_names(one: Path, other: Path) -> bool:
    """Swap what two names stand for, in one step. False, and nothing done, when this file system cannot."""
    return _rename_with(one, other, _EXCHANGE, _MAC_SWAP)


def rename_new(source: Path, target: Path) -> None:
    """Rename to a free name. Raises FileExistsError rather than overwrite."""
    if _rename_with(source, target, _NO_REPLACE, _MAC_EXCL):
        return
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # Neither is offered (some network and FUSE mounts): a look first is all that is left.
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.rename(source, target)
    else:
        os.unlink(source)


def write_temp(folder: Path, before: str, data: bytes, like: Path | None = None) -> Path:
    """Return a new hidden file with the data, on disk when this returns; mode, owner and attributes like `like`.

    `before` goes into its name: after a swap the file holds those bytes, and whoever finds it later can tell.
    """
    temp = folder / f"{TEMP_PREFIX}{secrets.token_hex(3)}-{before}{TEMP_SUFFIX}"
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o666)
    try:
        try:
            write_all(descriptor, data)
            if like is not None:
                _copy_attributes(like, descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        remove_quietly(temp)
        raise
    return temp


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, however many calls it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class ReadFile(NamedTuple):
    """An ordinary file's bytes, and what the system said of it before and after they were read."""

    data: bytes
    before: os.stat_result
    after: os.stat_result

    @property
    def is_whole(self) -> bool:
        """Whether nobody wrote meanwhile."""
        same = Signature.of(self.before) == Signature.of(self.after)
        return same and len(self.data) == self.after.st_size


def read_file(file: str | Path, limit: int | None = None) -> ReadFile:
    """Read an ordinary file. Follows no link and waits at no FIFO.

    Raises OSError: EINVAL for what is no ordinary file, EFBIG for more than `limit` bytes.
    """
    descriptor = os.open(file, os.O_RDONLY | _NO_FOLLOW | _NO_BLOCK | _BINARY)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "not an ordinary file")
        if limit is not None and before.st_size > limit:
            raise OSError(errno.EFBIG, f"larger than {limit} bytes")
        chunks = [os.read(descriptor, before.st_size + 1)]
        while chunks[-1]:
            chunks.append(os.read(descriptor, 1 << 20))
        return ReadFile(b"".join(chunks), before, os.fstat(descriptor))
    finally:
        os.close(descriptor)


def read_bytes(file: Path) -> bytes:
    """Return the bytes of an ordinary file, as `read_file` reads it."""
    return read_file(file).data


def read_or_none(file: Path) -> bytes | None:
    """Return what a file holds; None when it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return None


def sync_folder(folder: Path) -> None:
    """Make names in the folder durable, where the system lets a folder be opened."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot sync a folder
            raise
    finally:
        os.close(descriptor)


def remove_quietly(file: Path) -> None:
    """Remove a file of our own; one that stays is found by the next clean-up."""
    try:
        os.unlink(file)
    except OSError:
        return


def find_read_only_reason(file: Path, status: os.stat_result) -> str:
    """Return why an existing file must not be written, or "". What nobody may write is read-only for root too."""
    if not status.st_mode & 0o222:
        return "The file is read-only. Make it writable first."
    if not os.access(file, os.W_OK):
        return "The file may not be written by this user. Change its permissions first."
    return ""


def os_error_as_memex(error: OSError, path: str) -> MemexError:
    """Return the error a caller can act on. The message names the vault path, never a real one."""
    reason = error.strerror or "unknown reason"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return NotFound(f"{path!r} is gone.")
    if error.errno == errno.EEXIST:
        return AlreadyExists(f"{path!r} exists already. Choose another name.", path=path)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return NotWritable(f"{path!r} cannot be written: {reason}. Check permissions, then try again.")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return VaultError(f"{path!r} was not changed: {reason}. Free some space, then try again.")
    return VaultError(f"{path!r} was not changed: {reason}. Check the disk, then try again.")


def _rename_with(source: Path, target: Path, linux_flag: int, mac_flag: int) -> bool:
    if _renameat2 is not None:
        failed = _renameat2(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), linux_flag)
    elif _renamex is not None:
        failed = _renamex(os.fsencode(source), os.fsencode(target), mac_flag)
    else:
        return False
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(source), None, str(target))


def _copy_attributes(source: Path, descriptor: int) -> None:
    status = os.stat(source)
    if os.name != "posix":
        return
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):  # only root can give files away; the mode is kept all the same
            os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    if sys.platform == "linux":
        for name in os.listxattr(source):
            try:
                os.setxattr(descriptor, name, os.getxattr(source, name))
            except OSError:
                continue  # security labels that only the system sets


_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_BLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
_renameat2 = getattr(_libc, "renameat2", None) if sys.platform == "linux" else None
_renamex = getattr(_libc, "renamex_np", None) if sys.platform == "darwin" else None
