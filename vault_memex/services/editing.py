"""The one door for writes: policy, plan, apply, index. Every tool, command and review comes through here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

from vault_memex.config import Config
from vault_memex.core.changes import Change, FileEdit, MoveFile, WriteFile
from vault_memex.core.note import Layer
from vault_memex.core.property_edit import plan_properties, render_note
from vault_memex.core.revision import revision_of
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import base_of, folder_of, name_key, render_line, stem_of
from vault_memex.errors import (
    AlreadyExists,
    IndexUnusable,
    InvalidArgument,
    NotWritable,
    PatchNoop,
    StaleRevision,
)
from vault_memex.index.indexer import Indexer, OwnWrite
from vault_memex.memory.house_rules import CANONICAL, PROVISIONAL, STATUS
from vault_memex.memory.policy import Touched, check_delete, check_edit, check_role
from vault_memex.memory.scope import Scope
from vault_memex.services.actor import find_actor
from vault_memex.services.answering import Answering
from vault_memex.services.duplicates import Duplicates
from vault_memex.services.edit_plan import (
    MAX_CHANGE_TITLE,
    build_properties,
    check_edit_request,
    check_save_request,
    plan_text,
    render_body,
    tidy_title,
)
from vault_memex.services.numbering import Numbering
from vault_memex.services.reading import Reading
from vault_memex.services.relinking import Relinker
from vault_memex.services.requests import EditRequest, PlannedWrite, RetireRequest, SaveRequest, WriteAnswer
from vault_memex.services.save_plan import check_folder, find_free_path, render_link
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.journal import render_moment
from vault_memex.store.layout import TRASH_FOLDER, write_settings
from vault_memex.store.names import file_name_for_title
from vault_memex.store.transaction import Applied, Transactor
from vault_memex.store.trash import Trash

RETRIES = 3  # a save by somebody else between our reading and our writing starts the plan anew
RESERVED = ("_memex/", ".memex/")  # the program's own, of which no argument names a path
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
        snapshot: Callable[[], Snapshot],
        clock: Callable[[], datetime],
        scope: Scope,
    ) -> None:
        self._scope = scope
        self._config = config
        self._files = files
        self._transactor = transactor
        self._indexer = indexer
        self._catalogue = catalogue
        self._reading = reading
        self._numbering = numbering
        self._trash = trash
        self._snapshot = snapshot
        self._clock = clock
        self._relinker = relinker
        self._duplicates = duplicates
        self._answering = answering

    # -- a new note

    def save(self, request: SaveRequest) -> WriteAnswer:
        """Write a new note. Raises DuplicateSuspected when a note says the same already."""
        check_role(self._config.role)
        check_save_request(request)
        request = replace(request, title=tidy_title(request.title))
        folder = check_folder(self._files, request.folder or self._config.new_note_folder)
        amended = self._reading.find_note(request.amends, writing=True)[0] if request.amends else None
        draft_path = find_free_path(self._files, self._snapshot(), folder, request.title, allow_namesake=True)
        comparison = self._duplicates.compare(request, draft_path, amended.path if amended else None)
        with self.hold():
            self._numbering.number_all()
            path = find_free_path(
                self._files, self._snapshot(), folder, request.title, allow_namesake=request.allow_duplicate
            )
            number = self._numbering.next_number()
            properties = build_properties(
                replace(request, amends=render_link(self._snapshot(), amended) if amended else ""),
                note_id=number if self._config.write_ids != "never" else None,
                now=self._clock().strftime("%Y-%m-%dT%H:%M:%S"),
                name_differs=stem_of(path) != request.title,
            )
            properties |= self._attribution(request.layer)
            data = render_note(properties, render_body(request.body)).encode("utf-8")
            self._numbering.take(path, revision_of(data))  # next_number's: nobody else numbers under the lock
            change = Change(
                op="created",
                path=path,
                title=request.change_title or f"Add {request.title}"[:MAX_CHANGE_TITLE],
                edits=(WriteFile(path, data, None),),
                actor=find_actor(self._config),
                note_id=number,
            )
            applied = self._apply(change)
            self._numbering.show({path: number})
        answer = self._answering.describe("created", path, applied)
        return self._answering.advise_on_save(answer, request.title, data.decode("utf-8"), comparison)

    def _attribution(self, layer: str) -> dict[str, str]:
        if self._config.role == "owner":
            return {}
        by = {"added_by": find_actor(self._config)}
        # Nobody but the person makes rules: what an assistant proposes is not followed until it is approved.
        return {**by, STATUS: PROVISIONAL} if layer == "rule" else by

    # -- a change to a note

    def edit(self, request: EditRequest) -> WriteAnswer:
        """Change a note. When somebody saves in between, the plan is made anew, unless a revision was named."""
        check_edit_request(request)
        if request.title is not None:
            request = replace(request, title=tidy_title(request.title))
        for attempt in range(1, RETRIES + 1):
            try:
                with self.hold():
                    answer, before, after = self._edit_once(request)
                return self._answering.advise_on_edit(answer, before, after)
            except StaleRevision:
                if request.if_revision or attempt == RETRIES:
                    raise
        raise AssertionError("unreachable")

    def _edit_once(self, request: EditRequest) -> tuple[WriteAnswer, str, str]:
        """Return the answer, and the note's text before and after."""
        record, file, _ = self._reading.find_note(request.ref, writing=True)
        retitled = request.title is not None and request.title != record.title
        layer = request.layer if request.layer and request.layer != record.layer else None
        touched = Touched(bool(request.patch) or request.body is not None, retitled, layer)
        check_edit(record, touched, self._config.role)
        if file.not_writable:
            raise NotWritable(f"{record.path}: {file.not_writable}", path=record.path)
        _check_revision(file, request.if_revision)
        planned = plan_text(file.text, request)
        move = self._plan_move(record, request, retitled=retitled)
        if move is not None and (request.layer or record.properties.get("layer")) not in get_args(Layer):
            self._check_layer_after(record, move)
        text = self._with_names(planned.text, record, request, move) if retitled else planned.text
        relinked: tuple[WriteFile, ...] = ()
        if move is not None and request.relink:
            text, relinked = self._relinker.plan_move(record.path, move, text)
        edits: list[FileEdit] = []
        data = text.encode("utf-8")
        if data != file.data:
            edits.append(WriteFile(record.path, data, file.revision))
        if move is not None:
            edits.append(MoveFile(record.path, move, revision_of(data)))
        edits += relinked
        if not edits:
            raise PatchNoop("Nothing would change: the note already says that.")
        op = "renamed" if move is not None else "changed"
        title = request.change_title or _describe(record, request, move)
        path = move or record.path
        self._numbering.number_all()
        number = self._snapshot().notes[record.path].note_id
        applied = self._apply(Change(op, path, title, tuple(edits), find_actor(self._config), number))
        if move is not None:
            self._numbering.record_move(record.path, move, revision_of(data))
        outcome = "renamed" if move else "applied"
        answer = replace(
            self._answering.describe(outcome, path, applied, before=record, text=file.text),
            removed_headings=planned.removed_headings,
            relinked=tuple(edit.path for edit in relinked),
        )
        return answer, file.text, text

    def _check_layer_after(self, record: NoteRecord, move: str) -> None:
        """Refuse a move by which the folders' mapping would change the layer where that may not be."""
        layer = self._config.layer_for(move)
        if layer != record.layer:
            check_edit(record, Touched(layer=layer or ""), self._config.role)

    def _plan_move(self, record: NoteRecord, request: EditRequest, *, retitled: bool) -> str | None:
        """Return the note's new path, or None when it stays."""
        folder = record.folder if request.folder is None else check_folder(self._files, request.folder)
        name = base_of(record.path)
        followed = name_key(stem_of(name)) == name_key(stem_of(file_name_for_title(record.title)))
        if retitled and request.title is not None and followed:
            name = file_name_for_title(request.title)
        path = f"{folder}/{name}" if folder else name
        if path == record.path:
            return None
        place = self._files.find_place(path, "note")
        # Names that differ only in case or Unicode form are one note, unless the name belongs to a link to it.
        same = name_key(place.path) == name_key(record.path)
        if place.exists and not (same and name_key(name) == name_key(base_of(record.path))):
            what = "is a link to the note itself" if same else "is there already"
            raise AlreadyExists(f"{path} {what}. Choose another title or folder.", path=place.path)
        path = f"{folder_of(place.path)}/{name}" if folder_of(place.path) else name
        return None if path == record.path else path

    def _with_names(self, text: str, record: NoteRecord, request: EditRequest, move: str | None) -> str:
        """Return the text with title, alias and former title in its properties as the new title needs them."""
        title = request.title
        assert title is not None
        values = {"title": title} if "title" in record.properties else {}
        items: dict[str, list[str]] = {}
        if name_key(title) != name_key(record.title):
            items["former_titles"] = [record.title]
        if not values and stem_of(move or record.path) != title:
            items["aliases"] = [title]
        return plan_properties(text, values, (), items)

    # -- deleting

    def retire(self, request: RetireRequest) -> WriteAnswer:
        """Move a note to the trash."""
        with self.hold():
            record, file, _ = self._reading.find_note(request.ref, writing=True)
            check_delete(record, self._config.role)
            self._numbering.number_all()
            number = self._snapshot().notes[record.path].note_id
            change = self._trash.plan_delete(
                file,
                record.title,
                number,
                when=render_moment(self._clock()),
                actor=find_actor(self._config),
                reason=request.reason.strip(),
            )
            sources = self._answering.find_sources(record.path)
            applied = self._apply(change)
        trash_path = next(f.path for f in applied.files if f.from_path == record.path)
        answer = self._answering.describe("deleted", record.path, applied, before=record, text=file.text)
        answer = replace(answer, title=record.title, note_id=number, trash_path=trash_path)
        return self._answering.add_citing(answer, "deleted", sources)

    # -- several notes at once

    def write(self, plan: Callable[[], PlannedWrite | None]) -> Applied | None:
        """Make the change that `plan` returns, planned and written under the vault lock; None when it plans none.

        When somebody saves in between, it is planned anew. The plan checks what each note's layer forbids.
        """
        check_role(self._config.role)
        for attempt in range(1, RETRIES + 1):
            try:
                with self.hold():
                    self._numbering.number_all()
                    planned = plan()
                    if planned is None:
                        return None
                    applied = self._apply(planned.change, planned.details)
                    if planned.numbers:
                        self._numbering.show(planned.numbers)
                    return applied
            except StaleRevision:
                if attempt == RETRIES:
                    raise
        raise AssertionError("unreachable")

    # -- rules

    def approve_rule(self, ref: str) -> WriteAnswer:
        """Put a rule in force: `rule_status: canonical`. Only the person does, on the command line."""
        check_role(self._config.role, owner_only="Approving a rule")
        with self.hold():
            record, file, _ = self._reading.find_note(ref, writing=True)
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
            self._numbering.number_all()
            number = self._snapshot().notes[record.path].note_id
            edit = WriteFile(record.path, text.encode("utf-8"), file.revision)
            title = render_line(f"Approve rule {record.title}")[:MAX_CHANGE_TITLE]
            applied = self._apply(
                Change("approved", record.path, title, (edit,), find_actor(self._config), number)
            )
        return self._answering.describe("applied", record.path, applied, before=record, text=file.text)

    # -- the program's own files

    def write_settings(self, text: str) -> list[str]:
        """Write `.memex/config.toml` unless there is one; return what was done."""
        check_role(self._config.role, owner_only="Changing settings")
        return ["settings: .memex/config.toml"] if write_settings(self._files, text) else []

    # -- common

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the vault lock; the vault is there, so that nothing is written into the hole it left."""
        with self._transactor.stores.lock.hold():
            self._files.check_root()
            yield

    def _apply(self, change: Change, details: Mapping[str, Any] | None = None) -> Applied:
        for edit in change.edits:
            for path in (edit.path, edit.to if isinstance(edit, MoveFile) else edit.path):
                if not path.startswith(RESERVED):
                    self._scope.check(path)
        internal = any(edit.path.startswith(f"{TRASH_FOLDER}/") for edit in change.edits)
        applied = self._transactor.apply(change, internal=internal, details=details)
        moves = [(f.from_path, f.path) for f in applied.files if f.from_path is not None]
        writes = [
            OwnWrite(f.path, f.data, f.signature)
            for f in applied.files
            if f.data is not None and f.signature is not None
        ]
        with suppress(IndexUnusable):  # the note is written; the index follows by a scan once it can be written
            self._indexer.index_writes(writes, moves=moves)
        return applied


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
