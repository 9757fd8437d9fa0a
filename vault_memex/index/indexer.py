"""Keeps the catalogue equal to the files: a whole pass, a few paths, or the bytes of a write just made."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from vault_memex.config import Config
from vault_memex.core.changes import Signature
from vault_memex.core.text import folder_of
from vault_memex.errors import VaultError
from vault_memex.index.applying import Applier, PassCounts, PassStopped
from vault_memex.index.diff import Diff, find_diff, is_mass_removal
from vault_memex.index.document import build_document
from vault_memex.index.reading import NEW, KnownNote, is_racy
from vault_memex.index.scan import OpenFolder, Scan, is_in_scope, is_note, scan_vault
from vault_memex.index.workers import WORKERS, Wanted, read_notes, read_notes_parallel
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.indexed import Batch
from vault_memex.store.schema import UNREAD

PARALLEL_FROM = 2_000  # notes; below, starting workers costs more than it brings
CONFIRM_SECONDS = 2.0  # between two scans that agree on a mass removal
CONFIRM_ROOT_SECONDS = 30.0  # the same when the vault folder is empty or another one

Progress = Callable[[int, int], None]

__all__ = ["Indexer", "OwnWrite", "PassStopped", "PathReport", "ScanReport"]


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What one pass did. Paths are sorted."""

    revision: int
    notes: int  # in the vault
    folders: int
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()  # (old, new)
    touched: int = 0  # files whose bytes are as they were
    held_back: int = 0  # removals that a later scan must confirm
    confirm_after: float = 0.0  # seconds until such a scan counts
    busy: tuple[str, ...] = ()  # were being written; look again
    unreadable: tuple[str, ...] = ()  # folders and notes; what the catalogue has of them stays
    skipped: tuple[str, ...] = ()  # names that are not text
    seconds: float = 0.0
    scan_seconds: float = 0.0  # without reading and storing


@dataclass(frozen=True, slots=True)
class PathReport:
    """What a look at a few paths did."""

    revision: int
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()  # gone from the disk, kept because the caller is patient
    busy: tuple[str, ...] = ()


class OwnWrite(NamedTuple):
    """A file this program has just written."""

    path: str
    data: bytes
    signature: Signature


@dataclass(frozen=True, slots=True)
class _Held:
    """A mass removal that waits for a second scan to say the same."""

    since: float
    wait: float


