"""Which notes may be out of date because what they link to, or what links to them, changed lately."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from vault_memex.memory.looks import TextChange

DEFAULT_DAYS = 14
MOST_DAYS = 365


@dataclass(frozen=True, slots=True)
class Moved:
    """A neighbour whose text changed, and by whom."""

    path: str
    change: TextChange


@dataclass(frozen=True, slots=True)
class Shaken:
    """A note around which something moved, the latest first."""

    path: str
    moved: tuple[Moved, ...]


def find_blast_radius(
    paths: Iterable[str],
    linked: Mapping[str, Collection[str]],
    find_change: Callable[[str], TextChange | None],
    looked_at: Callable[[str], str],
    since: str,
) -> list[Shaken]:
    """Return those of the notes around which notes changed since a moment: most neighbours first, then the latest.

    Not those that themselves changed since, nor neighbours that changed before a curator looked at the note.
    """
    found: list[Shaken] = []
    for path in paths:
        own = find_change(path)
        if own is not None and own.at >= since:
            continue
        seen = looked_at(path)
        moved = [
            Moved(other, change)
            for other in linked.get(path, ())
            if (change := find_change(other)) is not None and change.at >= since and change.at > seen
        ]
        if moved:
            moved.sort(key=lambda one: one.path)
            moved.sort(key=lambda one: one.change.at, reverse=True)
            found.append(Shaken(path, tuple(moved)))
    found.sort(key=lambda one: one.path)
    found.sort(key=lambda one: (len(one.moved), one.moved[0].change.at), reverse=True)
    return found
