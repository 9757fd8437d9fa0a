"""Real clients from npm. They are 400 MB, so they run only where VAULT_MEMEX_ACCEPTANCE names a folder with them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.server.conftest import serve_command

PACKAGES = ("@anthropic-ai/claude-code@2.1.332", "@modelcontextprotocol/inspector@2.12.0")
ROOT = Path(__file__).parents[2]


def find_client(command: str) -> Path:
    """Return a client's command; skip with the reason when nobody asked for these tests."""
    named = os.environ.get("VAULT_MEMEX_ACCEPTANCE")
    if not named:
        pytest.skip("needs a 400 MB download: set VAULT_MEMEX_ACCEPTANCE=DIR, see docs/contributing.md")
    found = Path(named) / "node_modules" / ".bin" / command
    if not found.exists():
        pytest.fail(f"no {command} there. First: npm install --prefix {named} {' '.join(PACKAGES)}")
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder of the client's own, so that it neither sees nor changes the user's settings."""
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    """What a client may know of this machine."""
    return {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "HOME": str(home),
        "TERM": "dumb",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


@pytest.fixture
def server_environment(tmp_path: Path) -> dict[str, str]:
    """What the server gets: this source, and an index of its own."""
    return {"PYTHONPATH": str(ROOT), "VAULT_MEMEX_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def command(sample: Path) -> list[str]:
    return serve_command(sample, "--model", "none")
