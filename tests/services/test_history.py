"""What a note said before is kept where git keeps nothing, and `changes` names it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import OpenVault
from tests.services.test_editing import edit
from vault_memex.server.render import render_changes
from vault_memex.services.history import ChangesRequest
from vault_memex.services.requests import EditRequest, RetireRequest, SaveRequest
from vault_memex.store.versions import KEPT


def kept(folder: Path) -> dict[str, bytes]:
    history = folder / ".memex" / "history"
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(history.rglob("*")) if p.is_file()}


def test_each_change_names_the_file_with_the_text_before_it(folder: Path, opening: OpenVault) -> None:
    (folder / "Plan.md").write_bytes(b"\xef\xbb\xbfone\r\n")
    (folder / "Home.md").write_text("[[Plan]]\n", encoding="utf-8")
    vault = opening(folder)
    vault.editing.edit(edit("Plan", {"append": "two"}))
    vault.editing.edit(EditRequest("Plan", title="Scheme"))
    vault.editing.save(SaveRequest("Other", "text", "state"))

    answer = vault.history.find_changes(ChangesRequest())
    rows = {row.kind: row for row in answer.rows}
    plan, home = (vault.snapshot().notes[path].note_id for path in ("Scheme.md", "Home.md"))

    first, second = rows["changed"], rows["renamed"]
    assert (f".memex/history/{plan}/{first.event}.md", None) == (first.before, rows["added"].before)
    assert f"  before it: {first.before}" in render_changes(answer)
    texts = kept(folder)
    assert b"\xef\xbb\xbfone\r\n" == texts[str(first.before)]
    assert b"[[Plan]]\n" == texts[f".memex/history/{home}/{second.event}.md"]
    assert "history/\n" in (folder / ".memex" / ".gitignore").read_text(encoding="utf-8")


def test_the_last_twenty_texts_are_kept_and_none_of_an_erased_note(folder: Path, opening: OpenVault) -> None:
    (folder / "Log.md").write_text("start\n", encoding="utf-8")
    vault = opening(folder, role="owner")
    for number in range(KEPT + 3):
        vault.editing.edit(edit("Log", {"append": f"- {number}"}))

    texts = kept(folder)
    assert KEPT == len(texts)
    assert {number + 2 for number in range(1, KEPT + 1)} == {len(text.splitlines()) - 1 for text in texts.values()}
    vault.editing.retire(RetireRequest("Log", "test"))
    assert texts.items() <= kept(folder).items()
    vault.trashing.purge("Log")
    assert {} == kept(folder)


def test_where_git_keeps_them_there_is_no_second_copy(folder: Path, opening: OpenVault) -> None:
    (folder / "Log.md").write_text("start\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", folder], check=True)
    vault = opening(folder)
    vault.editing.edit(edit("Log", {"append": "- one"}))

    assert {} == kept(folder)
    assert [None] == [row.before for row in vault.history.find_changes(ChangesRequest()).rows if row.event]


def test_a_history_that_cannot_be_written_stops_no_write(folder: Path, opening: OpenVault) -> None:
    (folder / "Log.md").write_text("start\n", encoding="utf-8")
    (folder / ".memex").mkdir()
    (folder / ".memex" / "history").write_bytes(b"in the way")

    assert "applied" == opening(folder).editing.edit(edit("Log", {"append": "- one"})).outcome


def test_a_write_that_waits_for_its_commit_is_not_told_as_an_edit_of_the_owner(
    folder: Path, opening: OpenVault
) -> None:
    for name in ("Plan", "Old", "Log"):
        (folder / f"{name}.md").write_text("start\n", encoding="utf-8")
    (folder / "Home.md").write_text("[[Plan]]\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(["git", "-C", folder, "add", "-A"], check=True)
    person = ["-c", "user.name=Nora", "-c", "user.email=nora@example.org"]
    subprocess.run(["git", "-C", folder, *person, "commit", "-qm", "mine"], check=True)
    vault = opening(folder, commit="batch")
    vault.editing.edit(EditRequest("Plan", title="Scheme"))
    vault.editing.save(SaveRequest("New", "text", "state"))
    vault.editing.edit(edit("Log", {"append": "- one"}))
    vault.editing.retire(RetireRequest("Old", "test"))

    rows = vault.history.find_changes(ChangesRequest()).rows
    assert {"tester"} == {row.actor for row in rows if row.title != "mine"}

    (folder / "Log.md").write_text("mine now\n", encoding="utf-8")
    vault.refresh()
    rows = vault.history.find_changes(ChangesRequest()).rows
    assert [("edited_outside", "Log.md", "owner")] == [(r.kind, r.path, r.actor) for r in rows if r.uncommitted]
