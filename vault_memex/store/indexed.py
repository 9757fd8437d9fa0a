"""What goes into the catalogue: a note made ready for its tables, and a batch of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from vault_memex.core.changes import Signature
from vault_memex.core.note import PropertyValue


class IndexedLink(NamedTuple):
    """A link as the catalogue keeps it, before a file is found for it."""

    kind: str
    target: str
    subpath: str
    display: str | None
    property: str | None  # frontmatter only
    start: int
    end: int
    key: str  # core.links.link_key of the target


class IndexedPassage(NamedTuple):
    """Where a passage stands and the hash of the text that is embedded for it."""

    ordinal: int
    hash: str  # 32 hex digits
    heading_path: tuple[str, ...]
    start: int
    end: int
    chars: int


class WordFields(NamedTuple):
    """The analysed terms of each part of a note, joined by spaces: the columns of the keyword index."""

    title: str = ""
    aliases: str = ""
    headings: str = ""
    tags: str = ""
    body: str = ""


NO_WORDS = WordFields()


@dataclass(frozen=True, slots=True)
class IndexedNote:
    """Everything the catalogue keeps of one note. Made from its bytes alone, in any process."""

    path: str
    signature: Signature
    racy: bool  # read within two seconds of a change, so the signature may hide another one
    revision: str
    title: str
    aliases: tuple[str, ...] = ()
    former_titles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    layer: str | None = None
    summary: str | None = None
    own_id: int | None = None  # as the frontmatter has it
    own_created: str | None = None
    own_updated: str | None = None
    chars: int = 0
    notices: tuple[str, ...] = ()
    links: tuple[IndexedLink, ...] = ()
    definitions: frozenset[str] = frozenset()  # keys of what reference definitions name, as IndexedLink.key
    passages: tuple[IndexedPassage, ...] = ()
    words: WordFields = NO_WORDS
    graph: str | None = None  # memory.knowledge.render_graph of an entity


class Touch(NamedTuple):
    """A file whose bytes are as they were but whose signature is not (or is no longer racy)."""

    path: str
    signature: Signature
    racy: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes for one transaction. A moved note is also among the upserts, under its new path."""

    upserts: Sequence[IndexedNote] = ()
    touches: Sequence[Touch] = ()
    attachments: Sequence[str] = ()  # new ones
    deletes: Sequence[str] = ()  # of notes and attachments
    moves: Sequence[tuple[str, str]] = ()  # (old, new): keeps what hangs on the note's row, such as its number
    expected: Mapping[str, Signature] | None = None
    """When given: the signature each path had when the disk was looked at (none for a path that was unknown).

    A row that is different by now has been brought up to date by somebody else, perhaps from newer bytes: it is
    left alone.
    """

    def __bool__(self) -> bool:
        return bool(self.upserts or self.touches or self.attachments or self.deletes or self.moves)


@dataclass(frozen=True, slots=True)
class Applied:
    """The catalogue revision after a batch, and the paths that were left alone."""

    revision: int
    skipped: tuple[str, ...] = ()
