"""Candidates for a merge: what is offered, and what somebody judged to be two notes is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.services.test_saving import BREAD, KILN, Opened, both, measured
from tests.services.test_standing import write
from vault_memex.core.patch import parse_patch
from vault_memex.errors import InvalidArgument, RoleRequired
from vault_memex.services.history import ChangesRequest
from vault_memex.services.pairs import Pairs, PairsAnswer, PairsRequest
from vault_memex.services.requests import EditRequest, MergeRequest, RetireRequest
from vault_memex.services.review import Verdict
from vault_memex.vault import Vault

__all__ = ["both", "measured"]  # fixtures

TWICE = KILN.replace("nine hours", "ten hours")
WIDE = PairsRequest(max_distance=2.0)


@pytest.fixture
def vault(folder: Path, measured: Opened) -> Vault:
    write(folder, "Studio/Kiln.md", KILN, layer="state")
    write(folder, "Log/Kiln trouble.md", TWICE)
    write(folder, "Kitchen/Bread.md", BREAD)
    return measured(folder, role="curator", distances={"duplicate": 0.1, "near": 0.2})


def names(answer: PairsAnswer) -> list[tuple[str, str]]:
    return [(row.one.path, row.other.path) for row in answer.rows]


KILNS = ("Log/Kiln trouble.md", "Studio/Kiln.md")


def test_two_notes_that_say_nearly_the_same_are_one_pair_with_their_distance(vault: Vault) -> None:
    answer = vault.upkeep.pairs.find(PairsRequest())

    (row,) = answer.rows
    assert [KILNS] == names(answer)
    assert 0 < row.distance <= answer.max_distance == 0.1
    assert (1, 0, 0, "") == (answer.total, answer.rejected, answer.unsettled, answer.unavailable)


def test_a_smaller_distance_leaves_pairs_out_and_one_too_large_is_told(vault: Vault) -> None:
    assert [] == names(vault.upkeep.pairs.find(PairsRequest(max_distance=0.0)))
    assert "max_distance set to 0.2" in vault.upkeep.pairs.find(WIDE).notes[0]


def test_a_pair_that_was_rejected_comes_back_when_a_text_changes_and_not_when_a_tag_does(
    vault: Vault, measured: Opened
) -> None:
    vault.upkeep.pairs.reject(KILNS, "One is the log of the other.")
    vault.editing.edit(EditRequest(KILNS[0], tags=("kiln",)))
    measured.embed(vault)
    rejected = vault.upkeep.pairs.find(PairsRequest())
    again = Pairs(vault.config, vault.detecting, vault.editing, vault.filing, vault.files)  # after a start
    there = again.find(PairsRequest())
    vault.editing.edit(EditRequest(KILNS[0], parse_patch([{"append": "It tripped."}])))
    measured.embed(vault)

    assert ([], 0, 1) == (names(rejected), rejected.total, rejected.rejected)
    assert ([], 1) == (names(there), there.rejected)
    assert [KILNS] == names(vault.upkeep.pairs.find(PairsRequest()))


def test_the_history_of_either_note_tells_that_they_are_two(vault: Vault) -> None:
    vault.upkeep.pairs.reject(KILNS, "One is the log of the other.")

    told = [vault.history.find_changes(ChangesRequest(ref=ref, scope="curation")).rows for ref in KILNS]

    assert [["pair_rejected"]] * 2 == [[row.kind for row in rows] for rows in told]


@pytest.mark.parametrize("how", ["command", "file"])
def test_rejecting_a_merge_judges_the_pair(vault: Vault, measured: Opened, how: str) -> None:
    held = vault.merging.merge(MergeRequest(KILNS[0], KILNS[1], "the same"))
    waiting = vault.upkeep.pairs.find(PairsRequest())
    owner = measured(vault.root, role="owner", connection="owner")
    assert held.proposal is not None
    if how == "command":
        owner.review.reject(held.proposal, Verdict("two firings"))
    else:
        (file,) = vault.root.glob("_memex/inbox/*.md")
        file.unlink()
        owner.review.apply_files()
    answer = vault.upkeep.pairs.find(PairsRequest())

    assert [] == names(waiting)  # while it waits
    assert ([], 1) == (names(answer), answer.rejected)


def test_pairs_of_which_a_note_waits_for_deletion_are_left_out(vault: Vault) -> None:
    vault.editing.retire(RetireRequest(KILNS[1], "old", hold=True))

    assert [] == names(vault.upkeep.pairs.find(PairsRequest()))


def test_notes_that_wait_are_compared_when_asked(vault: Vault, measured: Opened) -> None:
    write(vault.root, "New.md", KILN.replace("nine", "eight"), review="pending")
    vault.refresh()
    measured.embed(vault)

    assert 1 == vault.upkeep.pairs.find(PairsRequest()).total
    assert 3 == vault.upkeep.pairs.find(PairsRequest(include_pending=True)).total


def test_an_amendment_is_no_duplicate_of_what_it_amends(folder: Path, measured: Opened) -> None:
    write(folder, "Kiln.md", KILN, layer="past")
    write(folder, "Correction.md", TWICE, layer="past", amends="Kiln", amend_kind="corrects")
    vault = measured(folder, role="curator", distances={"duplicate": 0.1, "near": 0.2})

    assert [] == names(vault.upkeep.pairs.find(PairsRequest()))


def test_of_each_note_the_five_nearest_come_page_by_page(folder: Path, measured: Opened) -> None:
    for number in range(9):
        write(folder, f"{number}.md", f"{KILN} {number}")
    vault = measured(folder, role="curator", distances={"duplicate": 0.2, "near": 0.2})

    whole = names(vault.upkeep.pairs.find(PairsRequest(limit=100)))
    pages = [names(vault.upkeep.pairs.find(PairsRequest(limit=10, offset=at))) for at in range(0, len(whole), 10)]

    assert len(set(whole)) == len(whole) < 9 * 8 // 2
    assert whole == [pair for page in pages for pair in page]
    assert all(sum(f"{n}.md" in pair for pair in whole) >= 5 for n in range(9))


def test_without_a_model_it_is_said_that_nothing_was_compared(folder: Path, both: Opened) -> None:
    write(folder, "a/Kiln.md", KILN)
    write(folder, "b/Kiln.md", KILN)
    answer = both(folder, role="curator").upkeep.pairs.find(PairsRequest())

    assert both.meaning == bool(answer.rows) == (not answer.unavailable)


def test_what_is_no_pair_is_refused(vault: Vault) -> None:
    with pytest.raises(InvalidArgument, match="both name"):
        vault.upkeep.pairs.reject([KILNS[0], KILNS[0]], "x")
    with pytest.raises(InvalidArgument, match="body is empty"):
        vault.upkeep.pairs.reject(KILNS, " ")
    with pytest.raises(InvalidArgument, match="max_distance"):
        vault.upkeep.pairs.find(PairsRequest(max_distance=2.5))


def test_only_curators_and_the_person_look_for_pairs(vault: Vault, measured: Opened) -> None:
    agent = measured(vault.root, role="agent")

    with pytest.raises(RoleRequired):
        agent.upkeep.pairs.find(PairsRequest())
    with pytest.raises(RoleRequired):
        agent.upkeep.pairs.reject(KILNS, "x")
