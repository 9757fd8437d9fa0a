"""The pages over a vault of one note and over the sample vault."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, OpenVault
from tests.services.test_review import PLAN
from tests.web.pages import Pages
from tests.web.scene import fill

OpenPages = Callable[[Path], Pages]


@pytest.fixture
def open_pages(opening: OpenVault) -> OpenPages:
    """Opens the pages of a vault as its owner does."""
    return lambda root: Pages(opening(root, role="owner", connection="owner")).enter()


@pytest.fixture
def plan(folder: Path) -> Path:
    """A vault of one note."""
    (folder / "Plan.md").write_text(PLAN, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample vault with what waits in it, made once for a module."""
    root = Path(shutil.copytree(SAMPLE, tmp_path_factory.mktemp("filled") / "vault"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_MEMEX_CACHE_DIR", str(root.parent / "cache"))
        fill(root)
    return root
