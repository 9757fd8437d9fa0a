"""The page in a real headless Chromium, served by the real command: what a person clicks, types and sees."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.browser import Watched
from tests.conftest import SAMPLE
from tests.services.test_editing import edit
from tests.web.scene import FRIDAY, TWENTY_FOUR, fill
from tests.web.served import served
from tests.web.test_pages import HOSTILE
from vault_memex.vault import open_vault

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDE, PHONE, NARROW = (1280, 800), (390, 844), (320, 640)
PLACES = (
    "",
    "proposal/1",
    "proposal/3",
    "proposal/5",
    "waiting/Studio/Tumble%20stacking%20for%20bisque.md",
    "note/Studio/Glaze%20index.md",
    "note/Projects/Harbour%20Caf%C3%A9%20tableware.md",
    "note/Studio/Kiln%20Berta.md?source=1",
    "journal",
    "search?q=kiln",
    "signals",
    "inference/1",
    "tidying",
    "pairs",
    "trash",
    "graph",
    "nowhere",
)
# The least ratio of text to its ground that is not met, of all texts in sight; 4.5 is what WCAG's AA asks for.
FIND_FAINT = """() => {
  const ink = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour, under) => {
    ink.clearRect(0, 0, 1, 1);
    for (const one of [under, colour]) { if (one) { ink.fillStyle = one; ink.fillRect(0, 0, 1, 1); } }
    return [...ink.getImageData(0, 0, 1, 1).data];
  };
  const ground = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.unshift(getComputedStyle(one).backgroundColor);
    let colour = "rgb(255 255 255)";
    for (const layer of layers) { const [r, g, b] = rgba(layer, colour); colour = `rgb(${r} ${g} ${b})`; }
    return colour;
  };
  const light = (colour) => {
    const [r, g, b] = rgba(colour).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!says || !element.checkVisibility() || element.closest("kbd, svg, .unseen, .skip, option")) continue;
    const under = ground(element);
    const [r, g, b] = rgba(getComputedStyle(element).color, under);
    const pair = [light(`rgb(${r} ${g} ${b})`), light(under)].sort((x, y) => y - x);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) found.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}: ${element.textContent.trim().slice(0, 40)}`);
  }
  return found;
}"""


class Opened(Watched):
    """A page of the program, by its places."""

    def go(self, place: str) -> None:
        self.page.goto(self.url + place)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def place(self) -> str:
        return self.page.url.removeprefix(self.url)


Open = Callable[..., Opened]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens the page by its address; in the end it has said nothing on the console and asked nobody but itself."""
    pages: list[Opened] = []

    def open_one(address: str, size: tuple[int, int] = WIDE, scheme: str = "light") -> Opened:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        opened = Opened(page, address.partition("?")[0])
        pages.append(opened)
        page.goto(address)
        page.wait_for_url(opened.url)
        return opened

    yield open_one
    for one in pages:
        one.page.context.close()

        # A page that is not there was asked for, and one asked how much waits when the program had ended.
        assert [] == [text for text in one.said if "404" not in text and "ERR_CONNECTION_REFUSED" not in text]
        assert [] == [url for url in one.asked if not url.startswith(one.url)]


@pytest.fixture(scope="module")
def looked_at(filled: Path) -> Iterator[str]:
    """The address of a vault that is only looked at."""
    with served(filled, filled.parent / "cache") as address:
        yield address


@pytest.fixture
def kiln(tmp_path: Path) -> Path:
    """The note that proposal 1 is about, in a vault of the test's own."""
    root = Path(shutil.copytree(SAMPLE, tmp_path / "Nora's vault"))
    fill(root)
    return root / "Studio" / "Kiln Berta.md"


def test_a_proposal_is_approved_by_clicking_the_file_changes_and_a_click_takes_it_back(
    kiln: Path, opened: Open, tmp_path: Path
) -> None:
    before = kiln.read_text(encoding="utf-8")
    wanted = before
    for change in (TWENTY_FOUR, FRIDAY):
        wanted = wanted.replace(change["find"], change["replace"])

    with served(kiln.parents[1], tmp_path / "cache") as address:
        page = opened(address)
        page.page.click("a:has-text('Kiln Berta')")
        assert ["and Friday nights", "twenty-four", "three"] == page.page.locator(".diff del").all_inner_texts()
        assert ["nights only", "thirty", "four"] == page.page.locator(".diff ins").all_inner_texts()
        page.page.fill("#comment", "Right.")
        page.page.click("button:has-text('Approve')")
        page.page.wait_for_selector("text=Approved: proposal 1, Kiln Berta")
        assert ("proposal/2", wanted) == (page.place.partition("?")[0], kiln.read_text(encoding="utf-8"))

        page.page.click("button:has-text('Undo')")
        page.page.wait_for_url(re.compile("/proposal/1$"))
        assert before == kiln.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_whole_morning_is_reviewed_with_keys_alone(kiln: Path, opened: Open, tmp_path: Path) -> None:
    root = kiln.parents[1]
    before = kiln.read_text(encoding="utf-8")

    with served(root, tmp_path / "cache") as address:
        page = opened(address)
        page.press("j", "j", "k", "j", "Enter")
        page.page.wait_for_url(re.compile("/proposal/1$"))
        page.press("e")
        page.page.keyboard.type("Monday and ")
        page.press("Escape")
        page.page.click("button:has-text('Keep this text')")
        page.page.wait_for_selector("text=You changed the proposed text.")
        page.press("c")
        page.page.keyboard.type("ar?/")  # letters in a field are letters
        page.press("Escape", "p", "a")
        page.page.wait_for_url(re.compile("/proposal/2"))
        assert "Monday and " in kiln.read_text(encoding="utf-8")
        page.press("u")
        page.page.wait_for_url(re.compile("/proposal/1$"))
        assert before == kiln.read_text(encoding="utf-8")
        for number in range(2, 6):
            page.press("r")
            page.page.wait_for_url(re.compile(f"/proposal/{number}"))
        page.press("r")
        page.page.wait_for_url(re.compile("/waiting/"))
        page.press("a")
        page.page.wait_for_selector("text=Nothing waits.")
        page.press("?")
        assert page.page.is_visible("#help")
        page.press("Escape", "/")
        page.page.keyboard.type("berta")
        page.press("Enter")
        page.page.wait_for_url(re.compile(r"search\?q=berta"))
        page.press("j", "Enter")
        page.page.wait_for_url(re.compile("/note/"))

    assert before == kiln.read_text(encoding="utf-8")
    assert [] == list((root / "_memex" / "inbox").glob("*.md"))
    assert "review" not in (root / "Studio" / "Tumble stacking for bisque.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_a_phone_and_can_be_read_in_light_and_dark(
    looked_at: str, opened: Open, scheme: str
) -> None:
    page = opened(looked_at, NARROW, scheme)
    widths, faint = {}, {}
    for place in PLACES:
        page.go(place)
        widths[place] = page.page.evaluate("() => document.documentElement.scrollWidth")
        faint[place] = page.page.evaluate(FIND_FAINT)

    assert dict.fromkeys(PLACES, NARROW[0]) == widths
    assert {place: [] for place in PLACES} == faint
    ground = page.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert {"light": "rgb(251, 250, 247)", "dark": "rgb(22, 24, 29)"}[scheme] == ground


def test_a_change_stands_side_by_side_where_there_is_room_and_one_below_the_other_on_a_phone(
    looked_at: str, opened: Open
) -> None:
    places = {}
    for size in (WIDE, PHONE):
        page = opened(looked_at, size)
        page.go("proposal/1")
        old, new = (page.page.locator(f".diff .changed .{side}").first.bounding_box() for side in ("old", "new"))
        assert old is not None
        assert new is not None
        places[size] = (
            old["y"] == new["y"],
            old["x"] + old["width"] <= new["x"],
            old["y"] + old["height"] <= new["y"],
        )

    assert {WIDE: (True, True, False), PHONE: (False, False, True)} == places


@pytest.mark.slow
def test_a_hostile_note_runs_nothing_and_asks_for_nothing(folder: Path, opened: Open, tmp_path: Path) -> None:
    (folder / "Bad.md").write_text(f"---\ntitle: '<script>alert(0)</script>'\n---\n{HOSTILE}", encoding="utf-8")
    with served(folder, tmp_path / "cache") as address:
        page = opened(address)
        for place in ("note/Bad.md", "search?q=alert", "journal?note=Bad.md", "graph"):
            page.go(place)
            page.page.wait_for_load_state("networkidle")
            if place.startswith("note"):
                assert "<script>alert(0)</script>" == page.page.inner_text("h1")
                assert "<script>alert(2)</script>" in page.page.inner_text(".prose")


def test_a_note_of_the_graph_opens_in_the_page(looked_at: str, opened: Open) -> None:
    page = opened(looked_at)
    page.go("graph")
    graph = page.page.frame_locator("iframe")
    graph.locator("#search").fill("tomas")
    graph.locator("#search").press("Enter")
    graph.locator("#open").click()
    page.page.wait_for_url(re.compile("/note/People/Tomas"))

    assert "Tomas Brandt" == page.page.inner_text("h1")


@pytest.mark.slow
def test_what_arrives_while_the_inbox_is_open_is_told(folder: Path, opened: Open, tmp_path: Path) -> None:
    (folder / "Plan.md").write_text("We meet on Monday.\n", encoding="utf-8")
    with served(folder, tmp_path / "cache") as address:
        page = opened(address)
        assert page.page.is_hidden("#count")
        agent = open_vault(folder, flags={"model": "none", "policy": "reviewed", "connection": "agent"})
        agent.refresh()
        agent.editing.edit(edit("Plan", {"find": "Monday", "replace": "Friday"}))
        agent.close(patient=False)

        page.page.click("#news a", timeout=20_000)

        assert "1 thing waits for you." == page.page.inner_text(".lead")


def test_without_scripts_everything_but_keys_and_graph_is_there(looked_at: str, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(looked_at)
    page.wait_for_url(looked_at.partition("?")[0])
    page.click("a:has-text('Firing checklist')")
    shown = page.locator("button:has-text('Approve')").is_visible()
    page.click("summary:has-text('Change the proposed text')")
    area = page.locator("textarea").first.input_value()
    context.close()

    assert (True, "30") == (shown, area)
