"""Writes through the one door, on real files; each name states the outcome."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenVault
from vault_memex.core.patch import parse_patch
from vault_memex.errors import (
    AlreadyExists,
    AmbiguousTitle,
    AnchorNotFound,
    DuplicateSuspected,
    EmptyBody,
    InvalidArgument,
    NotFound,
    NotWritable,
    PastImmutable,
    PatchNoop,
    PathOutsideVault,
    ReservedFolder,
    RevisionRequired,
    RoleRequired,
    RuleUserOnly,
    ShrinkRefused,
    StaleRevision,
)
from vault_memex.services.reading import ReadRequest
from vault_memex.services.requests import EditRequest, RetireRequest, SaveRequest
from vault_memex.store.trash import Trash

PLAN = "# Plan\n\n- ask Ravi\n- book hall\n"


def edit(ref: str, *ops: dict[str, Any], **more: Any) -> EditRequest:
    return EditRequest(ref=ref, patch=parse_patch(list(ops)) if ops else (), **more)


def state_of(root: Path) -> dict[str, bytes]:
    """Return every file of the vault but the program's own."""
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and not p.relative_to(root).as_posix().startswith((".memex", ".git/", "_memex"))
        # An old file is kept hidden for two seconds, in case an editor still writes into it.
        if not p.name.startswith(".vmx-")
    }


def test_an_edit_changes_the_named_bytes_and_nothing_else(folder: Path, opening: OpenVault) -> None:
    (folder / "Plan.md").write_bytes(PLAN.encode())
    (folder / "Other.md").write_bytes(b"other\r\n")

    answer = opening(folder).editing.edit(edit("plan", {"find": "ask Ravi", "replace": "ask Ravi and Noor"}))

    assert {"Plan.md": PLAN.replace("Ravi", "Ravi and Noor").encode(), "Other.md": b"other\r\n"} == state_of(
        folder
    )
    assert "+- ask Ravi and Noor" in answer.diff
    assert ("applied", "Plan.md", 2) == (answer.outcome, answer.path, answer.note_id)


def test_the_next_search_get_and_backlink_see_a_write(folder: Path, opening: OpenVault) -> None:
    (folder / "Plan.md").write_text(PLAN, encoding="utf-8")
    vault = opening(folder)
    vault.editing.save(SaveRequest("Hall", "The zanzibar hall, see [[Plan]].", "state"))

    hits = vault.catalogue.search_words(_match("zanzibar"))
    plan = vault.reading.get("Plan", ReadRequest())

    assert ["Hall.md"] == [hit.path for hit in hits]
    assert ["Hall.md"] == [row.source for row in plan.backlinks]


def _match(word: str) -> Any:
    from vault_memex.core.query import build_match, parse_query

    return build_match(parse_query(word))


# -- cases O13: somebody else saved in between


def test_a_stale_revision_is_refused_with_the_new_one(folder: Path, opening: OpenVault) -> None:
    file = folder / "Plan.md"
    file.write_text(PLAN, encoding="utf-8")
    vault = opening(folder)
    read = vault.reading.get("Plan", ReadRequest()).revision
    file.write_text(PLAN.replace("book hall", "book hall (done)") + "- order cake\n", encoding="utf-8")
    before = state_of(folder)

    with pytest.raises(StaleRevision) as caught:
        vault.editing.edit(edit("Plan", {"find": "- ask Ravi", "replace": "- ask Noor"}, if_revision=read))

    assert before == state_of(folder)
    assert caught.value.fields["revision"] == vault.reading.get("Plan", ReadRequest()).revision


def test_an_edit_without_a_revision_applies_to_the_text_as_it_is_now(folder: Path, opening: OpenVault) -> None:
    file = folder / "Plan.md"
    file.write_text(PLAN, encoding="utf-8")
    vault = opening(folder)
    vault.reading.get("Plan", ReadRequest())
    file.write_text("# Plan\n\n- ask Ravi\n- book hall (done)\n- order cake\n", encoding="utf-8")

    vault.editing.edit(edit("Plan", {"find": "- ask Ravi", "replace": "- ask Ravi and Noor"}))

    assert "# Plan\n\n- ask Ravi and Noor\n- book hall (done)\n- order cake\n" == file.read_text(encoding="utf-8")


