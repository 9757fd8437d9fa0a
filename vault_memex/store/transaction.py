"""The one place where a `Change` reaches the disk: all of it or nothing, journalled, committed.

Order of a write, each step durable before the next: intent with the old bytes, files, journal line, intent away. Of
a change to one file neighbouring steps are flushed together (docs/writing.md). The commit follows from a queue. A crash
is settled at the next start or write by looking at the files alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import socket
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from vault_memex.core.changes import Change, Signature
from vault_memex.errors import VaultError
from vault_memex.store.atomic import Checkpoint, no_checkpoint
from vault_memex.store.beside import Beside
from vault_memex.store.change_event import build_commit_file, build_event, build_request
from vault_memex.store.commits import Book, CommitQueue, QueuedCommit
from vault_memex.store.disk import os_error_as_memex, read_or_none, remove_quietly
from vault_memex.store.displaced import Sweeper, remove_orphans
from vault_memex.store.files import VaultFiles
from vault_memex.store.git import CommitFile
from vault_memex.store.ids import Ids
from vault_memex.store.intents import Intent, PendingFolder, PendingIntent
from vault_memex.store.journal import Journal, JournalEvent, render_moment
from vault_memex.store.layout import TRASH_FOLDER, init_layout, init_trash
from vault_memex.store.locks import VaultLock
from vault_memex.store.recovery import check_all_done, check_undone, reverse_steps, settle_temps
from vault_memex.store.staging import stage_swaps, sync_folders
from vault_memex.store.steps import FileResult, Step, apply_step, build_results, missing_folders, prepare_steps
from vault_memex.store.undo import UndoStore
from vault_memex.store.versions import Versions

_WHOLE = 1 << 40  # bytes: more than any of our books

CommitState = Literal["off", "queued", "done", "failed"]


@dataclass(frozen=True, slots=True)
class AppliedFile:
    """A file as the change left it. `data` is None when it was removed, `signature` also when it is gone since."""

    path: str
    from_path: str | None
    before: str | None
    after: str | None
    data: bytes | None
    signature: Signature | None


@dataclass(frozen=True, slots=True)
class Applied:
    """What a change came to. `commit_error` and `conflicts` may be about earlier writes."""

    event: JournalEvent
    files: tuple[AppliedFile, ...]
    commit: CommitState
    commit_id: str | None = None
    commit_error: str = ""
    conflicts: tuple[str, ...] = ()  # conflict copies that appeared since the last answer


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of a write that a crash stopped."""

    event: JournalEvent
    outcome: Literal["finished", "reversed", "committed"]
    conflicts: tuple[str, ...] = ()
    third_states: tuple[str, ...] = ()  # files somebody else changed meanwhile; left as they are


@dataclass(frozen=True, slots=True)
class Stores:
    """What a transactor works on."""

    files: VaultFiles
    journal: Journal
    ids: Ids
    lock: VaultLock
    undo: UndoStore
    sweeper: Sweeper
    queue: CommitQueue | None = None  # None: nothing is committed
    versions: Versions | None = None  # None: git keeps older texts


@dataclass(slots=True)
class _Session:
    """What this process remembers between writes."""

    ids_size: int = -1
    layout_done: bool = False
    new_books: list[str] = field(default_factory=list)


