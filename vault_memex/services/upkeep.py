"""What keeps the notes in order, made of the services of one connection: flags, pairs of notes, run records, tags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from vault_memex.config import Config
from vault_memex.memory.scope import Scope
from vault_memex.services.detecting import Detecting
from vault_memex.services.editing import Editing
from vault_memex.services.filing import Filing
from vault_memex.services.flag_files import FlagFiles
from vault_memex.services.flags import Flags
from vault_memex.services.pairs import Pairs
from vault_memex.services.retired_tags import RetiredTags
from vault_memex.services.runs import Runs
from vault_memex.services.tags import Tags
from vault_memex.store.files import VaultFiles
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
    scope: Scope
    clock: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Upkeep:
    """The services by which notes are kept in order."""

    flags: Flags
    pairs: Pairs
    runs: Runs
    tags: Tags


def open_upkeep(parts: Parts) -> Upkeep:
    """Return them for one connection."""
    config, editing, clock = parts.config, parts.editing, parts.clock
    return Upkeep(
        Flags(config, parts.flag_files, editing, parts.filing, clock),
        Pairs(config, parts.detecting, editing, parts.filing, parts.files),
        Runs(config, editing, parts.trash, parts.scope, clock),
        Tags(editing, parts.retired_tags, clock),
    )
