"""What `get` tells of a note beside its text, as a client sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import OpenVault
from vault_memex.core.patch import parse_patch
from vault_memex.errors import AmbiguousTitle, NotFound
from vault_memex.server.render import render_note
from vault_memex.services.reading import NeighbourRow, ReadRequest
from vault_memex.services.requests import EditRequest, MergeRequest, RetireRequest, SaveRequest


def write(root: Path, path: str, text: str, **properties: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    head = "".join(f"{name}: {value}\n" for name, value in properties.items())
    file.write_text(f"---\n{head}---\n{text}\n" if head else f"{text}\n", encoding="utf-8")


def test_notes_of_one_title_are_named_with_their_numbers(folder: Path, opening: OpenVault) -> None:
    for place in ("Studio", "Kitchen", "Boat"):
        write(folder, f"{place}/Ideas.md", f"Ideas for the {place}.")
    vault = opening(folder)
    vault.editing.save(SaveRequest("Other", "It numbers the notes.", "state"))

    view = vault.reading.get("[[ideas]]", ReadRequest())

    assert ("Boat/Ideas.md", ("Kitchen/Ideas.md (#2)", "Studio/Ideas.md (#3)")) == (view.path, view.same_title)
    text = render_note(vault.reading, "IDEAS", (), ReadRequest())
    assert "same title: Kitchen/Ideas.md (#2), Studio/Ideas.md (#3) (use a path to mean one of them)" in text


def test_who_wrote_a_note_and_who_changed_it_last_is_told(folder: Path, opening: OpenVault) -> None:
    write(folder, "Mine.md", "By me.")
    vault = opening(folder)
    theirs = vault.editing.save(SaveRequest("Theirs", "By an assistant.", "state")).path

    def who(path: str) -> tuple[str, str]:
        view = vault.reading.get(path, ReadRequest())
        return view.added_by, view.changed_by

    assert [("owner", "owner"), ("tester", "tester")] == [who("Mine.md"), who(theirs)]
    assert "added by" not in render_note(vault.reading, "Mine.md", (), ReadRequest())
    vault.editing.edit(EditRequest("Mine", patch=parse_patch([{"append": "And one line."}])))
    write(folder, theirs, "By me again.", added_by="tester")
    vault.refresh()
    assert [("owner", "tester"), ("tester", "owner")] == [who("Mine.md"), who(theirs)]
    assert "added by owner, last changed by tester" in render_note(vault.reading, "Mine.md", (), ReadRequest())


def test_neighbours_come_nearest_first_with_what_they_are_about_and_how_they_are_linked(
    folder: Path, opening: OpenVault
) -> None:
    write(folder, "Hub.md", "[[Kiln]] and [[Kiln]] and ![[Clay]]", up='"[[Top]]"')
    write(folder, "Kiln.md", "Back to [[Hub]].", summary="How the kiln is fired.")
    write(folder, "Clay.md", "See [glaze](Glaze.md).")
    write(folder, "Top.md", "Nothing.")
    write(folder, "Glaze.md", "Far.", summary="s" * 300)
    vault = opening(folder)
    vault.editing.save(SaveRequest("Last", "It numbers the notes.", "state"))

    near = vault.reading.get("Hub", ReadRequest(depth=2)).neighbours

    assert [
        NeighbourRow("Kiln.md", 4, 1, 3, "both", ("wiki",), "How the kiln is fired."),
        NeighbourRow("Clay.md", 1, 1, 1, "out", ("embed",), None),
        NeighbourRow("Top.md", 5, 1, 1, "out", ("frontmatter",), None),
        NeighbourRow("Glaze.md", 2, 2, 1, "out", ("markdown",), "s" * 199 + "…"),
    ] == list(near)
    lines = render_note(vault.reading, "Hub", (), ReadRequest(depth=1)).splitlines()
    assert [
        "1 away, 3 links both: Kiln.md (#4): How the kiln is fired.",
        "1 away, one link out (embed): Clay.md (#1)",
        "1 away, one link out (frontmatter): Top.md (#5)",
    ] == lines[-3:]


def test_fifty_neighbours_come_and_of_equals_the_lowest_numbers(folder: Path, opening: OpenVault) -> None:
    for number in range(60):
        write(folder, f"{59 - number:02}.md", "[[Hub]]", id=str(number + 1))
    write(folder, "Hub.md", "The middle.")
    vault = opening(folder)

    near = vault.reading.get("Hub", ReadRequest(depth=1)).neighbours

    assert list(range(1, 51)) == [row.note_id for row in near]


def test_a_note_renamed_outside_is_found_by_its_former_title(folder: Path, opening: OpenVault) -> None:
    write(folder, "Log/Plain.md", "Of a person, without frontmatter.")
    vault = opening(folder)
    saved = vault.editing.save(SaveRequest("Old name", "About kilns.", "state"))
    (folder / "Log/Plain.md").rename(folder / "Log/Plainer.md")
    (folder / "Old name.md").rename(folder / "New name.md")
    vault.refresh()

    for name in ("old NAME", "[[Old name]]", "Old name.md"):
        assert saved.note_id == vault.reading.get(name, ReadRequest()).note_id
    assert "Log/Plainer.md" == vault.reading.get("Log/Plain", ReadRequest()).path
    assert "New name.md" == vault.editing.edit(EditRequest("Old name", summary="About kilns.")).path

    write(folder, "Old name.md", "Another note of that name.")
    vault.refresh()
    assert "Old name.md" == vault.reading.get("Old name", ReadRequest()).path
    vault.editing.retire(RetireRequest("Old name.md", "test"))
    vault.editing.retire(RetireRequest("New name.md", "test"))
    with pytest.raises(NotFound):
        vault.reading.get("Old name", ReadRequest())


def test_of_two_notes_that_had_a_name_none_is_changed_by_it(folder: Path, opening: OpenVault) -> None:
    write(folder, "A/Plan.md", "The first plan, of clay.")
    write(folder, "B/Plan.md", "The second plan, of wood.")
    vault = opening(folder)
    vault.editing.save(SaveRequest("Last", "It numbers the notes.", "state"))
    for place in "AB":
        (folder / f"{place}/Plan.md").rename(folder / f"{place}/Other {place}.md")
    vault.refresh()

    view = vault.reading.get("Plan", ReadRequest())
    assert ("A/Other A.md", ("B/Other B.md (#2)",)) == (view.path, view.same_title)
    with pytest.raises(AmbiguousTitle) as refused:
        vault.editing.edit(EditRequest("Plan", summary="Which?"))
    assert "A/Other A.md" in refused.value.message


def test_what_waits_about_a_note_is_told_with_the_sentences_that_it_blocks(
    folder: Path, opening: OpenVault
) -> None:
    write(folder, "Plan.md", "We meet on Monday. Bring cake.\n\n- ask Ravi\n- book hall", summary="Old.")
    write(folder, "Other.md", "Unlike it in all.")
    mine = opening(folder, policy="reviewed", connection="codex")
    theirs = opening(folder, policy="reviewed", connection="claude")
    moved = parse_patch([{"find": "Monday", "replace": "Tuesday"}, {"find": "hall", "replace": "the hall"}])
    mine.editing.edit(EditRequest("Plan", patch=moved, comment="Anna said so."))
    theirs.editing.edit(EditRequest("Plan", summary="New."))
    mine.merging.merge(MergeRequest("Other", "Plan", "It says the same."))

    view = mine.reading.get("Plan", ReadRequest())

    assert [
        (1, "edit", "codex", "Anna said so.", (), ("We meet on Monday.", "- book hall"), ""),
        (2, "edit", "claude", "", ("summary",), (), ""),
        (3, "merge", "codex", "It says the same.", (), (), "Other.md"),
    ] == [(w.number, w.kind, w.by, w.reason, w.fields, w.blocks, w.other) for w in view.waiting_changes]
    assert "Tuesday" in view.waiting_changes[0].change
    assert "Plan.md" == mine.reading.get("Other", ReadRequest()).waiting_changes[0].other
    text = render_note(theirs.reading, "Plan", (), ReadRequest())
    assert "waiting_changes, proposal 1: edit by codex, " in text
    assert "  blocks: We meet on Monday.\n" in text
    assert "waiting_changes, proposal 2: edit of summary by claude, " in text
    theirs.editing.retire(RetireRequest("Other", "It says the same.", hold=True))
    mine.editing.edit(EditRequest("Plan", body="All is new now.\n", if_revision=view.revision, allow_shrink=True))
    assert ("the whole text",) == mine.reading.get("Plan", ReadRequest()).waiting_changes[0].blocks
    assert ["merge", "delete"] == [w.kind for w in mine.reading.get("Other", ReadRequest()).waiting_changes]
