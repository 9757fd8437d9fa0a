"""What an assistant sends becomes a note that reads back as meant, or an error that says how to mend it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import OpenVault
from tests.services.test_editing import edit, state_of
from vault_memex.errors import (
    AlreadyExists,
    DuplicateSuspected,
    IndexUnusable,
    InvalidArgument,
    MemexError,
    PatchNoop,
    VaultError,
)
from vault_memex.services.reading import ReadRequest
from vault_memex.services.requests import EditRequest, RetireRequest, SaveRequest
from vault_memex.services.retrieval import SearchRequest
from vault_memex.store.schema import connect
from vault_memex.vault import open_vault


@pytest.mark.parametrize("folder_name", ["dir", "DIR", "Dir/", "/dir"])
def test_a_note_goes_to_the_folder_as_it_is_spelled_on_disk(
    folder: Path, opening: OpenVault, folder_name: str
) -> None:
    (folder / "dir").mkdir()
    (folder / "dir" / "Old.md").write_text("old\n", encoding="utf-8")
    vault = opening(folder)

    answer = vault.editing.save(SaveRequest("New", "text", "state", folder=folder_name))

    assert ("dir/New.md", None) == (answer.path, answer.new_folder)
    assert answer.note_id is not None
    assert "dir/New.md" in vault.snapshot().notes
    assert ["dir"] == [p.name for p in folder.iterdir() if not p.name.startswith(".")]


def test_a_move_to_a_folder_of_another_case_is_a_move_to_that_folder(folder: Path, opening: OpenVault) -> None:
    (folder / "dir").mkdir()
    (folder / "dir" / "Here.md").write_text("here\n", encoding="utf-8")
    (folder / "There.md").write_text("there\n", encoding="utf-8")
    vault = opening(folder)

    assert "dir/There.md" == vault.editing.edit(EditRequest("There", folder="DIR")).path
    with pytest.raises(PatchNoop):
        vault.editing.edit(EditRequest("Here", folder="DIR"))


def test_a_new_case_of_a_title_renames_the_file_and_remembers_no_former_title(
    folder: Path, opening: OpenVault
) -> None:
    (folder / "Case.md").write_text("x\n", encoding="utf-8")
    vault = opening(folder)

    answer = vault.editing.edit(EditRequest("Case", title="CASE"))

    assert ("CASE.md", {"CASE.md": b"x\n"}) == (answer.path, state_of(folder))


def test_a_note_is_not_renamed_onto_a_link_to_itself(folder: Path, opening: OpenVault) -> None:
    (folder / "Target.md").write_text("t\n", encoding="utf-8")
    (folder / "Link.md").symlink_to("Target.md")
    vault = opening(folder)

    with pytest.raises(AlreadyExists, match="link to the note itself"):
        vault.editing.edit(EditRequest("Target", title="Link"))

    assert (folder / "Link.md").is_symlink()


@pytest.mark.parametrize(
    "title", ["one\ntwo", "a\tb", "\x1b[31m", "nul\0", "turned \u202e", "line\u2028", ".md", " "]
)
def test_a_title_is_one_line_of_text(folder: Path, opening: OpenVault, title: str) -> None:
    (folder / "Plan.md").write_text("x\n", encoding="utf-8")
    vault = opening(folder)

    with pytest.raises(InvalidArgument):
        vault.editing.save(SaveRequest(title, "text", "state"))
    with pytest.raises(InvalidArgument):
        vault.editing.edit(EditRequest("Plan", title=title))

    assert {"Plan.md": b"x\n"} == state_of(folder)


@pytest.mark.parametrize(
    ("title", "path"),
    [("Plan.md", "Plan.md"), ("README.MD", "README.md"), ("~draft", "draft.md"), ("~", "untitled.md")],
)
def test_the_file_of_a_title(folder: Path, opening: OpenVault, title: str, path: str) -> None:
    assert path == opening(folder).editing.save(SaveRequest(title, "text", "state")).path


def test_a_title_that_ends_in_md_is_the_file_that_is_there(folder: Path, opening: OpenVault) -> None:
    (folder / "Plan.md").write_text("x\n", encoding="utf-8")

    with pytest.raises(DuplicateSuspected):
        opening(folder).editing.save(SaveRequest("plan.md", "text", "state"))


@pytest.mark.parametrize("text", ["a\0b", "half \ud83d"])
def test_what_no_text_file_can_hold_is_refused(folder: Path, opening: OpenVault, text: str) -> None:
    (folder / "Plan.md").write_text("x\n", encoding="utf-8")
    vault = opening(folder)
    revision = vault.reading.get("Plan", ReadRequest()).revision

    for write in (
        lambda: vault.editing.save(SaveRequest("New", text, "state")),
        lambda: vault.editing.edit(edit("Plan", {"append": text})),
        lambda: vault.editing.edit(edit("Plan", {"find": "x", "replace": text})),
        lambda: vault.editing.edit(EditRequest("Plan", body=text, if_revision=revision)),
    ):
        with pytest.raises(InvalidArgument, match="which no text file can"):
            write()

    assert {"Plan.md": b"x\n"} == state_of(folder)


@pytest.mark.parametrize(
    ("tag", "better"),
    [
        ("a b", "'a-b'"),
        ("a,b", "'a-b'"),
        ("5", ""),
        ("c#", "'c'"),
        ("-1!", "'-1'"),
        ("two\nlines", "'two-lines'"),
        ("?", ""),
    ],
)
def test_a_tag_that_is_none_is_refused_with_one_that_would_do(
    folder: Path, opening: OpenVault, tag: str, better: str
) -> None:
    (folder / "Plan.md").write_text("x\n", encoding="utf-8")
    vault = opening(folder)

    for write in (
        lambda: vault.editing.save(SaveRequest("New", "text", "state", tags=(tag,))),
        lambda: vault.editing.edit(EditRequest("Plan", tags=(tag,))),
    ):
        with pytest.raises(InvalidArgument) as refused:
            write()
        assert better in str(refused.value)


def test_tags_are_written_once_without_marks(folder: Path, opening: OpenVault) -> None:
    vault = opening(folder)
    vault.editing.save(SaveRequest("New", "text", "state", tags=("#a", "A", "", " b/ü ", "한국", "-")))

    assert ("a", "b/ü", "한국", "-") == vault.reading.get("New", ReadRequest()).tags


@pytest.mark.parametrize(
    "more",
    [
        {"source_url": "javascript:alert(1)"},
        {"source_url": "https://example.org/\n---\n"},
        {"source_url": "https://"},
        {"valid_from": "soon"},
        {"valid_until": "2026-13-01"},
        {"valid_from": "2026-02-01", "valid_until": "2026-01-01"},
        {"body": "---\na: 1\n---\ntext"},
        {"body": "\ufeff---\na: 1\n---\ntext"},
        {"change_title": "two\nlines"},
        {"change_title": "\x1b[2J"},
    ],
)
def test_wrong_values_of_a_new_note_are_refused(folder: Path, opening: OpenVault, more: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument):
        opening(folder).editing.save(SaveRequest(**{"title": "New", "body": "text", "layer": "state", **more}))

    assert {} == state_of(folder)


def test_a_body_that_starts_with_a_rule_is_a_body(folder: Path, opening: OpenVault) -> None:
    vault = opening(folder)
    vault.editing.save(SaveRequest("New", "---\n\nafter a rule\n\n---\n", "state"))

    assert "---\n\nafter a rule\n\n---\n" == vault.reading.get("New", ReadRequest()).text


def test_an_edit_of_an_empty_note_shows_what_it_added(folder: Path, opening: OpenVault) -> None:
    (folder / "Empty.md").touch()

    assert "+first line" in opening(folder).editing.edit(edit("Empty", {"append": "first line"})).diff


def test_journal_lines_and_diffs_stay_one_line_for_a_name_with_a_break(folder: Path, opening: OpenVault) -> None:
    (folder / "Two\nlines.md").write_text("x\n", encoding="utf-8")
    vault = opening(folder)
    answer = vault.editing.edit(edit("Two\nlines", {"append": "y"}))
    vault.editing.retire(RetireRequest("Two\nlines", "over"))

    assert answer.diff.startswith("--- Two\\nlines.md\n+++ Two\\nlines.md\n@@")
    assert all("\n" not in event.title for event in vault.transactor.stores.journal.read())


def test_no_request_reaches_the_disk_as_another_error_than_ours(folder: Path, opening: OpenVault) -> None:
    vault = opening(folder)
    for text in ("\ud800", "\0", "\n", "../x", "a" * 5_000, "---", "&a", "!t", "[[x]]", "{a: 1}", "- x", ""):
        for field in ("title", "body", "summary", "folder", "source_url", "amends", "valid_from", "change_title"):
            request = {"title": f"T{len(text)}", "body": "b", "layer": "state", field: text}
            try:
                vault.editing.save(SaveRequest(**request))
            except MemexError:
                continue
        for properties in ({text: 1}, {"k": text}, {"k": [text, {text: text}]}):
            try:
                vault.editing.save(SaveRequest("P", "b", "state", properties=properties))
            except MemexError:
                continue


def test_nothing_is_written_where_the_vault_was(folder: Path, opening: OpenVault) -> None:
    (folder / "Plan.md").write_text("x\n", encoding="utf-8")
    vault = opening(folder)
    folder.rename(folder.with_name("moved"))
    calls = (
        lambda: vault.editing.save(SaveRequest("New", "text", "state")),
        lambda: vault.editing.edit(edit("Plan", {"append": "y"})),
        lambda: vault.editing.retire(RetireRequest("Plan", "over")),
        lambda: vault.reading.get("Plan", ReadRequest()),
    )

    for call in calls:
        with pytest.raises(VaultError, match="The vault folder is gone"):
            call()
    assert not folder.exists()
    folder.mkdir()
    for call in calls:
        with pytest.raises(VaultError, match="Another folder is in the vault's place"):
            call()
    assert [] == list(folder.iterdir())
    assert ["Plan.md"] == list(vault.snapshot().notes)


def test_a_note_is_written_and_read_while_the_index_has_no_room(folder: Path, opening: OpenVault) -> None:
    for number in range(3):
        (folder / f"N{number}.md").write_text("x\n", encoding="utf-8")
    vault = opening(folder)
    writer = vault.catalogue._connections._database.writer
    pages = writer.execute("PRAGMA page_count").fetchone()[0]
    writer.execute(f"PRAGMA max_page_count = {pages}")

    answers = [vault.editing.edit(edit(f"N{n}", {"append": "word " * 50_000})) for n in range(3)]
    saved = vault.editing.save(SaveRequest("New", "text " * 50_000, "state"))

    assert any("the index does not show it yet" in note for answer in answers for note in answer.notes)
    assert [True] * 3 == [(folder / f"N{n}.md").stat().st_size > 200_000 for n in range(3)]
    assert vault.reading.get("N2", ReadRequest()).body_chars > 200_000
    with pytest.raises(IndexUnusable, match="full"):
        vault.reading.get("New", ReadRequest())
    assert (folder / saved.path).exists()
    writer.execute("PRAGMA max_page_count = 1000000")
    vault.refresh()
    assert len(vault.snapshot().by_id) == len(vault.snapshot().notes) == 4


def test_a_note_is_written_while_another_process_keeps_the_index_busy(
    folder: Path, opening: OpenVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_memex.store.schema.BUSY_SECONDS", 0.05)
    (folder / "Plan.md").write_text("Paint.\n", encoding="utf-8")
    vault = opening(folder)
    vault.editing.edit(edit("Plan", {"append": "Numbered."}))
    with closing(connect(vault.cache / "catalogue.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")

        edited = vault.editing.edit(edit("Plan", {"append": "Zirkon."}))
        saved = vault.editing.save(SaveRequest("New", "Zirkon too.", "state"))

    late = "Written, but the index does not show it yet: search may miss it for now."
    assert ("Paint.\nNumbered.\nZirkon.\n", True) == (
        (folder / "Plan.md").read_text(),
        (folder / saved.path).exists(),
    )
    assert (("applied", (late,)), ("created", (late,))) == tuple((a.outcome, a.notes) for a in (edited, saved))
    vault.refresh()
    assert {"Plan.md", saved.path} == {row.path for row in vault.retrieval.search(SearchRequest("zirkon")).rows}


def test_an_unwritable_cache_folder_is_replaced_by_a_temporary_one_and_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "Plan.md").write_text("x\n", encoding="utf-8")
    (tmp_path / "file").touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    vault = open_vault(folder, cache_dir=tmp_path / "file", flags={"model": "none"})
    try:
        vault.refresh()
        assert ["Plan.md"] == list(vault.snapshot().notes)
        assert any("cannot be written" in notice for notice in vault.status.check().index.notices)
    finally:
        vault.close()
