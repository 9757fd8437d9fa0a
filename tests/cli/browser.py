"""A real headless Chromium for pages of this program."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A sandbox needs a user other than root; the rest keeps the browser itself from asking the network.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--no-proxy-server",
)


def find_chromium() -> str | None:
    """Return the browser's command: VAULT_MEMEX_CHROMIUM, else one on the PATH; None when there is none."""
    return os.environ.get("VAULT_MEMEX_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def require_chromium() -> str:
    """Return the browser's command; without one the test is skipped, and fails in CI."""
    command = find_chromium()
    if command is None:
        missing = "no Chromium on the PATH; install one, or name it in VAULT_MEMEX_CHROMIUM"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    return command


@contextmanager
def open_browser(command: str) -> Iterator[Browser]:
    """Start the browser, and end it afterwards."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=command, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page, and everything it said or asked for meanwhile."""

    page: Page
    url: str
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
