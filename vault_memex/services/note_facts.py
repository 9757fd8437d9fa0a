"""What the index, the inbox, the signals and the journal know of notes that may need attention."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import base_of
from vault_memex.errors import MemexError
from vault_memex.index.meaning import Meaning
from vault_memex.memory.looks import TextChange, clip, find_text_change, is_known, mark_text
from vault_memex.memory.proposals import find_subject
from vault_memex.memory.queues import Facts
from vault_memex.services.inbox import InboxFiles
from vault_memex.services.note_logs import NoteLogs
from vault_memex.services.signals import Signals
from vault_memex.services.standing import Standing
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import VaultFiles
from vault_memex.store.journal import render_moment


@dataclass(frozen=True, slots=True)
class Waiting:
    """Numbers of notes about which something waits for the person."""

    held: Collection[int]  # anything
    retiring: Collection[int]  # to be deleted, or merged with another


class NoteFacts:
    """Gathers; links are kept for as long as the index stays as it is. Any thread may ask."""

    def __init__(
        self,
        *,
        files: VaultFiles,
        catalogue: Catalogue,
        meaning: Meaning,
        standing: Standing,
        signals: Signals,
        inbox: InboxFiles,
        logs: NoteLogs,
    ) -> None:
        self._files = files
        self._catalogue = catalogue
        self._meaning = meaning
        self._standing = standing
        self._signals = signals
        self._inbox = inbox
        self.logs = logs
        self._lock = threading.Lock()
        self._linked: tuple[int, Mapping[str, Collection[str]], Collection[str]] | None = None
        self._bodies: dict[str, tuple[str, str, str]] = {}  # by path: revision, and what `_read` returns

    def find(self, snapshot: Snapshot) -> Facts:
        """Return what is known of all notes."""
        linked, dangling = self._find_links(snapshot)
        standings = self._standing.find()
        fallen = standings.fallen.items()
        unembedded: Collection[str] = ()
        if self._meaning.enabled:
            unembedded = self._catalogue.find_unembedded_notes(self._meaning.fingerprint)
        return Facts(
            linked,
            dangling,
            unembedded,
            stale=frozenset(self._find_stale(snapshot)),
            expired={path for path, validity in fallen if validity.status == "expired"},
            contested={
                path
                for path, amendments in standings.amendments.of.items()
                if any(one.kind == "corrects" for one in amendments) and not _names_successor(snapshot, path)
            },
        )

    def find_linked(self, snapshot: Snapshot) -> Mapping[str, Collection[str]]:
        """Return by note the others that it links to or that link to it."""
        return self._find_links(snapshot)[0]

    def _find_links(self, snapshot: Snapshot) -> tuple[Mapping[str, Collection[str]], Collection[str]]:
        with self._lock:
            kept = self._linked
            if kept is None or kept[0] != snapshot.revision:
                linked: dict[str, set[str]] = {}
                for source, target, _ in self._catalogue.load_note_links():
                    linked.setdefault(source, set()).add(target)
                    linked.setdefault(target, set()).add(source)
                dangling = {source for group in self._catalogue.find_unresolved() for source in group.sources}
                kept = self._linked = snapshot.revision, linked, dangling
            return kept[1], kept[2]

    def _find_stale(self, snapshot: Snapshot) -> Iterable[str]:
        """Yield the notes that records overtook, as last found."""
        try:
            table = self._signals.get_table()
        except MemexError:  # damaged by hand; `insights` says so
            return
        for row in table.find_rows("new", "stale_state"):
            first = row.notes[0] if row.notes else None
            if first is not None:
                note = snapshot.by_id.get(first.note_id) if first.note_id is not None else None
                yield note.path if note is not None else first.path

    def find_waiting(self) -> Waiting:
        """Return about which notes something waits. The names of the files say it; of merges both notes count."""
        subjects = (find_subject(base_of(path)) for path in self._inbox.find_paths())
        held = {number for number in subjects if number is not None}
        keepers = {into.note_id for one in self._inbox.find_merges() if (into := one.into) and into.note_id}
        return Waiting(held | keepers, self._inbox.find_leaving() | keepers)

    def find_change(self, note: NoteRecord) -> TextChange | None:
        """Return the last change of a note's text by anybody but a curator."""
        log = self.logs.find(note)
        if is_known(log, note.revision):
            return find_text_change(log, note.revision, "", note.updated)
        body, written = self._read(note)
        return find_text_change(log, note.revision, body, max(clip(note.updated), written))

    def _read(self, note: NoteRecord) -> tuple[str, str]:
        """Return what names a note's text now, and when its file was written; empty when the index has another one."""
        known = self._bodies.get(note.path)
        if known is not None and known[0] == note.revision:
            return known[1:]
        try:
            file = self._files.read(note.path)
        except MemexError:
            return "", ""
        if file.revision != note.revision:
            return "", ""
        written = render_moment(datetime.fromtimestamp(file.signature.mtime_ns / 1e9, UTC))
        self._bodies[note.path] = (note.revision, mark_text(file.text), clip(written))
        return self._bodies[note.path][1:]


def _names_successor(snapshot: Snapshot, path: str) -> bool:
    note = snapshot.notes.get(path)
    return note is None or bool(note.properties.get("superseded_by"))


FindChange = Callable[[str], TextChange | None]


def remember_changes(facts: NoteFacts, snapshot: Snapshot) -> FindChange:
    """Return a look-up of changes by path that looks at each note once."""
    known: dict[str, TextChange | None] = {}

    def find(path: str) -> TextChange | None:
        if path not in known:
            note = snapshot.notes.get(path)
            known[path] = facts.find_change(note) if note is not None else None
        return known[path]

    return find
