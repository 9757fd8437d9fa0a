"""What waits in `_memex/inbox`: read from the files, which are the truth; the journal tells which were there."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from vault_memex.core.changes import Signature
from vault_memex.core.text import base_of
from vault_memex.errors import FrontmatterInvalid, MemexError, NotFound, NotWritable
from vault_memex.memory.proposal_file import parse_proposal
from vault_memex.memory.proposals import INBOX_FOLDER, Inbox, Proposal, find_number
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.journal import Journal, JournalEvent

Stamp = frozenset[tuple[str, int, int, int]]
DETAIL = "proposal"  # in an event's details: the number of the proposal that it is about
SUBMITTED = "submitted"
UNDONE = "undone"
_LEAVING = re.compile(r"-(?:delete|merge)-(\d{1,18})\.md\Z", re.ASCII)
CLOSING = ("approved", "rejected", "acknowledged", "deleted")


class InboxFiles:
    """Reads proposals. A file is parsed anew only when it changed."""

    def __init__(self, files: VaultFiles, journal: Journal) -> None:
        self._files = files
        self._journal = journal
        self._parsed: dict[str, tuple[Signature, Proposal | str]] = {}
        self._sizes: Mapping[str, int] = {}
        self._highest = 0
        self._submitted: dict[int, JournalEvent] = {}
        self._closed: set[int] = set()

    def find(self, note_id: int | None = None, most: int | None = None, skip: int = 0) -> Inbox:
        """Return what waits, by number; with a note's number only what waits about it.

        `most`: only so many, after the first `skip`.
        """
        found: dict[int, Proposal] = {}
        unreadable: list[str] = []
        end = "" if note_id is None else f"-{note_id}.md"
        paths = self.find_paths()
        for path in paths[skip:]:
            if not path.endswith(end):
                continue
            if len(found) == most:
                break
            read = self._parse(path)
            if isinstance(read, str):
                unreadable.append(f"{path}: {read}")
            elif read is not None and read.number in found:
                unreadable.append(f"{path}: proposal {read.number} is there twice; the first file counts.")
            elif read is not None:
                found[read.number] = read
        if not end and most is None and not skip:
            self._parsed = {path: self._parsed[path] for path in self._parsed.keys() & set(paths)}
        return Inbox(tuple(found[number] for number in sorted(found)), tuple(unreadable))

    def find_merges(self, keeper: int | None = None) -> tuple[Proposal, ...]:
        """Return the merges that wait by which other notes would go into the one with this number, or into any."""
        read = [self._parse(path) for path in self.find_paths() if "-merge-" in base_of(path)]
        return tuple(
            one
            for one in read
            if isinstance(one, Proposal) and one.into is not None and keeper in (None, one.into.note_id)
        )

    def find_leaving(self) -> frozenset[int]:
        """Return the numbers of the notes that would go by what waits: deletions, and merges into another."""
        found = (_LEAVING.search(path) for path in self.find_paths())
        return frozenset(int(one[1]) for one in found if one is not None)

    def find_paths(self) -> tuple[str, ...]:
        """Return the paths of all files that could be proposals, in the order of their numbers."""
        paths = ((find_number(base_of(path)), path) for path in self._files.find_internal(INBOX_FOLDER))
        return tuple(path for _, path in sorted((number, path) for number, path in paths if number is not None))

    def find_numbers(self) -> tuple[int, ...]:
        """Return the numbers of all files that could be proposals, ascending."""
        names = (find_number(base_of(path)) for path in self.find_paths())
        return tuple(number for number in names if number is not None)

    def get(self, number: int) -> tuple[Proposal, FileText]:
        """Return a proposal and its file, read now. Raises NotFound, and FrontmatterInvalid with the file's name."""
        for path in self.find_paths():
            if find_number(base_of(path)) == number:
                file = self._files.read(path, "internal")
                if file.not_writable:
                    raise NotWritable(f"{path}: {file.not_writable}", path=path)
                try:
                    return parse_proposal(file.text), file
                except FrontmatterInvalid as error:
                    raise FrontmatterInvalid(f"{path}: {error.message}", **error.fields) from None
        waiting = [str(one.number) for one in self.find().proposals]
        raise NotFound(
            f"No proposal {number} waits. Waiting: {', '.join(waiting[:20]) or 'none'}.", proposal=number
        )

    def read_file(self, proposal: Proposal) -> FileText:
        """Return the file of a proposal as it is now."""
        number = proposal.number
        path = next((p for p in self.find_paths() if find_number(base_of(p)) == number), proposal.file)
        return self._files.read(path, "internal")

    def next_number(self) -> int:
        """Return the number the next proposal gets: no proposal's that ever was. Needs the vault lock."""
        self._follow_journal()
        names = (find_number(base_of(path)) or 0 for path in self.find_paths())
        return max((self._highest, *names), default=0) + 1

    def find_vanished(self) -> tuple[JournalEvent, ...]:
        """Return the submissions that nobody decided and whose files are gone."""
        self._follow_journal()
        open_ones = self._submitted.keys() - self._closed
        if not open_ones:
            return ()
        there = {find_number(base_of(path)) for path in self.find_paths()}
        return tuple(self._submitted[number] for number in sorted(open_ones - there))

    def find_stamp(self) -> Stamp:
        """Return what tells whether anything in the folder changed; asked all the time, so it is quick."""
        try:
            with os.scandir(self._files.root / INBOX_FOLDER) as entries:
                return frozenset(_sign_entry(entry) for entry in entries)
        except OSError:  # no folder, or a file that went this instant: the next look tells
            return frozenset()

    def _follow_journal(self) -> None:
        sizes = self._journal.find_sizes()
        if sizes == self._sizes:
            return
        for event in self._journal.read_with(DETAIL, self._sizes):
            number = event.details[DETAIL]
            if not isinstance(number, int):
                continue
            self._highest = max(self._highest, number)
            if event.kind == UNDONE:
                self._follow_undoing(event)
            elif event.kind == SUBMITTED:
                self._closed.discard(number)
                self._submitted[number] = event
            elif event.kind in CLOSING:
                self._closed.add(number)
        self._sizes = sizes

    def _follow_undoing(self, event: JournalEvent) -> None:
        """Note that what an undoing brought back waits again, and what it took away does not."""
        for file in event.states:
            number = find_number(base_of(file.path)) if file.path.startswith(INBOX_FOLDER) else None
            if number is None:
                continue
            if file.after is None:
                self._closed.add(number)
            else:
                self._closed.discard(number)
                self._submitted.setdefault(number, event)

    def _sign(self, path: str) -> Signature | None:
        try:
            return Signature.of(os.lstat(self._files.root / path))
        except OSError:
            return None

    def _parse(self, path: str) -> Proposal | str | None:
        """Return the proposal, or why it cannot be read; None when the file is gone."""
        sign = self._sign(path)
        if sign is None:
            return None
        known = self._parsed.get(path)
        if known is not None and known[0] == sign:
            return known[1]
        try:
            file = self._files.read(path, "internal")
            result: Proposal | str = file.not_writable or parse_proposal(file.text)
        except NotFound:
            return None
        except MemexError as error:
            result = error.message
        self._parsed[path] = (sign, result)
        return result


def _sign_entry(entry: os.DirEntry[str]) -> tuple[str, int, int, int]:
    stat = entry.stat(follow_symlinks=False)
    return entry.name, stat.st_mtime_ns, stat.st_size, stat.st_ino
