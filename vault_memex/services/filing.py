"""Puts what has to wait into the inbox: one item per note and connection, and nobody's words under another's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vault_memex.config import Config
from vault_memex.core.changes import Change, FileEdit, RemoveFile, WriteFile
from vault_memex.core.diff import render_diff
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import PropertyValue
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import render_line, render_subject
from vault_memex.errors import BlockedByPending, FileBusy, InvalidArgument, PatchNoop, TooLarge
from vault_memex.memory.blocking import find_blocked
from vault_memex.memory.hunks import plan_hunks
from vault_memex.memory.proposal_file import render_proposal
from vault_memex.memory.proposals import (
    MAX_COMMENT,
    FieldChange,
    Keeper,
    Proposal,
    ProposalKind,
    check_fit,
    find_shared_field,
    get_field,
    plan_fields,
    plan_fitting,
)
from vault_memex.services.actor import describe_role, find_actor
from vault_memex.services.edit_plan import check_characters, plan_text
from vault_memex.services.inbox import DETAIL, SUBMITTED, InboxFiles
from vault_memex.services.requests import EditRequest, WriteAnswer
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.journal import JournalEvent, render_moment
from vault_memex.store.transaction import Transactor


@dataclass(frozen=True, slots=True)
class Merge:
    """What a merge does to the note that stays."""

    keeper: NoteRecord
    body: str  # its text now
    new_body: str | None  # None: its text stays
    gains: tuple[str, ...]


WAITS = "Nothing in the note changed yet: the person decides (`vault-memex review`, or in _memex/inbox)."


class Filing:
    """Files, folds and blocks. Every method that writes needs the vault lock."""

    def __init__(
        self, config: Config, files: VaultFiles, transactor: Transactor, clock: Callable[[], datetime]
    ) -> None:
        self._config = config
        self.inbox = InboxFiles(files, transactor.stores.journal)
        self._transactor = transactor
        self._clock = clock

    # -- edits

    def file_edit(self, record: NoteRecord, file: FileText, request: EditRequest) -> WriteAnswer:
        """Make the change wait; a second one by the same connection goes into its first."""
        note = parse_note(file.text)
        own, others = self._find_waiting(record)
        draft = own if own is not None and own.kind == "edit" else None
        start, kept, notes = _apply_draft(draft, record, file)
        bare = replace(request, title=None, folder=None)
        moves = request.title is not None or request.folder is not None
        try:
            proposed = plan_text(start, bare).text
        except PatchNoop:
            if not moves:
                raise
            proposed = start
        after = parse_note(proposed)
        body = plan_hunks(note.body, after.body) if note.body != after.body else None
        fields = (
            *_plan_arguments(record, request, kept),
            *plan_fields(note.frontmatter.properties, after.frontmatter.properties),
        )
        if body is None and not fields:
            raise PatchNoop("Nothing would change: the note already says that.")
        proposal = self._build(record, "edit", draft)
        proposal = replace(
            proposal,
            base=file.revision,
            body=body,
            fields=fields,
            comment=request.comment.strip() or proposal.comment,
            change_title=request.change_title or proposal.change_title,
            relink=request.relink,
        )
        if self._config.role == "agent":
            _check_blocked(note.body, proposal, others)
        diff = render_diff(render_line(record.path), file.text, proposed)
        return replace(self._submit(record, proposal, own, "held", notes), diff=diff)

    def check_edit(self, record: NoteRecord, before: str, after: str, arguments: Sequence[FieldChange]) -> None:
        """Refuse a change that is to be made at once, of what another connection's proposal changes."""
        if self._config.role != "agent" or record.note_id is None:
            return
        _, others = self._find_waiting(record)
        if not others:
            return
        one, other = parse_note(before), parse_note(after)
        body = plan_hunks(one.body, other.body) if one.body != other.body else None
        fields = (*arguments, *plan_fields(one.frontmatter.properties, other.frontmatter.properties))
        mine = replace(self._new(record, "edit"), body=body, fields=fields)
        _check_blocked(one.body, mine, others)

    # -- reports and deletions

    def file_report(self, record: NoteRecord, comment: str) -> WriteAnswer:
        """Tell the person that something about a note is outdated; with a draft there, change the draft's reason."""
        check_comment(comment, needed=True)
        own, _ = self._find_waiting(record)
        if own is not None:
            return self._submit(record, replace(own, comment=comment.strip(), updated=self._now()), own, "held")
        proposal = replace(self._new(record, "report"), comment=comment.strip())
        return self._submit(record, proposal, None, "reported")

    def file_delete(self, record: NoteRecord, file: FileText, reason: str) -> WriteAnswer:
        """Propose that a note be deleted."""
        check_comment(reason, needed=True)
        own, _ = self._find_waiting(record)
        draft = own if own is not None and own.kind == "delete" else None
        proposal = self._build(record, "delete", draft)
        proposal = replace(proposal, base=file.revision, comment=reason.strip())
        return self._submit(record, proposal, own, "held")

    def file_merge(self, record: NoteRecord, file: FileText, merge: Merge, reason: str) -> WriteAnswer:
        """Propose that a note be merged into another."""
        check_comment(reason, needed=True)
        own, _ = self._find_waiting(record)
        draft = own if own is not None and own.kind == "merge" else None
        keeper = merge.keeper
        proposal = replace(
            self._build(record, "merge", draft),
            base=file.revision,
            body=plan_hunks(merge.body, merge.new_body) if merge.new_body not in (None, merge.body) else None,
            comment=reason.strip(),
            into=Keeper(keeper.path, keeper.title, keeper.note_id),
            gains=merge.gains,
        )
        if self._config.role == "agent":
            _, others = self._find_waiting(keeper)
            _check_blocked(merge.body, proposal, others)
        return replace(self._submit(record, proposal, own, "held"), into=keeper.path)

    # -- what goes with a note

    def plan_discards(
        self, record: NoteRecord, besides: int = 0
    ) -> tuple[tuple[FileEdit, ...], tuple[Proposal, ...]]:
        """Return the edits that take away what waits about a note, and what that is: also merges into it."""
        if record.note_id is None:
            return (), ()
        found = (*self.inbox.find(record.note_id).proposals, *self.inbox.find_merges(record.note_id))
        waiting = [one for one in found if one.number != besides]
        files = [self.inbox.read_file(one) for one in waiting]
        return tuple(RemoveFile(file.path, file.revision) for file in files), tuple(waiting)

    def record_discards(self, discarded: Sequence[Proposal], actor: str, why: str) -> tuple[int, ...]:
        """Journal that proposals went, one line for each; return their numbers."""
        for one in discarded:
            self._transactor.record(_render_rejected(one, actor, why))
        return tuple(one.number for one in discarded)

    # -- common

    def _find_waiting(self, record: NoteRecord) -> tuple[Proposal | None, list[Proposal]]:
        """Return what this connection has waiting about a note, and what others have."""
        if record.note_id is None:
            return None, []
        actor = find_actor(self._config)
        waiting = self.inbox.find(record.note_id).proposals
        own = next((one for one in waiting if one.by == actor), None)
        return own, [one for one in waiting if one.by != actor]

    def _new(self, record: NoteRecord, kind: ProposalKind) -> Proposal:
        now = self._now()
        return Proposal(
            0, kind, record.path, record.title, find_actor(self._config), now, now, note_id=record.note_id
        )

    def _build(self, record: NoteRecord, kind: ProposalKind, draft: Proposal | None) -> Proposal:
        """Return the proposal to fill: the draft that it revises, else a new one."""
        if draft is None:
            return self._new(record, kind)
        return replace(draft, path=record.path, title=record.title, updated=self._now(), problem="", amended=False)

    def _submit(
        self,
        record: NoteRecord,
        proposal: Proposal,
        own: Proposal | None,
        outcome: str,
        notes: tuple[str, ...] = (),
    ) -> WriteAnswer:
        """Write the proposal over the connection's former one."""
        if own is not None and own.decision:
            raise FileBusy(f"The person has just decided on proposal {own.number}. Read the note, then try again.")
        folded = own is not None and own.kind == proposal.kind
        before = self.inbox.read_file(own) if own is not None else None
        if not folded:
            proposal = replace(proposal, number=self.inbox.next_number())
        target = before if folded else None
        path, revision = (target.path, target.revision) if target is not None else (proposal.file, None)
        edits: list[FileEdit] = [WriteFile(path, render_proposal(proposal).encode("utf-8"), revision)]
        if before is not None and own is not None and not folded:
            edits.append(RemoveFile(before.path, before.revision))
        title = render_subject(f"Propose {proposal.kind} of {record.title}")
        change = Change(SUBMITTED, record.path, title, tuple(edits), proposal.by, record.note_id)
        details = {DETAIL: proposal.number, "kind": proposal.kind, **describe_keeper(proposal)}
        details |= describe_role(self._config, proposal.by)
        applied = self._transactor.apply(change, internal=True, details=details)
        if own is not None and not folded:
            self.record_discards([own], proposal.by, f"superseded by proposal {proposal.number}")
            notes = (*notes, f"Your earlier {own.kind} (proposal {own.number}) is withdrawn for this one.")
        return WriteAnswer(
            outcome="folded" if folded else outcome,
            path=record.path,
            title=record.title,
            note_id=record.note_id,
            revision=record.revision,
            proposal=proposal.number,
            commit=applied.commit,
            commit_error=applied.commit_error or None,
            notes=(WAITS, *notes),
        )

    def _now(self) -> str:
        return render_moment(self._clock())


