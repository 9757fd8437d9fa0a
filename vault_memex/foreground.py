"""What commands do with a vault in the foreground, and a server beside its answers."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from vault_memex.config import Config
from vault_memex.core.snapshot import Snapshot
from vault_memex.errors import MemexError
from vault_memex.index.background import Background
from vault_memex.index.indexer import Indexer, PathReport, Progress, ScanReport
from vault_memex.index.meaning import Meaning
from vault_memex.services.editing import Editing
from vault_memex.services.noticing import Noticing
from vault_memex.services.numbering import Numbering
from vault_memex.services.status import Status
from vault_memex.services.times import learn_times
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import VaultFiles
from vault_memex.store.journal import render_moment
from vault_memex.store.setup_commit import commit_setup
from vault_memex.store.transaction import Transactor

WHOLE_PASS_SECONDS = 5.0  # what judges the vault as a whole waits this long for the first pass
FIRST_PASS_SECONDS = 1.5  # an answer waits this long for an index that does not exist yet


class Foreground:
    """The part of a vault that brings everything up to date while somebody waits for it."""

    root: Path
    cache: Path
    files: VaultFiles
    clock: Callable[[], datetime]
    catalogue: Catalogue
    meaning: Meaning
    indexer: Indexer
    transactor: Transactor
    numbering: Numbering
    background: Background
    editing: Editing
    config: Config
    status: Status
    noticing: Noticing
    _closed: bool
    _loading: threading.Lock
    _loaded: Snapshot | None

    def snapshot(self) -> Snapshot:
        """Return the vault's metadata as it is now; cheap when nothing changed."""
        with self._loading:
            self._loaded = self.catalogue.load_snapshot(self._loaded)
            return self._loaded

    def settled(self) -> Snapshot:
        """Return the snapshot to answer from: before a first pass has found any note, wait a moment for it."""
        snapshot = self.snapshot()
        if snapshot.notes:
            return snapshot
        if self.background.find_remark() is not None:
            self.background.wait_scanned(FIRST_PASS_SECONDS)
        return self.snapshot()

    def look(self) -> tuple[Snapshot, str | None]:
        """Return the snapshot to answer from, and what was to be said of the index just before it was taken."""
        self.settled()
        remark = self.background.find_remark()
        return self.snapshot(), remark

    def _wait_indexed(self) -> str | None:
        """Return what is to be said of the index, after waiting some seconds for a pass that is under way."""
        if self.background.find_remark() is not None:
            self.background.wait_scanned(WHOLE_PASS_SECONDS)
        return self.background.find_remark()

    def number_notes(self) -> int:
        """Give a number to each note that has none; return how many lines that took in `.memex/ids.tsv`."""
        self.background.hurry()  # what a crash left is mended by the first pass
        with self.transactor.stores.lock.hold():
            self.files.check_root()
            return self.numbering.number_all()

    def _recover(self) -> None:
        self.transactor.recover()
        self.transactor.clean_up()
        self.numbering.load()

    def _follow(self, report: ScanReport | PathReport) -> None:
        self.numbering.load()
        if self.config.role != "reader" and self.status.git.mode() == "off":
            with suppress(MemexError):  # somebody is writing long, or the disk is full: the next look tells
                self.noticing.follow()
        if isinstance(report, ScanReport) and report.added:
            # A long history takes git seconds, and the thread that calls this is the one that watches.
            threading.Thread(target=self._learn_times, name="git-times", daemon=True).start()

    def _learn_times(self) -> None:
        learn_times(self.root, self.catalogue, lambda: self._closed)

    def refresh(self, progress: Progress | None = None, *, verify: bool = False) -> ScanReport:
        """Bring the index up to the files now."""
        self.transactor.recover()
        report = self.indexer.reconcile(progress, verify=verify)
        self.numbering.load()
        if report.added:
            self._learn_times()
        return report

    def embed_all(self, progress: Progress) -> tuple[int, int, str]:
        """Embed all passages that have no vector; return (embedded, passages, remark)."""
        return self.meaning.embed_waiting(self.catalogue, progress)

    def forget_index(self) -> None:
        """Delete the index; it comes back with the next refresh. The vault is not touched."""
        self.catalogue.forget()
        shutil.rmtree(self.cache / "lance", ignore_errors=True)

    def init(self, settings: str) -> list[str]:
        """Write settings where there are none, index, and number all notes; return what was done."""
        made = self.editing.write_settings(settings)
        if made:
            said = commit_setup(self.files, self.transactor.stores.queue, render_moment(self.clock()))
            made += [said] if said else []
        self.refresh()
        numbered = self.number_notes()
        return [*made, f"numbered {numbered} notes in .memex/ids.tsv"] if numbered else made
