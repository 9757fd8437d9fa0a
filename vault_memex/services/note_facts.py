"""What the index, the inbox, the signals and the journal know of notes that may need attention."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from vault_memex.core.encoding import decode_note
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import base_of
from vault_memex.errors import MemexError
from vault_memex.index.meaning import Meaning
from vault_memex.memory.looks import NoteLog, TextChange, clip, find_text_change, is_known, mark_text
from vault_memex.memory.proposals import find_subject
from vault_memex.memory.queues import Facts, Reason, find_own_reasons
from vault_memex.services.inbox import InboxFiles
from vault_memex.services.link_map import LinkMap
from vault_memex.services.note_logs import NoteLogs
from vault_memex.services.signals import Signals
from vault_memex.services.standing import Standing
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import VaultFiles
from vault_memex.store.git import Git
from vault_memex.store.git_log import find_files_at
from vault_memex.store.journal import render_moment

_MOST_COMPARED = 500  # notes, with what git has of them


@dataclass(frozen=True, slots=True)
class Waiting:
    """Numbers of notes about which something waits for the person."""

    held: Collection[int]  # anything
    retiring: Collection[int]  # to be deleted, or merged with another


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one note by itself."""

    note: NoteRecord
    log: NoteLog
    reasons: tuple[Reason, ...]
    change: TextChange | None  # of its text, the last by anybody but a curator


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
        follows_links: bool,
    ) -> None:
        self._files = files
        self._catalogue = catalogue
        self._meaning = meaning
        self._standing = standing
        self._signals = signals
        self._inbox = inbox
        self.logs = logs
        self._git = Git(files.root)
        self._links = LinkMap(catalogue, follows=follows_links)
        self._known: Mapping[str, Known] = {}

    def find(self, snapshot: Snapshot) -> Facts:
        """Return what is known of all notes."""
        links = self._links.find(snapshot)
        standings = self._standing.find()
        fallen = standings.fallen.items()
        unembedded: Collection[str] = ()
        if self._meaning.enabled:
            unembedded = self._catalogue.find_unembedded_notes(self._meaning.fingerprint)
        return Facts(
            links.linked,
            links.dangling,
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
        return self._links.find(snapshot).linked

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

    def find_known(self, snapshot: Snapshot) -> Mapping[str, Known]:
        """Return what is known of each note by itself; what did not change since it was asked last is kept."""
        kept, known = self._known, {}
        for path, note in snapshot.notes.items():
            log, one = self.logs.find(note), kept.get(path)
            if one is None or one.note is not note or one.log is not log:
                one = Known(note, log, find_own_reasons(note), self._find_change(note, log))
            known[path] = one
        self._known = known
        return known

    def find_unchanged(self, notes: Iterable[NoteRecord], since: datetime) -> Collection[str]:
        """Return those of the notes whose text git knows to be as it was at a moment."""
        paths = [note.path for note in notes][:_MOST_COMPARED]
        return {
            path
            for path, data in find_files_at(self._git, since, paths).items()
            if mark_text(decode_note(data).text) == self._find_mark(path)
        }

    def _find_mark(self, path: str) -> str:
        try:
            return mark_text(self._files.read(path).text)
        except MemexError:
            return ""

    def _find_change(self, note: NoteRecord, log: NoteLog) -> TextChange | None:
        """Return the last change of a note's text by anybody but a curator."""
        if is_known(log, note.revision):
            return find_text_change(log, note.revision, "", note.updated)
        body, written = self._read(note)
        return find_text_change(log, note.revision, body, max(clip(note.updated), written))

    def _read(self, note: NoteRecord) -> tuple[str, str]:
        """Return what names a note's text now, and when its file was written; empty when the index has another one."""
        try:
            file = self._files.read(note.path)
        except MemexError:
            return "", ""
        if file.revision != note.revision:
            return "", ""
        written = render_moment(datetime.fromtimestamp(file.signature.mtime_ns / 1e9, UTC))
        return mark_text(file.text), clip(written)


def _names_successor(snapshot: Snapshot, path: str) -> bool:
    note = snapshot.notes.get(path)
    return note is None or bool(note.properties.get("superseded_by"))