def test_text_that_is_gone_is_not_found_and_nothing_is_written(folder: Path, opening: OpenVault) -> None:
    file = folder / "Plan.md"
    file.write_text("# Plan\n\n- book hall (done)\n", encoding="utf-8")
    vault = opening(folder)

    with pytest.raises(AnchorNotFound):
        vault.editing.edit(edit("Plan", {"find": "- book hall\n", "replace": ""}))

    assert "# Plan\n\n- book hall (done)\n" == file.read_text(encoding="utf-8")


def test_a_whole_body_needs_the_revision_that_was_read(folder: Path, opening: OpenVault) -> None:
    (folder / "Plan.md").write_text(PLAN, encoding="utf-8")
    vault = opening(folder)

    with pytest.raises(RevisionRequired):
        vault.editing.edit(edit("Plan", body="# Plan\n"))


def test_a_whole_body_with_the_revision_keeps_the_frontmatter_bytes(folder: Path, opening: OpenVault) -> None:
    head = "---\nlayer: state   # mine\n---\n"
    (folder / "Plan.md").write_text(head + PLAN, encoding="utf-8")
    vault = opening(folder)
    revision = vault.reading.get("Plan", ReadRequest()).revision

    vault.editing.edit(edit("Plan", body="# Plan\n\nnew text\n", if_revision=revision[:12]))

    assert head + "# Plan\n\nnew text\n" == (folder / "Plan.md").read_text(encoding="utf-8")


def test_a_deleted_note_is_gone_and_not_created_anew(folder: Path, opening: OpenVault) -> None:
    file = folder / "Plan.md"
    file.write_text(PLAN, encoding="utf-8")
    vault = opening(folder)
    file.unlink()

    with pytest.raises(NotFound) as caught:
        vault.editing.edit(edit("Plan", {"find": "ask", "replace": "tell"}))

    assert caught.value.fields.get("gone") is True
    assert {} == state_of(folder)


def test_losing_more_than_half_needs_to_be_asked_for(folder: Path, opening: OpenVault) -> None:
    (folder / "Long.md").write_text("# Long\n\n" + "word " * 150 + "end\n", encoding="utf-8")
    vault = opening(folder)
    request = edit("Long", {"find": "word " * 150 + "end", "replace": "short"})

    with pytest.raises(ShrinkRefused):
        vault.editing.edit(request)

    vault.editing.edit(edit("Long", {"find": "word " * 150 + "end", "replace": "short"}, allow_shrink=True))
    assert (folder / "Long.md").stat().st_size < 300


# -- properties, tags, layers, guards


def test_properties_touch_only_their_lines_and_null_removes(folder: Path, opening: OpenVault) -> None:
    text = "---\nlayer: state # keep\nstatus: 'open'\ndue: 2026-01-01\n---\nBody.\n"
    (folder / "T.md").write_text(text, encoding="utf-8")
    vault = opening(folder)

    vault.editing.edit(edit("T", properties={"due": None, "pieces": 5}, tags=("a", "#b")))

    expected = "---\nlayer: state # keep\nstatus: 'open'\npieces: 5\ntags:\n  - a\n  - b\n---\nBody.\n"
    assert expected == (folder / "T.md").read_text(encoding="utf-8")


def test_a_record_of_the_past_is_not_rewritten_but_may_get_tags(folder: Path, opening: OpenVault) -> None:
    (folder / "Day.md").write_text("---\nlayer: past\n---\nIt rained.\n", encoding="utf-8")
    vault = opening(folder)

    with pytest.raises(PastImmutable) as caught:
        vault.editing.edit(edit("Day", {"find": "rained", "replace": "snowed"}))

    assert "[Amendment] Day" == caught.value.fields["suggestion"]["title"]
    assert "applied" == vault.editing.edit(edit("Day", tags=("weather",))).outcome


