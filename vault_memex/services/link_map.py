"""Which notes are linked with which, and which have links that lead nowhere; followed from snapshot to snapshot."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from vault_memex.core.snapshot import NoteChanges, Snapshot
from vault_memex.store.catalogue import Catalogue

_MOST_FOLLOWED = 200  # changed notes; loading all links is then as fast


@dataclass(frozen=True, slots=True)
class Links:
    """Of one snapshot. Nothing in it is changed later."""

    snapshot: Snapshot
    targets: Mapping[str, Collection[str]] = field(default_factory=dict)  # notes that a note links to
    linked: Mapping[str, Collection[str]] = field(default_factory=dict)  # in either direction
    dangling: Collection[str] = frozenset()


class LinkMap:
    """Keeps the links of the present snapshot; any thread may ask.

    `follows` False loads all anew after every change: what a scope hides looks as if it led nowhere.
    """

    def __init__(self, catalogue: Catalogue, *, follows: bool) -> None:
        self._catalogue = catalogue
        self._follows = follows
        self._lock = threading.Lock()
        self._kept: Links | None = None

    def find(self, snapshot: Snapshot) -> Links:
        """Return the links of a snapshot."""
        with self._lock:
            kept = self._kept
            if kept is None or kept.snapshot is not snapshot:
                changes = snapshot.find_changes(kept.snapshot) if kept is not None and self._follows else None
                if kept is None or changes is None or not _can_follow(kept.snapshot, snapshot, changes):
                    kept = self._load(snapshot)
                elif changes.after:
                    kept = self._follow(kept, snapshot, changes)
                else:
                    kept = Links(snapshot, kept.targets, kept.linked, kept.dangling)
                self._kept = kept
            return kept

    def _load(self, snapshot: Snapshot) -> Links:
        targets = self._catalogue.load_linked_notes()
        linked = {source: set(found) for source, found in targets.items()}
        for source, found in targets.items():
            for target in found:
                linked.setdefault(target, set()).add(source)
        dangling = {source for group in self._catalogue.find_unresolved() for source in group.sources}
        return Links(snapshot, targets, linked, dangling)

    def _follow(self, kept: Links, snapshot: Snapshot, changes: NoteChanges) -> Links:
        targets, linked, dangling = dict(kept.targets), dict(kept.linked), set(kept.dangling)
        for note in changes.after:
            source, rows = note.path, self._catalogue.find_links(note.path)
            before = set(targets.get(source, ()))
            found = {row.path for row in rows if row.path is not None and row.path != source}
            after = found & snapshot.notes.keys()
            targets[source] = after
            for target in before ^ after:
                joined = target in after or source in targets.get(target, ())
                for one, other in ((source, target), (target, source)):
                    others = set(linked.get(one, ()))
                    linked[one] = others | {other} if joined else others - {other}
            (dangling.add if any(row.path is None for row in rows) else dangling.discard)(source)
        return Links(snapshot, targets, linked, dangling)


def _can_follow(before: Snapshot, after: Snapshot, changes: NoteChanges) -> bool:
    """Return whether only notes changed, and no file came or went, to which other notes' links may lead now."""
    return (
        before.attachments is after.attachments
        and len(changes.after) <= _MOST_FOLLOWED
        and {note.path for note in changes.before} == {note.path for note in changes.after}
    )
