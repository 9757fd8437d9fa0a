"""The knowledge graph of a vault: read from the catalogue, written into notes through the one door."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from vault_memex.config import Config
from vault_memex.core.changes import Change, FileEdit, WriteFile
from vault_memex.core.property_edit import render_note
from vault_memex.core.revision import revision_of
from vault_memex.core.snapshot import Snapshot
from vault_memex.core.text import render_line, stem_of
from vault_memex.errors import IndexUnusable, MemexError
from vault_memex.memory.journal_kinds import IMPORTED
from vault_memex.memory.knowledge import ENTITY_TYPE, LOOSE, LOOSE_VALUE
from vault_memex.memory.knowledge_edit import has_prose, plan_no_entity, render_body
from vault_memex.memory.knowledge_graph import Graph, without_ended
from vault_memex.memory.policy import check_at_once
from vault_memex.memory.scope import Scope
from vault_memex.services.actor import find_actor
from vault_memex.services.behind import Behind
from vault_memex.services.edit_plan import MAX_CHANGE_TITLE
from vault_memex.services.editing import Editing
from vault_memex.services.knowledge_draft import Draft, NewNote
from vault_memex.services.knowledge_mirror import Mirror, find_missing
from vault_memex.services.knowledge_order import DETAIL, KIND, RelationOrder
from vault_memex.services.knowledge_plan import Planner
from vault_memex.services.knowledge_requests import GraphEdit, GraphEdited, check_edit_texts
from vault_memex.services.knowledge_view import KnowledgeView
from vault_memex.services.numbering import Numbering
from vault_memex.services.requests import PlannedWrite
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.journal import render_moment
from vault_memex.store.memory_file import find_memory_file
from vault_memex.store.transaction import Applied, Transactor
from vault_memex.store.trash import Trash

log = logging.getLogger(__name__)

REASON = "Deleted from the knowledge graph"
LOOSE_TEXT = "Relations of names that are no entities yet."


def open_knowledge(
    *,
    config: Config,
    files: VaultFiles,
    catalogue: Catalogue,
    transactor: Transactor,
    editing: Editing,
    numbering: Numbering,
    snapshot: Callable[[], Snapshot],
    clock: Callable[[], datetime],
    indexing: Callable[[], str | None],
    scope: Scope,
) -> Knowledge:
    """Return the graph of a vault, with the file that mirrors it where MEMORY_FILE_PATH names one.

    The file mirrors all of it, so a connection with a scope has nothing to do with it.
    """
    return Knowledge(
        config=config,
        files=files,
        view=KnowledgeView(catalogue, snapshot, RelationOrder(transactor.stores.journal)),
        editing=editing,
        numbering=numbering,
        trash=Trash(files),
        clock=clock,
        indexing=indexing,
        mirror=Mirror(find_memory_file(files.root) if scope.is_whole else None, catalogue),
    )


class Knowledge:
    """Reads and writes of the graph of one vault."""

    def __init__(
        self,
        *,
        config: Config,
        files: VaultFiles,
        view: KnowledgeView,
        editing: Editing,
        numbering: Numbering,
        trash: Trash,
        clock: Callable[[], datetime],
        indexing: Callable[[], str | None],
        mirror: Mirror,
    ) -> None:
        self._config = config
        self._files = files
        self._editing = editing
        self._numbering = numbering
        self._trash = trash
        self._clock = clock
        self._indexing = indexing
        self._mirror = mirror
        self._taking = threading.RLock()
        self._closing = threading.Event()
        self._behind = Behind(self._write_mirror, "memory-file")
        self._mirror_fault: tuple[str, ...] = ()
        self._present: tuple[Graph, str, Graph] | None = None  # of this graph, on this day
        self.view = view

    def start(self, delay: float = 0.0, *, wanted: bool = False) -> None:
        """Take in the file that mirrors the graph, and load the graph where it is `wanted`.

        Both happen beside the first answers, after `delay` seconds: 10,000 entities take half a second. A call that
        comes before does it itself.
        """
        if wanted or self._mirror.file is not None:
            threading.Thread(target=self._start, args=(delay,), name="knowledge-graph", daemon=True).start()

    def flush(self) -> None:
        """Return once the file that mirrors the graph has all that was written."""
        self._behind.flush()

    def close(self) -> None:
        """End what goes on beside the answers; the file that mirrors the graph is written."""
        self._closing.set()
        self._behind.close()

    def _start(self, delay: float) -> None:
        if self._closing.wait(delay):
            return
        try:
            self.read_present()
            self._mirror_behind()  # what a crash kept from it, and what was edited by hand
        except (MemexError, sqlite3.ProgrammingError) as error:  # the last: closed meanwhile
            log.warning("the knowledge graph is not loaded yet: %s", error)

    def read(self) -> Graph:
        """Return the whole graph, what ended included. Raises IndexUnusable while not all notes have been read."""
        self._check_whole()
        self._take_in()
        return self.view.read()

    def read_present(self) -> Graph:
        """Return the graph without what has ended."""
        whole, today = self.read(), self.today()
        known = self._present
        if known is None or known[0] is not whole or known[1] != today:
            known = self._present = (whole, today, without_ended(whole, today))
        return known[2]

    def take_in(self) -> tuple[str, ...]:
        """Add what the vault lacks of the file that mirrors it; return what could not be read there."""
        self._check_whole()
        return self._take_in()

    def add_missing(self, wanted: Graph) -> int:
        """Add what the vault lacks of a graph; return how many writes it took."""
        self._check_whole()
        parts = list(find_missing(self.view.read(), wanted))
        for part in parts:
            self._edit(part)
        self._mirror_behind()
        return len(parts)

    def _take_in(self) -> tuple[str, ...]:
        if self._mirror.file is None or self._config.role == "reader":
            return ()
        with self._taking:
            return self._mirror.take_in(self.view.read, self._edit)

    def _mirror_behind(self) -> tuple[str, ...]:
        """Have the mirror written; return what to say of it. The notes are written, so a fault is only told."""
        if self._mirror.file is None or self._config.role == "reader":
            return ()
        self._behind.ask()
        return self._mirror_fault

    def _write_mirror(self) -> None:
        fault = ""
        try:
            with self._editing.hold():
                self._mirror.take_in(self.view.read, self._edit)
                graph = without_ended(self.view.read(), self.today())
                self._mirror.write(graph, lambda name: self.view.find_plain(name) is not None)
        except MemexError as error:
            fault = error.message
        except (OSError, sqlite3.Error) as error:
            fault = str(error)
        if fault:
            log.warning("%s is not up to date: %s", self._mirror.file, fault)
        self._mirror_fault = (f"The notes are written, {self._mirror.file} is not: {fault}",) if fault else ()

    def _check_whole(self) -> None:
        """Refuse to speak of the graph before all of it is known: what is missing would seem never to have been."""
        remark = self._indexing()
        if remark is not None:
            raise IndexUnusable(f"The graph is not whole yet. {remark} Try again in a moment.")

    def today(self) -> str:
        """Return the day by which it is told what has ended."""
        return self._clock().strftime("%Y-%m-%d")

    def edit(self, edit: GraphEdit) -> GraphEdited:
        """Make all of the changes in one write, or none. What is there already, or not there, is no error."""
        check_edit_texts(edit)
        self._check_whole()
        self._take_in()
        done = self._edit(edit)
        return replace(done, notes=(*done.notes, *self._mirror_behind()))

    def _edit(self, edit: GraphEdit) -> GraphEdited:
        check_at_once("create", None, self._config.role, self._config.policy)
        done = GraphEdited()

        def plan() -> PlannedWrite | None:
            nonlocal done
            self.view.follow()
            planner = Planner(self.view, Draft(self._files, self.view, self._config.role), edit, self._config.role)
            planned, done = self._plan(planner)
            if planned is None or not edit.imported:
                return planned
            return replace(planned, details={**planned.details, IMPORTED: True})

        applied = self._editing.write(plan)
        return done if applied is None else _with_commit(done, applied)

    def _plan(self, planner: Planner) -> tuple[PlannedWrite | None, GraphEdited]:
        done = planner.plan()
        draft = planner.draft
        buried: list[tuple[FileText, str, int | None]] = []
        kept: list[str] = []
        for path in planner.dropped:
            record = self.view.get_record(path)
            note = draft.notes.pop(path, None)
            file = note.file if note is not None else self._files.read(path)
            text = note.text if note is not None else file.text
            if has_prose(text, record.title):
                kept.append(path)
                bare = draft.open(path)
                bare.text = plan_no_entity(text)
            else:
                buried.append((file, record.title, record.note_id))
        done = replace(done, trashed=tuple(file.path for file, _, _ in buried), kept_notes=tuple(kept))
        edits: list[FileEdit] = [
            WriteFile(path, note.text.encode("utf-8"), note.file.revision)
            for path, note in draft.notes.items()
            if note.text != note.file.text
        ]
        numbers, new = self._render_new(planner)
        edits += new
        when, actor = render_moment(self._clock()), find_actor(self._config)
        edits += self._trash.plan_delete_all(buried, when=when, actor=actor, reason=REASON)
        if not edits:
            return None, done
        main = edits[0].path
        number = numbers.get(main)
        if main not in numbers:
            number = self.view.get_record(main).note_id
        change = Change(
            _find_op(done), main, _describe(done), tuple(edits), actor, number, REASON if buried else ""
        )
        return PlannedWrite(change, _find_details(done), numbers), done

    def _render_new(self, planner: Planner) -> tuple[dict[str, int], list[FileEdit]]:
        """Return the numbers and the edits of new notes; their numbers are taken here, as the lock is held."""
        texts: list[tuple[str, Mapping[str, Any], str]] = [
            (new.path, self._build_properties(new), render_body(new.values))
            for new in planner.draft.created.values()
        ]
        if planner.loose:
            texts.append(
                (planner.loose_path, {LOOSE: LOOSE_VALUE}, f"{LOOSE_TEXT}\n\n{render_body(planner.loose)}")
            )
        if not texts:
            return {}, []
        first = self._numbering.next_number()
        numbers = {path: number for number, (path, _, _) in enumerate(texts, first)}
        edits: list[FileEdit] = []
        for path, properties, body in texts:
            own = {} if self._config.write_ids == "never" else {"id": numbers[path]}
            edits.append(WriteFile(path, render_note({**own, **properties}, body).encode("utf-8"), None))
        self._numbering.take_all([(e.path, revision_of(e.data)) for e in edits if isinstance(e, WriteFile)])
        return numbers, edits

    def _build_properties(self, new: NewNote) -> dict[str, Any]:
        entity = new.entity
        properties: dict[str, Any] = {} if stem_of(new.path) == entity.name else {"title": entity.name}
        properties |= {ENTITY_TYPE: entity.type, "layer": "state"}
        properties["created"] = self._clock().strftime("%Y-%m-%dT%H:%M:%S")
        if self._config.role != "owner":
            properties["added_by"] = find_actor(self._config)
        return properties


def _find_op(done: GraphEdited) -> str:
    if done.related:
        return KIND
    if done.created:
        return "created"
    return "deleted" if done.trashed else "changed"


def _find_details(done: GraphEdited) -> Mapping[str, Any]:
    """Return what the journal keeps beside the files: the order in which relations were made."""
    if not done.related:
        return {}
    return {DETAIL: [[r.triple.source, r.triple.type, r.triple.target] for r in done.related]}


def _describe(done: GraphEdited) -> str:
    parts = [
        _count("Add", [entity.name for entity in done.created]),
        _count("observe", [one.name for one in done.added if one.observations]),
        _count("relate", [r.triple.source for r in done.related]),
        _count("drop observations of", [name for name, texts in done.deleted_observations if texts]),
        _count("drop relations of", [triple.source for triple in done.deleted_relations]),
        _count("delete", list(done.deleted_entities)),
    ]
    text = "; ".join(filter(None, parts)) or "Change the knowledge graph"
    return render_line(f"{text[:1].upper()}{text[1:]}")[:MAX_CHANGE_TITLE]


def _count(verb: str, names: list[str]) -> str:
    shown = list(dict.fromkeys(names))
    if not shown:
        return ""
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    return f"{verb} {', '.join(shown[:3])}{more}"


def _with_commit(done: GraphEdited, applied: Applied) -> GraphEdited:
    notes = tuple(f"Another program saved {path} meanwhile; both versions are kept." for path in applied.conflicts)
    return replace(done, commit=applied.commit, commit_error=applied.commit_error, notes=notes)
