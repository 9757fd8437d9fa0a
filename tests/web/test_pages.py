"""The pages: what waits is shown, decided and taken back, and notes are shown as what they say."""

from __future__ import annotations

import html
import re
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.conftest import OpenVault
from tests.services.test_editing import edit
from tests.services.test_review import BOOKED, MOVED, PLAN, inbox_of, read
from tests.web.conftest import OpenPages
from tests.web.pages import Pages
from vault_memex.services.requests import EditRequest, MergeRequest, RetireRequest, SaveRequest
from vault_memex.services.runs import Finding, RunRequest
from vault_memex.vault import open_vault

WEEKDAY = re.compile(r"<(del|ins)>(\w+)</\1>")


@pytest.fixture
def pages(plan: Path, opening: OpenVault, open_pages: OpenPages) -> Pages:
    """The pages of a vault with two proposals and a new note that wait."""
    opening(plan, policy="reviewed").editing.edit(edit("Plan", MOVED, comment="Anna said so."))
    other = opening(plan, policy="reviewed", connection="other")
    other.editing.edit(edit("Plan", BOOKED))
    other.editing.save(SaveRequest("Idea", "A *thought* on [[Plan]].", "state"))
    return open_pages(plan)


def field(page: str, name: str) -> str:
    """Return the value of a hidden field or the text of an area."""
    found = re.search(rf'name="{name}"[^>]*?(?: value="([^"]*)"|>\n(.*?)</textarea>)', page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1] if found[1] is not None else found[2])


def decide(pages: Pages, place: str, action: str, **fields: str) -> str:
    return pages.post(place, action=action, seen=field(pages.get(place), "seen"), **fields)


def test_the_inbox_lists_what_waits_with_the_words_that_change(pages: Pages) -> None:
    page = pages.get()

    assert "3 things wait" in page
    assert "We meet on <del>Monday</del><ins>Tuesday</ins>. Bring cake." in page
    assert "Anna said so." in page
    assert all(f"{pages.keys.base}/{place}" in page for place in ("proposal/1", "proposal/2", "waiting/Idea.md"))


def test_approving_writes_the_note_goes_on_to_the_next_and_can_be_taken_back(pages: Pages, plan: Path) -> None:
    assert [("del", "Monday"), ("ins", "Tuesday")] == WEEKDAY.findall(pages.get("proposal/1"))
    address = decide(pages, "proposal/1", "approve", comment="Right.", precedent="on")

    assert PLAN.replace("Monday", "Tuesday") == read(plan)
    assert address.startswith(f"{pages.keys.base}/proposal/2?done=")
    shown = pages.get(address.removeprefix(f"{pages.keys.base}/"))
    assert "Approved: proposal 1, Plan" in shown

    assert f"{pages.keys.base}/proposal/1" == pages.post("undo", event=field(shown, "event"))
    assert (PLAN, 2) == (read(plan), len(inbox_of(plan)))
    assert "Anna said so." in pages.get("proposal/1")


def test_rejecting_leaves_the_note_and_tells_the_author_why(pages: Pages, plan: Path, opening: OpenVault) -> None:
    decide(pages, "proposal/1", "reject", comment="It is Monday.")

    assert (PLAN, ["0002-edit-1.md"]) == (read(plan), inbox_of(plan))
    journal = pages.get("journal")
    assert "It is Monday." in journal
    assert "rejected" in journal


def test_words_that_do_not_fit_any_more_are_told_before_and_after(
    pages: Pages, plan: Path, opening: OpenVault
) -> None:
    (plan / "Plan.md").write_text(PLAN.replace("Monday", "Sunday"), encoding="utf-8")

    assert "Monday&#39; → &#39;Tuesday" in pages.get("proposal/1")
    seen = field(pages.get("proposal/1"), "seen")
    refused = pages.post("proposal/1", 409, action="approve", seen=seen)

    assert "Nothing of proposal 1 fits the note any more" in refused
    assert "Sunday" in read(plan)


def test_a_text_that_was_changed_is_what_is_approved(pages: Pages, plan: Path) -> None:
    page = pages.get("proposal/1")
    assert "Tuesday" == field(page, "new-1")
    pages.post("proposal/1", action="amend", seen=field(page, "seen"), **{"new-1": "Friday\r\nor ``` Saturday"})

    shown = pages.get("proposal/1")
    assert "You changed the proposed text." in shown
    assert "Friday\nor ``` Saturday" == field(shown, "new-1")
    decide(pages, "proposal/1", "approve")
    assert PLAN.replace("Monday", "Friday\nor ``` Saturday") == read(plan)


