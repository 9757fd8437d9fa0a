"""The journal as it is read: every kind by its name, notes followed through their names, and the history of tidying."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import OpenVault
from tests.services.test_editing import edit
from tests.services.test_knowledge import entity
from vault_memex.errors import InvalidArgument, NotFound, RoleRequired
from vault_memex.memory.journal_kinds import CHANGE_KINDS, KINDS
from vault_memex.memory.knowledge_graph import Graph
from vault_memex.server.render import render_changes
from vault_memex.services.history import ChangeRow, ChangesRequest
from vault_memex.services.requests import EditRequest, MergeRequest, RetireRequest, SaveRequest
from vault_memex.services.review import Verdict
from vault_memex.services.runs import Finding, RunRequest
from vault_memex.vault import Vault, open_vault

Git = Callable[..., str]
PERSON = ("-c", "user.name=Nora", "-c", "user.email=nora@example.org")


@pytest.fixture
def git(folder: Path) -> Git:
    def run(*words: str, at: str = "") -> str:
        command = ["git", "-C", str(folder), *PERSON, *words]
        moment = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
        env = {**os.environ, **moment}
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout

    run("init", "-q")
    return run


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def find(vault: Vault, **what: object) -> tuple[ChangeRow, ...]:
    return vault.history.find_changes(ChangesRequest(**what)).rows  # type: ignore[arg-type]


def test_each_thing_that_happens_has_its_name_and_says_to_what_and_by_whom(
    folder: Path, opening: OpenVault, git: Git
) -> None:
    write(folder, "Plan.md", "We meet on Monday.\n")
    git("add", "-A")
    git("commit", "-qm", "mine", at=(datetime.now(UTC) - timedelta(hours=1)).isoformat())
    agent = opening(folder, connection="ann")
    owner = opening(folder, role="owner", connection="owner")
    agent.editing.save(SaveRequest("New", "text", "state"))
    agent.editing.edit(edit("New", {"append": "more"}))
    agent.editing.edit(EditRequest("New", title="Newer"))
    agent.editing.retire(RetireRequest("Newer", "over"))
    owner.trashing.restore("Newer")
    owner.undoing.undo(owner.undoing.find(1)[0].event)
    owner.trashing.purge("Newer")
    for number, decide in enumerate((owner.review.approve, owner.review.reject), 1):
        agent.editing.edit(edit("Plan", {"append": f"line {number}"}, hold=True))
        decide(number, Verdict("So it is.", precedent=number == 2))
    agent.editing.edit(EditRequest("Plan", comment="The hall burned down."))
    owner.review.approve(3)
    owner.upkeep.flags.raise_flag("Plan", "too long")
    owner.upkeep.flags.resolve("Plan", "it is short now")
    agent.editing.edit(EditRequest("Plan", tags=("craft", "wheel")))
    owner.upkeep.tags.merge("craft", "pottery")
    owner.upkeep.tags.retire("wheel")
    owner.upkeep.tags.restore("wheel")
    owner.knowledge.add_missing(Graph((entity("Roh", "potter"),), ()))
    owner.transactor.flush()
    write(folder, "Plan.md", "By hand.\n")
    owner.refresh()

    answer = owner.history.find_changes(ChangesRequest())
    rows = answer.rows

    assert [
        ("edited_outside", "Plan.md", "owner"),
        ("imported", "entities/potter/Roh.md", "owner"),
        ("tag_restored", "_memex/tags.md", "owner"),
        ("tag_removed", "_memex/tags.md", "owner"),
        ("tag_merged", "_memex/tags.md", "owner"),
        ("changed", "Plan.md", "ann"),
        ("flag_resolved", "Plan.md", "owner"),
        ("flag_raised", "Plan.md", "owner"),
        ("acknowledged", "Plan.md", "owner"),
        ("submitted", "Plan.md", "ann"),
        ("rejected", "Plan.md", "owner"),
        ("submitted", "Plan.md", "ann"),
        ("approved", "Plan.md", "owner"),
        ("submitted", "Plan.md", "ann"),
        ("erased", "_memex/trash/0002--Newer.md", "owner"),
        ("undone", "_memex/trash/0002--Newer.md", "owner"),
        ("restored", "Newer.md", "owner"),
        ("deleted", "Newer.md", "ann"),
        ("renamed", "Newer.md", "ann"),
        ("changed", "New.md", "ann"),
        ("added", "New.md", "ann"),
        ("added", "Plan.md", "owner"),
    ] == [(row.kind, row.path, row.actor) for row in rows]
    assert set(CHANGE_KINDS) == {row.kind for row in rows}
    assert {1, 2, 3, None} == {row.note_id for row in rows}
    assert {"tag_removed", "tag_merged"} < {row.kind for row in find(owner, ref="Plan")}
    assert [row.at for row in rows] == sorted((row.at for row in rows), reverse=True)
    rejected = next(row for row in rows if row.kind == "rejected")
    assert (2, "So it is.", True) == (rejected.proposal, rejected.reason, rejected.precedent)
    assert "  precedent: So it is.\n" in render_changes(answer)
    (one,) = find(owner, kind="imported")
    assert "entities/potter/Roh.md" == one.path
    with pytest.raises(InvalidArgument, match="edited_outside"):
        find(owner, kind="moved")


def test_what_waits_is_not_told_only_that_it_was_proposed(folder: Path, opening: OpenVault) -> None:
    write(folder, "Plan.md", "We meet on Monday.\n")
    vault = opening(folder, policy="reviewed")
    vault.editing.edit(edit("Plan", {"find": "Monday", "replace": "the 12th"}, comment="a secret reason"))

    answer = vault.history.find_changes(ChangesRequest())

    assert ["submitted"] == [row.kind for row in answer.rows]
    assert not any(word in render_changes(answer) + repr(answer) for word in ("12th", "Monday", "secret"))


@pytest.fixture
def week(folder: Path, tmp_path: Path) -> Iterator[Vault]:
    """A vault that got one note a day at noon, for ten days that end on 2026-11-10."""
    moment = [datetime(2026, 11, 1, 12, tzinfo=UTC)]
    flags = {"model": "none", "connection": "ann"}
    vault = open_vault(folder, cache_dir=tmp_path / "cache", flags=flags, clock=lambda: moment[0])
    vault.refresh()
    for day in range(1, 11):
        vault.editing.save(
            SaveRequest(f"Day {day}", f"What was on day {day} of all.", "past", allow_duplicate=True)
        )
        moment[0] += timedelta(days=1)
    moment[0] = datetime(2026, 11, 10, 13, tzinfo=UTC)
    yield vault
    vault.close(patient=False)


def days_of(rows: tuple[ChangeRow, ...]) -> list[int]:
    return [int(row.path.removeprefix("Day ").removesuffix(".md")) for row in rows]


def test_seven_days_come_unless_told_otherwise_since_inclusive_until_exclusive(week: Vault) -> None:
    noon = "2026-11-03T12:00:00Z"

    assert [10, 9, 8, 7, 6, 5, 4] == days_of(find(week))
    assert [10, 9, 8, 7, 6, 5, 4, 3] == days_of(find(week, since=noon))
    assert [2, 1] == days_of(find(week, since="2026-11-01", until=noon))
    assert [4, 3] == days_of(find(week, since="2026-11-03", until="2026-11-05"))
    assert [2] == days_of(find(week, since="2026-11-01", ref="Day 2"))
    assert [] == find(week, ref="Day 2") or () == find(week, ref="Day 2")


def test_pages_have_a_total_and_a_limit_of_1_to_200(week: Vault) -> None:
    page = week.history.find_changes(ChangesRequest("2026-11-01", limit=3, offset=3))

    assert ([7, 6, 5], 10, 3, 3) == (days_of(page.rows), page.total, page.returned, page.offset)
    assert 1 == week.history.find_changes(ChangesRequest(limit=0)).returned
    assert any("1-200" in note for note in week.history.find_changes(ChangesRequest(limit=999)).notes)


def test_a_note_is_followed_through_its_names_here_and_outside(folder: Path, tmp_path: Path, git: Git) -> None:
    day = [2]
    write(folder, "Plan.md", "One.\n")
    write(folder, "Home.md", "[[Plan]]\n")
    git("add", "-A")
    git("commit", "-qm", "start", at="2026-11-01T09:00:00Z")
    vault = open_vault(
        folder,
        cache_dir=tmp_path / "cache",
        flags={"model": "none", "connection": "ann"},
        clock=lambda: datetime(2026, 11, day[0], tzinfo=UTC),
    )
    vault.refresh()
    vault.editing.edit(EditRequest("Plan", title="Scheme"))
    vault.transactor.flush()
    (folder / "a").mkdir()
    git("mv", "Scheme.md", "a/Design.md")
    git("commit", "-qm", "moved by hand", at="2026-11-08T09:00:00Z")
    vault.refresh()
    day[0] = 9
    vault.editing.edit(edit("Design", {"append": "Two."}))
    vault.transactor.flush()
    (folder / "a" / "Design.md").rename(folder / "Layout.md")
    vault.refresh()

    rows = find(vault, ref="Layout", since="2026-10-01")
    home = find(vault, ref="Home", since="2026-10-01")
    vault.close(patient=False)

    assert [
        ("renamed", "Layout.md", "a/Design.md"),
        ("changed", "a/Design.md", None),
        ("renamed", "a/Design.md", "Scheme.md"),
        ("renamed", "Scheme.md", "Plan.md"),
        ("added", "Plan.md", None),
    ] == [(row.kind, row.path, row.from_path) for row in rows]
    assert len({row.note_id for row in rows}) == 1
    assert [True, False] == [rows[0].uncommitted, rows[1].uncommitted]
    assert ["renamed", "added"] == [row.kind for row in home]  # its link was rewritten


@pytest.mark.parametrize("committed", ["in git", "by the person", "without git"])
def test_an_edit_by_hand_is_told_although_this_program_wrote_over_it(
    folder: Path, opening: OpenVault, committed: str, git: Git
) -> None:
    if committed == "without git":
        shutil.rmtree(folder / ".git")
    write(folder, "Plan.md", "One.\n")
    vault = opening(folder)
    vault.editing.edit(edit("Plan", {"append": "Two."}))
    vault.transactor.flush()
    write(folder, "Plan.md", "One by hand.\nTwo.\n")
    if committed == "by the person":
        git("commit", "-qam", "mine")
    vault.editing.edit(edit("Plan", {"append": "Three."}))
    vault.transactor.flush()

    rows = find(vault)

    assert [("changed", "ann"), ("changed", "ann"), ("edited_outside", "owner")] == sorted(
        (row.kind, "ann" if row.actor == "tester" else row.actor) for row in rows
    )
    assert (1, False) == (rows[1].note_id, rows[1].uncommitted)
    assert ("mine" if committed == "by the person" else "") == next(
        row.title for row in rows if row.kind == "edited_outside"
    )


def test_a_deleted_note_is_asked_for_by_number_or_name_and_not_taken_for_a_new_one(
    folder: Path, opening: OpenVault
) -> None:
    write(folder, "Plan.md", "Old plan.\n")
    vault = opening(folder)
    vault.editing.edit(edit("Plan", {"append": "more"}))
    vault.editing.retire(RetireRequest("Plan", "over"))

    gone = find(vault, ref="Plan")
    vault.editing.save(SaveRequest("Plan", "Another one.", "state"))

    assert ["deleted", "changed"] == [row.kind for row in gone]
    assert gone == find(vault, ref="#1")
    assert ["added"] == [row.kind for row in find(vault, ref="Plan")]
    with pytest.raises(NotFound):
        find(vault, ref="#99")


def test_a_merge_is_told_of_both_notes(folder: Path, opening: OpenVault) -> None:
    for name in ("Oven", "Kiln"):
        write(folder, f"{name}.md", f"{name}.\n")
    vault = opening(folder, role="owner", connection="owner")
    vault.review.approve(vault.merging.merge(MergeRequest("Oven", "Kiln", "one")).proposal or 0)

    assert ["approved"] == [row.kind for row in find(vault, ref="Kiln")]
    assert ["approved", "submitted"] == [row.kind for row in find(vault, ref="#2")]


def test_the_history_of_tidying_is_for_curators_and_goes_back_to_the_beginning(
    folder: Path, opening: OpenVault
) -> None:
    for name in ("Plan", "Other"):
        write(folder, f"{name}.md", f"{name} of all.\n")
    agent, owner = opening(folder, connection="ann"), opening(folder, role="owner", connection="owner")
    curator = opening(folder, role="curator", connection="cura")
    agent.editing.edit(edit("Plan", {"append": "by an agent"}))
    curator.editing.edit(EditRequest("Other", tags=("a",)))
    curator.upkeep.runs.record(
        RunRequest("run_summary", "Looked at one.", examined=(Finding("Plan", "tags", "fine"),))
    )
    curator.upkeep.runs.record(RunRequest("observation", "Titles are dates."))
    for number in (1, 2):
        agent.editing.edit(edit("Plan", {"append": f"line {number}"}, hold=True))
        owner.review.reject(number, Verdict(f"No. {number}", precedent=number == 1))

    tidying = find(curator, scope="curation")

    assert [
        ("rejected", "owner"),
        ("rejected", "owner"),
        ("observation", "cura"),
        ("run_summary", "cura"),
        ("changed", "cura"),
    ] == [(row.kind, row.actor) for row in tidying]
    assert "Looked at one." == tidying[3].text
    assert ["rejected", "submitted", "rejected", "submitted", "run_summary", "changed"] == [
        row.kind for row in find(curator, scope="curation", ref="Plan")
    ]
    assert ["observation"] == [row.kind for row in find(curator, kind="observation", scope="curation")]
    assert [("No. 1", True, 1)] == [
        (row.reason, row.precedent, row.proposal) for row in find(curator, precedent_only=True)
    ]
    assert "run_summary" not in {row.kind for row in find(curator)}
    for asked in ({"scope": "curation"}, {"precedent_only": True}, {"kind": "run_summary"}):
        with pytest.raises(RoleRequired):
            find(agent, **asked)
    assert set(CHANGE_KINDS) < set(KINDS)