def test_the_suggested_amendment_can_be_saved_as_it_is(folder: Path, opening: OpenVault) -> None:
    (folder / "Day.md").write_text("---\nlayer: past\n---\nIt rained.\n", encoding="utf-8")
    vault = opening(folder)
    with pytest.raises(PastImmutable) as caught:
        vault.editing.edit(edit("Day", {"find": "rained", "replace": "snowed"}))
    suggestion = dict(caught.value.fields["suggestion"])
    assert "save" == suggestion.pop("tool")

    answer = vault.editing.save(SaveRequest(**suggestion))

    assert "Amendment Day.md" == answer.path
    assert ["Amendment Day.md"] == [row.source for row in vault.reading.get("Day", ReadRequest()).backlinks][:1]


@pytest.mark.parametrize("change", [{"summary": "x"}, {"layer": "state"}])
def test_a_rule_is_the_persons_own(folder: Path, opening: OpenVault, change: dict[str, str]) -> None:
    (folder / "R.md").write_text("---\nlayer: rule\n---\nBe brief.\n", encoding="utf-8")
    vault = opening(folder)

    with pytest.raises(RuleUserOnly):
        vault.editing.edit(edit("R", **change))
    with pytest.raises(RuleUserOnly):
        vault.editing.retire(RetireRequest("R", "why not"))


def test_a_new_rule_by_an_assistant_is_provisional(folder: Path, opening: OpenVault) -> None:
    vault = opening(folder)

    vault.editing.save(SaveRequest("Be brief", "Short answers.", "rule"))

    assert "provisional" == vault.snapshot().notes["Be brief.md"].properties["rule_status"]


def test_a_locked_note_is_left_alone(folder: Path, opening: OpenVault) -> None:
    text = "---\nlocked: true\n---\nFixed.\n"
    (folder / "L.md").write_text(text, encoding="utf-8")
    vault = opening(folder)

    for request in (edit("L", {"append": "x"}), edit("L", properties={"locked": False}), edit("L", folder="a")):
        with pytest.raises(NotWritable):
            vault.editing.edit(request)
    with pytest.raises(NotWritable):
        vault.editing.retire(RetireRequest("L", "x"))

    assert {"L.md": text.encode()} == state_of(folder)


def test_a_reader_writes_nothing(folder: Path, opening: OpenVault) -> None:
    (folder / "Plan.md").write_text(PLAN, encoding="utf-8")
    vault = opening(folder, role="reader")

    for write in (
        lambda: vault.editing.save(SaveRequest("T", "b", "state")),
        lambda: vault.editing.edit(edit("Plan", {"append": "x"})),
        lambda: vault.editing.retire(RetireRequest("Plan", "x")),
    ):
        with pytest.raises(RoleRequired):
            write()


# -- saving


def test_a_new_note_is_named_after_its_title_and_numbered(folder: Path, opening: OpenVault) -> None:
    vault = opening(folder)

    answer = vault.editing.save(
        SaveRequest(
            "Kiln: the plan?", "Fire it.", "state", tags=("kiln",), folder="Studio", properties={"cost": 3}
        )
    )

    text = (folder / "Studio" / "Kiln the plan.md").read_text(encoding="utf-8")
    assert ("created", 1, ("kiln",), "Studio") == (
        answer.outcome,
        answer.note_id,
        answer.new_tags,
        answer.new_folder,
    )
    assert text.startswith('---\nid: 1\nlayer: state\naliases:\n  - "Kiln: the plan?"\n')
    assert text.endswith("cost: 3\nadded_by: tester\n---\nFire it.\n")


def test_a_title_that_is_taken_exists_also_in_another_case_or_unicode_form(
    folder: Path, opening: OpenVault
) -> None:
    (folder / "INDEX.md").write_text("x", encoding="utf-8")
    (folder / unicodedata.normalize("NFD", "회의록.md")).write_text("# 회의록\n", encoding="utf-8")
    vault = opening(folder)

    for title in ("index", "회의록"):
        with pytest.raises(DuplicateSuspected):
            vault.editing.save(SaveRequest(title, "again", "state"))

    assert 2 == len(state_of(folder))


