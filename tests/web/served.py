"""`vault-memex ui` as it runs: a process, an address that it prints, and its end by Ctrl+C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]+)/\?token=\S+")


@contextmanager
def served(root: Path, cache: Path) -> Iterator[str]:
    """Give the address while the page is served; afterwards it has ended well and said nothing on stderr."""
    command = [sys.executable, "-m", "vault_memex", "ui", "--no-browser", "--vault", str(root)]
    environment = {**os.environ, "VAULT_MEMEX_MODEL": "none", "VAULT_MEMEX_CACHE_DIR": str(cache)}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        found = ADDRESS.search(process.stdout.readline())
        assert found is not None
        yield found[0]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)

        assert (0, "") == (process.returncode, errors)
    finally:
        process.kill()
        process.communicate()
