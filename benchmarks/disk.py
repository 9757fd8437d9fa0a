"""Floors that the disk sets."""

from __future__ import annotations

import os
import time
from pathlib import Path


def write_durably(file: Path, data: bytes) -> None:
    """Replace a file as safely as any program can: a new one, flushed, renamed, the folder flushed."""
    fresh = file.with_name(f".{file.name}.new")
    with fresh.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.rename(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def time_durable_writes(folder: Path, count: int, size: int = 2_000) -> list[float]:
    """Return the milliseconds of each of so many durable writes of one file."""
    file, times = folder / "durable.md", []
    for number in range(count):
        data = f"{number:8d}".encode() + b"x" * (size - 8)
        started = time.perf_counter()
        write_durably(file, data)
        times.append(1000 * (time.perf_counter() - started))
    file.unlink()
    return times
