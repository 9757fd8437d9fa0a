"""Two notes become one: proposed by an assistant, done by the person, and whole."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import OpenVault
from tests.services.test_editing import edit, state_of
from tests.services.test_review import inbox_of, kinds
from vault_memex.errors import (
    AmbiguousTitle,
    BlockedByPending,
    DoesNotFit,
    EmptyBody,
    InvalidArgument,
    PastImmutable,
    RoleRequired,
    RuleUserOnly,
)
from vault_memex.services.history import ChangesRequest
from vault_memex.services.requests import EditRequest, MergeRequest, RetireRequest
from vault_memex.services.review import Verdict
from vault_memex.vault import Vault

KILN = '---\ntags: [craft]\nprice: 900\nnear: "[[Shed]]"\n---\n# Kiln\n\nThe big one. See [[Oven]].\n'
OVEN = (
    '---\nid: 7\nlayer: state\naliases: [Fire box]\ntags: [heat, Craft]\nprice: 950\nmaker: Roh\nup: "[[./Shed]]"\n'
    "former_titles: [Stove]\nsummary: A kiln.\n---\nText of the oven. #hot\n"
)
NOTES = {
    "Kiln.md": KILN,
    "old/Oven.md": OVEN,
    "Log.md": "Fired [[Oven]], [[old/Oven#Door|the door]] and ![[Kiln]]. `[[Oven]]`\n",
    "old/Plan.md": "---\npart_of: '[[Oven]]'\n---\n[Oven](Oven.md)\n",
    "Shed.md": "s\n",
    "old/Shed.md": "another\n",
    "Map.canvas": '{"nodes": [{"id": "1", "type": "file", "file": "old/Oven.md"}]}',
}
MERGED = {
    "Kiln.md": '---\ntags: [craft, heat, hot]\nprice: 900\nnear: "[[Shed]]"\nmaker: Roh\n'
    'up: "[[./old/Shed]]"\nsummary: A kiln.\naliases:\n  - Oven\n  - Fire box\nformer_titles:\n  - Stove\n---\n'
    "# Kiln\n\nThe big one. See [[Kiln]].\n",
    "Log.md": "Fired [[Kiln]], [[Kiln#Door|the door]] and ![[Kiln]]. `[[Oven]]`\n",
    "old/Plan.md": "---\npart_of: '[[Kiln]]'\n---\n[Oven](Kiln.md)\n",
    "Map.canvas": NOTES["Map.canvas"].replace("old/Oven.md", "Kiln.md"),
}


@pytest.fixture
def kilns(folder: Path) -> Path:
    """A vault with two notes about one kiln, and others that link to them."""
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def texts(folder: Path) -> dict[str, str]:
    files = {p for kind in ("md", "canvas") for p in folder.rglob(f"*.{kind}")}
    own = (folder / ".memex", folder / "_memex")
    return {
        p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8")
        for p in sorted(files)
        if not any(p.is_relative_to(place) for place in own)
    }


def propose(vault: Vault, body: str | None = None, ref: str = "Oven", into: str = "Kiln") -> int:
    answer = vault.merging.merge(MergeRequest(ref, into, "They are one kiln.", body))
    assert answer.proposal is not None
    return answer.proposal


def test_a_merge_waits_and_says_who_links_to_the_note_that_goes(kilns: Path, opening: OpenVault) -> None:
    answer = opening(kilns).merging.merge(MergeRequest("Oven", "Kiln", "They are one kiln."))

    assert ("held", 1, "old/Oven.md", "Kiln.md") == (answer.outcome, answer.proposal, answer.path, answer.into)
    assert (("Kiln.md", "Log.md", "old/Plan.md"), 3) == (tuple(sorted(answer.cited_by)), answer.cited_by_total)
    assert "lead to the note that stays" in answer.citing_advice
    assert NOTES == texts(kilns)
    (file,) = (kilns / "_memex" / "inbox").glob("*.md")
    shown = file.read_text(encoding="utf-8")
    assert "0001-merge-7.md" == file.name
    assert "# Merge [[old/Oven|Oven]] into [[Kiln|Kiln]]" in shown
    assert "> They are one kiln." in shown
    assert "- tags: heat, hot\n- aliases: Oven, Fire box\n- former titles: Stove\n" in shown
    assert "- properties: maker, up, summary\n" in shown


def test_approving_a_merge_repoints_links_and_gives_the_keeper_what_it_lacks(
    kilns: Path, opening: OpenVault
) -> None:
    propose(opening(kilns))
    owner = opening(kilns, role="owner", connection="owner")
    view = owner.review.view(1)

    decided = owner.review.approve(1, Verdict(seen=view.revision))

    assert {**NOTES, **MERGED, "old/Oven.md": ""} == {**texts(kilns), "old/Oven.md": ""}
    assert not (kilns / "old" / "Oven.md").exists()
    assert MERGED["Kiln.md"] == view.after
    assert ("Log.md", "old/Plan.md", "Map.canvas") == view.relinked
    assert ("approved", "merge", "Kiln.md", "tester") == (decided.outcome, decided.kind, decided.path, decided.by)
    assert OVEN == (kilns / "_memex" / "trash" / "0007--Oven.md").read_text(encoding="utf-8")
    assert "Kiln.md" == owner.reading.find_note("Oven")[0].path
    assert [] == [row.target for row in owner.catalogue.find_unresolved()]
    assert [("submitted", "tester"), ("approved", "owner")] == kinds(owner)


def test_a_merge_is_one_event_one_commit_and_one_undo(kilns: Path, opening: OpenVault) -> None:
    subprocess.run(["git", "init", "-q", kilns], check=True)
    propose(opening(kilns, commit="off"))
    owner = opening(kilns, role="owner", connection="owner", commit="each")
    decided = owner.review.approve(1)
    owner.transactor.flush()
    log = subprocess.run(
        ["git", "-C", kilns, "log", "--format=%s", "--name-only"], check=True, capture_output=True, text=True
    ).stdout

    assert log.startswith("Approve proposal 1: merge of Oven into Kiln\n")
    assert {"Kiln.md", "Log.md", "Map.canvas", "_memex/trash/0007--Oven.md", "old/Plan.md"} <= set(log.split("\n"))
    owner.review.undo(decided)
    assert NOTES == texts(kilns)
    assert ["0001-merge-7.md"] == inbox_of(kilns)
    assert 7 == owner.snapshot().notes["old/Oven.md"].note_id


def test_a_merged_text_replaces_the_keepers_and_may_be_amended(kilns: Path, opening: OpenVault) -> None:
    text = "# Kiln\n\nThe big one, once called the [[Oven]].\n"
    propose(opening(kilns), text)
    owner = opening(kilns, role="owner", connection="owner")
    (file,) = (kilns / "_memex" / "inbox").glob("*.md")
    shown = file.read_text(encoding="utf-8")
    file.write_text(shown.replace("once called the\n```", "formerly the\n```"), "utf-8")

    owner.review.approve(1)

    assert texts(kilns)["Kiln.md"].endswith("---\n# Kiln\n\nThe big one, formerly the [[Kiln]].\n")


def test_a_merged_text_that_does_not_fit_any_more_leaves_both_notes(kilns: Path, opening: OpenVault) -> None:
    propose(opening(kilns), "# Kiln\n\nThe big one, and all of the oven.\n")
    owner = opening(kilns, role="owner", connection="owner")
    (kilns / "Kiln.md").write_text(KILN.replace("The big one. See [[Oven]]", "Sold"), encoding="utf-8")
    before = texts(kilns)

    with pytest.raises(DoesNotFit, match="merged text does not fit"):
        owner.review.approve(1)

    assert (before, ["0001-merge-7.md"]) == (texts(kilns), inbox_of(kilns))
    assert "does not fit" in owner.review.view(1).problem


def test_what_no_merge_may_do_is_refused(kilns: Path, opening: OpenVault) -> None:
    for name, layer in (("Past", "past"), ("Rule", "rule")):
        (kilns / f"{name}.md").write_text(f"---\nlayer: {layer}\n---\nText.\n", encoding="utf-8")
    (kilns / "log").mkdir()
    (kilns / "log" / "Log.md").write_text("x\n", encoding="utf-8")
    curator = opening(kilns, role="curator")
    before = texts(kilns)

    with pytest.raises(InvalidArgument, match="both name old/Oven"):
        propose(curator, ref="#7", into="Oven")
    with pytest.raises(PastImmutable):
        propose(curator, "new", into="Past")
    with pytest.raises(RuleUserOnly):
        propose(curator, into="Rule")
    with pytest.raises(EmptyBody):
        propose(curator, " \n")
    with pytest.raises(AmbiguousTitle):
        propose(curator, into="Log")
    with pytest.raises(InvalidArgument, match="comment"):
        curator.merging.merge(MergeRequest("Oven", "Kiln", " "))
    with pytest.raises(RoleRequired):
        propose(opening(kilns, role="reader"))
    assert (before, []) == (texts(kilns), inbox_of(kilns))
    assert [1, 2] == [propose(curator, into="Past"), propose(curator, ref="Rule")]


def test_what_waits_about_the_note_that_goes_is_discarded_with_a_line_each(
    kilns: Path, opening: OpenVault
) -> None:
    one, two = opening(kilns, connection="one", policy="reviewed"), opening(kilns, connection="two")
    owner = opening(kilns, role="owner", connection="owner")
    one.editing.edit(edit("Oven", {"find": "Text", "replace": "Word"}))  # 1
    propose(one, ref="old/Shed", into="Oven")  # 2
    one.editing.edit(edit("Kiln", {"find": "big", "replace": "small"}))  # 3 stays
    number = propose(two)

    decided = owner.review.approve(number)

    assert (1, 2) == decided.discarded
    assert ["0003-edit-8.md"] == [name for name in inbox_of(kilns) if "edit" in name]
    gone = [row for row in owner.history.find_changes(ChangesRequest()).rows if row.kind == "rejected"]
    assert [("the note was merged into another", "owner")] * 2 == [(row.reason, row.actor) for row in gone]
    assert () == owner.review.inbox.find_vanished()
    assert "approved" == owner.review.approve(3).outcome


def test_a_second_merge_of_a_note_by_the_same_connection_revises_the_first(
    kilns: Path, opening: OpenVault
) -> None:
    vault = opening(kilns)
    propose(vault)

    answer = vault.merging.merge(MergeRequest("Oven", "Log", "No: into the log."))

    assert ("folded", 1, "Log.md") == (answer.outcome, answer.proposal, answer.into)
    (one,) = vault.review.find().proposals
    assert ("No: into the log.", "Log.md") == (one.comment, one.into and one.into.path)
    assert "held" == vault.editing.retire(RetireRequest("Oven", "gone", hold=True)).outcome
    assert ["0002-delete-7.md"] == inbox_of(kilns)


def test_a_merged_text_may_not_change_what_another_agents_edit_changes(kilns: Path, opening: OpenVault) -> None:
    other = opening(kilns, connection="other", policy="reviewed")
    other.editing.edit(edit("Kiln", {"find": "big", "replace": "small"}))

    with pytest.raises(BlockedByPending, match="other"):
        propose(opening(kilns), "# Kiln\n\nThe bigger one. See [[Oven]].\n")
    assert 2 == propose(opening(kilns), KILN.partition("---\n# ")[2].replace("Kiln", "# Kiln", 1) + "More.\n")


def test_deleting_the_keeper_discards_the_merge_and_a_keeper_that_is_gone_is_told(
    kilns: Path, opening: OpenVault
) -> None:
    agent, owner = opening(kilns), opening(kilns, role="owner", connection="owner")
    propose(agent)
    propose(agent, ref="Log", into="Shed.md")
    assert (1,) == agent.editing.retire(RetireRequest("Kiln", "sold")).discarded
    (kilns / "Shed.md").unlink()
    owner.refresh()

    with pytest.raises(DoesNotFit, match="Shed"):
        owner.review.approve(2)


def test_a_note_that_the_other_superseded_stands_after_the_merge(folder: Path, opening: OpenVault) -> None:
    (folder / "Old.md").write_text('---\nsuperseded_by: "[[New]]"\n---\nOld\n', encoding="utf-8")
    (folder / "New.md").write_text(
        '---\namends: "[[Old]]"\namend_kind: corrects\nwhy: better\n---\nNew\n', encoding="utf-8"
    )
    propose(opening(folder), ref="New", into="Old")

    opening(folder, role="owner").review.approve(1)

    assert "---\nwhy: better\naliases:\n  - New\n---\nOld\n" == texts(folder)["Old.md"]


def test_an_edit_of_the_person_decides_a_merge_in_its_file(kilns: Path, opening: OpenVault) -> None:
    propose(opening(kilns))
    (file,) = (kilns / "_memex" / "inbox").glob("*.md")
    shown = file.read_text(encoding="utf-8")
    file.write_text(shown.replace('decision: ""', "decision: approve"), encoding="utf-8")

    server = opening(kilns, connection="ann")
    (done,) = server.review.apply_files()

    assert ("approved", "Kiln.md", "") == (done.outcome, done.path, done.problem)
    assert MERGED["Log.md"] == texts(kilns)["Log.md"]
    assert "old/Oven.md" not in state_of(kilns)
    assert [("owner", "merged into Kiln: They are one kiln.")] == [
        (one.by, one.reason) for one in server.trash.find_tombstones()
    ]


def test_a_rejected_merge_is_remembered_with_both_notes(kilns: Path, opening: OpenVault) -> None:
    propose(opening(kilns))
    owner = opening(kilns, role="owner", connection="owner")

    owner.review.reject(1, Verdict("Two kilns."))

    assert NOTES == texts(kilns)
    event = owner.transactor.stores.journal.read()[-1]
    keeper = owner.snapshot().notes["Kiln.md"].note_id
    assert ("rejected", 7, keeper, "Two kilns.") == (
        event.kind,
        event.note_id,
        event.details["into"],
        event.reason,
    )
    assert isinstance(owner.editing.edit(EditRequest("Kiln", summary="x")).revision, str)