def test_a_proposal_that_changed_since_it_was_shown_is_not_decided(pages: Pages, plan: Path) -> None:
    seen = field(pages.get("proposal/1"), "seen")
    pages.post("proposal/1", action="amend", seen=seen, **{"new-1": "Friday"})

    for action in ("approve", "reject", "amend"):
        assert "changed since it was shown" in pages.post(
            "proposal/1", 409, action=action, seen=seen, **{"new-1": "x"}
        )
    assert "does not say which version" in pages.post("proposal/1", 409, action="approve")
    assert "neither approve nor reject" in pages.post("proposal/1", 409, action="burn", seen=seen)
    assert PLAN == read(plan)


def test_a_new_note_is_read_then_approved_or_sent_to_the_trash_and_back(pages: Pages, plan: Path) -> None:
    page = pages.get("waiting/Idea.md")
    assert "A <em>thought</em> on" in page
    stale = field(page, "seen")

    address = decide(pages, "waiting/Idea.md", "reject", comment="Not ours.")
    assert not (plan / "Idea.md").exists()
    event = field(pages.get(address.removeprefix(f"{pages.keys.base}/")), "event")
    assert f"{pages.keys.base}/waiting/Idea.md" == pages.post("undo", event=event)
    (plan / "Idea.md").write_text(read(plan, "Idea.md") + "More.\n", encoding="utf-8")
    assert "changed since it was shown" in pages.post("waiting/Idea.md", 409, action="approve", seen=stale)
    decide(pages, "waiting/Idea.md", "approve")

    assert "review" not in read(plan, "Idea.md")


def test_reports_and_deletions_are_told_for_what_they_are(
    plan: Path, opening: OpenVault, open_pages: OpenPages
) -> None:
    agent = opening(plan, policy="reviewed")
    agent.editing.edit(EditRequest("Plan", comment="The hall is another one."))
    opening(plan, policy="reviewed", connection="other").editing.retire(RetireRequest("Plan", "Over."))
    pages = open_pages(plan)

    report, deletion = pages.get("proposal/1"), pages.get("proposal/2")

    assert ("The hall is another one." in report, "Mark as read" in report) == (True, True)
    assert ("Over." in deletion, "Move to the trash" in deletion, "We meet on Monday" in deletion) == (True,) * 3
    decide(pages, "proposal/1", "approve")
    decide(pages, "proposal/2", "approve")
    assert not (plan / "Plan.md").exists()
    assert all(word in pages.get() for word in ("Nothing waits.", "Lately", "deleted"))


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_there(pages: Pages, plan: Path) -> None:
    path = plan / "_memex" / "inbox" / "0001-edit-1.md"
    path.write_text("---\ndecision: ''\n---\nnonsense\n", encoding="utf-8")

    page = pages.get()

    assert "0001-edit-1.md" in page
    assert "hall is booked" in page
    shown = pages.get("proposal/1", 409)
    assert ("program&#39;s line at its end" in shown, "nonsense" in shown) == (True, True)


def test_many_things_come_in_parts(folder: Path, opening: OpenVault, open_pages: OpenPages) -> None:
    agent = opening(folder, policy="reviewed")
    for number in range(53):
        agent.editing.save(SaveRequest(f"Idea {number:02}", f"Thought {number}.", "state", allow_duplicate=True))
    pages = open_pages(folder)

    assert ["1–50 of 53", "51–53 of 53"] == [
        re.search(r"\d+–\d+ of \d+", pages.get(place))[0] for place in ("", "?offset=50")
    ]


HOSTILE = """\
# <img src=x onerror=alert(1)>

<script>alert(2)</script> <svg onload=alert(3)> [a](javascript:alert(4)) [b](JaVaScRiPt:alert(5)) [c](//evil.example/x)
![p](https://evil.example/p.png) ![q](javascript:alert(6)) ![[x" onerror="alert(7).png]] [[" onclick="alert(8)|shown]]
<a href="javascript:alert(9)">x</a> [d](data:text/html,<script>alert(10)</script>) <javascript:alert(11)>
#tag"onmouseover="alert(12) ==<b>x</b>== %%<i>y</i>%%

```"><script>alert(13)</script>
code
```

> [!note"><script>alert(14)</script>] x
"""
ATTRIBUTE = re.compile(r"<[a-z][^<>]*\son[a-z]+\s*=", re.IGNORECASE)


@pytest.mark.parametrize("place", ["note/", "waiting/"])
def test_nothing_in_a_note_becomes_script_or_asks_the_network(
    folder: Path, open_pages: OpenPages, place: str
) -> None:
    review = "review: pending\n" if place == "waiting/" else ""
    (folder / "Bad.md").write_text(
        f"---\n{review}title: '<script>alert(0)</script>'\n---\n{HOSTILE}", encoding="utf-8"
    )
    page = open_pages(folder).get(f"{place}Bad.md")

    scripts = re.findall(r"<script[^>]*>", page)
    addresses = re.findall(r'(?:href|src|action)="([^"]*)"', page)
    assert (1, None) == (len(scripts), ATTRIBUTE.search(page))
    assert [] == [a for a in addresses if not a.startswith(("/", "#", "?", "https://evil.example/p.png"))]
    assert (
        '<a class="outside" href="https://evil.example/p.png" target="_blank" rel="noopener noreferrer">' in page
    )
    assert "<svg onload" not in page