class Indexer:
    """Derived data follows the files. Any thread may call; whole passes take turns."""

    def __init__(
        self,
        root: Path,
        catalogue: Catalogue,
        config: Config,
        *,
        clock: Callable[[], float] = time.monotonic,
        open_folder: OpenFolder = os.scandir,
        workers: int = WORKERS,
    ) -> None:
        self.root = root
        self.catalogue = catalogue
        self.config = config
        self.progress: tuple[int, int] = (0, 0)  # notes read of notes to read, while a pass runs
        self._clock = clock
        self._open_folder = open_folder
        self._workers = workers
        self._reconciling = threading.Lock()
        self._held: _Held | None = None

    def reconcile(
        self, progress: Progress | None = None, *, verify: bool = False, stopped: Callable[[], bool] = _never
    ) -> ScanReport:
        """Bring the catalogue up to the disk. Words are searchable batch by batch while it runs.

        `verify` compares the content of every note, also of those whose signature says nothing changed. Raises
        VaultError, having changed nothing, when the vault folder cannot be read, and PassStopped once `stopped`.
        """
        with self._reconciling:
            started = self._clock()
            # Before the scan: what this program writes meanwhile is then unexpected, and left alone.
            known = self.catalogue.signatures()
            racy = known.keys() if verify else self.catalogue.find_racy()
            scan = scan_vault(self.root, self.config.ignore, self._open_folder)
            diff = find_diff(scan, known, racy, self.catalogue.find_attachments())
            scanned = self._clock()
            removals, held = self._check_removals(scan, diff, known)
            counts = self._apply_diff(replace(diff, removed=tuple(removals)), known, progress, stopped)
            self._remember_root(scan)
            if not self.catalogue.is_complete():
                self.catalogue.mark_complete()
            return ScanReport(
                revision=self.catalogue.revision,
                notes=len(scan.notes),
                folders=scan.folders,
                added=tuple(sorted(counts.added)),
                changed=tuple(sorted(counts.changed)),
                removed=tuple(sorted(counts.removed)),
                moved=tuple(sorted(counts.moved)),
                touched=counts.touched,
                held_back=len(diff.removed) if held else 0,
                confirm_after=held.wait if held else 0.0,
                busy=tuple(sorted(counts.busy)),
                unreadable=tuple(sorted([*scan.unreadable, *counts.unreadable])),
                skipped=tuple(sorted(scan.skipped)),
                seconds=self._clock() - started,
                scan_seconds=scanned - started,
            )

    def index_paths(self, paths: Iterable[str], patient: Collection[str] = ()) -> PathReport:
        """Look at these paths on the disk and follow what is found, whatever a hint said of them.

        A path among `patient` that is gone stays in the catalogue, unless it turns out to have moved to another
        of the paths: editors and git delete a note in order to write it.
        """
        wanted = sorted(path for path in set(paths) if is_in_scope(path, self.config.ignore))
        known = self.catalogue.get_signatures(wanted)
        look: list[Wanted] = []
        gone, attachments = [], []
        folders: dict[str, bool] = {}
        for path in wanted:
            signature = self._find_signature(path, folders)
            if signature is None:
                gone += [path] if path in known else []
            elif not is_note(path):
                attachments += [] if path in known else [path]
            elif known.get(path) != signature:
                look.append((path, NEW))
        if gone and self._is_elsewhere():
            raise VaultError("Another folder is in the vault's place, or none. Is its disk mounted?")
        applier = Applier(self.catalogue, known, gone)
        applier.read(read_notes(os.fspath(self.root), self._with_known(look, known), self.config))
        missing = [path for path in applier.find_unmoved() if path in patient]
        applier.finish([p for p in applier.find_unmoved() if p not in patient], attachments)
        counts = applier.counts
        return PathReport(
            self.catalogue.revision,
            tuple(sorted(counts.added + counts.changed)),
            tuple(sorted(counts.removed)),
            tuple(sorted(counts.moved)),
            tuple(missing),
            tuple(sorted(counts.busy)),
        )

    def index_writes(
        self, writes: Sequence[OwnWrite], deletes: Sequence[str] = (), moves: Sequence[tuple[str, str]] = ()
    ) -> int:
        """Take over one change of several files in one transaction; return the new revision.

        The new path of a move is among the writes as well. Paths that are not indexed are passed over.
        """
        now = time.time_ns()
        mine = [write for write in writes if is_in_scope(write.path, self.config.ignore)]
        upserts = [
            build_document(w.path, w.data, w.signature, self.config, racy=is_racy(w.signature, now))
            for w in mine
            if is_note(w.path)
        ]
        indexed = {note.path for note in upserts}
        left = [old for old, new in moves if new not in indexed]  # moved to where notes are not indexed
        batch = Batch(
            upserts=upserts,
            attachments=[w.path for w in mine if not is_note(w.path)],
            deletes=[*deletes, *left],
            moves=[(old, new) for old, new in moves if new in indexed and old != new],
        )
        return self.catalogue.apply(batch).revision

    def _apply_diff(
        self, diff: Diff, known: dict[str, Signature], progress: Progress | None, stopped: Callable[[], bool]
    ) -> PassCounts:
        folders: dict[str, bool] = {}
        seen = (path for path in diff.removed if is_in_scope(path, self.config.ignore))  # not ignored since
        back = tuple(path for path in seen if self._is_back(path, folders))
        wanted = self._with_known([(path, NEW) for path in diff.added + diff.changed + back], known)
        parallel = len(wanted) >= PARALLEL_FROM and self._workers > 0
        if parallel:
            self.catalogue.announce(diff.added)
            known.update(dict.fromkeys(diff.added, Signature(*UNREAD)))
        gone = sorted(set(diff.removed) - set(back))
        applier = Applier(self.catalogue, known, gone, self._report_to(progress, len(wanted)), stopped)
        root = os.fspath(self.root)
        if parallel:
            with closing(read_notes_parallel(root, wanted, self.config, self._workers)) as readings:
                applier.read(readings)
        else:
            applier.read(read_notes(root, wanted, self.config))
        applier.finish([*applier.find_unmoved(), *diff.attachments_removed], diff.attachments_added)
        self.progress = (0, 0)
        return applier.counts

    def _report_to(self, progress: Progress | None, total: int) -> Callable[[int], None]:
        self.progress = (0, total)

        def report(done: int) -> None:
            self.progress = (done, total)
            if progress is not None:
                progress(done, total)

        return report

    def _with_known(self, wanted: Sequence[Wanted], known: Mapping[str, Signature]) -> list[Wanted]:
        """Return the wanted paths with the revision and size that the catalogue has of them."""
        revisions = self.catalogue.get_revisions([path for path, _ in wanted if path in known])
        return [
            (path, KnownNote(revisions[path].revision, known[path].size) if path in revisions else NEW)
            for path, _ in wanted
        ]

    def _check_removals(
        self, scan: Scan, diff: Diff, known: Mapping[str, Signature]
    ) -> tuple[Sequence[str], _Held | None]:
        """Return what may be removed now. A vault that seems to have lost most of itself is asked twice."""
        other_root = self.catalogue.get_state("root") not in (None, _render_root(scan))
        lost = is_mass_removal(len(diff.removed) - len(diff.added), len(known))
        if not diff.removed or not (lost or other_root):
            self._held = None
            return diff.removed, None
        now = self._clock()
        if self._held is None:
            doubtful = other_root or not (scan.notes or scan.attachments)
            self._held = _Held(now, CONFIRM_ROOT_SECONDS if doubtful else CONFIRM_SECONDS)
        if now - self._held.since >= self._held.wait:
            self._held = None
            return diff.removed, None
        return (), self._held

    def _is_elsewhere(self) -> bool:
        """Whether the vault's folder is not the one that the last scan saw: unmounted, renamed, replaced."""
        try:
            found = os.stat(self.root)
        except OSError:
            return True
        return self.catalogue.get_state("root") not in (None, f"{found.st_dev}:{found.st_ino}")

    def _remember_root(self, scan: Scan) -> None:
        if self._held is None and self.catalogue.get_state("root") != _render_root(scan):
            self.catalogue.set_state("root", _render_root(scan))

    def _is_back(self, path: str, folders: dict[str, bool]) -> bool:
        """Whether a file that the scan did not see is there after all: deleted and written again meanwhile."""
        if self._find_signature(path, folders) is None:
            return False
        folder, name = os.path.split(os.path.join(self.root, path))
        try:
            # Where case does not count, the old name still answers after a rename by case alone.
            return name in os.listdir(folder)
        except OSError:
            return False

    def _find_signature(self, path: str, folders: dict[str, bool]) -> Signature | None:
        """Return the signature of an ordinary file that is reached without a link; None for anything else."""
        folder = folder_of(path)
        if folder not in folders:
            real = os.path.join(os.path.realpath(self.root), folder) if folder else os.path.realpath(self.root)
            folders[folder] = os.path.realpath(os.path.join(self.root, folder)) == real
        try:
            found = os.lstat(os.path.join(self.root, path))
        except (OSError, ValueError):
            return None
        return Signature.of(found) if folders[folder] and stat.S_ISREG(found.st_mode) else None


def _render_root(scan: Scan) -> str:
    return f"{scan.root[0]}:{scan.root[1]}"
