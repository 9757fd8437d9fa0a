"""The picture of a vault in a real headless Chromium: what a person finds, clicks, filters and types."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.browser import Watched
from tests.conftest import SAMPLE
from vault_memex.cli import main
from vault_memex.memory.picture import Picture, PictureLink, PictureNote
from vault_memex.web.picture_page import render_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDE, PHONE = (1280, 800), (390, 844)
HOSTILE = '</script><img src="x" onerror="alert(1)"><b>bold</b> <!-- &amp; ${title}'


COUNT_INK = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const canvas = document.querySelector("canvas");
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
  done(pixels.filter((value, place) => place % 4 === 3 && value > 0).length);
})))"""
MIDDLE = """() => {
  const [controls, note] = ["#controls", "#note"].map((id) => document.querySelector(id).getBoundingClientRect());
  return innerWidth > 720
    ? [(controls.right + note.left) / 2, innerHeight / 2]
    : [innerWidth / 2, (controls.bottom + note.top) / 2];
}"""


class Opened(Watched):
    """The picture, with what can be asked of it."""

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).inner_text())

    def texts(self, selector: str) -> list[str]:
        return list(self.page.locator(selector).all_inner_texts())

    def ink(self) -> int:
        """Return how many pixels of the picture are coloured, once all is drawn."""
        return int(self.page.evaluate(COUNT_INK))

    def pick(self, words: str) -> None:
        self.page.fill("#search", words)
        self.page.press("#search", "Enter")
        self.page.wait_for_selector("#note:not([hidden])")


Open = Callable[..., Opened]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens a page; in the end it has said nothing on the console and asked for nothing but itself."""
    pages: list[Opened] = []

    def open_one(file: Path, size: tuple[int, int] = WIDE, scheme: str = "light") -> Opened:
        page = browser.new_page(
            has_touch=size == PHONE,
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        opened = Opened(page, file.as_uri())
        pages.append(opened)
        page.goto(opened.url)
        return opened

    yield open_one
    for opened in pages:
        opened.page.close()

        assert [] == opened.said
        assert [opened.url] == opened.asked


def _show(vault: Path, out: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_MEMEX_MODEL", "none")
        with pytest.raises(SystemExit) as ended:
            main(
                [
                    "graph",
                    "show",
                    "--vault",
                    str(vault),
                    "--cache-dir",
                    str(out.parent / "cache"),
                    "--out",
                    str(out),
                ]
            )
    assert not ended.value.code
    return out


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The picture of the sample vault."""
    folder = tmp_path_factory.mktemp("picture")
    return _show(Path(shutil.copytree(SAMPLE, folder / "Nora & co")), folder / "graph.html")


def test_a_note_is_found_by_title_path_and_tag_whatever_the_case_and_accents(picture: Path, opened: Open) -> None:
    page = opened(picture)

    found = {}
    for words in ("LOWTIDE", "harbour cafe", "people/jisoo", "#studio glaze", "배추김치", "nosuchword"):
        page.page.fill("#search", words)
        found[words] = [text.split("\n")[0] for text in page.texts("#results li")]

    assert found["LOWTIDE"] == ["Lowtide Pottery"]
    assert {"Harbour Café tableware", "2026-11-12 Harbour Café tasting"} <= set(found["harbour cafe"])
    assert found["people/jisoo"] == ["Jisoo Han"]
    assert "Glaze index" in found["#studio glaze"]
    assert found["배추김치"] == ["어머님 배추김치"]
    assert [] == found["nosuchword"]
    assert "No note found." == page.text("#found")


def test_a_note_shows_path_layer_type_tags_and_links_and_each_link_leads_on(picture: Path, opened: Open) -> None:
    page = opened(picture)

    page.pick("tomas")

    assert ("Tomas Brandt", "People/Tomas Brandt.md") == (page.text("#title"), page.text("#path"))
    assert "layer state · type person" == page.text("#facts")
    assert ["#studio", "#people"] == page.texts("#tags button")
    assert "Lowtide Pottery\nworks at (from 2024-02-01)" in page.texts("#out button")
    assert "obsidian://open?vault=Nora%20%26%20co&file=People%2FTomas%20Brandt" == page.page.get_attribute(
        "#obsidian", "href"
    )

    page.page.click("#out button:has-text('Lowtide Pottery')")

    assert "Lowtide Pottery" == page.text("#title")
    assert "Tomas Brandt\nworks at (from 2024-02-01)" in page.texts("#in button")


