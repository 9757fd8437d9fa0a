"""What changed between the catalogue and a scan, and which of it was a move. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from vault_memex.core.changes import Signature
from vault_memex.core.text import base_of
from vault_memex.index.scan import Scan

MASS_REMOVAL = 20  # notes; in a smaller vault losing most of them is an ordinary day


@dataclass(frozen=True, slots=True)
class Diff:
    """Paths in order. Unchanged ones are not in it."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # or racy: to be read and compared by content
    removed: tuple[str, ...] = ()
    attachments_added: tuple[str, ...] = ()
    attachments_removed: tuple[str, ...] = ()


class Identity(NamedTuple):
    """What a note is recognised by under another path."""

    revision: str
    own_id: int | None
    size: int
    inode: int


def find_diff(
    scan: Scan, known: Mapping[str, Signature], racy: Collection[str], attachments: Collection[str]
) -> Diff:
    """Return what to look at. Nothing under a folder that could not be read counts as removed."""
    notes = scan.notes
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    if racy or known != notes:
        added = tuple(sorted(notes.keys() - known.keys()))
        changed = tuple(sorted(p for p, s in notes.items() if p in known and (known[p] != s or p in racy)))
        removed = tuple(sorted(p for p in known.keys() - notes.keys() if not _is_unknown(p, scan)))
    before = set(attachments)
    return Diff(
        added,
        changed,
        removed,
        tuple(sorted(scan.attachments - before)),
        tuple(sorted(p for p in before - scan.attachments if not _is_unknown(p, scan))),
    )


def is_mass_removal(removed: int, known: int) -> bool:
    """Whether so much is gone that an unmounted or half-read vault is likelier than the person's wish."""
    return known >= MASS_REMOVAL and removed * 2 > known


class MoveFinder:
    """Pairs notes that are gone with notes that are new, each once.

    A note is the same by its `id` in the frontmatter, else by its content; among several of equal content by
    inode, then by name. An empty note has no content to be known by, so it needs the inode.
    """

    def __init__(self, gone: Mapping[str, Identity]) -> None:
        self._gone = dict(gone)
        self._by_revision: dict[str, list[str]] = {}
        self._by_id: dict[int, str] = {}
        for path, identity in sorted(gone.items()):
            self._by_revision.setdefault(identity.revision, []).append(path)
            if identity.own_id is not None:
                self._by_id.setdefault(identity.own_id, path)

    @property
    def remaining(self) -> Iterable[str]:
        """The paths that found no new place."""
        return self._gone.keys()

    def find_old(self, path: str, new: Identity) -> str | None:
        """Return the path that the new note had before, if it is one of the gone ones."""
        old = self._find(path, new)
        if old is not None:
            identity = self._gone.pop(old)
            self._by_revision[identity.revision].remove(old)
        return old

    def _find(self, path: str, new: Identity) -> str | None:
        if new.own_id is not None and (old := self._by_id.get(new.own_id)) in self._gone:
            return old
        candidates = self._by_revision.get(new.revision, ())
        for old in candidates:
            if self._gone[old].inode == new.inode:
                return old
        if not new.size:
            return None
        name = base_of(path)
        return min(candidates, key=lambda old: base_of(old) != name, default=None)


def _is_unknown(path: str, scan: Scan) -> bool:
    return any(path.startswith(folder + "/") for folder in scan.unreadable)
