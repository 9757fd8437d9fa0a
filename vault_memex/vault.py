"""The composition root: all wiring on one screen."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vault_memex import __version__
from vault_memex.config import Config, parse_config
from vault_memex.core.snapshot import Snapshot
from vault_memex.errors import MemexError
from vault_memex.foreground import Foreground
from vault_memex.index.background import Background
from vault_memex.index.fingerprint import find_fingerprint
from vault_memex.index.indexer import Indexer
from vault_memex.index.leader import Leadership
from vault_memex.index.meaning import Meaning
from vault_memex.memory.connections import Connection
from vault_memex.memory.duplicates import parse_duplicate_distance
from vault_memex.memory.flashbacks import parse_flashback_settings
from vault_memex.memory.scope import Scope
from vault_memex.memory.thresholds import Thresholds
from vault_memex.services.actor import find_actor
from vault_memex.services.answering import Answering
from vault_memex.services.detecting import Detecting
from vault_memex.services.distances import Distances
from vault_memex.services.duplicates import Duplicates
from vault_memex.services.editing import Editing
from vault_memex.services.filing import Filing
from vault_memex.services.flag_files import FlagFiles
from vault_memex.services.flashbacks import Flashbacks, Surfaced
from vault_memex.services.history import History
from vault_memex.services.inbox_view import count_proposals
from vault_memex.services.inferences import Inferences
from vault_memex.services.knowledge import open_knowledge
from vault_memex.services.merging import Merging
from vault_memex.services.names import Names
from vault_memex.services.nearby import Nearby
from vault_memex.services.note_logs import NoteLogs
from vault_memex.services.noticing import Noticing
from vault_memex.services.numbering import Numbering
from vault_memex.services.outside import Outside
from vault_memex.services.reading import Reading
from vault_memex.services.recall import Recall
from vault_memex.services.relinking import Relinker
from vault_memex.services.retired_tags import RetiredTags
from vault_memex.services.retrieval import Retrieval
from vault_memex.services.review import Review
from vault_memex.services.review_watch import ReviewWatch
from vault_memex.services.rows import RowBuilder
from vault_memex.services.rules import Rules
from vault_memex.services.sight import Sight
from vault_memex.services.signals import Signals
from vault_memex.services.skills import open_skills
from vault_memex.services.standing import Standing
from vault_memex.services.status import Status
from vault_memex.services.trashing import Trashing
from vault_memex.services.undo import Undoing
from vault_memex.services.upkeep import open_upkeep
from vault_memex.services.vocabulary import Vocabulary
from vault_memex.services.waiting import find_waiting_on
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import VaultFiles
from vault_memex.store.git import Git
from vault_memex.store.git_renames import find_renames
from vault_memex.store.layout import CacheFolder, find_cache_folder, find_usable_cache
from vault_memex.store.opening import open_transactor
from vault_memex.store.trash import Trash

log = logging.getLogger(__name__)


def open_vault(
    root: Path,
    *,
    cache_dir: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    default: Config | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    build_meaning: Callable[[Path, Path, str, str], Meaning] = Meaning,
) -> Vault:
    """Open a vault: settings, catalogue, services. Nothing is scanned or written yet; close it in the end.

    `build_meaning` takes root, cache, model and the catalogue's fingerprint.
    """
    files = VaultFiles(root)
    config = parse_config(files.read_settings(), os.environ, flags, default)
    cache = (
        find_cache_folder(files.root)
        if cache_dir is None
        else find_cache_folder(files.root, {"VAULT_MEMEX_CACHE_DIR": str(cache_dir)})
    )
    return Vault(files, config, find_usable_cache(cache), clock, build_meaning)


class Vault(Foreground):
    """One open vault: its services, and what keeps its index."""

    def __init__(
        self,
        files: VaultFiles,
        config: Config,
        place: CacheFolder,
        clock: Callable[[], datetime],
        build_meaning: Callable[[Path, Path, str, str], Meaning] = Meaning,
    ) -> None:
        cache = place.folder
        self.files, self.config, self.cache, self.root, self.clock = files, config, cache, files.root, clock
        self.whole, self.scope = self, Scope()
        self.connection = Connection(config.connection, config.role)
        self._loading = threading.Lock()
        self._loaded: Snapshot | None = None
        self._closed = False
        fingerprint = find_fingerprint(config)
        self.catalogue = Catalogue.open(cache, fingerprint)
        self.meaning = build_meaning(files.root, cache, config.model, fingerprint)
        self.indexer = Indexer(files.root, self.catalogue, config)
        self.transactor = open_transactor(files, cache, config.commit, clock)
        self.trash = Trash(files)
        self.numbering = Numbering(
            self.transactor.stores.ids,
            self.catalogue,
            self.trash,
            self.snapshot,
            clock,
            find_renames=lambda gone, new: find_renames(Git(files.root), gone, new),
        )
        self.noticing = Noticing(self.transactor, self.trash, self.catalogue, self.snapshot, clock)
        self.background = Background(
            self.indexer,
            Leadership(cache),
            self.meaning,
            before_scan=self._recover,
            after_report=self._follow,
            notices=(place.remark,) if place.remark else (),
        )
        self.distances = Distances(config, self.catalogue, self.meaning, self.snapshot)
        self.logs = NoteLogs(self.transactor.stores.journal, self.transactor.stores.ids.number_of)
        self._add_services()
        self.watch = ReviewWatch(self.review, self.background.wait_scanned)

    def _add_services(self) -> None:
        """Make the services of one connection from what is shared; see `session.py`."""
        self.flag_files = FlagFiles(self.files)
        self.retired_tags = RetiredTags(self.files, self.scope)
        self._add_reads(self.clock)
        self._add_insights(self.clock)
        self.names = Names()
        self.filing = Filing(self.config, self.files, self.transactor, self.clock)
        self._add_writes(self.clock)
        self.merging = Merging(self.editing, self.trash, self.clock)
        self.undoing = Undoing(self.editing, self.trash, self.clock)
        self.review: Review = Review(self.editing, self.merging, self.undoing, self.trash, self.clock)
        self.upkeep = open_upkeep(self)
        self.skills = open_skills(self, self.whole)

    def _add_reading(self) -> None:
        self.reading = Reading(
            files=self.files,
            catalogue=self.catalogue,
            indexer=self.indexer,
            standing=self.standing,
            surfaced=self.flashbacks.surfaced,
            flags=self.flag_files,
            snapshot=self.settled,
            find_former=self.numbering.find_former,
            find_writer=self.transactor.stores.journal.find_writer,
            find_waiting=lambda note, body: find_waiting_on(self.filing.inbox, self.sight, note, body),
        )

    def _add_reads(self, clock: Callable[[], datetime]) -> None:
        files, git = self.files, Git(self.root)  # a Git of its own: the transactor's is busy with commits
        self.standing = Standing(self.catalogue, self.snapshot, clock)
        self._add_flashbacks(clock)
        self._add_reading()
        self.retrieval = Retrieval(
            catalogue=self.catalogue,
            meaning=self.meaning,
            rows=RowBuilder(files, self.catalogue),
            standing=self.standing,
            look=self.look,
            flashbacks=self.flashbacks,
            thresholds=self.distances.find_in_force,
            clock=clock,
            count_all=None if self.scope.is_whole else self.whole.catalogue.count_notes,
        )
        self.recall = Recall(retrieval=self.retrieval, files=files, catalogue=self.catalogue)
        self.vocabulary = Vocabulary(self.settled, self.retired_tags.find)
        self._add_rules(clock)
        self.history = History(
            stores=self.transactor.stores,
            outside=Outside(git, self.transactor.stores.ids),
            noticing=self.whole.noticing,
            reading=self.reading,
            trash=self.trash,
            snapshot=self.snapshot,
            clock=clock,
            scope=self.scope,
            role=self.config.role,
        )
        self.status = Status(
            name=self.root.name,
            version=__version__,
            config=self.config,
            catalogue=self.catalogue,
            meaning=self.meaning,
            background=self.background,
            git=git,
            snapshot=self.snapshot,
            rules=self.rules,
            count_proposals=lambda: count_proposals(self.filing.inbox, self.sight),
            count_insights=lambda: (self.signals.count_new(), self.inferences.count_stale()),
        )

    def _add_rules(self, clock: Callable[[], datetime]) -> None:
        self.rules = Rules(
            reading=self.reading,
            standing=self.standing,
            snapshot=self.snapshot,
            is_complete=self.catalogue.is_complete,
            clock=clock,
            environment=os.environ,
            root=self.root,
            cache=self.cache,
            keeps=self.scope.is_whole,
        )

    def _add_insights(self, clock: Callable[[], datetime]) -> None:
        whole = self.whole  # what is found and judged rests on all notes; what is shown is another matter
        if whole is self:
            self.detecting = Detecting(
                config=self.config,
                catalogue=self.catalogue,
                trash=self.trash,
                meaning=self.meaning,
                distances=self.distances,
                standing=self.standing,
                snapshot=self.snapshot,
                clock=clock,
            )
        self.sight = Sight(self.scope, whole.snapshot)
        self.signals = Signals(
            config=self.config,
            files=whole.files,
            catalogue=whole.catalogue,
            transactor=self.transactor,
            numbering=self.numbering,
            detecting=whole.detecting,
            sight=self.sight,
            snapshot=whole.snapshot,
            indexing=self._wait_indexed,
            actor=self.find_actor,
        )
        self.inferences = Inferences(
            config=self.config,
            files=whole.files,
            transactor=self.transactor,
            numbering=self.numbering,
            reading=self.reading,
            signals=self.signals,
            sight=self.sight,
            snapshot=whole.snapshot,
            clock=clock,
            actor=self.find_actor,
        )

    def _add_flashbacks(self, clock: Callable[[], datetime]) -> None:
        settings, warnings = parse_flashback_settings(os.environ)
        _warn(warnings)
        self.nearby = Nearby(self.catalogue, self.meaning, self.scope)
        self.flashbacks = Flashbacks(
            settings=settings,
            catalogue=self.catalogue,
            nearby=self.nearby,
            standing=self.standing,
            surfaced=Surfaced(self.catalogue, self.transactor, self.snapshot, self.find_actor),
            thresholds=self.thresholds,
            clock=clock,
            may_write=self.config.role != "reader",
        )

    def _add_writes(self, clock: Callable[[], datetime]) -> None:
        duplicate_distance, warnings = parse_duplicate_distance(os.environ)
        _warn(warnings)
        self.editing = Editing(
            config=self.config,
            files=self.files,
            transactor=self.transactor,
            indexer=self.indexer,
            catalogue=self.catalogue,
            reading=self.reading,
            numbering=self.numbering,
            relinker=Relinker(self.whole.files, self.whole.catalogue, self.whole.snapshot, self.scope),
            trash=self.trash,
            duplicates=Duplicates(
                files=self.files,
                nearby=self.nearby,
                thresholds=self.thresholds,
                snapshot=self.snapshot,
                duplicate_distance=duplicate_distance,
            ),
            answering=Answering(
                catalogue=self.catalogue,
                snapshot=self.snapshot,
                names=self.names,
                flashbacks=self.flashbacks,
                thresholds=self.thresholds,
                signals=self.signals,
                retired=self.retired_tags,
                role=self.config.role,
            ),
            filing=self.filing,
            snapshot=self.snapshot,
            clock=clock,
            scope=self.scope,
        )
        self.knowledge = open_knowledge(
            config=self.config,
            files=self.files,
            catalogue=self.catalogue,
            transactor=self.transactor,
            editing=self.editing,
            numbering=self.numbering,
            snapshot=self.snapshot,
            clock=clock,
            indexing=self.background.wait_complete,
            scope=self.scope,
        )
        self.trashing = Trashing(
            config=self.config, trash=self.trash, editing=self.editing, numbering=self.numbering, clock=clock
        )

    def thresholds(self) -> Thresholds:
        """Return which distances count as near, for this vault and its model."""
        return self.distances.find().thresholds

    def find_actor(self) -> str:
        """Return who the present call comes from."""
        return find_actor(self.config)

    def start(self, delay: float = 0.0, *, graph: bool = False) -> None:
        """Begin watching, indexing and embedding in the background; see `Background.start`.

        `graph` says that the knowledge graph is going to be asked for.
        """
        if self.transactor.pending.is_interrupted:  # half a change is nothing to answer from
            with suppress(MemexError):  # another process is long at work; the first pass tries again
                self.transactor.recover()
            delay = 0.0
        self.background.start(delay)
        self.knowledge.start(delay, wanted=graph)
        if self.whole.config.role != "reader":
            self.whole.watch.start()  # the person's decisions concern all connections

    def close(self, *, patient: bool = True) -> None:
        """Stop everything, make the last commits, close the stores. May be called twice.

        `patient` waits up to a second for editors that still write into a file we replaced; otherwise the next
        start looks after them.
        """
        with self._loading:
            if self._closed:
                return
            self._closed = True
        self.watch.stop()
        self.background.stop()
        self.knowledge.close()
        self.transactor.close(wait=patient)
        self.catalogue.close()


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        log.warning("%s", warning)
