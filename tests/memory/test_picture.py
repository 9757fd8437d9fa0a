"""What a picture of the vault shows, and what it leaves out."""

from __future__ import annotations

from types import MappingProxyType

from vault_memex.core.filters import parse_filters
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.memory.picture import Picture, PictureLink, TypedLink, build_picture


def _note(path: str, *, tags: tuple[str, ...] = (), layer: str | None = None, entity: object = None) -> NoteRecord:
    properties = MappingProxyType({} if entity is None else {"entity_type": entity})
    return NoteRecord(path, path.removesuffix(".md"), "0" * 32, tags=tags, layer=layer, properties=properties)


SNAPSHOT = Snapshot(
    1,
    {
        note.path: note
        for note in (
            _note("C.md", tags=("garden/roses",), layer="past"),
            _note("A.md", tags=("garden",), entity="person"),
            _note("B.md", entity=["person", "author"]),
        )
    },
)
LINKS = (
    TypedLink("C.md", "A.md", ""),
    TypedLink("A.md", "B.md", "knows"),
    TypedLink("A.md", "B.md", ""),
    TypedLink("A.md", "B.md", "employs"),
    TypedLink("A.md", "A.md", ""),
    TypedLink("A.md", "gone.md", ""),
)


def _build(**filters: object) -> Picture:
    return build_picture(SNAPSHOT, LINKS, parse_filters(**filters))  # type: ignore[arg-type]


def test_links_between_two_notes_are_one_line_with_its_relations_and_none_leads_to_the_note_itself() -> None:
    picture = _build()

    assert ["A.md", "B.md", "C.md"] == [note.path for note in picture.notes]
    assert (PictureLink(0, 1, ("employs", "knows")), PictureLink(2, 0, ())) == picture.links


def test_an_entity_has_its_type_and_several_types_are_one_text() -> None:
    assert ["person", "person, author", ""] == [note.entity_type for note in _build().notes]


def test_a_filter_leaves_out_notes_and_the_links_that_would_lead_to_them() -> None:
    picture = _build(tags=["garden"])

    assert ["A.md", "C.md"] == [note.path for note in picture.notes]
    assert (PictureLink(1, 0, ()),) == picture.links
    assert 3 == picture.notes_total


def test_the_order_of_notes_and_links_does_not_depend_on_how_they_were_found() -> None:
    turned = Snapshot(1, dict(reversed(SNAPSHOT.notes.items())))

    assert _build() == build_picture(turned, tuple(reversed(LINKS)), parse_filters())
