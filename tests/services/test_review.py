"""What an assistant proposes waits; what the person decides is done, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenVault
from tests.services.test_editing import edit, state_of
from vault_memex.errors import (
    AnchorNotFound,
    BlockedByPending,
    DoesNotFit,
    FileBusy,
    InvalidArgument,
    NotFound,
    PastImmutable,
    RoleRequired,
    RuleUserOnly,
    StaleRevision,
)
from vault_memex.services.history import ChangesRequest
from vault_memex.services.knowledge_requests import GraphEdit
from vault_memex.services.requests import EditRequest, RetireRequest, SaveRequest
from vault_memex.services.review import Verdict
from vault_memex.vault import Vault

PLAN = "---\nsummary: Old.\n---\n# Plan\n\nWe meet on Monday. Bring cake.\n\n- ask Ravi\n- book hall\n"
MOVED = {"find": "Monday", "replace": "Tuesday"}
BOOKED = {"find": "book hall", "replace": "hall is booked"}


@pytest.fixture
def plan(folder: Path) -> Path:
    """A vault of one note."""
    (folder / "Plan.md").write_text(PLAN, encoding="utf-8")
    return folder


def read(folder: Path, name: str = "Plan.md") -> str:
    return (folder / name).read_text(encoding="utf-8")


def inbox_of(folder: Path) -> list[str]:
    return sorted(p.name for p in (folder / "_memex" / "inbox").glob("*.md"))


def decide_in_file(folder: Path, number: int, decision: str, **more: str) -> None:
    path = next((folder / "_memex" / "inbox").glob(f"{number:04d}-*.md"))
    text = path.read_text(encoding="utf-8").replace('decision: ""', f"decision: {decision}", 1)
    for name, value in more.items():
        text = text.replace(f'{name}: ""', f"{name}: {value}", 1).replace(f"{name}: false", f"{name}: {value}", 1)
    path.write_text(text, encoding="utf-8")


def kinds(vault: Vault) -> list[tuple[str, str]]:
    return [(row.kind, row.actor) for row in reversed(vault.history.find_changes(ChangesRequest()).rows)]


def test_a_held_edit_changes_nothing_until_it_is_approved(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")

    answer = agent.editing.edit(edit("Plan", MOVED, summary="New.", comment="Anna said so."))

    assert ("held", 1) == (answer.outcome, answer.proposal)
    assert "+We meet on Tuesday." in answer.diff
    assert {"Plan.md": PLAN.encode()} == state_of(plan)
    assert ["0001-edit-1.md"] == inbox_of(plan)
    view = owner.review.view(1)
    assert "+We meet on Tuesday." in view.diff
    decided = owner.review.approve(1, Verdict("Right.", precedent=True, seen=view.revision))
    assert ("approved", "Plan.md", "tester", ()) == (
        decided.outcome,
        decided.path,
        decided.by,
        decided.not_applied,
    )
    assert PLAN.replace("Monday", "Tuesday").replace("Old.", "New.") == read(plan)
    assert [] == inbox_of(plan)
    assert [("submitted", "tester"), ("approved", "owner")] == kinds(owner)
    event = owner.transactor.stores.journal.read()[-1]
    assert ("Right.", True, 1) == (event.reason, event.details["precedent"], event.details["proposal"])


def test_a_rejected_edit_leaves_the_note_and_its_number_is_not_given_again(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED))

    assert "rejected" == owner.review.reject(1, Verdict("No.")).outcome
    assert (PLAN, []) == (read(plan), inbox_of(plan))
    assert 2 == agent.editing.edit(edit("Plan", MOVED)).proposal


def test_a_second_edit_of_the_same_connection_goes_into_its_first(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED, summary="First.", comment="why"))

    answer = agent.editing.edit(edit("Plan", {"find": "on Tuesday", "replace": "on Friday"}, BOOKED, tags=("a",)))

    assert ("folded", 1) == (answer.outcome, answer.proposal)
    assert "why" == owner.review.find().proposals[0].comment
    owner.review.approve(1)
    assert PLAN.replace("Monday", "Friday").replace("book hall", "hall is booked").replace(
        "summary: Old.", "summary: First.\ntags:\n  - a"
    ) == read(plan)


def test_a_comment_alone_on_a_note_with_a_draft_rewrites_the_drafts_reason(plan: Path, opening: OpenVault) -> None:
    agent = opening(plan, policy="reviewed")
    agent.editing.edit(edit("Plan", MOVED, comment="first"))

    answer = agent.editing.edit(EditRequest("Plan", comment="second"))

    assert ("folded", 1) == (answer.outcome, answer.proposal)
    (one,) = agent.review.find().proposals
    assert ("edit", "second") == (one.kind, one.comment)


def test_another_kind_supersedes_what_waited(plan: Path, opening: OpenVault) -> None:
    agent = opening(plan, policy="reviewed")
    agent.editing.edit(edit("Plan", MOVED))

    answer = agent.editing.retire(RetireRequest("Plan", "obsolete"))

    assert ("held", 2) == (answer.outcome, answer.proposal)
    assert ["0002-delete-1.md"] == inbox_of(plan)
    assert any("proposal 1" in note for note in answer.notes)
    assert (PLAN, ()) == (read(plan), agent.review.inbox.find_vanished())


def test_a_report_changes_nothing_and_is_acknowledged(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan), opening(plan, role="owner", connection="owner")

    answer = agent.editing.edit(EditRequest("Plan", comment="The hall burned down."))

    assert ("reported", 1) == (answer.outcome, answer.proposal)
    assert "acknowledged" == owner.review.approve(1).outcome
    assert (PLAN, []) == (read(plan), inbox_of(plan))
    with pytest.raises(InvalidArgument):
        agent.editing.edit(EditRequest("Plan", comment=" \u200b\n"))


def test_another_connection_may_not_change_what_is_being_changed(plan: Path, opening: OpenVault) -> None:
    one, other = opening(plan, policy="reviewed", connection="one"), opening(plan, connection="other")
    one.editing.edit(edit("Plan", MOVED, summary="Mine."))

    with pytest.raises(BlockedByPending) as caught:
        other.editing.edit(edit("Plan", {"find": "We meet", "replace": "They meet"}))

    assert ("one", 1) == (caught.value.fields["by"], caught.value.fields["proposal"])
    assert "“We meet on Monday.”" in caught.value.message
    with pytest.raises(BlockedByPending):
        other.editing.edit(edit("Plan", {"find": "We meet", "replace": "They meet"}, hold=True))
    with pytest.raises(BlockedByPending):
        other.editing.edit(EditRequest("Plan", summary="Theirs."))
    assert "applied" == other.editing.edit(edit("Plan", {"find": "Bring cake", "replace": "Bring tea"})).outcome
    assert "held" == other.editing.edit(edit("Plan", BOOKED, hold=True)).outcome
    assert ["Mine.", "hall is booked"] == [
        p.fields[0].new if p.fields else p.body.hunks[0].new for p in one.review.find().proposals if p.body
    ]


def test_a_curator_is_not_blocked_and_the_waiting_words_do_not_apply_then(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    curator = opening(plan, policy="reviewed", role="curator", connection="cura")
    agent.editing.edit(edit("Plan", MOVED, BOOKED))

    assert "applied" == curator.editing.edit(edit("Plan", {"find": "Monday", "replace": "Sunday"})).outcome
    decided = owner.review.approve(1)

    assert ("'Monday' → 'Tuesday'",) == decided.not_applied
    assert PLAN.replace("Monday", "Sunday").replace("book hall", "hall is booked") == read(plan)


def test_an_approval_after_an_outside_edit_keeps_both(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED))
    (plan / "Plan.md").write_text(PLAN.replace("ask Ravi", "ask Noor") + "\nMore.\n", encoding="utf-8")

    assert () == owner.review.approve(1).not_applied
    assert PLAN.replace("ask Ravi", "ask Noor").replace("Monday", "Tuesday") + "\nMore.\n" == read(plan)


def test_a_proposal_of_which_nothing_fits_is_refused_and_stays(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED))
    (plan / "Plan.md").write_text("Something else.\n", encoding="utf-8")

    with pytest.raises(DoesNotFit):
        owner.review.approve(1)

    assert (["0001-edit-1.md"], "Something else.\n") == (inbox_of(plan), read(plan))


def test_an_approval_is_tied_to_the_version_shown(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED))
    seen = owner.review.view(1).revision
    agent.editing.edit(edit("Plan", BOOKED))

    with pytest.raises(DoesNotFit):
        owner.review.approve(1, Verdict(seen=seen))

    assert PLAN == read(plan)


def test_nothing_goes_into_a_proposal_that_the_person_has_just_decided(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED))
    decide_in_file(plan, 1, "approve")

    with pytest.raises(FileBusy):
        agent.editing.edit(edit("Plan", BOOKED))

    owner.review.apply_files()
    assert PLAN.replace("Monday", "Tuesday") == read(plan)


def test_a_title_and_a_folder_that_wait_move_the_note_and_rewrite_links(plan: Path, opening: OpenVault) -> None:
    (plan / "Other.md").write_text("See [[Plan]].\n", encoding="utf-8")
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    answer = agent.editing.edit(EditRequest("Plan", title="Meeting", folder="Dates"))
    assert "held" == answer.outcome

    decided = owner.review.approve(1)

    assert "Dates/Meeting.md" == decided.path
    assert "See [[Meeting]].\n" == read(plan, "Other.md")
    assert "former_titles" in read(plan, "Dates/Meeting.md")
    assert answer.note_id == owner.snapshot().notes["Dates/Meeting.md"].note_id


def test_a_decision_in_the_file_is_done_with_comment_and_precedent(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED))
    decide_in_file(plan, 1, "approve", decision_comment="Good", precedent="true")

    (done,) = owner.review.apply_files()

    assert ("approved", 1) == (done.outcome, done.number)
    assert PLAN.replace("Monday", "Tuesday") == read(plan)
    details = owner.transactor.stores.journal.read()[-1].details
    assert ("Good", True) == (details["comment"], details["precedent"])


def test_a_text_amended_in_the_file_is_what_is_applied(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED))
    path = plan / "_memex" / "inbox" / "0001-edit-1.md"
    path.write_text(read(path.parent, path.name).replace("```text\nTuesday", "```text\nFriday"), encoding="utf-8")

    owner.review.approve(1)

    assert PLAN.replace("Monday", "Friday") == read(plan)


def test_a_decision_that_cannot_be_done_is_handed_back_in_the_file(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED))
    (plan / "Plan.md").write_text("Something else.\n", encoding="utf-8")
    decide_in_file(plan, 1, "approve")

    (done,) = owner.review.apply_files()

    assert "not_applied" == done.outcome
    (waiting,) = owner.review.find().proposals
    assert ("", done.problem) == (waiting.decision, waiting.problem)
    assert () == owner.review.apply_files()


def test_deleting_the_file_rejects(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED))
    (plan / "_memex" / "inbox" / "0001-edit-1.md").unlink()

    (done,) = owner.review.apply_files()

    assert ("rejected", 1) == (done.outcome, done.number)
    assert () == owner.review.apply_files()
    assert [("submitted", "tester"), ("rejected", "owner")] == kinds(owner)


def test_deleting_the_note_discards_what_waits_about_it_and_says_so(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    other = opening(plan, policy="reviewed", connection="other")
    agent.editing.edit(edit("Plan", MOVED))
    other.editing.edit(edit("Plan", BOOKED))

    answer = owner.editing.retire(RetireRequest("Plan", "done"))

    assert ((1, 2), []) == (answer.discarded, inbox_of(plan))
    assert ["submitted", "submitted", "deleted", "rejected", "rejected"] == [kind for kind, _ in kinds(owner)]


def test_an_approved_deletion_takes_the_note_to_the_trash_with_what_waits(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    other = opening(plan, policy="reviewed", connection="other")
    other.editing.edit(edit("Plan", BOOKED))
    agent.editing.retire(RetireRequest("Plan", "obsolete"))

    decided = owner.review.approve(2)

    assert ("approved", (1,)) == (decided.outcome, decided.discarded)
    assert ({}, []) == (state_of(plan), inbox_of(plan))
    assert ["obsolete"] == [stone.reason for stone in owner.trash.find_tombstones()]


def test_a_new_note_of_an_agent_waits_and_its_author_may_go_on_with_it(folder: Path, opening: OpenVault) -> None:
    agent, owner = opening(folder, policy="reviewed"), opening(folder, role="owner", connection="owner")

    answer = agent.editing.save(SaveRequest("Idea", "A thought.", "state"))

    assert "pending" == answer.outcome
    assert ["Idea.md"] == [note.path for note in owner.review.find_notes()]
    assert (
        "applied" == agent.editing.edit(edit("Idea", {"find": "A thought", "replace": "Another thought"})).outcome
    )
    assert (
        "held"
        == opening(folder, policy="reviewed", connection="x").editing.edit(edit("Idea", tags=("t",))).outcome
    )
    assert "approved" == owner.review.decide_note("Idea", approve=True).outcome
    assert "review" not in read(folder, "Idea.md")
    assert () == owner.review.find_notes()


def test_a_new_note_that_is_rejected_goes_to_the_trash(folder: Path, opening: OpenVault) -> None:
    agent, owner = opening(folder), opening(folder, role="owner", connection="owner")
    agent.editing.save(SaveRequest("Idea", "A thought.", "state", hold=True))

    owner.review.decide_note("Idea", approve=False, comment="no")

    assert {} == state_of(folder)
    with pytest.raises(NotFound):
        owner.review.decide_note("Idea", approve=True)


def test_a_note_that_would_become_a_skill_waits_whichever_way_the_tag_comes(
    plan: Path, opening: OpenVault
) -> None:
    vault = opening(plan, role="curator", connection="cura")

    assert "held" == vault.editing.edit(EditRequest("Plan", tags=("skill",))).outcome
    assert "folded" == vault.editing.edit(edit("Plan", {"append": "#user-profile"})).outcome
    assert "pending" == vault.editing.save(SaveRequest("S", "text with #skill", "state")).outcome
    assert "pending" == vault.editing.save(SaveRequest("T", "text", "state", tags=("skill",))).outcome
    assert PLAN == read(plan)


def test_what_nobody_may_change_may_not_be_proposed_either(folder: Path, opening: OpenVault) -> None:
    (folder / "Past.md").write_text("---\nlayer: past\n---\nIt rained.\n", encoding="utf-8")
    (folder / "Rule.md").write_text("---\nlayer: rule\n---\nBe kind.\n", encoding="utf-8")
    vault = opening(folder, policy="reviewed")

    with pytest.raises(PastImmutable):
        vault.editing.edit(edit("Past", {"find": "rained", "replace": "snowed"}, hold=True))
    with pytest.raises(RuleUserOnly):
        vault.editing.edit(edit("Rule", {"find": "kind", "replace": "rude"}, hold=True))
    with pytest.raises(RuleUserOnly):
        vault.editing.retire(RetireRequest("Rule", "no"))
    assert "held" == vault.editing.retire(RetireRequest("Rule", "no", hold=True)).outcome
    with pytest.raises(RoleRequired):
        vault.knowledge.edit(GraphEdit(delete_entities=("Past",)))


def test_a_held_whole_body_needs_its_revision_and_fits_only_that_text(plan: Path, opening: OpenVault) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    revision = agent.snapshot().notes["Plan.md"].revision
    body = "Nothing of the former text is left here at all."
    with pytest.raises(StaleRevision):
        agent.editing.edit(EditRequest("Plan", body=body, if_revision="0" * 12))

    assert "held" == agent.editing.edit(EditRequest("Plan", body=body, if_revision=revision)).outcome
    owner.review.approve(1)

    assert f"---\nsummary: Old.\n---\n{body}\n" == read(plan)


def test_an_anchor_that_does_not_fit_is_refused_when_filed(plan: Path, opening: OpenVault) -> None:
    with pytest.raises(AnchorNotFound):
        opening(plan, policy="reviewed").editing.edit(edit("Plan", {"find": "Saturday", "replace": "Sunday"}))

    assert [] == inbox_of(plan)


@pytest.mark.parametrize("act", ["approve", "reject", "delete"])
def test_the_last_decision_can_be_taken_back(plan: Path, opening: OpenVault, act: str) -> None:
    agent, owner = opening(plan, policy="reviewed"), opening(plan, role="owner", connection="owner")
    agent.editing.edit(edit("Plan", MOVED)) if act != "delete" else agent.editing.retire(
        RetireRequest("Plan", "x")
    )
    before = (read(plan), inbox_of(plan))
    decided = owner.review.reject(1) if act == "reject" else owner.review.approve(1)

    owner.review.undo(decided)

    assert before == (read(plan), inbox_of(plan))
    (plan / "_memex" / "inbox" / inbox_of(plan)[0]).unlink()
    assert ["rejected"] == [done.outcome for done in owner.review.apply_files()]


def wait_for(condition: Callable[[], Any], seconds: float = 8.0) -> float:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds
        time.sleep(0.02)
    return time.monotonic() - start


def test_a_running_server_acts_on_a_decision_and_on_a_deletion(plan: Path, opening: OpenVault) -> None:
    agent = opening(plan, policy="reviewed")
    other = opening(plan, policy="reviewed", connection="other")
    agent.editing.edit(edit("Plan", MOVED))
    other.editing.edit(edit("Plan", BOOKED))
    agent.start()
    wait_for(lambda: agent.watch.looked)

    decide_in_file(plan, 1, "approve")
    wait_for(lambda: "Tuesday" in read(plan))
    (plan / "_memex" / "inbox" / "0002-edit-1.md").unlink()
    wait_for(lambda: ("rejected", "owner") in kinds(agent))

    assert PLAN.replace("Monday", "Tuesday") == read(plan)