def check_comment(comment: str, *, needed: bool = False, argument: str = "comment") -> None:
    """Refuse a comment that is too long, and one without visible characters where it is all there is."""
    if needed and not any(char.isprintable() and not char.isspace() for char in comment):
        raise InvalidArgument(argument, f"{argument} is empty. Say what is outdated, or why.")
    if len(comment) > MAX_COMMENT:
        raise TooLarge(f"{argument} has {len(comment)} characters; at most {MAX_COMMENT}.", argument=argument)
    check_characters(argument, comment)


def _apply_draft(
    draft: Proposal | None, record: NoteRecord, file: FileText
) -> tuple[str, tuple[FieldChange, ...], tuple[str, ...]]:
    """Return the note's text with the draft, the draft's title and folder, and what of it does not fit any more."""
    if draft is None:
        return file.text, (), ()
    note = parse_note(file.text)
    fitting = check_fit(draft, note.body, find_values(record), note.frontmatter.properties)
    lost = fitting.describe_failed()
    notes = (f"Left out, for the note changed since: {'; '.join(lost)}",) if lost else ()
    return plan_fitting(file.text, fitting), tuple(f for f in fitting.fields if not f.is_property), notes


def find_values(record: NoteRecord) -> dict[str, PropertyValue]:
    """Return what a note has of the arguments of `edit` that are no properties."""
    return {"title": record.title, "folder": record.folder}


