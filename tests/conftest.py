"""Fixtures that every folder of tests shares."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.cli.browser import open_browser, require_chromium
from vault_memex.vault import Vault, open_vault

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SHARED = Path(os.environ.get("VAULT_MEMEX_SHARED", Path(__file__).parents[2] / "shared"))
SAMPLE = Path(__file__).parents[1] / "sample_vault"

MEMORY = Path("/dev/shm")
ROOM = 4 << 30  # bytes

# Most of a test's time is waiting for a disk that flushes; a file system in memory has nothing to wait for.
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

settings.register_profile("ci", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci" if os.environ.get("CI") else "dev")

OpenVault = Callable[..., Vault]


def pytest_addoption(parser: pytest.Parser) -> None:
    # Beside -m, which a person may give as well (`make test ARGS='-m "not slow"'`).
    parser.addoption("--counted", action="store_true", help="only tests whose lines are counted for coverage")
    parser.addoption("--uncounted", action="store_true", help="only tests marked no_cover")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    counted, uncounted = config.getoption("--counted"), config.getoption("--uncounted")
    if counted or uncounted:
        chosen: list[pytest.Item] = []
        others: list[pytest.Item] = []
        for item in items:
            asked = uncounted if item.get_closest_marker("no_cover") is not None else counted
            (chosen if asked else others).append(item)
        config.hook.pytest_deselected(items=others)
        items[:] = chosen


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    # A choice of tests of which none is marked (or all are) is no failure of the run in two parts.
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and (
        session.config.getoption("--counted") or session.config.getoption("--uncounted")
    ):
        session.exitstatus = pytest.ExitCode.OK


def shared(relative: str) -> Path:
    """Return a path of the handed test data; skip with the reason where it is absent (never in CI)."""
    path = SHARED / relative
    if not path.exists():
        if os.environ.get("CI"):
            pytest.fail(f"{path} is missing: CI must have the shared test data")
        pytest.skip(f"needs {relative}, test data that is not part of this repository (VAULT_MEMEX_SHARED=DIR)")
    return path


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test's index out of the user's cache folder; the model cache is shared to save time."""
    monkeypatch.setenv("VAULT_MEMEX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("VAULT_MEMEX_TOKENS", str(tmp_path / "own" / "tokens.json"))
    for name in ("VAULT", "CONNECTION", "ROLE", "POLICY", "TOOLS", "COMMIT", "MODEL", "SEARCH_PROFILE"):
        monkeypatch.delenv(f"VAULT_MEMEX_{name}", raising=False)
    monkeypatch.delenv("MEMORY_FILE_PATH", raising=False)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A copy of the sample vault."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "vault"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty vault folder."""
    made = tmp_path / "vault"
    made.mkdir()
    return made


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def opening() -> Iterator[OpenVault]:
    """Opens vaults, indexed and without a model unless asked otherwise, and closes them after the test."""
    vaults: list[Vault] = []

    def open_one(root: Path, clock: Callable[[], datetime] = now, **flags: Any) -> Vault:
        flags = {"model": "none", "connection": "tester", **flags}
        vault = open_vault(root, flags=flags, clock=clock)
        vaults.append(vault)
        vault.refresh()
        return vault

    yield open_one
    for vault in vaults:
        vault.close(patient=False)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module."""
    with open_browser(require_chromium()) as browser:
        yield browser
