"""A note merged into another: proposed, and done once the person agrees, as one change that can be undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from vault_memex.core.changes import FileEdit, WriteFile
from vault_memex.core.markdown import parse_note
from vault_memex.core.merge import Gains, Named, find_gains, plan_gains
from vault_memex.core.patch import plan_body
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import render_line
from vault_memex.errors import DoesNotFit, EmptyBody, InvalidArgument, NotFound, NotWritable, TooLarge
from vault_memex.memory.policy import Touched, Writing, decide_write
from vault_memex.memory.proposals import Proposal, check_fit, plan_fitting
from vault_memex.services.edit_plan import MAX_BODY_BYTES, check_characters
from vault_memex.services.editing import Editing
from vault_memex.services.filing import Merge
from vault_memex.services.reading import OWNER
from vault_memex.services.requests import MergeRequest, WriteAnswer
from vault_memex.store.files import FileText
from vault_memex.store.journal import render_moment
from vault_memex.store.trash import Trash


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What a merge does to files: all of it, or nothing."""

    keeper: NoteRecord
    before: str  # the keeper's file
    after: str
    edits: tuple[FileEdit, ...]
    relinked: tuple[str, ...]  # notes and canvases whose links lead to the keeper then


class Merging:
    """Merges of one vault, for one connection."""

    def __init__(self, editing: Editing, trash: Trash, clock: Callable[[], datetime]) -> None:
        self._files = editing.files
        self._editing = editing
        self._config = editing.config
        self._filing = editing.filing
        self._answering = editing.answering
        self._relinker = editing.planner.relinker
        self._trash = trash
        self._clock = clock

    def merge(self, request: MergeRequest) -> WriteAnswer:
        """Propose a merge. It always waits for the person, whoever asks, and both notes stay meanwhile."""
        _check_body(request.merged_body)
        with self._editing.hold():
            record, keeper, file, into = self._find_both(request)
            touched = Touched(text=True, whole=True) if request.merged_body is not None else Touched()
            writing = Writing("merge", record, touched, into=keeper)
            decide_write(writing, self._config.role, self._config.policy)  # refuses what no merge may do
            sources = self._answering.find_sources(record.path)
            new_body = None
            if request.merged_body is not None:
                new_body = parse_note(plan_body(into.text, request.merged_body)).body
            gains = _find_gains(keeper, into, record, file).describe()
            merge = Merge(keeper, parse_note(into.text).body, new_body, gains)
            answer = self._filing.file_merge(record, file, merge, request.reason)
        return self._answering.add_citing(answer, "merging", sources)

    def _find_both(self, request: MergeRequest) -> tuple[NoteRecord, NoteRecord, FileText, FileText]:
        record, file, _ = self._editing.reading.find_note(request.ref, writing=True)
        keeper, into, _ = self._editing.reading.find_note(request.into, writing=True)
        if record.path == keeper.path:
            raise InvalidArgument(
                "into", f"ref and into both name {record.path}. Name the note that goes, and the one it goes into."
            )
        for one in (file, into):
            if one.not_writable:
                raise NotWritable(f"{one.path}: {one.not_writable}", path=one.path)
        return self._editing.numbered(record), self._editing.numbered(keeper), file, into

    # -- planned on the files as they are

    def plan_proposal(self, proposal: Proposal, record: NoteRecord) -> MergePlan:
        """Return what approving a merge does now. Raises DoesNotFit when it is not what was proposed any more."""
        into = proposal.into
        assert into is not None
        snapshot = self._editing.snapshot()
        keeper = snapshot.by_id.get(into.note_id) if into.note_id is not None else snapshot.notes.get(into.path)
        if keeper is None:
            raise DoesNotFit(
                f"The note that proposal {proposal.number} merges into ({into.path}) is gone. Reject it."
            )

        def write_body(file: FileText) -> str:
            fitting = check_fit(replace(proposal, fields=()), parse_note(file.text).body, {}, {})
            if not fitting.fits:
                lost = "; ".join(fitting.describe_failed())
                raise DoesNotFit(
                    f"{file.path} changed since proposal {proposal.number} was made, so its merged text does not fit: "
                    f"{lost}. Reject it, or merge by hand."
                )
            return plan_fitting(file.text, fitting)

        return self.plan(record, keeper, write_body, proposal.comment)

    def plan(
        self, record: NoteRecord, keeper: NoteRecord, write_body: Callable[[FileText], str], reason: str
    ) -> MergePlan:
        """Return what merging a note into another does: the keeper's text, the links of others, and the trash.

        `write_body` gets the keeper's file and returns its text with the body that it is to have.
        """
        gone, into = self._read(record), self._read(keeper)
        links = self._relinker.plan_merge(record.path, keeper.path, gone.text, write_body(into))
        moved, kept = parse_note(links.moved), parse_note(links.kept)
        gains = find_gains(Named(keeper.title, kept), Named(record.title, moved))
        text = self._relinker.plan_standing(plan_gains(links.kept, gains), record.path, keeper.path)
        buried = self._trash.plan_delete(
            gone,
            record.title,
            record.note_id,
            when=render_moment(self._clock()),
            actor=OWNER,  # whoever looks after the inbox: the person decided
            reason=render_line(f"merged into {keeper.title}" + (f": {reason}" if reason else "")),
        )
        data = text.encode("utf-8")
        own = (WriteFile(keeper.path, data, into.revision),) if data != into.data else ()
        return MergePlan(
            keeper, into.text, text, (*own, *links.writes, *buried.edits), tuple(one.path for one in links.writes)
        )

    def _read(self, record: NoteRecord) -> FileText:
        try:
            file = self._files.read(record.path)
        except NotFound:
            raise DoesNotFit(f"The note {record.path} is gone, so nothing can be merged.") from None
        if file.not_writable:
            raise NotWritable(f"{record.path}: {file.not_writable}", path=record.path)
        return file


def _find_gains(keeper: NoteRecord, into: FileText, record: NoteRecord, file: FileText) -> Gains:
    one, other = Named(keeper.title, parse_note(into.text)), Named(record.title, parse_note(file.text))
    return find_gains(one, other)


def _check_body(body: str | None) -> None:
    if body is None:
        return
    if not body.strip():
        raise EmptyBody("merged_body is empty. Leave it out to keep the text of the note that stays.")
    if len(body.encode("utf-8", "surrogatepass")) > MAX_BODY_BYTES:
        raise TooLarge("merged_body is over 1 MiB. Split it into several notes.", argument="merged_body")
    check_characters("merged_body", body)
