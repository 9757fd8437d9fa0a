"""What commands do with a vault in the foreground, and a server beside its answers."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from vault_memex.index.background import Background
from vault_memex.index.indexer import Indexer, PathReport, Progress, ScanReport
from vault_memex.index.meaning import Meaning
from vault_memex.services.editing import Editing
from vault_memex.services.numbering import Numbering
from vault_memex.services.times import learn_times
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import VaultFiles
from vault_memex.store.journal import render_moment
from vault_memex.store.setup_commit import commit_setup
from vault_memex.store.transaction import Transactor


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
    _closed: bool

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
