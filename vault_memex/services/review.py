"""The person's decisions on what waits: approve what still fits, reject, and act on what is written in the files."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from vault_memex.core.changes import Change, FileEdit, RemoveFile, WriteFile
from vault_memex.core.diff import render_diff
from vault_memex.core.markdown import parse_note
from vault_memex.core.property_edit import plan_properties
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import render_line, render_subject
from vault_memex.errors import (
    DoesNotFit,
    FileBusy,
    InvalidArgument,
    MemexError,
    NotFound,
    StaleRevision,
    VaultLocked,
)
from vault_memex.memory.house_rules import CANONICAL, STATUS
from vault_memex.memory.proposal_file import render_proposal
from vault_memex.memory.proposals import Fitting, Inbox, Proposal, check_fit, get_field, plan_fitting
from vault_memex.services.editing import Editing
from vault_memex.services.filing import check_comment, describe_keeper, find_values
from vault_memex.services.inbox import DETAIL
from vault_memex.services.merging import MergePlan, Merging
from vault_memex.services.pairs import add_pair
from vault_memex.services.requests import EditRequest, PlannedWrite
from vault_memex.services.undo import Undoing
from vault_memex.store.files import FileText
from vault_memex.store.journal import JournalEvent, render_moment
from vault_memex.store.trash import Trash

OWNER = "owner"
DELETE_SECONDS = 1.0  # editors remove a file to write it: only one that stays away was deleted


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the person says to a proposal."""

    comment: str = ""
    precedent: bool = False  # the comment holds for like cases
    seen: str = ""  # revision of the proposal's file that was shown; another one is refused


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a proposal, or of a note that waited."""

    outcome: str  # approved, rejected, acknowledged, not_applied
    path: str
    title: str
    number: int | None = None  # of the proposal; None: a note that waited
    kind: str = ""
    by: str = ""
    not_applied: tuple[str, ...] = ()  # words and values that do not fit any more
    discarded: tuple[int, ...] = ()  # other proposals that went with the note
    problem: str = ""  # why nothing was done
    event: int | None = None  # in the journal; `undo` takes it
    commit: str = ""
    commit_error: str | None = None


@dataclass(frozen=True, slots=True)
class ProposalView:
    """A proposal beside the note as it is now."""

    proposal: Proposal
    revision: str  # of its file: a verdict names it
    before: str = ""  # the note's file now; of a merge: of the note that stays
    after: str = ""  # and with what fits
    diff: str = ""
    not_applied: tuple[str, ...] = ()
    relinked: tuple[str, ...] = ()  # of a merge: notes and canvases whose links are rewritten
    problem: str = ""


class Review:
    """Decides. Nothing here is reached through MCP but by the person's own edits of the files."""

    def __init__(
        self, editing: Editing, merging: Merging, undoing: Undoing, trash: Trash, clock: Callable[[], datetime]
    ) -> None:
        self._files = editing.files
        self._filing = filing = editing.filing
        self._merging = merging
        self._undoing = undoing
        self.inbox = filing.inbox
        self._editing = editing
        self._trash = trash
        self._clock = clock
        self._missing: dict[int, float] = {}

    # -- looking

    def find(self, most: int | None = None) -> Inbox:
        """Return the proposals that wait, or the first so many."""
        return self.inbox.find(most=most)

    def find_notes(self) -> tuple[NoteRecord, ...]:
        """Return the notes that wait for approval, oldest first."""
        notes = (note for note in self._editing.snapshot().notes.values() if note.pending)
        return tuple(sorted(notes, key=lambda note: (note.created, note.path)))

    def view(self, number: int) -> ProposalView:
        """Return a proposal with what approving it would do now. Raises NotFound, FrontmatterInvalid."""
        proposal, file = self.inbox.get(number)
        view = ProposalView(proposal, file.revision)
        if proposal.kind not in ("edit", "merge"):
            return view
        try:
            if proposal.kind == "merge":
                return _show_merge(view, self._merging.plan_proposal(proposal, self._find_note(proposal)))
            note, fitting, after = self._fit(proposal)
        except MemexError as error:
            return replace(view, problem=error.message)
        diff = render_diff(render_line(note.path), note.text, after)
        return replace(view, before=note.text, after=after, diff=diff, not_applied=fitting.describe_failed())

    # -- deciding

    def approve(self, number: int, verdict: Verdict = Verdict()) -> Decided:
        """Apply what still fits; the proposal goes. Raises DoesNotFit when nothing does, and then nothing is done."""
        return self._decide(number, verdict, approve=True)

    def reject(self, number: int, verdict: Verdict = Verdict()) -> Decided:
        """Take a proposal away; the note stays as it is."""
        return self._decide(number, verdict, approve=False)

    def _decide(self, number: int, verdict: Verdict, *, approve: bool) -> Decided:
        check_comment(verdict.comment)
        found: list[Decided] = []
        discarded: tuple[Proposal, ...] = ()
        moved: list[tuple[str, str, str]] = []

        def plan() -> PlannedWrite:
            nonlocal discarded
            proposal, file = self.inbox.get(number)
            if verdict.seen and verdict.seen != file.revision:
                raise DoesNotFit(f"Proposal {number} changed since it was shown. Look at it again.")
            removal = RemoveFile(file.path, file.revision)
            shown = Decided("rejected", proposal.path, proposal.title, number, proposal.kind, proposal.by)
            moved.clear()
            if not approve:
                change = self._build(proposal, "rejected", (removal,))
            elif proposal.kind == "report":
                shown = replace(shown, outcome="acknowledged")
                change = self._build(proposal, "acknowledged", (removal,))
            elif proposal.kind == "delete":
                change, discarded = self._plan_delete(proposal, removal)
                shown = replace(shown, outcome="approved")
            elif proposal.kind == "merge":
                change, discarded = self._plan_merge(proposal, removal)
                shown = replace(shown, outcome="approved", path=change.path)
            else:
                change, lost = self._plan_edit(proposal, removal, moved)
                shown = replace(shown, outcome="approved", path=change.path, not_applied=lost)
            found[:] = [shown]
            reason = verdict.comment or (proposal.comment if change.op == "deleted" else "")
            details = _details(proposal, shown, verdict)
            if not approve:
                details = add_pair(self._editing, proposal.note_id, details)
            return PlannedWrite(replace(change, reason=reason), details)

        applied = self._editing.write(plan)
        assert applied is not None
        for path, to, revision in moved:
            self._editing.numbering.record_move(path, to, revision)
        how = "merged into another" if found[0].kind == "merge" else "deleted"
        gone = self._filing.record_discards(discarded, OWNER, f"the note was {how}")
        return replace(
            found[0],
            discarded=gone,
            event=applied.event.id,
            commit=applied.commit,
            commit_error=applied.commit_error or None,
        )

    def _build(self, proposal: Proposal, op: str, edits: Sequence[FileEdit], path: str = "") -> Change:
        verb = {"approved": "Approve", "rejected": "Reject", "acknowledged": "Acknowledge"}[op]
        # Who sees the one note alone is told of no other: an approval names both among its files.
        into = f" into {proposal.into.title}" if proposal.into and op == "approved" else ""
        said = proposal.change_title or f"{proposal.kind} of {proposal.title}{into}"
        title = render_subject(f"{verb} proposal {proposal.number}: {said}")
        return Change(op, path or proposal.path, title, tuple(edits), OWNER, proposal.note_id)

    def _plan_edit(
        self, proposal: Proposal, removal: RemoveFile, moved: list[tuple[str, str, str]]
    ) -> tuple[Change, tuple[str, ...]]:
        file, fitting, text = self._fit(proposal)
        if not fitting.applies:
            lost = "; ".join(fitting.describe_failed())
            raise DoesNotFit(f"Nothing of proposal {proposal.number} fits the note any more: {lost}. Reject it.")
        record = self._find_note(proposal)
        request = EditRequest(
            record.path,
            title=get_field(fitting.fields, "title"),
            folder=get_field(fitting.fields, "folder"),
            relink=proposal.relink,
        )
        edits, move, _ = self._editing.planner.plan(record, file, request, text, OWNER)
        if move is not None:
            moved.append((record.path, move, next(e.before for e in edits if not isinstance(e, WriteFile)) or ""))
        change = self._build(proposal, "approved", (*edits, removal), move or record.path)
        return change, fitting.describe_failed()

    def _plan_delete(self, proposal: Proposal, removal: RemoveFile) -> tuple[Change, tuple[Proposal, ...]]:
        record = self._find_note(proposal)
        change = self._plan_trash(record, proposal.comment)
        discards, discarded = self._filing.plan_discards(record, proposal.number)
        return replace(change, edits=(*change.edits, removal, *discards)), discarded

    def _plan_merge(self, proposal: Proposal, removal: RemoveFile) -> tuple[Change, tuple[Proposal, ...]]:
        record = self._find_note(proposal)
        merge = self._merging.plan_proposal(proposal, record)
        discards, discarded = self._filing.plan_discards(record, proposal.number)
        change = self._build(proposal, "approved", (*merge.edits, removal, *discards), merge.keeper.path)
        return replace(change, note_id=merge.keeper.note_id), discarded

    def _plan_trash(self, record: NoteRecord, reason: str) -> Change:
        return self._trash.plan_delete(
            self._files.read(record.path),
            record.title,
            record.note_id,
            when=render_moment(self._clock()),
            actor=OWNER,
            reason=reason,
        )

    def _find_note(self, proposal: Proposal) -> NoteRecord:
        snapshot = self._editing.snapshot()
        by_number = snapshot.by_id.get(proposal.note_id) if proposal.note_id is not None else None
        note = by_number or (snapshot.notes.get(proposal.path) if proposal.note_id is None else None)
        if note is None:
            raise DoesNotFit(f"The note of proposal {proposal.number} ({proposal.path}) is gone. Reject it.")
        return note

    def _fit(self, proposal: Proposal) -> tuple[FileText, Fitting, str]:
        """Return the note's file as it is, what of an edit fits it, and its text with that."""
        record = self._find_note(proposal)
        try:
            file = self._files.read(record.path)
        except NotFound:
            raise DoesNotFit(f"The note {record.path} is gone. Reject proposal {proposal.number}.") from None
        note = parse_note(file.text)
        fitting = check_fit(proposal, note.body, find_values(record), note.frontmatter.properties)
        return file, fitting, plan_fitting(file.text, fitting)

    # -- notes that wait

    def decide_note(self, ref: str, *, approve: bool, comment: str = "", seen: str = "") -> Decided:
        """Approve a note that waits (`review: pending` goes), or reject it: then it goes to the trash.

        `seen` is the revision of the note that was shown; another one is refused.
        """
        check_comment(comment)
        discarded: tuple[Proposal, ...] = ()
        found: list[Decided] = []

        def plan() -> PlannedWrite:
            nonlocal discarded
            record, file, _ = self._editing.reading.find_note(ref, writing=True)
            if not record.pending:
                raise InvalidArgument("ref", f"{record.path} does not wait for approval.")
            if seen and seen != file.revision:
                raise DoesNotFit(f"{record.path} changed since it was shown. Look at it again.")
            record = self._editing.numbered(record)
            by = str(record.properties.get("added_by", ""))
            found[:] = [Decided("approved" if approve else "rejected", record.path, record.title, by=by)]
            if approve:
                values = {STATUS: CANONICAL} if record.layer == "rule" else {}
                data = plan_properties(file.text, values, ("review",)).encode("utf-8")
                title = render_subject(f"Approve {record.title}")
                edit = WriteFile(record.path, data, file.revision)
                change = Change("approved", record.path, title, (edit,), OWNER, record.note_id, comment)
            else:
                change = self._plan_trash(record, comment or "rejected")
                discards, discarded = self._filing.plan_discards(record)
                change = replace(change, edits=(*change.edits, *discards))
            return PlannedWrite(change, {"decision": found[0].outcome, "comment": comment, "by": by})

        applied = self._editing.write(plan)
        assert applied is not None
        gone = self._filing.record_discards(discarded, OWNER, "the note was rejected")
        return replace(found[0], discarded=gone, event=applied.event.id, commit=applied.commit)

    def undo(self, decided: Decided) -> None:
        """Take a decision back: files are as before, the proposal waits again. Refused when a file moved on since."""
        if decided.event is None:
            raise NotFound("That decision changed no file; there is nothing to take back.")
        self._undoing.undo(decided.event)

    # -- acting on files

    @property
    def unsettled(self) -> bool:
        """Whether a file is missing that may come back."""
        return bool(self._missing)

    def apply_files(self, *, patient: bool = False) -> tuple[Decided, ...]:
        """Do what the person decided in the files; a file that is gone was rejected. Return what was done.

        With `patient` a file counts as gone when it stays away for a second.
        """
        done: list[Decided] = []
        for proposal in self.inbox.find().proposals:
            if proposal.decision:
                with_verdict = self._act(proposal)
                done += [with_verdict] if with_verdict else []
        return (*done, *self._reject_vanished(patient=patient))

    def _act(self, proposal: Proposal) -> Decided | None:
        verdict = Verdict(proposal.decision_comment, proposal.precedent)
        try:
            return self._decide(proposal.number, verdict, approve=proposal.decision == "approve")
        except (FileBusy, StaleRevision, VaultLocked, NotFound):
            return None  # somebody is at it: the next look tells
        except MemexError as error:
            return self._hand_back(proposal.number, error.message)

    def _hand_back(self, number: int, problem: str) -> Decided | None:
        """Write into the file why the decision could not be acted on; it is the person's turn again."""

        def plan() -> PlannedWrite:
            proposal, file = self.inbox.get(number)
            data = render_proposal(replace(proposal, decision="", problem=problem)).encode("utf-8")
            edit = WriteFile(file.path, data, file.revision)
            title = render_subject(f"Proposal {number} could not be applied")
            found.append(Decided("not_applied", proposal.path, proposal.title, number, problem=problem))
            change = Change("not_applied", proposal.path, title, (edit,), OWNER, proposal.note_id, problem)
            return PlannedWrite(change, {DETAIL: number})

        found: list[Decided] = []
        try:
            self._editing.write(plan)
        except (FileBusy, StaleRevision, VaultLocked, NotFound):
            return None
        return found[-1]

    def _reject_vanished(self, *, patient: bool) -> list[Decided]:
        if not self._missing and not self.inbox.find_vanished():
            return []
        now = time.monotonic()
        with self._editing.transactor.stores.lock.hold():
            vanished = {int(event.details[DETAIL]): event for event in self.inbox.find_vanished()}
            self._missing = {number: self._missing.get(number, now) for number in vanished}
            gone = [n for n, since in self._missing.items() if not patient or now - since >= DELETE_SECONDS]
            for number in gone:
                self._record_rejection(number, vanished[number])
                del self._missing[number]
        return [Decided("rejected", vanished[n].path, vanished[n].title, n, by=vanished[n].actor) for n in gone]

    def _record_rejection(self, number: int, submitted: JournalEvent) -> None:
        self._editing.transactor.record(
            replace(
                submitted,
                kind="rejected",
                op="rejected",
                title=render_subject(f"Reject proposal {number}"),
                actor=OWNER,
                reason="its file was deleted",
                before=None,
                after=None,
                files=(),
                details=add_pair(self._editing, submitted.note_id, {**submitted.details, "by": submitted.actor}),
            )
        )


def _show_merge(view: ProposalView, plan: MergePlan) -> ProposalView:
    diff = render_diff(render_line(plan.keeper.path), plan.before, plan.after)
    return replace(view, before=plan.before, after=plan.after, diff=diff, relinked=plan.relinked)


def _details(proposal: Proposal, decided: Decided, verdict: Verdict) -> Mapping[str, Any]:
    details: dict[str, Any] = {
        DETAIL: proposal.number,
        "kind": proposal.kind,
        "by": proposal.by,
        "decision": decided.outcome,
        "comment": verdict.comment,
        "precedent": verdict.precedent,
        **describe_keeper(proposal),
        "amended": proposal.amended,
        "not_applied": list(decided.not_applied),
    }
    return {name: value for name, value in details.items() if value not in ("", False, [])}
