"""Tags in order: retired, merged and restored by the person, in all notes at once; whoever uses one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import OpenVault
from tests.timing import cpu_seconds
from vault_memex.core.patch import parse_patch
from vault_memex.errors import InvalidArgument, NotFound, RoleRequired
from vault_memex.memory.connections import Connection
from vault_memex.services.requests import EditRequest, SaveRequest
from vault_memex.session import Session
from vault_memex.vault import Vault

NOTES = {
    "A.md": "---\ntags: [draft, kiln] # mine\n---\nOf #draft.\r\n",
    "B.md": "Text with #Draft and #draft/cold.\n",
    "Past.md": "---\nlayer: past\ntags:\n- draft\n- idea\n---\nIt happened.\n",
    "Broken.md": "---\ntags: [x\n---\nHas #draft all the same.\n",
    "Other.md": "---\ntags: [kiln]\n---\nNothing of it.\n",
}


@pytest.fixture
def owner(folder: Path, opening: OpenVault) -> Vault:
    for path, text in NOTES.items():
        (folder / path).write_bytes(text.encode())
    return opening(folder, role="owner", connection="owner")


def read(vault: Vault) -> dict[str, str]:
    return {path: (vault.root / path).read_bytes().decode() for path in NOTES}


def test_merging_rewrites_all_notes_as_one_change_that_is_undone_as_one(owner: Vault) -> None:
    done = owner.upkeep.tags.merge("#draft", "idea", "one word for one thing")
    event = owner.transactor.stores.journal.read()[-1]

    assert ("draft", "idea", ("draft/cold",)) == (done.tag, done.into, done.below)
    assert {
        **NOTES,
        "A.md": "---\ntags: [idea, kiln] # mine\n---\nOf #idea.\r\n",
        "B.md": "Text with #idea and #draft/cold.\n",
        "Past.md": "---\nlayer: past\ntags:\n- idea\n---\nIt happened.\n",
        "Broken.md": "---\ntags: [x\n---\nHas #idea all the same.\n",
    } == read(owner)
    assert ("tag_merged", "one word for one thing", "draft", "idea") == (
        event.kind,
        event.reason,
        event.details["tag"],
        event.details["into"],
    )
    assert {*done.changed, "_memex/tags.md"} == {file.path for file in event.files}

    owner.undoing.undo(event.id)
    assert NOTES == read(owner)
    assert {} == dict(owner.retired_tags.find())


def test_retiring_leaves_the_words_and_names_the_notes_that_could_not_be_changed(owner: Vault) -> None:
    (owner.root / "B.md").write_bytes(b"Has #draft and \xff.\n")
    owner.refresh()
    done = owner.upkeep.tags.retire("draft")

    assert ("A.md", "Broken.md", "Past.md") == done.changed
    assert ["B.md"] == list(done.kept)
    assert "UTF-8" in done.kept["B.md"]
    assert "---\ntags: [kiln] # mine\n---\nOf draft.\r\n" == (owner.root / "A.md").read_bytes().decode()
    assert "tag_removed" == owner.transactor.stores.journal.read()[-1].kind


def test_a_retired_tag_may_be_used_and_the_answer_warns(owner: Vault, opening: OpenVault) -> None:
    owner.upkeep.tags.merge("draft", "idea")
    vault = opening(owner.root)
    reviewed = opening(owner.root, policy="reviewed", connection="other")
    warning = "The tag 'draft' is retired: write 'idea' instead."
    saved = vault.editing.save(SaveRequest(title="New", body="A thought.", layer="state", tags=("Draft",)))
    listed = vault.editing.edit(EditRequest("Other", tags=("kiln", "draft")))
    patched = vault.editing.edit(EditRequest("A", patch=parse_patch([{"append": "More #draft."}])))
    held = reviewed.editing.edit(EditRequest("B", tags=("draft",)))
    clean = vault.editing.edit(EditRequest("A", patch=parse_patch([{"append": "More, #idea."}])))

    assert "held" == held.outcome
    assert [[warning]] * 4 == [[n for n in a.notes if "retired" in n] for a in (saved, listed, patched, held)]
    assert [] == [note for note in clean.notes if "retired" in note]


def test_a_retired_tag_that_is_still_in_notes_is_not_suggested(owner: Vault, opening: OpenVault) -> None:
    for number in range(3):
        (owner.root / f"Damp {number}.md").write_text(f"#damp and #mould {number}\n", encoding="utf-8")
    owner.refresh()
    (owner.root / "_memex").mkdir()
    (owner.root / "_memex/tags.md").write_text("- `damp` → `mould`\n", encoding="utf-8")
    saved = opening(owner.root).editing.save(SaveRequest(title="Wall", body="Damp and mould.", layer="state"))

    assert saved.hints is not None
    assert ["mould"] == [hint.tag for hint in saved.hints.tags]


def test_the_vocabulary_names_retired_tags_with_what_to_write_and_not_to_a_scope(owner: Vault) -> None:
    owner.upkeep.tags.merge("draft", "idea")
    owner.upkeep.tags.merge("idea", "thought")
    (owner.root / "Again.md").write_text("#draft\n", encoding="utf-8")
    owner.refresh()
    guest = Session(owner, Connection("guest", "agent", ("A.md",)))

    rows = owner.vocabulary.list("tags", limit=10).retired_tags
    assert [("draft", 1, "thought"), ("idea", 0, "thought")] == [
        (row.name, row.notes, row.instead) for row in rows
    ]
    assert () == guest.vocabulary.list("tags", limit=10).retired_tags
    again = owner.upkeep.tags.merge("draft", "thought")
    assert ("Again.md",) == again.changed
    assert ["idea", "draft"] == [tag.name for tag in owner.upkeep.tags.find().retired]


def test_a_restored_tag_is_in_use_again_and_notes_stay_as_they_are(owner: Vault) -> None:
    owner.upkeep.tags.retire("draft")
    after = read(owner)
    owner.upkeep.tags.restore("#Draft")

    assert after == read(owner)
    assert () == owner.upkeep.tags.find().retired
    with pytest.raises(NotFound, match="Retired: none"):
        owner.upkeep.tags.restore("draft")


def test_what_cannot_be_meant_changes_nothing(owner: Vault, opening: OpenVault) -> None:
    tags = owner.upkeep.tags
    tags.merge("kiln", "oven")
    before = read(owner), (owner.root / "_memex/tags.md").read_text("utf-8")

    with pytest.raises(NotFound, match="There are: draft, draft/cold"):
        tags.retire("raft")
    with pytest.raises(InvalidArgument, match="Name another"):
        tags.merge("draft", "#DRAFT")
    with pytest.raises(InvalidArgument, match="'kiln' is retired"):
        tags.merge("draft", "kiln")
    with pytest.raises(InvalidArgument, match="means something to the program"):
        tags.retire("Skill")
    with pytest.raises(InvalidArgument, match="is no tag"):
        tags.merge("draft", "two words")
    with pytest.raises(InvalidArgument, match="is no tag"):
        tags.retire("1984")
    assistant = opening(owner.root, role="curator").upkeep.tags
    for write in (lambda: assistant.retire("draft"), lambda: assistant.restore("kiln")):
        with pytest.raises(RoleRequired, match="for the person"):
            write()
    assert before == (read(owner), (owner.root / "_memex/tags.md").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.no_cover
def test_undoing_a_change_of_many_notes_costs_a_few_times_what_making_it_did(
    folder: Path, opening: OpenVault
) -> None:
    for number in range(1_500):
        (folder / f"{number}.md").write_text(f"---\ntags: [draft]\n---\nText {number} #draft.\n", encoding="utf-8")
    owner = opening(folder, role="owner")
    owner.number_notes()
    done = cpu_seconds(lambda: owner.upkeep.tags.merge("draft", "idea"))
    event = owner.transactor.stores.journal.read()[-1].id
    undone = cpu_seconds(lambda: owner.undoing.undo(event))

    assert undone < 4 * done + 1
    assert "#draft" in (folder / "7.md").read_text("utf-8")