def _plan_arguments(
    record: NoteRecord, request: EditRequest, kept: Sequence[FieldChange]
) -> tuple[FieldChange, ...]:
    """Return the changes of title and folder: those asked for, else the draft's."""
    now = find_values(record)
    asked = {"title": request.title, "folder": request.folder}
    new = {name: asked[name] if asked[name] is not None else get_field(kept, name) for name in now}
    return tuple(
        FieldChange(name, now[name], value)
        for name, value in new.items()
        if value is not None and value != now[name]
    )


def _check_blocked(text: str, mine: Proposal, others: Sequence[Proposal]) -> None:
    edits = [one for one in others if one.kind == "edit"]
    for one in edits:
        if name := find_shared_field(mine.fields, one.fields):
            raise _blocked(one, f"{name} of this note")
    if mine.body is None:
        return
    with_text = [one for one in edits if one.body is not None]
    found = find_blocked(text, mine.body, [one.body for one in with_text if one.body is not None])
    if found is not None:
        raise _blocked(with_text[found[0]], f"“{found[1]}”")


def _blocked(owner: Proposal, what: str) -> BlockedByPending:
    return BlockedByPending(
        f"{what} is being changed by {owner.by} already (proposal {owner.number}, which waits for the person). Change "
        "something else, or tell the person with `comment` alone.",
        proposal=owner.number,
        by=owner.by,
    )


def _render_rejected(one: Proposal, actor: str, why: str) -> JournalEvent:
    return JournalEvent(
        id=0,
        at="",
        kind="rejected",
        op="rejected",
        path=one.path,
        title=render_subject(f"Discard proposal {one.number}: {one.title}"),
        actor=actor,
        note_id=one.note_id,
        reason=why,
        details={DETAIL: one.number, "kind": one.kind, "by": one.by, **describe_keeper(one)},
    )


def describe_keeper(one: Proposal) -> dict[str, int | str]:
    """Return what an event about a proposal says of the note that another goes into: `into`, its number or path."""
    into = one.into
    return {} if into is None else {"into": into.path if into.note_id is None else into.note_id}
