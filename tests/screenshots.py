"""The screenshots of the documents, from the sample vault in a real Chromium: `make screenshots` writes them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser

from tests.cli.browser import find_chromium, open_browser
from tests.conftest import SAMPLE
from tests.web.scene import fill
from tests.web.served import served
from vault_memex.cli import main as run_command

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDE, PHONE = (1280, 800), (390, 844)
PAGES: tuple[tuple[str, str, tuple[int, int], Literal["light", "dark"]], ...] = (
    ("ui-inbox.png", "", WIDE, "light"),
    ("ui-proposal.png", "proposal/1", WIDE, "light"),
    ("ui-note.png", "note/Studio/Glaze%20index.md", WIDE, "dark"),
    ("ui-phone.png", "proposal/1", PHONE, "dark"),
)


def _draw(folder: Path) -> Path:
    vault = Path(shutil.copytree(SAMPLE, folder / "Nora's vault"))
    out = folder / "graph.html"
    with suppress(SystemExit):  # the end of every command
        run_command(
            ["graph", "show", "--vault", str(vault), "--cache-dir", str(folder / "cache"), "--out", str(out)]
        )
    return out


def _take(
    browser: Browser,
    page_file: Path,
    name: str,
    size: tuple[int, int],
    scheme: Literal["light", "dark"],
    note: str = "",
) -> None:
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(page_file.as_uri())
    if note:
        page.fill("#search", note)
        page.press("#search", "Enter")
        page.fill("#search", "")
        page.locator("#search").blur()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.screenshot(path=IMAGES / name)
    page.close()


def _take_pages(browser: Browser, address: str) -> None:
    """Write the pictures of the page in the browser."""
    base = address.partition("?")[0]
    for name, place, size, scheme in PAGES:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(address)
        page.wait_for_url(base)
        page.goto(base + place)
        page.screenshot(path=IMAGES / name)
        context.close()


def main() -> None:
    """Write the screenshots."""
    command = find_chromium()
    if command is None:
        sys.exit("No Chromium on the PATH: install one, or name it in VAULT_MEMEX_CHROMIUM.")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, open_browser(command) as browser:
        page = _draw(Path(folder))
        _take(browser, page, "graph.png", WIDE, "light")
        _take(browser, page, "graph-note.png", WIDE, "dark", "Tomas Brandt")
        _take(browser, page, "graph-phone.png", PHONE, "light", "Lowtide Pottery")
        vault = Path(shutil.copytree(SAMPLE, Path(folder) / "filled" / "Nora's vault"))
        os.environ["VAULT_MEMEX_CACHE_DIR"] = f"{folder}/filled/cache"
        fill(vault)
        with served(vault, Path(folder) / "filled" / "cache") as address:
            _take_pages(browser, address)


if __name__ == "__main__":
    main()
