"""What a note gains when another is merged into it: tags, names and properties that it lacks; what it has stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vault_memex.core.links import FindFiles, resolve_link
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import RESERVED_PROPERTIES, ParsedNote, PropertyValue
from vault_memex.core.property_edit import plan_properties
from vault_memex.core.tags import merge_tags
from vault_memex.core.text import name_key

_TAKEN = frozenset(("summary", "source_url", "author", "derives_from", "amends", "amend_kind"))
_OWN = frozenset(("former_ids", "knowledge_graph", "date", "locked", "slug", "skill_enabled", "skill_surfaces"))
_ABOUT_ITSELF = (RESERVED_PROPERTIES - _TAKEN) | _OWN
"""Properties that say what the merged note was, or when: of another note they would not be true."""


@dataclass(frozen=True, slots=True)
class Named:
    """A note and the title it goes by, which its text need not say."""

    title: str
    note: ParsedNote


@dataclass(frozen=True, slots=True)
class Gains:
    """What the keeper gets."""

    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    former_titles: tuple[str, ...] = ()
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)

    def describe(self) -> tuple[str, ...]:
        """Return one line for each kind of thing."""
        lines = {
            "tags": self.tags,
            "aliases": self.aliases,
            "former titles": self.former_titles,
            "properties": tuple(self.properties),
        }
        return tuple(f"{name}: {', '.join(values)}" for name, values in lines.items() if values)


def find_gains(keeper: Named, merged: Named) -> Gains:
    """Return what the keeper lacks of the note that is merged into it."""
    into, gone = keeper.note, merged.note
    known = {name_key(keeper.title), *map(name_key, into.aliases)}
    former = {name_key(title) for title in _find_texts(into.properties.get("former_titles"))}
    tags = {name_key(tag) for tag in into.tags}
    have = {"summary", "description"} if {"summary", "description"} & into.properties.keys() else set[str]()
    if "amends" in into.properties:
        have.add("amend_kind")  # it says how, of the other one
    return Gains(
        tuple(tag for tag in merge_tags(gone.tags) if name_key(tag) not in tags),
        _find_missing((merged.title, *gone.aliases), known),
        _find_missing(_find_texts(gone.properties.get("former_titles")), former),
        {
            name: value
            for name, value in gone.properties.items()
            if name not in _ABOUT_ITSELF and name not in into.properties and name not in have
        },
    )


def plan_gains(text: str, gains: Gains) -> str:
    """Return the keeper's text with what it gains. Raises FrontmatterInvalid when its properties cannot be edited."""
    lists: dict[str, Sequence[PropertyValue]] = {
        "tags": gains.tags,
        "aliases": gains.aliases,
        "former_titles": gains.former_titles,
    }
    return plan_properties(text, gains.properties, (), {name: items for name, items in lists.items() if items})


def plan_standing(text: str, path: str, find_files: FindFiles) -> str:
    """Return the keeper's text without `amends` or `superseded_by` that would name itself: then it stands."""
    note = parse_note(text)
    gone = [
        link.key
        for link in note.links
        if link.key in ("amends", "superseded_by") and resolve_link(link.target, path, find_files).path == path
    ]
    return plan_properties(text, {}, (*gone, "amend_kind") if "amends" in gone else gone)


def _find_missing(names: Sequence[str], known: set[str]) -> tuple[str, ...]:
    missing: dict[str, str] = {}
    for name in names:
        if name_key(name) not in known:
            missing.setdefault(name_key(name), name)
    return tuple(missing.values())


def _find_texts(value: PropertyValue) -> tuple[str, ...]:
    return tuple(_yield_texts(value))


def _yield_texts(value: PropertyValue) -> Iterator[str]:
    items = value if isinstance(value, list) else [value]
    yield from (item for item in items if isinstance(item, str))