def test_a_note_shows_its_links_both_ways_what_waits_and_its_history(pages: Pages, plan: Path) -> None:
    page = pages.get("note/Plan.md")

    assert f'href="{pages.keys.base}/proposal/1"' in page
    assert f'href="{pages.keys.base}/note/Idea.md"' in page
    assert f'href="{pages.keys.base}/journal?note=Plan.md"' in page
    assert f'<a class="link" href="{pages.keys.base}/note/Plan.md">Plan</a>' in pages.get("waiting/Idea.md")
    assert "# Plan" in pages.get("note/Plan.md?source=1")


@pytest.mark.parametrize(
    "path", ["../outside.md", "/etc/passwd", ".memex/config.toml", ".obsidian/x.md", "C:\\x.md"]
)
def test_nothing_outside_of_the_notes_is_shown(folder: Path, open_pages: OpenPages, path: str) -> None:
    (folder.parent / "outside.md").write_text("secret\n", encoding="utf-8")
    (folder / ".memex").mkdir()
    (folder / ".memex" / "config.toml").write_text("# secret\n", encoding="utf-8")
    pages = open_pages(folder)

    for kind in ("note", "file", "waiting"):
        answer = pages.client.get(f"{pages.keys.base}/{kind}/{quote(path, safe='')}")

        assert answer.status_code in (404, 409)
        assert "secret" not in answer.text


def test_pictures_are_given_out_and_other_files_are_not(filled: Path, open_pages: OpenPages) -> None:
    pages = open_pages(filled)
    assert f'<img src="{pages.keys.base}/file/attachments/celadon%20tile%207.png"' in pages.get(
        "note/Studio/Glaze%20index.md"
    )

    answer = pages.client.get(f"{pages.keys.base}/file/attachments/celadon%20tile%207.png")

    assert ("image/png", "default-src 'none'; sandbox") == (
        answer.headers["content-type"],
        answer.headers["content-security-policy"],
    )
    assert 404 == pages.client.get(f"{pages.keys.base}/file/Home.md").status_code


def test_signals_are_decided_and_inferences_put_away(filled: Path, open_pages: OpenPages) -> None:
    pages = open_pages(filled)
    while "being looked for" in (page := pages.get("signals")):
        pass
    first = re.search(r'id="signal-(\d+)"', page)
    assert first is not None

    pages.post(f"signal/{first[1]}", action="dismiss", status="new")
    assert f'id="signal-{first[1]}"' not in pages.get("signals")
    assert f'id="signal-{first[1]}"' not in pages.get("signals?offset=0&type=dangling_link")
    assert f'id="signal-{first[1]}"' in pages.get("signals?status=dismissed")
    assert "action = " in pages.post(f"signal/{first[1]}", 409, action="burn")
    assert "Drying, not firing" in pages.get("inferences")
    pages.post("inference/1", action="archive")
    assert "archived" in pages.get("inference/1")


def test_search_finds_and_says_what_is_wrong_with_a_question(filled: Path, open_pages: OpenPages) -> None:
    pages = open_pages(filled)

    assert "Kiln <mark>Berta</mark>" in pages.get("search?q=berta+%3Cmark%3E&folder=Studio")
    assert "Firing checklist" in pages.get("search?tag=safety")
    assert "A search is hybrid" in pages.get("search?q=x&mode=magic", 400)


def test_the_graph_leads_to_the_notes(filled: Path, open_pages: OpenPages) -> None:
    pages = open_pages(filled)

    assert f'src="{pages.keys.base}/graph/picture"' in pages.get("graph")
    assert f'"notesUrl":"{pages.keys.base}/note/"' in pages.get("graph/picture")


def test_pages_that_are_not_there_say_so(pages: Pages) -> None:
    assert "no such page" in pages.get("nowhere", 404)
    assert "No proposal 99 waits" in pages.get("proposal/99", 404)
    assert "No note" in pages.get("note/Nothing.md", 404)
    assert "no such change" in pages.post("undo", 404, event="99")


@pytest.mark.parametrize(
    "place",
    ["", "journal", "search", "signals", "inferences", "graph", "note/Studio/Kiln%20Berta.md", "proposal/1"],
)
def test_every_field_and_picture_has_a_name_and_ids_stand_once(
    filled: Path, open_pages: OpenPages, place: str
) -> None:
    page = open_pages(filled).get(place)

    ids = re.findall(r'\sid="([^"]+)"', page)
    assert sorted(set(ids)) == sorted(ids)
    assert all("alt=" in image for image in re.findall(r"<img [^>]*>", page))
    for one in re.findall(r"<(?:input|textarea|select)[^>]*>", page):
        named = re.search(r'id="([^"]+)"', one)
        inside = re.search(rf"<label[^>]*>[^<]*{re.escape(one)}", page)
        assert 'type="hidden"' in one or inside or (named and f'for="{named[1]}"' in page), one
    assert 1 == page.count("<h1")


