"""Append-only text files: whole lines or nothing, durable, and a torn end from a crash does no harm."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from vault_memex.store.disk import sync_folder, write_all


def append_lines(file: Path, lines: bytes) -> int:
    """Append lines (each ending in a line feed), durable; return the file's length afterwards, in bytes.

    If the file does not end in a line feed, one is written first. On an error the file is cut back to what it was.
    """
    new = not file.exists()
    if new:
        file.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    descriptor = os.open(file, flags, 0o666)
    try:
        size = os.fstat(descriptor).st_size
        if size and _last_byte(descriptor, size) != b"\n":
            lines = b"\n" + lines
        try:
            write_all(descriptor, lines)
            os.fsync(descriptor)
            if new:
                sync_folder(file.parent)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
    return size + len(lines)


def cut_torn_end(file: Path, is_whole: Callable[[bytes], bool]) -> None:
    """Cut off a last line that has no line feed and is not whole: its write was never answered."""
    try:
        with open(file, "rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - 1))
            if size == 0 or stream.read(1) == b"\n":
                return
            stream.seek(0)
            data = stream.read()
    except FileNotFoundError:
        return
    start = data.rfind(b"\n") + 1
    if not is_whole(data[start:]):
        os.truncate(file, start)


def _last_byte(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1)