def test_a_click_on_a_note_in_the_graph_picks_it_and_one_beside_it_lets_go(picture: Path, opened: Open) -> None:
    page = opened(picture)
    page.pick("lowtide")
    x, y = page.page.evaluate(MIDDLE)
    page.page.keyboard.press("Escape")
    assert page.page.is_hidden("#note")

    page.page.mouse.click(x, y)
    page.page.wait_for_selector("#note")
    assert "Lowtide Pottery" == page.text("#title")

    page.page.mouse.click(x, WIDE[1] - 3)
    page.page.wait_for_selector("#note", state="hidden")


def test_a_tap_on_a_note_picks_it_on_a_phone(picture: Path, opened: Open) -> None:
    page = opened(picture, PHONE)
    page.pick("lowtide")
    assert page.page.is_hidden("#results")
    x, y = page.page.evaluate(MIDDLE)
    page.page.tap("#close")
    assert page.page.is_hidden("#note")

    page.page.touchscreen.tap(x, y)
    page.page.wait_for_selector("#note")

    assert "Lowtide Pottery" == page.text("#title")


def test_what_is_filtered_out_is_not_drawn_and_comes_back(picture: Path, opened: Open) -> None:
    page = opened(picture)
    whole = page.ink()

    page.page.select_option("#type", "person")
    people = page.ink()
    page.page.select_option("#layer", "rule")
    nobody = page.ink()
    page.page.click("#reset")

    assert 0 == nobody < people < whole / 4
    assert whole / 2 < page.ink()


def test_the_legend_says_what_the_colours_stand_for_and_how_many(picture: Path, opened: Open) -> None:
    page = opened(picture)
    by_layer = page.texts("#legend li")

    page.page.select_option("#colour", "type")

    assert ["past 21", "state 13", "rule 3", "no layer 12", "entity", "named relation"] == by_layer
    assert ["person 4", "organization 1", "no type 44", "entity", "named relation"] == page.texts("#legend li")


def test_a_click_on_a_tag_of_a_note_shows_only_the_notes_that_have_it(picture: Path, opened: Open) -> None:
    page = opened(picture)
    page.pick("tomas")

    page.page.click("#tags button:has-text('#people')")

    people = sum(
        "people" in file.read_text("utf-8").partition("tags:")[2].partition("\n")[0]
        for file in SAMPLE.rglob("*.md")
    )
    assert "people" == page.page.input_value("#tag")
    assert page.text("#counts").startswith(f"Shows {people} of 49 notes")


def test_filters_say_how_much_is_left_and_hide_the_rest_from_search(picture: Path, opened: Open) -> None:
    page = opened(picture)
    assert page.text("#counts").startswith("Shows 49 notes and ")

    page.page.select_option("#type", "person")
    page.page.fill("#search", "lowtide")

    assert page.text("#counts").startswith("Shows 4 of 49 notes and ")
    assert "No note found." == page.text("#found")

    page.page.click("#reset")
    page.page.select_option("#layer", "rule")
    assert page.text("#counts").startswith("Shows 3 of 49 notes and 0 of ")

    page.page.click("#reset")
    page.page.select_option("#tag", "kiln")
    shown = int(page.text("#counts").split()[1])
    page.page.fill("#search", "#kiln")

    assert shown == len(page.texts("#results li")) > 1


def test_a_link_to_a_note_that_is_filtered_out_says_so_and_shows_everything_when_followed(
    picture: Path, opened: Open
) -> None:
    page = opened(picture)
    page.page.select_option("#type", "person")
    page.pick("tomas")

    page.page.click("#out button:has-text('Lowtide Pottery (filtered out)')")

    assert "Lowtide Pottery" == page.text("#title")
    assert page.text("#counts").startswith("Shows 49 notes")