def test_another_title_with_the_same_file_name_gets_a_number(folder: Path, opening: OpenVault) -> None:
    vault = opening(folder)
    vault.editing.save(SaveRequest("A: b", "one", "state"))

    answer = vault.editing.save(SaveRequest("A? b", "two", "state"))

    assert "A b (2).md" == answer.path


def test_a_folder_is_named_from_the_top_of_the_vault(folder: Path, opening: OpenVault) -> None:
    with pytest.raises(PathOutsideVault):
        opening(folder).editing.save(SaveRequest("T", "b", "state", folder="../out"))


@pytest.mark.parametrize("where", [".obsidian", "_memex", "a/.git"])
def test_reserved_folders_hold_no_notes(folder: Path, opening: OpenVault, where: str) -> None:
    with pytest.raises(ReservedFolder):
        opening(folder).editing.save(SaveRequest("T", "b", "state", folder=where))


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (SaveRequest("", "b", "state"), InvalidArgument),
        (SaveRequest("T", " \n", "state"), EmptyBody),
        (SaveRequest("T", "b", "state", source_url="ftp://x"), InvalidArgument),
        (SaveRequest("T", "b", "state", properties={"id": 4}), InvalidArgument),
        (SaveRequest("T", "b", "state", properties={"layer": "rule"}), InvalidArgument),
    ],
)
def test_what_cannot_be_saved_is_refused_before_anything_is_written(
    folder: Path, opening: OpenVault, request_: SaveRequest, error: type[Exception]
) -> None:
    vault = opening(folder)

    with pytest.raises(error):
        vault.editing.save(request_)

    assert [] == list(folder.iterdir())


# -- renaming and moving


def test_a_new_title_renames_the_file_and_the_links_to_it(folder: Path, opening: OpenVault) -> None:
    (folder / "Old.md").write_text("# Old\n\nSee [[#Old]].\n", encoding="utf-8")
    (folder / "Citing.md").write_text("[[old#Old]] ![[Old]] `[[Old]]` [x](Old.md)\n", encoding="utf-8")
    vault = opening(folder)

    answer = vault.editing.edit(edit("Old", title="New"))

    files = state_of(folder)
    assert ("renamed", "New.md", ("Citing.md",)) == (answer.outcome, answer.path, answer.relinked)
    assert b"[[New#Old]] ![[New]] `[[Old]]` [x](New.md)\n" == files["Citing.md"]
    assert b"former_titles" in files["New.md"]
    assert "New.md" == vault.reading.get("Old", ReadRequest()).path
    assert 2 == len(files)


def test_definitions_and_canvases_follow_a_rename_and_are_no_backlinks(folder: Path, opening: OpenVault) -> None:
    (folder / "Old.md").write_text("# Old\n", encoding="utf-8")
    (folder / "Refers.md").write_bytes(b"[a][r]\r\n\r\n[r]: Old.md 'Old'\r\n")
    canvas = b'{"nodes":[{"type":"file","file":"Old.md", "subpath":"#Old"}], "x":1.0}\r\n'
    (folder / "Board.canvas").write_bytes(canvas)
    (folder / "Other.canvas").write_bytes(canvas.replace(b"Old.md", b"Older.md"))
    vault = opening(folder)
    assert () == vault.reading.get("Old", ReadRequest()).backlinks

    answer = vault.editing.edit(edit("Old", title="New"))

    files = state_of(folder)
    assert ("Refers.md", "Board.canvas") == answer.relinked
    assert b"[a][r]\r\n\r\n[r]: New.md 'Old'\r\n" == files["Refers.md"]
    assert canvas.replace(b"Old.md", b"New.md") == files["Board.canvas"]
    assert canvas.replace(b"Old.md", b"Older.md") == files["Other.canvas"]
    assert ("Refers.md", "Board.canvas") == vault.editing.edit(edit("New", title="Newer")).relinked


