"""Any change is taken back whole, by whomever it was made; what was written since is never lost."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import OpenVault
from tests.services.test_editing import edit
from tests.services.test_knowledge import entity
from tests.services.test_merging import NOTES, OVEN, kilns, propose, texts  # noqa: F401 -- a fixture
from tests.services.test_review import inbox_of
from vault_memex.errors import DoesNotFit, NotFound, RoleRequired
from vault_memex.services.history import ChangesRequest
from vault_memex.services.knowledge_requests import GraphEdit
from vault_memex.services.requests import EditRequest, RetireRequest, SaveRequest
from vault_memex.vault import Vault, open_vault


def last_event(vault: Vault) -> int:
    return vault.undoing.find(1)[0].event


def restore(vault: Vault) -> None:
    vault.editing.retire(RetireRequest("Oven", "sold"))
    vault.trashing.restore("Oven")


def fill_inbox(vault: Vault) -> None:
    vault.review.approve(propose(vault))


def make_entity(vault: Vault) -> None:
    vault.knowledge.edit(GraphEdit(entities=(entity("Roh", "potter", "makes ovens"),)))


ACTS: dict[str, Callable[[Vault], object]] = {
    "edit": lambda vault: vault.editing.edit(edit("Kiln", {"append": "More."}, summary="x", tags=("a",))),
    "rename": lambda vault: vault.editing.edit(EditRequest("Oven", title="Furnace", folder="/")),
    "save": lambda vault: vault.editing.save(SaveRequest("New", "text", "state", folder="new")),
    "delete": lambda vault: vault.editing.retire(RetireRequest("Oven", "sold")),
    "restore": restore,
    "merge": fill_inbox,
    "entity": make_entity,
    "tag": lambda vault: vault.upkeep.tags.merge("heat", "fire"),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("again", [1, 2, 3])
def test_a_change_is_undone_and_its_undoing_too(
    kilns: Path,  # noqa: F811
    opening: OpenVault,
    act: str,
    again: int,
) -> None:
    vault = opening(kilns, role="owner", connection="owner")
    vault.number_notes()
    if act == "restore":
        vault.editing.retire(RetireRequest("Oven", "sold"))
    states = [texts(kilns)]
    vault.trashing.restore("Oven") if act == "restore" else ACTS[act](vault)
    states.append(texts(kilns))
    numbers = {note.path: note.note_id for note in vault.snapshot().notes.values()}

    for _ in range(again):
        vault.undoing.undo(last_event(vault))

    assert states[(again + 1) % 2] == texts(kilns)
    vault.refresh()
    now = {note.path: note.note_id for note in vault.snapshot().notes.values()}
    assert {path: now.get(path) for path in numbers.keys() & now.keys()} == {
        path: numbers[path] for path in numbers.keys() & now.keys()
    }
    listed = vault.undoing.find(50)
    assert again == [row.kind for row in listed].count("undone")
    assert (again + 1) // 2 == sum(row.undone for row in listed)


@pytest.mark.parametrize("git", [True, False], ids=["git", "no git"])
def test_a_merge_is_undone_after_other_changes_and_those_stay(
    kilns: Path,  # noqa: F811
    opening: OpenVault,
    git: bool,
) -> None:
    (kilns / "Spare.md").write_text("spare\n", encoding="utf-8")
    if git:
        subprocess.run(["git", "init", "-q", kilns], check=True)
    vault = opening(kilns, role="owner", connection="owner")
    fill_inbox(vault)
    merged = last_event(vault)
    vault.editing.edit(edit("Log", {"append": "A new line."}))
    vault.editing.edit(EditRequest("old/Plan.md", title="Scheme"))
    vault.editing.retire(RetireRequest("Spare", "sold"))
    (kilns / "Kiln.md").write_text(texts(kilns)["Kiln.md"] + "\nBy hand.\n", encoding="utf-8")
    vault.refresh()

    done = vault.undoing.undo(merged)

    now = texts(kilns)
    assert OVEN == now["old/Oven.md"]
    assert NOTES["Log.md"] + "A new line.\n" == now["Log.md"]
    assert NOTES["Kiln.md"] + "\nBy hand.\n" == now["Kiln.md"]
    assert "part_of: '[[Oven]]'" in now["old/Scheme.md"]
    assert "old/Scheme.md" in done.paths
    assert ["0001-merge-7.md"] == inbox_of(kilns)
    assert ["Spare"] == [one.title for one in vault.trashing.find()]
    assert "approved" == vault.review.approve(1).outcome


def test_words_that_were_changed_since_are_not_lost(kilns: Path, opening: OpenVault) -> None:  # noqa: F811
    vault = opening(kilns, role="owner", connection="owner")
    vault.editing.edit(edit("Kiln", {"find": "The big one", "replace": "The small one"}))
    first = last_event(vault)
    vault.editing.edit(edit("Kiln", {"find": "small", "replace": "tiny"}))
    before = texts(kilns)

    with pytest.raises(DoesNotFit, match="changed since in the same place"):
        vault.undoing.undo(first)

    assert before == texts(kilns)
    vault.undoing.undo(last_event(vault))
    vault.undoing.undo(first)
    assert NOTES == texts(kilns)
    with pytest.raises(DoesNotFit, match="undone already"):
        vault.undoing.undo(first)


def test_what_nobody_kept_is_not_guessed_at(
    kilns: Path,  # noqa: F811
    opening: OpenVault,
    tmp_path: Path,
) -> None:
    vault = opening(kilns, role="owner", connection="owner")
    vault.editing.edit(edit("Kiln", {"append": "More."}))
    by_hand = texts(kilns)["Kiln.md"].replace("big", "small")
    (kilns / "Kiln.md").write_text(by_hand, encoding="utf-8")
    (undo,) = tmp_path.glob("cache/*/undo")
    shutil.rmtree(undo)

    with pytest.raises(DoesNotFit, match="changed outside since"):
        vault.undoing.undo(last_event(vault))

    assert by_hand == texts(kilns)["Kiln.md"]


def test_a_note_written_on_since_it_was_made_and_a_place_that_is_taken_are_refused(
    kilns: Path,  # noqa: F811
    opening: OpenVault,
) -> None:
    vault = opening(kilns, role="owner", connection="owner")
    vault.editing.save(SaveRequest("New", "text", "state"))
    made = last_event(vault)
    vault.editing.edit(edit("New", {"append": "Mine."}))
    vault.editing.retire(RetireRequest("Shed.md", "sold"))
    deleted = last_event(vault)
    vault.editing.save(SaveRequest("Shed", "another one", "state", allow_duplicate=True))
    before = texts(kilns)

    with pytest.raises(DoesNotFit, match="edited since"):
        vault.undoing.undo(made)
    with pytest.raises(DoesNotFit, match="another file now"):
        vault.undoing.undo(deleted)
    vault.trashing.purge("Shed.md")
    with pytest.raises(DoesNotFit, match="not there any more"):
        vault.undoing.undo(deleted)
    assert before == texts(kilns)


def test_what_waits_what_was_erased_and_what_is_no_change_of_files_are_not_undone(
    kilns: Path,  # noqa: F811
    opening: OpenVault,
) -> None:
    vault = opening(kilns, role="owner", connection="owner")
    propose(opening(kilns))
    waiting = vault.transactor.stores.journal.read()[-1].id
    vault.editing.retire(RetireRequest("Log", "sold"))
    vault.trashing.purge("Log")
    event = vault.transactor.stores.journal.read()[-1]
    erased = event.id
    assert None is vault.transactor.stores.undo.get(event.before or "")

    with pytest.raises(DoesNotFit, match="review reject 1"):
        vault.undoing.undo(waiting)
    with pytest.raises(DoesNotFit, match="gone for good"):
        vault.undoing.undo(erased)
    with pytest.raises(NotFound, match="99"):
        vault.undoing.undo(99)
    with pytest.raises(RoleRequired):
        opening(kilns, role="curator").undoing.undo(erased)
    assert not {waiting, erased} & {row.event for row in vault.undoing.find()}


@pytest.mark.parametrize("git", [True, False], ids=["git", "history"])
def test_old_texts_are_found_without_the_cache(
    kilns: Path,  # noqa: F811
    opening: OpenVault,
    tmp_path: Path,
    git: bool,
) -> None:
    if git:
        subprocess.run(["git", "init", "-q", kilns], check=True)
        subprocess.run(["git", "-C", kilns, "add", "-A"], check=True)
        person = ["-c", "user.name=Nora", "-c", "user.email=nora@example.org"]
        subprocess.run(["git", "-C", kilns, *person, "commit", "-qm", "mine"], check=True)
    first = opening(kilns)
    first.editing.edit(edit("Kiln", {"find": "big", "replace": "small"}))
    first.editing.edit(edit("Kiln", {"append": "More."}))
    first.close()
    shutil.rmtree(tmp_path / "cache")
    owner = opening(kilns, role="owner", connection="owner")

    owner.undoing.undo(owner.undoing.find(2)[1].event)

    assert NOTES["Kiln.md"] + "More.\n" == texts(kilns)["Kiln.md"]
    if not git:
        shutil.rmtree(kilns / ".memex" / "history")
        with pytest.raises(NotFound, match="not kept any more"):
            owner.undoing.undo(last_event(owner))


def test_discarded_proposals_wait_again_when_the_deletion_is_undone(
    kilns: Path,  # noqa: F811
    opening: OpenVault,
) -> None:
    propose(opening(kilns))
    vault = opening(kilns, role="owner", connection="owner")
    assert (1,) == vault.editing.retire(RetireRequest("Oven", "sold")).discarded

    vault.undoing.undo(next(row.event for row in vault.undoing.find() if row.kind == "deleted"))

    assert (NOTES, ["0001-merge-7.md"]) == (texts(kilns), inbox_of(kilns))
    (kilns / "_memex" / "inbox" / "0001-merge-7.md").unlink()
    assert [("rejected", 1)] == [(done.outcome, done.number) for done in vault.review.apply_files()]
    kinds = [row.kind for row in reversed(vault.history.find_changes(ChangesRequest()).rows)]
    assert ["submitted", "deleted", "rejected", "undone", "rejected"] == kinds


STEPS = st.lists(
    st.tuples(st.sampled_from(["append", "rename", "delete", "restore", "merge", "save"]), st.integers(0, 5)),
    min_size=1,
    max_size=7,
)


@given(STEPS)
@settings(max_examples=12)
def test_undoing_all_changes_last_first_gives_the_first_texts(steps: list[tuple[str, int]]) -> None:
    top = Path(tempfile.mkdtemp(prefix="undo-"))
    (top / "vault").mkdir()
    for name in ("One", "Two", "Three"):
        text = f"---\ntags: [{name}]\n---\n{name} of the three notes. [[One]] [[Two]] [[Three]]\n"
        (top / "vault" / f"{name}.md").write_text(text, encoding="utf-8")
    flags = {"model": "none", "role": "owner", "connection": "owner"}
    vault = open_vault(top / "vault", cache_dir=top / "cache", flags=flags)
    try:
        vault.refresh()
        vault.number_notes()
        first = texts(vault.root)
        for number, (act, which) in enumerate(steps):
            _do(vault, act, which, number)
        for row in vault.undoing.find(50):
            vault.undoing.undo(row.event)

        assert first == texts(vault.root)
        assert [] == inbox_of(vault.root) or "merge" in {act for act, _ in steps}
        assert {1, 2, 3} == {note.note_id for note in vault.snapshot().notes.values()}
    finally:
        vault.close(patient=False)
        shutil.rmtree(top)


def _do(vault: Vault, act: str, which: int, number: int) -> None:
    paths = sorted(vault.snapshot().notes)
    if act == "save":
        vault.editing.save(SaveRequest(f"New {number}", f"Text {number}.", "state", allow_duplicate=True))
    elif act == "restore":
        if trashed := vault.trashing.find():
            vault.trashing.restore(trashed[which % len(trashed)].file)
    elif paths:
        path, other = paths[which % len(paths)], paths[(which + 1) % len(paths)]
        if act == "append":
            vault.editing.edit(edit(path, {"append": f"Line {number}."}))
        elif act == "rename":
            vault.editing.edit(EditRequest(path, title=f"Name {number}"))
        elif act == "delete":
            vault.editing.retire(RetireRequest(path, "test"))
        elif path != other:
            vault.review.approve(propose(vault, ref=path, into=other))
