"""The vault as a picture: notes, and the links and relations between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from vault_memex.core.filters import Filters, check_filters
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.memory.knowledge import find_entity_type


class TypedLink(NamedTuple):
    """A link from one note to another, by their paths."""

    source: str
    target: str
    type: str  # what kind of relation it states; "" for a plain link


@dataclass(frozen=True, slots=True)
class PictureNote:
    """A note as the picture shows it."""

    path: str
    title: str
    layer: str  # "" for a plain note
    entity_type: str  # "" for what is no entity
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PictureLink:
    """All links from one note to another, as one line."""

    source: int  # place in `Picture.notes`
    target: int
    types: tuple[str, ...]  # of the relations among them, sorted; empty when all are plain


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn. No link leads out of it."""

    notes: tuple[PictureNote, ...]  # in order of path
    links: tuple[PictureLink, ...]  # by source, then target; none from a note to itself
    notes_total: int  # in the vault, shown or not


def build_picture(snapshot: Snapshot, links: Iterable[TypedLink], filters: Filters) -> Picture:
    """Return the notes that pass the filters, and the links between them."""
    records = [note for _, note in sorted(snapshot.notes.items()) if check_filters(filters, note)]
    places = {note.path: place for place, note in enumerate(records)}
    types: dict[tuple[int, int], set[str]] = {}
    for link in links:
        source, target = places.get(link.source), places.get(link.target)
        if source is not None and target is not None and source != target:
            types.setdefault((source, target), set()).add(link.type)
    return Picture(
        notes=tuple(map(_build_note, records)),
        links=tuple(PictureLink(*ends, tuple(sorted(found - {""}))) for ends, found in sorted(types.items())),
        notes_total=len(snapshot.notes),
    )


def _build_note(record: NoteRecord) -> PictureNote:
    return PictureNote(
        path=record.path,
        title=record.title,
        layer=record.layer or "",
        entity_type=find_entity_type(record.properties).strip(),
        tags=record.tags,
    )
