"""The table of who may write what, cell by cell: role, policy, kind of write."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.memory.notes import note
from vault_memex.errors import MemexError
from vault_memex.memory.policy import Touched, Writing, decide_write

PLAIN = note("Plain.md")
STATE = note("State.md", layer="state")
PAST = note("Past.md", layer="past")
RULE = note("Rule.md", layer="rule")
SKILL = note("Skill.md", layer="state", tags=("skill",))
PROFILE = note("Me.md", tags=("User-Profile",))
LOCKED = note("Locked.md", properties={"locked": True})
TEXT, WHOLE, TITLE = Touched(text=True), Touched(text=True, whole=True), Touched(title=True)
FIELDS = Touched()

# What is written, and for each role and policy what becomes of it: agent personal, agent reviewed, curator personal,
# curator reviewed, owner (either). Readers: never. A word in capitals is a refusal.
CELLS = {
    "new note": (Writing("create", layer="state"), "apply pending apply apply apply"),
    "new rule": (Writing("create", layer="rule"), "apply pending apply apply apply"),
    "new skill": (Writing("create", tags=("skill",)), "pending pending pending pending apply"),
    "new profile": (Writing("create", tags=("user-profile",)), "pending pending pending pending apply"),
    "new note, hold": (Writing("create", hold=True), "pending pending pending pending pending"),
    "patch of a state": (Writing("edit", STATE, TEXT), "apply hold apply apply apply"),
    "patch of a plain note": (Writing("edit", PLAIN, TEXT), "apply hold apply apply apply"),
    "patch, hold": (Writing("edit", PLAIN, TEXT, hold=True), "hold hold hold hold hold"),
    "title of a state": (Writing("edit", STATE, TITLE), "apply hold apply apply apply"),
    "fields of a state": (Writing("edit", STATE, FIELDS), "apply hold apply apply apply"),
    "layer of a state": (Writing("edit", STATE, Touched(layer="past")), "apply hold apply apply apply"),
    "whole body": (Writing("edit", STATE, WHOLE), "apply hold hold hold apply"),
    "own draft": (Writing("edit", STATE, TEXT, own_draft=True), "apply apply apply apply apply"),
    "text of a past": (Writing("edit", PAST, TEXT), "PAST PAST PAST PAST apply"),
    "text of a past, hold": (Writing("edit", PAST, TEXT, hold=True), "PAST PAST PAST PAST hold"),
    "whole body of a past": (Writing("edit", PAST, WHOLE), "PAST PAST PAST PAST apply"),
    "title of a past": (Writing("edit", PAST, TITLE), "PAST PAST PAST PAST apply"),
    "layer of a past": (Writing("edit", PAST, Touched(layer="state")), "PAST PAST PAST PAST apply"),
    "fields of a past": (Writing("edit", PAST, FIELDS), "apply hold apply apply apply"),
    "rule": (Writing("edit", RULE, FIELDS), "RULE RULE RULE RULE apply"),
    "rule, hold": (Writing("edit", RULE, TEXT, hold=True), "RULE RULE RULE RULE hold"),
    "to rule": (Writing("edit", STATE, Touched(layer="rule")), "RULE RULE RULE RULE apply"),
    "from rule": (Writing("edit", RULE, Touched(layer="state")), "RULE RULE RULE RULE apply"),
    "patch of a skill": (Writing("edit", SKILL, TEXT, tags=("skill",)), "hold hold hold hold apply"),
    "skill loses its tag": (Writing("edit", SKILL, FIELDS, tags=()), "hold hold hold hold apply"),
    "note becomes a skill": (Writing("edit", STATE, FIELDS, tags=("skill",)), "hold hold hold hold apply"),
    "patch of the profile": (Writing("edit", PROFILE, TEXT, tags=("User-Profile",)), "hold hold hold hold apply"),
    "locked": (Writing("edit", LOCKED, FIELDS), "NOT NOT NOT NOT apply"),
    "delete": (Writing("delete", STATE), "apply hold apply hold apply"),
    "delete a past": (Writing("delete", PAST), "apply hold apply hold apply"),
    "delete, hold": (Writing("delete", STATE, hold=True), "hold hold hold hold hold"),
    "delete a skill": (Writing("delete", SKILL), "hold hold hold hold apply"),
    "delete a rule": (Writing("delete", RULE), "RULE RULE RULE RULE apply"),
    "delete a rule, hold": (Writing("delete", RULE, hold=True), "hold hold hold hold hold"),
    "delete a locked": (Writing("delete", LOCKED, hold=True), "NOT NOT NOT NOT hold"),
    "merge": (Writing("merge", STATE), "hold hold hold hold apply"),
    "merge, new text": (Writing("merge", STATE, WHOLE, into=PLAIN), "hold hold hold hold apply"),
    "merge a past": (Writing("merge", PAST, into=STATE), "hold hold hold hold apply"),
    "merge into a past": (Writing("merge", STATE, into=PAST), "hold hold hold hold apply"),
    "merge into a past, new text": (Writing("merge", STATE, WHOLE, into=PAST), "PAST PAST PAST PAST apply"),
    "merge a rule away": (Writing("merge", RULE, into=STATE), "hold hold hold hold apply"),
    "merge into a rule": (Writing("merge", STATE, into=RULE), "RULE RULE RULE RULE apply"),
    "merge a locked": (Writing("merge", LOCKED, into=STATE), "NOT NOT NOT NOT apply"),
    "merge into a locked": (Writing("merge", STATE, into=LOCKED), "NOT NOT NOT NOT apply"),
    "report": (Writing("report", STATE), "hold hold hold hold hold"),
    "report on a rule": (Writing("report", RULE), "hold hold hold hold hold"),
    "mint": (Writing("mint"), "apply apply apply apply apply"),
}
COLUMNS = (("agent", "personal"), ("agent", "reviewed"), ("curator", "personal"), ("curator", "reviewed"))


@pytest.mark.parametrize("what", CELLS)
def test_every_cell_of_the_table_is_decided_as_it_says(what: str) -> None:
    writing, row = CELLS[what]
    columns = (*COLUMNS, ("owner", "personal"))

    assert row.split() == [_decide(writing, role, policy) for role, policy in columns]
    assert row.split()[-1] == _decide(writing, "owner", "reviewed")
    assert ["ROLE", "ROLE"] == [_decide(writing, "reader", policy) for policy in ("personal", "reviewed")]


def _decide(writing: Writing, role: str, policy: str) -> str:
    try:
        return decide_write(writing, role, policy)
    except MemexError as error:
        return error.code.split("_")[0]


def test_an_agents_own_draft_is_still_a_record_of_the_past() -> None:
    writing = Writing("edit", replace(PAST, properties={"review": "pending"}), TEXT, own_draft=True)

    assert "PAST" == _decide(writing, "agent", "reviewed")