class Transactor:
    """Applies changes to a vault. One per process and vault."""

    def __init__(
        self,
        stores: Stores,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        checkpoint: Checkpoint = no_checkpoint,
    ) -> None:
        self.stores = stores
        self.pending = PendingFolder(stores.files.memex_folder("pending"))
        self._now = now
        self._checkpoint = checkpoint
        self._session = _Session()
        self._beside = Beside()
        self._machine = _machine_of(stores.files.root)

    def apply(
        self,
        change: Change,
        *,
        internal: bool = False,
        wait: bool = False,
        details: Mapping[str, Any] | None = None,
        deadline: float = 10.0,
    ) -> Applied:
        """Make the change, or nothing of it.

        `internal` lets it touch `_memex` too. With `wait` the answer comes after the commit. Raises what
        prepare_steps raises, VaultLocked, and NotWritable or VaultError for what the disk refuses.
        """
        with self.stores.lock.hold(deadline):
            try:
                self.stores.files.check_root()
                self._recover_crashed()
                steps = prepare_steps(self.stores.files, change, internal)
                applied, queued = self._apply_prepared(change, steps, details or {})
            except OSError as error:
                raise os_error_as_memex(error, change.path) from error
        self._checkpoint("unlocked")
        return self._with_commit(applied, queued, wait)

    def record(self, event: JournalEvent, deadline: float = 10.0) -> JournalEvent:
        """Journal an event that changes no file; its number and time are set here."""
        return self.record_all([event], deadline)[0]

    def record_all(self, events: Sequence[JournalEvent], deadline: float = 10.0) -> tuple[JournalEvent, ...]:
        """Journal events that change no file, together; their numbers and time are set here."""
        if not events:
            return ()
        with self.stores.lock.hold(deadline):
            self._open_layout()
            first, now = self._next_id(), render_moment(self._now())
            numbered = tuple(replace(event, id=first + i, at=now) for i, event in enumerate(events))
            try:
                self.stores.journal.append_all(numbered)
            except OSError as error:
                raise os_error_as_memex(error, ".memex/journal") from error
        return numbered

    def recover(self) -> tuple[Recovered, ...]:
        """Settle what a crash left: finish or reverse writes, commit what was journalled but not committed."""
        with self.stores.lock.hold():
            self.stores.files.check_root()
            settled = self._recover_crashed()
            return (*settled, *self._queue_waiting_commits())

    def clean_up(self) -> tuple[str, ...]:
        """Remove hidden files that crashes left anywhere in the vault; return conflict copies this made."""
        events = self.stores.journal.read()
        paths = {event.before: event.path for event in events if event.before}
        with self.stores.lock.hold():
            self._recover_crashed()
            root = self.stores.files.root
            copies = remove_orphans(root, paths.get, self._now().timestamp())
            self.stores.undo.expire(self._now().timestamp())
        return tuple(copy.relative_to(root).as_posix() for copy in copies)

    def flush(self, timeout: float = 60.0) -> bool:
        """Wait until all commits are made; False when they take longer."""
        return self.stores.queue is None or self.stores.queue.flush(timeout)

    def close(self, wait: bool = True) -> None:
        """Make the commits that wait, look at displaced files a last time, stop the threads."""
        if self.stores.queue is not None:
            self.stores.queue.close()
        self.pending.remove_if_empty()
        self.stores.sweeper.close(wait)
        self._beside.close()

    def _apply_prepared(
        self, change: Change, steps: tuple[Step, ...], details: Mapping[str, Any]
    ) -> tuple[Applied, QueuedCommit | None]:
        stores = self.stores
        self._open_layout()
        results = build_results(steps)
        event = build_event(change, results, self._next_id(), self._now(), details)
        for step in steps:
            if change.op == "erased" and step.kind == "remove":
                stores.undo.remove(step.before)
            elif step.old and step.kind != "move" and not self._is_kept(step):
                stores.undo.put(step.old)
            if step.new and stores.queue is None:  # to tell later what others wrote into it: else git has it
                stores.undo.put(step.new)
        folders = missing_folders(stores.files, steps)
        intent = Intent(event, steps, folders, self._machine)
        self._checkpoint("prepared")
        intent_file = self.pending.write(intent)
        self._checkpoint("intent written")
        try:
            displaced, synced = self._apply_steps(steps, intent_file)
            applied = tuple(self._applied_file(result) for result in results)
            book = self._append(event, synced)
        except BaseException:
            self._reverse(intent, intent_file)
            raise
        self._checkpoint("journalled")
        if stores.versions is not None:
            stores.versions.follow(event, steps, stores.ids.number_of)
        queued = self._finish(event, intent_file, applied, book)
        for kept, step in displaced:
            stores.sweeper.keep(kept, stores.files.root / step.path, step.before)
        return Applied(event, applied, "queued" if queued else "off"), queued

    def _apply_steps(
        self, steps: tuple[Step, ...], intent_file: Path
    ) -> tuple[list[tuple[Path, Step]], Future[None]]:
        """Return the displaced files, and what is still to be waited for.

        Of one file, the intent is flushed beside its new bytes, and its folder beside the journal. Of several, all
        new bytes are on disk before the first name changes, and each folder is flushed once.
        """
        single = len(steps) == 1
        intent_synced = self._beside.begin(self.pending.sync, intent_file, name=not single)
        folders: dict[Path, None] = {}
        displaced: list[tuple[Path, Step]] = []
        staged = {} if single else stage_swaps(self.stores.files.root, steps)
        self._checkpoint("staged")
        for number, step in enumerate(steps):
            kept = apply_step(
                self.stores.files,
                step,
                self._checkpoint,
                ready=intent_synced.result,
                sync=folders.setdefault,
                staged=staged.get(number),
            )
            if kept is not None:
                displaced.append((kept, step))
            self._checkpoint(f"step {number} done")
        synced = self._beside.begin(sync_folders, folders)
        if not single:
            synced.result()
        return displaced, synced

    def _is_kept(self, step: Step) -> bool:
        """Whether the vault's own history is going to keep what the step replaces."""
        return self.stores.versions is not None and self.stores.ids.number_of(step.path) is not None

    def _reverse(self, intent: Intent, intent_file: Path) -> None:
        """Undo the steps done so far. If even that fails, the intent stays for the next write or start."""
        try:
            reverse_steps(self.stores.files.root, intent.steps, intent.folders, self._now().timestamp())
        except OSError as error:
            raise VaultError(
                f"{intent.event.path!r} could be written only in part, and not be put back yet "
                f"({error.strerror}). Mend the disk, then restart: the old text is kept and will be restored."
            ) from error
        self.pending.finish(intent_file, waits_for_commit=False)

    def _finish(
        self, event: JournalEvent, intent_file: Path, applied: Sequence[AppliedFile], book: Book
    ) -> QueuedCommit | None:
        queue = self.stores.queue
        try:
            marker = self.pending.finish(intent_file, waits_for_commit=queue is not None)
        except OSError:
            marker = None  # the next start finds the intent and sees that all is done
        if any(f.path.startswith(TRASH_FOLDER) for f in applied):
            with contextlib.suppress(OSError):
                self._session.new_books += init_trash(self.stores.files)
        if queue is None:
            return None
        files = [build_commit_file(self.stores.files.root, f.path, f.data) for f in applied]
        files += (CommitFile(f.from_path, None) for f in applied if f.from_path)
        request = build_request(event, files)
        return queue.submit(QueuedCommit(request, (book, *self._other_books()), marker))

    def _with_commit(self, applied: Applied, queued: QueuedCommit | None, wait: bool) -> Applied:
        root = self.stores.files.root
        conflicts = tuple(c.relative_to(root).as_posix() for c in self.stores.sweeper.take_conflicts())
        applied = replace(applied, conflicts=conflicts)
        queue = self.stores.queue
        if queue is None or queued is None:
            return applied
        if wait:
            queue.flush()
            state: CommitState = "failed" if queued.result.error else "done" if queued.done.is_set() else "queued"
            applied = replace(applied, commit=state, commit_id=queued.result.commit)
        return replace(applied, commit_error="; ".join(queue.take_errors()))

    def _applied_file(self, result: FileResult) -> AppliedFile:
        signature = None
        if result.data is not None:
            with contextlib.suppress(FileNotFoundError):  # somebody removed it this instant
                signature = self.stores.files.signature(self.stores.files.root / result.path)
        return AppliedFile(result.path, result.from_path, result.before, result.after, result.data, signature)

    def _append(self, event: JournalEvent, synced: Future[None]) -> Book:
        """Journal the event; it is taken back when a folder cannot be synced."""
        file, size = self.stores.journal.append(event)
        try:
            synced.result()
        except OSError:
            self.stores.journal.retract(event)
            raise
        return Book(f".memex/journal/{file.name}", size)

    def _other_books(self) -> tuple[Book, ...]:
        """Return our other tracked files if they changed since the last commit that took them along."""
        session = self._session
        books = [Book(path, _WHOLE) for path in session.new_books]
        session.new_books = []
        size = _size_of(self.stores.ids.file)
        if size is not None and size != session.ids_size:
            session.ids_size = size
            books.append(Book(".memex/ids.tsv", size))
        return tuple(books)

    def _open_layout(self) -> None:
        if not self._session.layout_done:
            self._session.new_books += init_layout(self.stores.files)
            if self.stores.queue is not None:
                self.stores.queue.git.hide_temporary_files()
            self._session.layout_done = True

    def _next_id(self) -> int:
        return max(self.stores.journal.next_id(), self.pending.highest_id() + 1)

    def _recover_crashed(self) -> tuple[Recovered, ...]:
        """Settle intents of this machine. Under the lock nobody is at work, so each is of a crashed process."""
        recovered: list[Recovered] = []
        for found in self.pending.find_pending(commits=False):
            if found.intent is None:
                remove_quietly(found.file)  # torn: no step was done before it was whole
            elif found.intent.machine == self._machine:
                recovered.append(self._settle(found, found.intent))
        return tuple(recovered)

    def _settle(self, found: PendingIntent, intent: Intent) -> Recovered:
        root, moment = self.stores.files.root, self._now().timestamp()
        known = self.stores.journal.find_event(intent.event.id)
        journalled = known is not None and known.at == intent.event.at
        if journalled and check_undone(root, intent.steps):
            self.stores.journal.retract(intent.event)
            journalled = False
        if journalled or check_all_done(root, intent.steps):
            conflicts = settle_temps(root, intent.steps, moment)
            if not journalled:
                self.stores.journal.append(intent.event)
            if self.stores.versions is not None:
                self.stores.versions.follow(intent.event, intent.steps, self.stores.ids.number_of)
            self.pending.finish(found.file, waits_for_commit=self.stores.queue is not None)
            return Recovered(intent.event, "finished", conflicts)
        reversal = reverse_steps(root, intent.steps, intent.folders, moment)
        self.pending.finish(found.file, waits_for_commit=False)
        return Recovered(intent.event, "reversed", reversal.conflicts, reversal.third_states)

    def _queue_waiting_commits(self) -> tuple[Recovered, ...]:
        """Queue commits of journalled events that lack one. Files are committed as they are now."""
        queue = self.stores.queue
        recovered: list[Recovered] = []
        for found in self.pending.find_pending(commits=True):
            intent = found.intent
            if intent is None or intent.machine != self._machine:
                continue
            if queue is None or queue.git.has_committed(intent.event.id):
                remove_quietly(found.file)
                continue
            root = self.stores.files.root
            paths = {path for step in intent.steps for path in (step.path, step.to)}
            files = [build_commit_file(root, path, read_or_none(root / path)) for path in sorted(paths)]
            book = Book(f".memex/journal/{intent.event.at[:7]}.jsonl", _WHOLE)
            queue.submit(QueuedCommit(build_request(intent.event, files), (book,), found.file))
            recovered.append(Recovered(intent.event, "committed"))
        return tuple(recovered)


def _size_of(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None


def _machine_of(root: Path) -> str:
    """Return what tells this machine's intents from those that a synced folder brings along."""
    return hashlib.blake2b(f"{socket.gethostname()}\0{root}".encode(), digest_size=8).hexdigest()
