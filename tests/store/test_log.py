"""A log that nobody reads holds nobody up."""

from __future__ import annotations

import subprocess
import sys

FLOOD = """
import logging, sys, time
from vault_memex.store.log import open_log
open_log()
for number in range(3_000):
    logging.getLogger("x").warning("%d %s", number, "y" * 1_000)
print("done", flush=True)
sys.stdin.read()
"""


def test_three_megabytes_that_nobody_reads_hold_nobody_up() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FLOOD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stderr is not None
        assert b"done\n" == process.stdout.readline()
        process.stdin.close()
        first = process.stderr.readline()
        process.kill()

    assert b"WARNING x: 0 y" in first
