"""What keeps the notes in order, for one connection: flags, pairs of notes, run records, tags, the queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from vault_memex.config import Config
from vault_memex.core.snapshot import Snapshot
from vault_memex.index.meaning import Meaning
from vault_memex.memory.scope import Scope
from vault_memex.services.curation import Curation
from vault_memex.services.detecting import Detecting
from vault_memex.services.editing import Editing
from vault_memex.services.filing import Filing
from vault_memex.services.flag_files import FlagFiles
from vault_memex.services.flags import Flags
from vault_memex.services.note_facts import NoteFacts
from vault_memex.services.note_logs import NoteLogs
from vault_memex.services.pairs import Pairs
from vault_memex.services.retired_tags import RetiredTags
from vault_memex.services.runs import Runs
from vault_memex.services.signals import Signals
from vault_memex.services.standing import Standing
from vault_memex.services.tags import Tags
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import VaultFiles
from vault_memex.store.leases import Leases
from vault_memex.store.trash import Trash


class Parts(Protocol):
    """What a connection has that these are made of; `detecting` is the whole vault's."""

    config: Config
    files: VaultFiles
    flag_files: FlagFiles
    retired_tags: RetiredTags
    detecting: Detecting
    editing: Editing
    filing: Filing
    trash: Trash
    catalogue: Catalogue
    meaning: Meaning
    standing: Standing
    signals: Signals
    logs: NoteLogs
    cache: Path
    scope: Scope
    clock: Callable[[], datetime]

    def settled(self) -> Snapshot:
        """Return the snapshot to answer from."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """The services by which notes are kept in order."""

    flags: Flags
    pairs: Pairs
    runs: Runs
    tags: Tags
    curation: Curation


def open_upkeep(parts: Parts) -> Upkeep:
    """Return them for one connection."""
    config, editing, clock = parts.config, parts.editing, parts.clock
    facts = NoteFacts(
        files=parts.files,
        catalogue=parts.catalogue,
        meaning=parts.meaning,
        standing=parts.standing,
        signals=parts.signals,
        inbox=parts.filing.inbox,
        logs=parts.logs,
        follows_links=parts.scope.is_whole,
    )
    curation = Curation(
        config=config,
        facts=facts,
        flag_files=parts.flag_files,
        leases=Leases(parts.cache),
        snapshot=parts.settled,
        clock=clock,
        sees_all=parts.scope.is_whole,
    )
    return Upkeep(
        Flags(config, parts.flag_files, editing, parts.filing, clock),
        Pairs(config, parts.detecting, editing, parts.filing, parts.files),
        Runs(config, editing, parts.trash, parts.scope, clock, curation=curation),
        Tags(editing, parts.retired_tags, clock),
        curation,
    )