def test_a_canvas_that_cannot_be_written_stops_the_rename(folder: Path, opening: OpenVault) -> None:
    (folder / "Old.md").write_text("# Old\n", encoding="utf-8")
    (folder / "Board.canvas").write_text('{"nodes":[{"type":"file","file":"Old.md"}]}', encoding="utf-8")
    (folder / "Board.canvas").chmod(0o444)
    before = state_of(folder)
    vault = opening(folder)

    with pytest.raises(NotWritable, match=r"Board\.canvas links to Old\.md"):
        vault.editing.edit(edit("Old", title="New"))
    assert before == state_of(folder)
    assert () == vault.editing.edit(edit("Old", title="New", relink=False)).relinked


def test_a_moved_note_keeps_its_number_and_its_links(folder: Path, opening: OpenVault) -> None:
    (folder / "A.md").write_text("[[B]]\n", encoding="utf-8")
    (folder / "B.md").write_text("b\n", encoding="utf-8")
    vault = opening(folder)
    vault.editing.edit(edit("B", {"append": "c"}))
    number = vault.reading.get("B", ReadRequest()).note_id

    answer = vault.editing.edit(edit("B", folder="deep/er"))

    assert ("deep/er/B.md", number) == (answer.path, answer.note_id)
    assert ["A.md"] == [row.source for row in vault.reading.get("B", ReadRequest()).backlinks]
    assert b"[[B]]\n" == state_of(folder)["A.md"]


def test_a_taken_name_stops_a_rename(folder: Path, opening: OpenVault) -> None:
    for name in ("A", "B"):
        (folder / f"{name}.md").write_text(name, encoding="utf-8")
    before = state_of(folder)

    with pytest.raises(AlreadyExists):
        opening(folder).editing.edit(edit("A", title="b"))

    assert before == state_of(folder)


# -- deleting


def test_a_deleted_note_lies_in_the_trash_whole_with_the_reason(folder: Path, opening: OpenVault) -> None:
    (folder / "Plan.md").write_text(PLAN, encoding="utf-8")
    (folder / "Citing.md").write_text("[[Plan]]\n", encoding="utf-8")
    vault = opening(folder)

    answer = vault.editing.retire(RetireRequest("Plan", "done with it"))

    assert answer.trash_path is not None
    assert PLAN == (folder / answer.trash_path).read_text(encoding="utf-8")
    stone = Trash(vault.files).get_tombstone("Plan")
    assert ("tester", "done with it", answer.trash_path) == (stone.by, stone.reason, f"_memex/trash/{stone.file}")
    assert ("Citing.md",) == answer.cited_by
    assert {"Citing.md": b"[[Plan]]\n"} == state_of(folder)
    assert [None] == [row.path for row in vault.catalogue.find_links("Citing.md")]


def test_deleting_asks_for_one_note(folder: Path, opening: OpenVault) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "Ideas.md").write_text("x", encoding="utf-8")

    with pytest.raises(AmbiguousTitle):
        opening(folder).editing.retire(RetireRequest("Ideas", "x"))


def test_a_property_of_equal_value_writes_nothing(folder: Path, opening: OpenVault) -> None:
    file = folder / "T.md"
    file.write_text("---\ndue: 2026-01-01\n---\n", encoding="utf-8")
    vault = opening(folder)
    before = file.stat().st_mtime_ns

    with pytest.raises(PatchNoop):
        vault.editing.edit(edit("T", properties={"due": "2026-01-01"}))

    assert before == file.stat().st_mtime_ns
    assert not (folder / ".memex").exists()


def test_an_edit_names_the_tags_and_the_folder_that_no_note_had(folder: Path, opening: OpenVault) -> None:
    (folder / "Plan.md").write_text("---\ntags: [hall]\n---\n" + PLAN, encoding="utf-8")
    (folder / "Other.md").write_text("#Known\n", encoding="utf-8")
    vault = opening(folder)

    first = vault.editing.edit(edit("Plan", tags=("hall", "known", "fresh"), folder="Events"))
    second = vault.editing.edit(edit("Plan", {"append": "#fresh #fresher"}))

    assert (("fresh",), "Events") == (first.new_tags, first.new_folder)
    assert (("fresher",), None) == (second.new_tags, second.new_folder)
