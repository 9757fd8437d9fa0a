"""Fixtures that every folder of tests shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(os.environ.get("VAULT_MEMEX_SHARED", Path(__file__).parents[2] / "shared"))

settings.register_profile("ci", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci" if os.environ.get("CI") else "dev")


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


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
