"""Agents propose, a person edits files and decides at random: nothing approved is lost, nothing unapproved appears."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.services.test_editing import edit
from vault_memex.errors import BlockedByPending, DoesNotFit
from vault_memex.services.requests import EditRequest, RetireRequest
from vault_memex.vault import Vault, open_vault

LINES = 6
NAMES = ("One", "Two")
AGENTS = ("ann", "bob")
NOTES = st.sampled_from(NAMES)
NUMBERS = st.integers(0, LINES - 1)


def render(values: dict[int, str]) -> str:
    return "".join(
        f"On line {n} of this note the value that counts is {values[n]} and no other.\n" for n in values
    )


@dataclass
class Waiting:
    """What the model knows of a proposal."""

    note: str
    agent: str
    kind: str
    words: dict[int, tuple[str, str]] = field(default_factory=dict)  # line: (value it was made for, new value)


class Reviewing(RuleBasedStateMachine):
    """The model is what each line of each note says, and what waits."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="review-"))
        self.root = self.top / "vault"
        self.root.mkdir()
        self.notes = {name: {n: f"start{n}" for n in range(LINES)} for name in NAMES}
        for name, values in self.notes.items():
            (self.root / f"{name}.md").write_text(render(values), encoding="utf-8")
        self.waiting: dict[int, Waiting] = {}
        self.count = 0
        self.vaults = {name: self.open(name, "agent") for name in AGENTS}
        self.vaults |= {"cura": self.open("cura", "curator"), "owner": self.open("owner", "owner")}
        self.vaults["owner"].number_notes()

    def open(self, name: str, role: str) -> Vault:
        flags = {"model": "none", "connection": name, "role": role, "policy": "reviewed"}
        vault = open_vault(self.root, cache_dir=self.top / "cache", flags=flags)
        vault.refresh()
        return vault

    def teardown(self) -> None:
        for vault in self.vaults.values():
            vault.close(patient=False)
        shutil.rmtree(self.top)

    def new_value(self) -> str:
        self.count += 1
        return f"value{self.count:05}"

    def find_own(self, note: str, agent: str) -> int | None:
        return next((n for n, w in self.waiting.items() if (w.note, w.agent) == (note, agent)), None)

    def fits(self, one: Waiting, line: int) -> bool:
        return self.notes[one.note][line] == one.words[line][0]

    # -- agents

    @rule(agent=st.sampled_from(AGENTS), note=NOTES, line=NUMBERS)
    def propose(self, agent: str, note: str, line: int) -> None:
        if note not in self.notes:
            return
        number = self.find_own(note, agent)
        own = self.waiting[number] if number is not None else None
        kept = {n: w for n, w in own.words.items() if self.fits(own, n)} if own else {}
        seen = kept[line][1] if line in kept else self.notes[note][line]
        new = self.new_value()
        others = [w for w in self.waiting.values() if w.note == note and w.agent != agent]
        touched = {*kept, line}
        blocked = any(n in w.words and self.fits(w, n) for w in others for n in touched)
        request = edit(note, {"find": seen, "replace": new}, comment="because")
        if blocked:
            with pytest.raises(BlockedByPending):
                self.vaults[agent].editing.edit(request)
            return
        answer = self.vaults[agent].editing.edit(request)
        assert answer.proposal is not None
        folded = own is not None and own.kind == "edit"
        assert ("folded" if folded else "held", folded) == (answer.outcome, answer.proposal == number)
        if number is not None:
            del self.waiting[number]
        words = {**kept, line: (self.notes[note][line], new)}
        self.waiting[answer.proposal] = Waiting(note, agent, "edit", words)

    @rule(agent=st.sampled_from(AGENTS), note=NOTES)
    def propose_deletion(self, agent: str, note: str) -> None:
        self.propose_other(agent, note, "delete")

    @rule(agent=st.sampled_from(AGENTS), note=NOTES)
    def report(self, agent: str, note: str) -> None:
        self.propose_other(agent, note, "report")

    def propose_other(self, agent: str, note: str, kind: str) -> None:
        if note not in self.notes:
            return
        number = self.find_own(note, agent)
        editing = self.vaults[agent].editing
        if kind == "delete":
            answer = editing.retire(RetireRequest(note, "gone"))
            same = number is not None and self.waiting[number].kind == "delete"
        else:
            answer = editing.edit(EditRequest(note, comment="outdated"))
            same = number is not None
        assert answer.proposal is not None
        assert same == (answer.proposal == number)
        if not same:
            if number is not None:
                del self.waiting[number]
            self.waiting[answer.proposal] = Waiting(note, agent, kind)

    @rule(note=NOTES, line=NUMBERS)
    def curate(self, note: str, line: int) -> None:
        if note in self.notes:
            new = self.new_value()
            self.vaults["cura"].editing.edit(edit(note, {"find": self.notes[note][line], "replace": new}))
            self.notes[note][line] = new

    # -- the person

    @rule(note=NOTES, line=NUMBERS)
    def edit_file(self, note: str, line: int) -> None:
        if note in self.notes:
            self.notes[note][line] = self.new_value()
            (self.root / f"{note}.md").write_text(render(self.notes[note]), encoding="utf-8")

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), approve=st.booleans(), in_file=st.booleans())
    def decide(self, data: st.DataObject, approve: bool, in_file: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.waiting)))
        one = self.waiting[number]
        review = self.vaults["owner"].review
        nothing_fits = one.kind == "edit" and not any(self.fits(one, n) for n in one.words)
        if in_file:
            path = next((self.root / "_memex" / "inbox").glob(f"{number:04d}-*"))
            word = "approve" if approve else "reject"
            text = path.read_text(encoding="utf-8").replace('decision: ""', f"decision: {word}", 1)
            path.write_text(text, encoding="utf-8")
            (done,) = review.apply_files()
            assert (done.outcome == "not_applied") == (approve and nothing_fits)
        elif approve and nothing_fits:
            with pytest.raises(DoesNotFit):
                review.approve(number)
        else:
            done = review.approve(number) if approve else review.reject(number)
        if not (approve and nothing_fits):
            if approve:
                lost = len([n for n in one.words if not self.fits(one, n)])
                assert lost == len(done.not_applied)
            self.follow(number, one, approve=approve)

    def follow(self, number: int, one: Waiting, *, approve: bool) -> None:
        del self.waiting[number]
        if not approve:
            return
        if one.kind == "delete":
            del self.notes[one.note]
            self.waiting = {n: w for n, w in self.waiting.items() if w.note != one.note}
        for line, (was, new) in one.words.items():
            if self.notes[one.note][line] == was:
                self.notes[one.note][line] = new

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def delete_file(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.waiting)))
        next((self.root / "_memex" / "inbox").glob(f"{number:04d}-*")).unlink()
        (done,) = self.vaults["owner"].review.apply_files()
        assert ("rejected", number) == (done.outcome, done.number)
        del self.waiting[number]

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), approve=st.booleans())
    def decide_and_undo(self, data: st.DataObject, approve: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.waiting)))
        review = self.vaults["owner"].review
        try:
            done = review.approve(number) if approve else review.reject(number)
        except DoesNotFit:
            return
        review.undo(done)

    # -- what must hold

    @invariant()
    def every_line_is_what_was_approved_or_written_by_the_person(self) -> None:
        found = {path.stem: path.read_text(encoding="utf-8") for path in self.root.glob("*.md")}

        assert {name: render(values) for name, values in self.notes.items()} == found

    @invariant()
    def what_waits_is_in_the_inbox_and_nothing_else(self) -> None:
        inbox = self.vaults["owner"].review.find()

        assert () == inbox.unreadable
        found: dict[int, Any] = {p.number: (f"{p.path}", p.by, p.kind) for p in inbox.proposals}
        assert {n: (f"{w.note}.md", w.agent, w.kind) for n, w in self.waiting.items()} == found


TestReviewing = pytest.mark.slow(Reviewing.TestCase)
TestReviewing.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


class TestReviewingBriefly(Reviewing.TestCase):
    """The same, a few times over, for every run of the tests."""

    settings = settings(max_examples=3, stateful_step_count=12, deadline=None)
