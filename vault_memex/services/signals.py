"""Signals as people and assistants meet them: found, kept in `_memex/signals.md`, and decided."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date

from vault_memex.config import Config
from vault_memex.core.changes import Change, WriteFile
from vault_memex.core.snapshot import Snapshot
from vault_memex.errors import InvalidArgument, MemexError, NotFound
from vault_memex.memory.policy import check_role
from vault_memex.memory.signals import Detection
from vault_memex.memory.signals_file import SIGNALS_PATH, SignalsReading, parse_signals
from vault_memex.memory.signals_plan import plan_signals
from vault_memex.memory.triage import (
    SignalRow,
    SignalTable,
    choose_hint,
    dismiss_links,
    merge_signals,
    set_status,
)
from vault_memex.services.detecting import Detecting, Looked, Prepared
from vault_memex.services.numbering import Numbering
from vault_memex.services.requests import SignalHint
from vault_memex.services.sight import Sight
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.transaction import Transactor

STATE = "signals"  # of the catalogue
ACTIONS = {"dismiss": "dismissed", "snooze": "snoozed", "reopen": "new"}


@dataclass(frozen=True, slots=True)
class Kept:
    """What the cache remembers of the last run. Without it detection runs once more."""

    mark: str
    fingerprint: str
    file: str  # revision of the table; empty while there is none
    unavailable: str = ""


@dataclass(frozen=True, slots=True)
class SignalsFound:
    """The table as it stands, and what to know about it."""

    table: SignalTable
    notes: tuple[str, ...] = ()
    unavailable: str = ""  # why signals that need meaning are missing


class Signals:
    """The signals of one vault."""

    def __init__(
        self,
        *,
        config: Config,
        files: VaultFiles,
        catalogue: Catalogue,
        transactor: Transactor,
        numbering: Numbering,
        detecting: Detecting,
        sight: Sight,
        snapshot: Callable[[], Snapshot],
        indexing: Callable[[], str | None],
        actor: Callable[[], str],
    ) -> None:
        self._config = config
        self._files = files
        self._catalogue = catalogue
        self._transactor = transactor
        self._numbering = numbering
        self._detecting = detecting
        self._sight = sight
        self._snapshot = snapshot
        self._indexing = indexing
        self._actor = actor
        self._refreshing = threading.Lock()

    def read(self) -> tuple[SignalsReading, FileText | None]:
        """Return what the file says, without looking for anything, and the file if there is one."""
        try:
            file = self._files.read(SIGNALS_PATH, "internal")
        except NotFound:
            return SignalsReading(SignalTable()), None
        return parse_signals(file.text, self._detecting.today()), file

    def count_new(self) -> int:
        """Return how many signals wait, as last found; never looks for any."""
        try:
            return self.get_table().count_new()
        except MemexError:
            return 0

    def get_table(self) -> SignalTable:
        """Return the signals as last found; never looks for any. Raises what a damaged file raises."""
        return self._sight.narrow(self.read()[0].table)

    def get_shown(self, number: int) -> SignalRow:
        """Return a signal as last found; raises NotFound, also for one about notes outside of the scope."""
        return self.get_table().get_row(number)

    def find(self, *, refresh: bool = True) -> SignalsFound:
        """Return all signals. `refresh` looks for new ones first, which is free while nothing has changed."""
        found = self._find(refresh=refresh)
        if self._sight.is_whole:
            return found
        return replace(found, table=self._sight.narrow(found.table), notes=())  # remarks name what cannot be read

    def _find(self, *, refresh: bool) -> SignalsFound:
        remark = self._indexing() if refresh else None
        if not refresh or remark:  # half an index would take away signals whose cause it has not met yet
            reading, _ = self.read()
            said = [f"As last found: {remark}"] if remark else []
            return SignalsFound(reading.table, (*said, *reading.notices))
        with self._refreshing:
            return self._refresh()

    def _refresh(self) -> SignalsFound:
        reading, file = self.read()
        kept = self._find_kept(file)
        if kept is not None and kept.mark == self._detecting.find_mark():
            return SignalsFound(reading.table, reading.notices)
        self._detecting.measure()
        prepared = self._detecting.prepare()
        if kept is not None and kept.fingerprint == prepared.fingerprint:
            self._keep(prepared, file.revision if file else "")
            return SignalsFound(reading.table, reading.notices)
        looked = self._detecting.look(prepared)
        detection = self._detecting.detect(prepared, looked)
        merged = merge_signals(reading.table, detection, prepared.snapshot, prepared.today)
        if self._config.role == "reader":  # sees what there is and writes nothing
            return SignalsFound(merged, reading.notices, looked.unavailable)
        if merged == reading.table:
            self._keep(prepared, file.revision if file else "", looked.unavailable)
            return SignalsFound(merged, reading.notices, looked.unavailable)
        try:
            return self._merge(prepared, detection, looked)
        except MemexError as error:  # what was found is worth showing all the same
            return SignalsFound(merged, (*reading.notices, f"Not kept: {error.message}"), looked.unavailable)

    def _merge(self, prepared: Prepared, detection: Detection, looked: Looked) -> SignalsFound:
        """Bring the file up to a run. Notes are numbered first: a signal is known by the numbers of its notes."""
        with self._transactor.stores.lock.hold():
            if self._numbering.number_all():
                prepared = self._detecting.prepare()
                detection = self._detecting.detect(prepared, looked)
            reading, file = self.read()
            merged = merge_signals(reading.table, detection, prepared.snapshot, prepared.today)
            revision = self._write(reading.table, merged, file, "signals", _describe(reading.table, merged))
        self._keep(prepared, revision, looked.unavailable)
        return SignalsFound(merged, reading.notices, looked.unavailable)

    def _write(self, before: SignalTable, table: SignalTable, file: FileText | None, op: str, title: str) -> str:
        """Write the table unless it says the same already; return the file's revision."""
        if table == before:
            return file.revision if file is not None else ""
        edit = self.plan_table(table, file)
        if file is not None and edit.data == file.data:
            return file.revision
        applied = self._transactor.apply(Change(op, SIGNALS_PATH, title, (edit,), self._actor()), internal=True)
        return applied.files[0].after or ""

    def plan_table(self, table: SignalTable, file: FileText | None) -> WriteFile:
        """Return the write of another table."""
        text = plan_signals(file.text if file else "", table)
        return WriteFile(SIGNALS_PATH, text.encode("utf-8"), file.revision if file else None)

    def _find_kept(self, file: FileText | None) -> Kept | None:
        """Return what is remembered; None when the table is not the one that was written, so as to look again."""
        try:
            kept = Kept(**json.loads(self._catalogue.get_state(STATE) or ""))
        except (ValueError, TypeError):
            return None
        if kept.unavailable or kept.file != (file.revision if file else ""):
            return None
        return kept

    def _keep(self, prepared: Prepared, revision: str, unavailable: str = "") -> None:
        kept = Kept(self._detecting.find_mark(), prepared.fingerprint, revision, unavailable)
        self._catalogue.set_state(STATE, json.dumps(asdict(kept)))

    # -- deciding

    def decide(self, number: int, action: str, *, until: str = "", whole_note: bool = False) -> SignalRow | None:
        """Dismiss, snooze or reopen a signal; return it as it is now.

        `whole_note` dismisses all unresolved links of the note, present and future ones; reopening such a
        dismissal removes it, and None is returned.
        """
        check_role(self._config.role)
        status = ACTIONS.get(action)
        if status is None:
            raise InvalidArgument("action", f"action = {action!r}: write one of {', '.join(ACTIONS)}.")
        if whole_note and action != "dismiss":
            raise InvalidArgument("scope", "scope: note goes with action: dismiss.")
        today = self._detecting.today()
        with self._transactor.stores.lock.hold():
            reading, file = self.read()
            table = reading.table
            row = self._sight.narrow(table).get_row(number)
            if whole_note:
                table = dismiss_links(table, number, self._snapshot(), today)
            else:
                table = set_status(table, number, status, today, _parse_until(until))
            title = f"{action.capitalize()} signal {number}: {row.reason}"[:120]
            self.follow(file, self._write(reading.table, table, file, "triaged", title))
        return next((r for r in table.rows if r.number == number), None)

    def follow(self, before: FileText | None, revision: str) -> None:
        """Remember a table that was decided on: what the last run found still holds, if it held for the one before."""
        kept = self._find_kept(before)
        if kept is not None:
            self._catalogue.set_state(STATE, json.dumps(asdict(replace(kept, file=revision))))

    # -- after a write

    def find_hint(
        self, path: str, near: Sequence[tuple[str, float]] | None = None, before: str = ""
    ) -> SignalHint | None:
        """Return the one new signal to offer after a write to a note; `near`: the notes near it, where known.

        Of links that lead nowhere only those are told that were not in its text `before`. A signal that the write
        itself made is found too, except threads, which need a look at the whole vault.
        """
        snapshot = self._snapshot()
        note = snapshot.notes.get(path)
        if note is None:
            return None
        try:
            table = self.read()[0].table
        except MemexError:  # the write is done, and this was only an offer
            return None
        about: Detection = self._detecting.detect_about(note, near, before)
        merged = merge_signals(table, about, snapshot, self._detecting.today())
        reasons = {signal.reason for signal in about.signals}
        told = tuple(row for row in merged.rows if row.kind != "dangling_link" or row.reason in reasons)
        row = choose_hint(self._sight.narrow(replace(merged, rows=told)), note)
        if row is None:
            return None
        return SignalHint(row.kind, row.reason, row.number if row.number < table.following else None)


def _parse_until(text: str) -> date | None:
    if not text.strip():
        return None
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise InvalidArgument("until", f"until = {text!r}: write a date such as 2026-12-31.") from None


def _describe(before: SignalTable, after: SignalTable) -> str:
    known, now = {row.number for row in before.rows}, {row.number for row in after.rows}
    parts = [
        f"{count} {word}" for count, word in ((len(now - known), "found"), (len(known - now), "gone")) if count
    ]
    return f"Signals: {', '.join(parts) or 'brought up to date'}"