def test_any_change_is_taken_back_from_the_journal_and_the_taking_back_too(pages: Pages, plan: Path) -> None:
    pages.post("flag/Plan.md", comment="Too long.")
    assert "Too long." in pages.get("note/Plan.md")

    address = pages.post("undo", event=field(pages.get("journal"), "event"))
    shown = pages.get(address.removeprefix(f"{pages.keys.base}/"))
    assert "Undo: Flag Plan" in shown
    assert "Too long." not in pages.get("note/Plan.md")
    pages.post("undo", event=field(shown, "event"))

    assert "Too long." in pages.get("note/Plan.md")
    pages.post("flag/Plan.md", comment="Shortened.", action="close")
    assert "You marked this note" not in pages.get("note/Plan.md")
    assert "comment is empty" in pages.post("flag/Plan.md", 409, comment=" ")


def test_a_merge_says_what_stays_what_it_gets_and_whose_links_change(
    folder: Path, opening: OpenVault, open_pages: OpenPages
) -> None:
    (folder / "Tea.md").write_text("---\ntags: [drink]\n---\nGreen.\n", encoding="utf-8")
    (folder / "Chai.md").write_text("---\ntags: [spice]\n---\nBlack.\n", encoding="utf-8")
    (folder / "Home.md").write_text("[[Chai]]\n", encoding="utf-8")
    opening(folder).merging.merge(MergeRequest("Chai", "Tea", "The same."))
    pages = open_pages(folder)

    page = pages.get("proposal/1")

    assert all(word in page for word in ("Is merged into", "spice", "Home.md", "The same."))
    decide(pages, "proposal/1", "approve")
    assert (False, "[[Tea]]\n") == ((folder / "Chai.md").exists(), read(folder, "Home.md"))


def test_what_needs_tidying_is_listed_with_its_reasons_and_what_curators_wrote(
    plan: Path, opening: OpenVault, open_pages: OpenPages
) -> None:
    (plan / "Bare.md").write_text("One.\n", encoding="utf-8")
    opening(plan, role="curator", connection="tidy").upkeep.runs.record(
        RunRequest("run_summary", "Looked at the plan.", examined=(Finding("Plan", "links", "none"),))
    )
    pages = open_pages(plan)
    pages.post("flag/Bare.md", comment="Say more.")

    page = pages.get("tidying")
    untagged = pages.get("tidying?reason=operator_flag")

    assert all(word in page for word in ("Say more.", "has no tags", "no link to or from another note"))
    assert ("Bare.md" in untagged, "Plan.md" in untagged) == (True, False)
    record = re.search(r"record/[^\"]+", page)
    assert record is not None
    assert "Looked at the plan." in pages.get(record[0])
    assert "no record" in pages.get("record/Plan", 404)


def test_two_notes_are_kept_apart_with_a_reason(filled: Path, open_pages: OpenPages) -> None:
    pages = open_pages(filled)
    assert "Nothing can be compared" in pages.get("pairs")

    assert "body is empty" in pages.post("pairs", 409, one="Kiln Berta", other="Glaze index")
    pages.post("pairs", one="Kiln Berta", other="Glaze index", comment="A kiln and a list.")

    journal = "".join(file.read_text("utf-8") for file in (filled / ".memex" / "journal").glob("*.jsonl"))
    assert "A kiln and a list." in journal


def test_a_page_says_that_notes_are_not_indexed_yet(folder: Path) -> None:
    (folder / "New.md").write_text("Not met.\n", encoding="utf-8")
    with closing(open_vault(folder, flags={"model": "none", "role": "owner"})) as vault:
        pages = Pages(vault).enter()
        assert "more may match in a moment" in pages.get()

        vault.refresh()

        assert "more may match" not in pages.get()


def test_a_note_comes_back_from_the_trash(plan: Path, opening: OpenVault, open_pages: OpenPages) -> None:
    opening(plan).editing.retire(RetireRequest("Plan", "Over & out."))
    pages = open_pages(plan)
    page = pages.get("trash")
    assert ("Over &amp; out." in page, (plan / "Plan.md").exists()) == (True, False)

    assert f"{pages.keys.base}/note/Plan.md" == pages.post("trash", file=field(page, "file"))

    assert PLAN == read(plan)
    assert "No note is in the trash." in pages.get("trash")
    assert "trash" in pages.post("trash", 404, file="nothing")
