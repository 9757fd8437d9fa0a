"""The picture of a vault, from its snapshot and the links of its catalogue."""

from __future__ import annotations

from vault_memex.core.filters import Filters
from vault_memex.core.snapshot import Snapshot
from vault_memex.memory.picture import Picture, TypedLink, build_picture
from vault_memex.store.catalogue import Catalogue


def find_picture(catalogue: Catalogue, snapshot: Snapshot, filters: Filters) -> Picture:
    """Return the notes that pass the filters, with their links; a link in a property has its name as type."""
    links = (
        TypedLink(source, target, (key or "").partition(".")[0])
        for source, target, key in catalogue.load_note_links()
    )
    return build_picture(snapshot, links, filters)
