"""Inferences: minted with the person's word, kept as files, judged anew whenever they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vault_memex.config import Config
from vault_memex.core.changes import Change, WriteFile
from vault_memex.core.markdown import parse_note
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import base_of
from vault_memex.errors import (
    AmbiguousTitle,
    FrontmatterInvalid,
    InvalidArgument,
    MemexError,
    NotFound,
    PathOutsideVault,
    ReservedFolder,
    UnknownNotes,
)
from vault_memex.memory.inference_file import parse_inference, plan_status, render_inference
from vault_memex.memory.inferences import (
    INFERENCES_FOLDER,
    Draft,
    Evidence,
    EvidenceCheck,
    Inference,
    build_evidence,
    build_inference,
    check_draft,
    check_evidence,
    find_inferences,
    find_status,
    find_superseded,
)
from vault_memex.memory.policy import check_role
from vault_memex.memory.triage import mark_minted
from vault_memex.services.numbering import Numbering
from vault_memex.services.reading import Reading
from vault_memex.services.sight import Sight
from vault_memex.services.signals import Signals
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.journal import render_moment
from vault_memex.store.transaction import Transactor

MOST_EVIDENCE = 50
_LEADING_NUMBER = re.compile(r"[0-9]{1,9}(?=-)", re.ASCII)


@dataclass(frozen=True, slots=True)
class MintRequest:
    """A hypothesis that the person agreed to."""

    draft: Draft
    evidence: Sequence[tuple[str, str]] = ()  # (ref, role)
    from_signal: int | None = None


@dataclass(frozen=True, slots=True)
class InferenceNow:
    """An inference with what became of its sources."""

    inference: Inference  # its status is the one of now
    checks: tuple[EvidenceCheck, ...]


@dataclass(frozen=True, slots=True)
class InferencesFound:
    """All inferences, and what in the folder could not be read."""

    inferences: tuple[InferenceNow, ...]
    notes: tuple[str, ...] = ()


class Inferences:
    """The inferences of one vault."""

    def __init__(
        self,
        *,
        config: Config,
        files: VaultFiles,
        transactor: Transactor,
        numbering: Numbering,
        reading: Reading,
        signals: Signals,
        sight: Sight,
        snapshot: Callable[[], Snapshot],
        clock: Callable[[], datetime],
        actor: Callable[[], str],
    ) -> None:
        self._config = config
        self._files = files
        self._transactor = transactor
        self._numbering = numbering
        self._reading = reading
        self._signals = signals
        self._sight = sight
        self._snapshot = snapshot
        self._clock = clock
        self._actor = actor

    # -- reading

    def find(self, status: str | None = None) -> InferencesFound:
        """Return the inferences of a status (None: all), newest first, each judged by its sources as they are now.

        A status that changed is written back, unless this connection may only read.
        """
        find_inferences((), status)  # a status that is none is refused before anything is read
        files, notes = self._read()
        judged = [(self._judge(inference), file) for inference, file in files]
        turned = [(now, file) for now, file in judged if now.inference.status != parse_inference(file.text).status]
        if turned and self._config.role != "reader":
            try:
                self._write_back(turned)
            except MemexError as error:  # the answer is right all the same
                notes = (*notes, f"Not written back: {error.message}")
        by_number = {now.inference.number: now for now, _ in judged if self._sight.shows_inference(now.inference)}
        notes = notes if self._sight.is_whole else ()  # they name what cannot be read
        chosen = find_inferences((now.inference for now in by_number.values()), status)
        return InferencesFound(tuple(by_number[i.number] for i in chosen), notes)

    def get(self, number: int) -> InferenceNow:
        """Return one inference; raises NotFound."""
        for now in self.find().inferences:
            if now.inference.number == number:
                return now
        raise NotFound(
            f"There is no inference {number}. List them with `insights`, kind: inferences.", inference=number
        )

    def count_stale(self) -> int:
        """Return how many were stale when last looked at; looks at no source."""
        try:
            files, _ = self._read()
        except MemexError:
            return 0
        return sum(one.status == "stale" and self._sight.shows_inference(one) for one, _ in files)

    def _read(self) -> tuple[list[tuple[Inference, FileText]], tuple[str, ...]]:
        found: dict[int, tuple[Inference, FileText]] = {}
        notes: list[str] = []
        for path in self._files.find_internal(INFERENCES_FOLDER):
            try:
                file = self._files.read(path, "internal")
                inference = parse_inference(file.text)
            except (FrontmatterInvalid, NotFound) as error:
                notes.append(f"{path}: {error.message}")
                continue
            if inference.number in found:
                notes.append(f"{path}: inference {inference.number} is there twice; the first file counts.")
            else:
                found[inference.number] = (inference, file)
        return list(found.values()), tuple(notes)

    def _judge(self, inference: Inference) -> InferenceNow:
        checks = check_evidence(inference, self._find_body)
        return InferenceNow(replace(inference, status=find_status(inference, checks)), checks)

    def _find_body(self, evidence: Evidence) -> str | None:
        """Return the text of the note that the evidence names: by its number, which follows a move, else its path."""
        snapshot = self._snapshot()
        note = snapshot.by_id.get(evidence.note_id) if evidence.note_id is not None else None
        try:
            return parse_note(self._files.read(note.path if note else evidence.path).text).body
        except (NotFound, PathOutsideVault, ReservedFolder, InvalidArgument):
            return None  # gone, or a path that somebody wrote and no note can have

    def _write_back(self, turned: Sequence[tuple[InferenceNow, FileText]]) -> None:
        now = self._now()
        edits = [self._plan_status(found.inference, file, now) for found, file in turned]
        named = ", ".join(f"{found.inference.number} {found.inference.status}" for found, _ in turned)
        change = Change("inferences", edits[0].path, f"Inferences: {named}"[:120], tuple(edits), self._actor())
        self._transactor.apply(change, internal=True)

    @staticmethod
    def _plan_status(
        inference: Inference, file: FileText, now: str, superseded_by: int | None = None
    ) -> WriteFile:
        text = plan_status(file.text, inference.status, now, superseded_by)
        return WriteFile(file.path, text.encode("utf-8"), file.revision)

    # -- writing

    def mint(self, request: MintRequest) -> InferenceNow:
        """Write an inference; its signal becomes minted, and an older inference of that signal is archived.

        Raises ConfirmationRequired, UnknownNotes, InvalidArgument, NotFound; then nothing was written.
        """
        check_role(self._config.role)
        check_draft(request.draft)
        with self._transactor.stores.lock.hold():
            self._numbering.number_all()
            table_edit: list[WriteFile] = []
            sources = self._find_sources(request)
            reading, table_file = self._signals.read()
            if request.from_signal is not None:
                self._signals.get_shown(request.from_signal)
                table = mark_minted(reading.table, request.from_signal)
                if table != reading.table:
                    table_edit.append(self._signals.plan_table(table, table_file))
            files, _ = self._read()
            number, now = self._find_number(files), self._now()
            inference = build_inference(
                request.draft, number, sources, now, from_signal=request.from_signal, minted_by=self._actor()
            )
            older = find_superseded((one for one, _ in files), request.from_signal)
            archived = [
                self._plan_status(replace(one, status="archived"), file, now, number)
                for one, file in files
                if one in older
            ]
            data = render_inference(inference).encode("utf-8")
            edits = (WriteFile(inference.path, data, None), *archived, *table_edit)
            title = f"Mint inference {number}: {inference.title}"[:120]
            change = Change("minted", inference.path, title, edits, self._actor())
            applied = self._transactor.apply(change, internal=True, details={"inference": number})
            for edit in table_edit:
                written = next(f for f in applied.files if f.path == edit.path)
                self._signals.follow(table_file, written.after or "")
        return self._judge(inference)

    def archive(self, number: int) -> InferenceNow:
        """Put an inference away for good; one that is archived already stays as it is."""
        check_role(self._config.role)
        with self._transactor.stores.lock.hold():
            files, _ = self._read()
            for inference, file in files:
                if inference.number == number and self._sight.shows_inference(inference):
                    put_away = replace(inference, status="archived")
                    if put_away != inference:
                        edit = self._plan_status(put_away, file, self._now())
                        title = f"Archive inference {number}: {inference.title}"[:120]
                        change = Change("archived", file.path, title, (edit,), self._actor())
                        self._transactor.apply(change, internal=True)
                    return self._judge(put_away)
        raise NotFound(
            f"There is no inference {number}. List them with `insights`, kind: inferences.", inference=number
        )

    def _find_sources(self, request: MintRequest) -> list[Evidence]:
        """Return the evidence: the notes named, then those of the signal. Raises UnknownNotes when one is missing."""
        if len(request.evidence) > MOST_EVIDENCE:
            raise InvalidArgument("evidence", f"{len(request.evidence)} notes; at most {MOST_EVIDENCE}.")
        found: list[Evidence] = []
        unknown: list[str] = []
        for ref, role in request.evidence:
            try:
                record, file, _ = self._reading.find_note(ref, writing=True)
            except (NotFound, AmbiguousTitle):
                unknown.append(ref)
                continue
            found.append(build_evidence(record, parse_note(file.text).body, role))
        if unknown:
            raise UnknownNotes(
                f"These name no note, or several: {', '.join(unknown)}. Nothing was written. Use paths or numbers "
                "from `search`.",
                unknown=unknown,
            )
        return [*found, *(self._build_of_signal(request.from_signal))]

    def _build_of_signal(self, number: int | None) -> list[Evidence]:
        if number is None:
            return []
        snapshot = self._snapshot()
        found: list[Evidence] = []
        for ref in self._signals.read()[0].table.get_row(number).notes:
            note = snapshot.by_id.get(ref.note_id) if ref.note_id is not None else None
            record: NoteRecord | None = note or snapshot.notes.get(ref.path)
            if record is not None and not record.pending:
                found.append(build_evidence(record, parse_note(self._files.read(record.path).text).body))
        return found

    def _find_number(self, files: Sequence[tuple[Inference, FileText]]) -> int:
        """Return the next number, also after the file of the last one was deleted: the journal remembers it."""
        used = [inference.number for inference, _ in files]
        names = (base_of(path) for path in self._files.find_internal(INFERENCES_FOLDER))
        used += [int(found.group()) for name in names if (found := _LEADING_NUMBER.match(name))]
        used += [
            number
            for event in self._transactor.stores.journal.read()
            if isinstance(number := event.details.get("inference"), int)
        ]
        return max(used, default=0) + 1

    def _now(self) -> str:
        return render_moment(self._clock())