def test_everything_can_be_done_from_the_keyboard(picture: Path, opened: Open) -> None:
    page = opened(picture)
    press, type_ = page.page.keyboard.press, page.page.keyboard.type

    press("/")
    type_("clay body")
    press("ArrowDown")
    press("ArrowDown")
    second = page.text("#results li[aria-selected='true']").split("\n")[0]
    press("Enter")
    assert second == page.text("#title")

    for _ in range(30):
        press("Tab")
        if page.page.evaluate("() => document.activeElement.closest('#out, #in') !== null"):
            break
    wanted = page.page.evaluate("() => document.activeElement.childNodes[1].textContent")
    press("Enter")
    assert wanted == page.text("#title")

    press("Escape")
    assert page.page.is_hidden("#note")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_in_light_and_dark(picture: Path, opened: Open, scheme: str) -> None:
    page = opened(picture, PHONE, scheme)
    page.pick("lowtide")

    boxes = [page.page.locator(part).bounding_box() for part in ("#controls", "#note")]
    width = page.page.evaluate("() => document.documentElement.scrollWidth")
    ground = page.page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    assert PHONE[0] == width
    assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0] for box in boxes)
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] + boxes[0]["height"] < boxes[1]["y"]
    assert {"light": "rgb(251, 250, 247)", "dark": "rgb(22, 24, 29)"}[scheme] == ground


def test_hostile_texts_are_shown_as_they_stand(tmp_path: Path, opened: Open) -> None:
    vault = tmp_path / "it's <i>mine"
    vault.mkdir()
    note = {"title": HOSTILE, "entity_type": HOSTILE, "tags": [HOSTILE], HOSTILE: "[[Other]]"}
    (vault / "One.md").write_text(f"---\n{json.dumps(note)}\n---\n", encoding="utf-8")
    (vault / "Other.md").write_text("---\ntitle: 'javascript:alert(2)'\n---\n[[One]]\n", encoding="utf-8")

    page = opened(_show(vault, tmp_path / "graph.html"))
    page.pick("bold")

    assert ("it's <i>mine", HOSTILE) == (page.text("#vault"), page.text("#title"))
    assert HOSTILE in page.text("#facts")
    assert 0 == page.page.locator("img, b, body i:not([style]):not([class])").count()
    assert "obsidian://open?vault=it's%20%3Ci%3Emine&file=One" == page.page.get_attribute("#obsidian", "href")


def _large() -> Picture:
    """10,000 notes in 60 folders, 30,000 links mostly inside them, some notes far better linked than others."""
    chance = random.Random(5)
    layers, types = ("", "past", "state", "rule"), ("", "", "", "person", "place")
    notes = tuple(
        PictureNote(
            f"Area {n // 167:02}/Note {n:05}.md", f"Note {n:05}", chance.choice(layers), chance.choice(types), ()
        )
        for n in range(10_000)
    )
    links: set[tuple[int, int]] = set()
    while len(links) < 30_000:
        source = chance.randrange(10_000)
        start = source // 167 * 167 if chance.random() < 0.9 else chance.randrange(9_800)
        target = min(start + min(int(chance.paretovariate(0.7)) - 1, 166), 9_999)
        if source != target:
            links.add((source, target))
    return Picture(notes, tuple(PictureLink(*ends, ()) for ends in sorted(links)), len(notes))


WATCH = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
}).observe({ entryTypes: ["longtask"] });
"""


@pytest.mark.slow
def test_ten_thousand_notes_are_there_at_once_and_never_freeze_the_page(
    tmp_path: Path, browser: Browser, record_property: Callable[[str, Any], None]
) -> None:
    file = tmp_path / "large.html"
    file.write_text(render_page(_large(), "large", []), encoding="utf-8")
    page = browser.new_page(viewport={"width": WIDE[0], "height": WIDE[1]})
    page.add_init_script(WATCH)

    page.goto(file.as_uri())
    paint = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.fill("#search", "note 09999")  # while the notes are being arranged
    assert ["Note 09999"] == [text.split("\n")[0] for text in page.locator("#results li").all_inner_texts()]
    page.fill("#search", "")
    page.wait_for_selector("#busy", state="hidden", timeout=120_000)
    longest = page.evaluate("() => window.longest")
    page.close()

    record_property("first_paint_ms", paint)
    record_property("longest_task_ms", longest)
    assert file.stat().st_size < 2_500_000
    assert paint < 5_000
    assert longest < 3_000
