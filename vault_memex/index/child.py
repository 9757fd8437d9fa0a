"""Child processes of our own that speak pickle over their own pipes.

They inherit neither the server's stdin nor its stdout, do not import its main module, and hold none of its locks.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import vault_memex


def start_child(module: str, *arguments: str, quiet: bool = False) -> subprocess.Popen[bytes]:
    """Start a module of this package in a process; `quiet` drops what it writes to stderr. Raises OSError."""
    package = os.fspath(Path(vault_memex.__file__).parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        # -P: the working folder, which may be the vault, must not be a place to import from.
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        # One thread for each product of matrices: several are made side by side, and the threads of one that wait
        # for each other would spin on the cores that the others, and the server, need.
        env={"OPENBLAS_NUM_THREADS": "1", **os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        start_new_session=True,  # Ctrl-C is for the server; the end of the pipe ends the child
    )


def end_child(child: subprocess.Popen[bytes], patience: float) -> None:
    """Close the child's input, which ends it; kill it when it is still there after so many seconds."""
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(OSError):
        child.stdin.close()
    try:
        child.wait(patience)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    child.stdout.close()


def write_message(stream: IO[bytes], message: object) -> None:
    """Write one message. Raises OSError when the other side has gone."""
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def read_message(stream: IO[bytes]) -> Any:
    """Return the next message. Raises EOFError when the other side has gone, also in the middle of one."""
    try:
        return pickle.load(stream)  # noqa: S301 -- between our own processes, over a pipe that nobody else has
    except pickle.UnpicklingError as error:
        raise EOFError from error
