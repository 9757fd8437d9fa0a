"""The one door for writes: policy, plan, apply, index. Every tool, command and review comes through here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from vault_memex.config import Config
from vault_memex.core.changes import Change, MoveFile, WriteFile
from vault_memex.core.markdown import parse_note
from vault_memex.core.property_edit import plan_properties, render_note
from vault_memex.core.revision import revision_of
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import base_of, render_line, stem_of
from vault_memex.errors import (
    IndexUnusable,
    InvalidArgument,
    NotWritable,
    PatchNoop,
    StaleRevision,
)
from vault_memex.index.indexer import Indexer, OwnWrite
from vault_memex.memory.house_rules import CANONICAL, PROVISIONAL, STATUS
from vault_memex.memory.policy import (
    GUARDED_TAGS,
    Decided,
    Touched,
    Writing,
    check_role,
    decide_write,
)
from vault_memex.memory.scope import Scope
from vault_memex.services.actor import describe_role, find_actor
from vault_memex.services.answering import Answering
from vault_memex.services.duplicates import Duplicates
from vault_memex.services.edit_files import RESERVED, EditPlanner, describe_texts
from vault_memex.services.edit_plan import (
    MAX_CHANGE_TITLE,
    build_properties,
    check_edit_request,
    check_save_request,
    find_tags,
    is_report,
    plan_text,
    render_body,
    tidy_title,
)
from vault_memex.services.filing import Filing, check_comment
from vault_memex.services.numbering import Numbering
from vault_memex.services.reading import Reading
from vault_memex.services.relinking import Relinker
from vault_memex.services.requests import EditRequest, PlannedWrite, RetireRequest, SaveRequest, WriteAnswer
from vault_memex.services.save_plan import check_folder, find_free_path, render_link
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.journal import render_moment
from vault_memex.store.layout import write_settings
from vault_memex.store.transaction import Applied, Transactor
from vault_memex.store.trash import Trash

RETRIES = 3  # a save by somebody else between our reading and our writing starts the plan anew
PENDING = "The note waits for the person's approval (review: pending); until then it is no rule, skill or profile."
MIN_REVISION = 8  # hex digits that name a revision


class Editing:
    """Writes of one vault."""

    def __init__(
        self,
        *,
        config: Config,
        files: VaultFiles,
        transactor: Transactor,
        indexer: Indexer,
        catalogue: Catalogue,
        reading: Reading,
        numbering: Numbering,
        relinker: Relinker,
        trash: Trash,
        duplicates: Duplicates,
        answering: Answering,
        filing: Filing,
        snapshot: Callable[[], Snapshot],
        clock: Callable[[], datetime],
        scope: Scope,
    ) -> None:
        self._scope = scope
        self.config = config
        self.files = files
        self.transactor = transactor
        self._indexer = indexer
        self._catalogue = catalogue
        self.reading = reading
        self.numbering = numbering
        self._trash = trash
        self.snapshot = snapshot
        self._clock = clock
        self.planner = EditPlanner(config, files, relinker)
        self._duplicates = duplicates
        self.answering = answering
        self.filing = filing

    # -- a new note

    def save(self, request: SaveRequest) -> WriteAnswer:
        """Write a new note. Raises DuplicateSuspected when a note says the same already."""
        check_role(self.config.role)
        check_save_request(request)
        tags = (*request.tags, *_find_guarded(request.body))
        decided = self._decide(Writing("create", layer=request.layer, tags=tags, hold=request.hold))
        waiting = decided == "pending"
        request = replace(request, title=tidy_title(request.title))
        folder = check_folder(self.files, request.folder or self.config.new_note_folder)
        amended = self.reading.find_note(request.amends, writing=True)[0] if request.amends else None
        draft_path = find_free_path(self.files, self.snapshot(), folder, request.title, allow_namesake=True)
        comparison = self._duplicates.compare(request, draft_path, amended.path if amended else None)
        with self.hold():
            self.numbering.number_all()
            path = find_free_path(
                self.files, self.snapshot(), folder, request.title, allow_namesake=request.allow_duplicate
            )
            number = self.numbering.next_number()
            properties = build_properties(
                replace(request, amends=render_link(self.snapshot(), amended) if amended else ""),
                note_id=number if self.config.write_ids != "never" else None,
                now=self._clock().strftime("%Y-%m-%dT%H:%M:%S"),
                name_differs=stem_of(path) != request.title,
            )
            properties |= self._attribution(request.layer) | ({"review": "pending"} if waiting else {})
            data = render_note(properties, render_body(request.body)).encode("utf-8")
            self.numbering.take(path, revision_of(data))  # next_number's: nobody else numbers under the lock
            change = Change(
                op="created",
                path=path,
                title=request.change_title or f"Add {request.title}"[:MAX_CHANGE_TITLE],
                edits=(WriteFile(path, data, None),),
                actor=find_actor(self.config),
                note_id=number,
            )
            applied = self._apply(change, {"review": "pending"} if waiting else None)
            self.numbering.show({path: number})
        answer = self.answering.describe("pending" if waiting else "created", path, applied)
        if waiting:
            answer = replace(answer, notes=(PENDING, *answer.notes))
        return self.answering.advise_on_save(answer, request.title, data.decode("utf-8"), comparison)

    def _attribution(self, layer: str) -> dict[str, str]:
        if self.config.role == "owner":
            return {}
        by = {"added_by": find_actor(self.config)}
        # Nobody but the person makes rules: what an assistant proposes is not followed until it is approved.
        return {**by, STATUS: PROVISIONAL} if layer == "rule" else by

    # -- a change to a note

    def edit(self, request: EditRequest) -> WriteAnswer:
        """Change a note. When somebody saves in between, the plan is made anew, unless a revision was named."""
        check_edit_request(request)
        check_comment(request.comment)
        if request.title is not None:
            request = replace(request, title=tidy_title(request.title))
        for attempt in range(1, RETRIES + 1):
            try:
                with self.hold():
                    answer, before, after = self._edit_once(request)
                return self.answering.advise_on_edit(answer, before, after, find_tags(request))
            except StaleRevision:
                if request.if_revision or attempt == RETRIES:
                    raise
        raise AssertionError("unreachable")

    def _edit_once(self, request: EditRequest) -> tuple[WriteAnswer, str, str]:
        """Return the answer, and the note's text before and after."""
        record, file, _ = self.reading.find_note(request.ref, writing=True)
        if is_report(request):
            self._decide(Writing("report", record))
            return self.filing.file_report(self.numbered(record), request.comment), "", ""
        writing = self._build_writing(record, request)
        held = self._decide(writing) == "hold"
        if file.not_writable:
            raise NotWritable(f"{record.path}: {file.not_writable}", path=record.path)
        _check_revision(file, request.if_revision)
        planned = None if held else plan_text(file.text, request)
        if planned is None or self._becomes_guarded(writing, planned.text):
            if request.folder is not None:
                self._scope.check(f"{check_folder(self.files, request.folder)}/{base_of(record.path)}".lstrip("/"))
            return self.filing.file_edit(self.numbered(record), file, request), "", ""
        edits, move, text = self.planner.plan(record, file, request, planned.text, self.config.role)
        if not edits:
            raise PatchNoop("Nothing would change: the note already says that.")
        record = self.numbered(record)
        self.filing.check_edit(record, file.text, text, ())
        op = "renamed" if move is not None else "changed"
        title = request.change_title or _describe(record, request, move)
        path = move or record.path
        applied = self._apply(Change(op, path, title, edits, find_actor(self.config), record.note_id))
        if move is not None:
            self.numbering.record_move(record.path, move, revision_of(text.encode("utf-8")))
        outcome = "renamed" if move else "applied"
        answer = replace(
            self.answering.describe(outcome, path, applied, before=record, text=file.text),
            removed_headings=planned.removed_headings,
            relinked=tuple(edit.path for edit in edits if edit.path != record.path),
        )
        return answer, file.text, text

    # -- what becomes of a write

    def _decide(self, writing: Writing) -> Decided:
        return decide_write(writing, self.config.role, self.config.policy)

    def _build_writing(self, record: NoteRecord, request: EditRequest) -> Writing:
        retitled = request.title is not None and request.title != record.title
        layer = request.layer if request.layer and request.layer != record.layer else None
        whole = request.body is not None
        touched = Touched(bool(request.patch) or whole, whole, retitled, layer)
        own = record.pending and record.properties.get("added_by") == find_actor(self.config)
        return Writing("edit", record, touched, tags=request.tags or (), own_draft=own, hold=request.hold)

    def _becomes_guarded(self, writing: Writing, text: str) -> bool:
        """Return whether the text makes the note one of those that change only with the person's consent."""
        tags = _find_guarded(text)
        return bool(tags) and self._decide(replace(writing, tags=tags)) == "hold"

    def numbered(self, record: NoteRecord) -> NoteRecord:
        """Return the note with a number, which it gets now if it has none. Needs the vault lock."""
        self.numbering.number_all()
        found = self.snapshot().notes[record.path]
        if found.note_id is None:  # it has a number, which the catalogue was not told since the file came back
            self.numbering.load()
            found = self.snapshot().notes[record.path]
        return found

    # -- deleting

    def retire(self, request: RetireRequest) -> WriteAnswer:
        """Move a note to the trash."""
        check_comment(request.reason, needed=True, argument="reason")
        with self.hold():
            record, file, _ = self.reading.find_note(request.ref, writing=True)
            decided = self._decide(Writing("delete", record, hold=request.hold))
            record = self.numbered(record)
            if decided == "hold":
                held = self.filing.file_delete(record, file, request.reason)
                return self.answering.add_citing(held, "deleting", self.answering.find_sources(record.path))
            discards, discarded = self.filing.plan_discards(record)
            change = self._trash.plan_delete(
                file,
                record.title,
                record.note_id,
                when=render_moment(self._clock()),
                actor=find_actor(self.config),
                reason=request.reason.strip(),
            )
            sources = self.answering.find_sources(record.path)
            applied = self._apply(replace(change, edits=(*change.edits, *discards)))
            gone = self.filing.record_discards(discarded, change.actor, "the note was deleted")
        trash_path = next(f.path for f in applied.files if f.from_path == record.path)
        answer = self.answering.describe("deleted", record.path, applied, before=record, text=file.text)
        answer = replace(answer, title=record.title, note_id=record.note_id, trash_path=trash_path, discarded=gone)
        return self.answering.add_citing(answer, "deleted", sources)

    # -- several notes at once

    def write(self, plan: Callable[[], PlannedWrite | None]) -> Applied | None:
        """Make the change that `plan` returns, planned and written under the vault lock; None when it plans none.

        When somebody saves in between, it is planned anew. The plan checks what each note's layer forbids.
        """
        check_role(self.config.role)
        for attempt in range(1, RETRIES + 1):
            try:
                with self.hold():
                    self.numbering.number_all()
                    planned = plan()
                    if planned is None:
                        return None
                    applied = self._apply(planned.change, planned.details)
                    if planned.numbers:
                        self.numbering.show(planned.numbers)
                    return applied
            except StaleRevision:
                if attempt == RETRIES:
                    raise
        raise AssertionError("unreachable")

    # -- rules

    def approve_rule(self, ref: str) -> WriteAnswer:
        """Put a rule in force: `rule_status: canonical`. Only the person does, on the command line."""
        check_role(self.config.role, owner_only="Approving a rule")
        with self.hold():
            record, file, _ = self.reading.find_note(ref, writing=True)
            if record.layer != "rule":
                raise InvalidArgument(
                    "ref", f"{record.path} is no rule: its layer is {record.layer or 'not set'}."
                )
            if file.not_writable:
                raise NotWritable(f"{record.path}: {file.not_writable}", path=record.path)
            waiting = ("review",) if record.pending else ()
            text = plan_properties(file.text, {STATUS: CANONICAL}, waiting)
            if text == file.text:
                raise PatchNoop(f"{record.path} is in force already.")
            self.numbering.number_all()
            number = self.snapshot().notes[record.path].note_id
            edit = WriteFile(record.path, text.encode("utf-8"), file.revision)
            title = render_line(f"Approve rule {record.title}")[:MAX_CHANGE_TITLE]
            applied = self._apply(Change("approved", record.path, title, (edit,), find_actor(self.config), number))
        return self.answering.describe("applied", record.path, applied, before=record, text=file.text)

    # -- the program's own files

    def write_settings(self, text: str) -> list[str]:
        """Write `.memex/config.toml` unless there is one; return what was done."""
        check_role(self.config.role, owner_only="Changing settings")
        return ["settings: .memex/config.toml"] if write_settings(self.files, text) else []

    # -- common

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the vault lock; the vault is there, so that nothing is written into the hole it left."""
        with self.transactor.stores.lock.hold():
            self.files.check_root()
            yield

    def _apply(self, change: Change, details: Mapping[str, Any] | None = None) -> Applied:
        for edit in change.edits:
            for path in (edit.path, edit.to if isinstance(edit, MoveFile) else edit.path):
                if not path.startswith(RESERVED):
                    self._scope.check(path)
        internal = any(edit.path.startswith(RESERVED[0]) for edit in change.edits)
        told = {
            **(details or {}),
            **describe_role(self.config, change.actor),
            **describe_texts(self.files, change, self.snapshot()),
        }
        applied = self.transactor.apply(change, internal=internal, details=told)
        moves = [(f.from_path, f.path) for f in applied.files if f.from_path is not None]
        writes = [
            OwnWrite(f.path, f.data, f.signature)
            for f in applied.files
            if f.data is not None and f.signature is not None
        ]
        with suppress(IndexUnusable):  # the note is written; the index follows by a scan once it can be written
            self._indexer.index_writes(writes, moves=moves)
        return applied


def _find_guarded(text: str) -> tuple[str, ...]:
    """Return the tags of a text; none are looked for where no tag could make it a guarded note."""
    folded = text.casefold()
    return parse_note(text).tags if any(tag in folded for tag in GUARDED_TAGS) else ()


def _check_revision(file: FileText, wanted: str) -> None:
    if not wanted:
        return
    given = wanted.strip().lower()
    if len(given) < MIN_REVISION:
        raise InvalidArgument(
            "if_revision", f"if_revision needs at least {MIN_REVISION} characters of the revision."
        )
    if not file.revision.startswith(given):
        raise StaleRevision(
            f"{file.path} changed since you read it. Read it again; its revision is now {file.revision[:12]}.",
            revision=file.revision,
        )


def _describe(record: NoteRecord, request: EditRequest, move: str | None) -> str:
    """Return one line for journal and commit."""
    if move is not None:
        return render_line(f"Move {record.path} to {move}")[:MAX_CHANGE_TITLE]
    parts = []
    if request.body is not None:
        parts.append("rewrite")
    if request.patch:
        parts.append(f"{len(request.patch)} edit{'s' if len(request.patch) > 1 else ''}")
    named = [*request.properties]
    named += [n for n in ("tags", "summary", "layer") if getattr(request, n) not in (None, "")]
    if named:
        parts.append("set " + ", ".join(named))
    return render_line(f"Change {record.title}: {'; '.join(parts) or 'title'}")[:MAX_CHANGE_TITLE]
