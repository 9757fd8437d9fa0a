"""Skills: ways of working that assistants load and follow. Built-in ones, and notes that the person tagged `skill`.

A skill is called by its slug. A note's slug is its property `slug`, else made of its title and then kept whatever the
note is called later.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

from vault_memex.core.note import PropertyValue
from vault_memex.core.snapshot import NoteRecord
from vault_memex.memory.amendments import Amendments, check_validity
from vault_memex.memory.system_tags import SKILL, has_tag

Surface = Literal["tools", "resources", "prompts"]
SURFACES: tuple[Surface, ...] = get_args(Surface)

LONGEST_SLUG = 64  # characters
RESERVED = ("recall", "curation", "writing", "guide", "profile", "skills", "house-rules", "remember-me")
"""Slugs that no note gets: of the built-in skills, of those there may be, and of the other prompts."""

VERSION_DIGITS = 12
_OFF = frozenset(("false", "no", "off", "0"))
_NO_AMENDMENTS = Amendments()


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill without its text."""

    slug: str
    title: str
    description: str  # one line; empty when the note has no summary
    surfaces: tuple[Surface, ...] = SURFACES
    path: str = ""  # of the note; empty for a built-in one
    note_id: int | None = None


def is_skill(note: NoteRecord) -> bool:
    """Return whether a note is meant as a skill, served or not."""
    return has_tag(note.tags, SKILL)


def check_skill(note: NoteRecord, today: date) -> str:
    """Return why a note that is meant as a skill is not served; nothing when it is."""
    if note.pending:
        return "it waits for your approval"
    enabled = note.properties.get("skill_enabled")
    if enabled is False or (isinstance(enabled, str) and enabled.strip().casefold() in _OFF):
        return "skill_enabled switches it off"
    if not parse_surfaces(note.properties.get("skill_surfaces")):
        return f"skill_surfaces names none of {', '.join(SURFACES)}"
    status = check_validity(note, _NO_AMENDMENTS, today).status
    return "" if status == "current" else f"it is {status.replace('_', ' ')}"


def parse_surfaces(value: PropertyValue) -> tuple[Surface, ...]:
    """Return where a skill is offered: `tools`, `resources`, `prompts`, or all when the property is absent or empty."""
    if value in (None, "", []):
        return SURFACES
    named = {str(item).strip().casefold() for item in (value if isinstance(value, list) else [value])}
    return tuple(surface for surface in SURFACES if surface in named or surface.removesuffix("s") in named)


def build_slug(text: str) -> str:
    """Return small letters, digits and single hyphens, at most 64; `skill` when nothing of the text is left."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    kept = "".join(c if _is_of_word(c) else "-" for c in folded)
    slug = "-".join(part for part in kept.split("-") if part)
    return slug[:LONGEST_SLUG].rstrip("-") or SKILL


def _is_of_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def assign_slugs(notes: Iterable[NoteRecord], fixed: Mapping[str, str]) -> dict[str, str]:
    """Return the slug of each note by its path.

    `fixed` has the slugs that notes were served under, by path, in the order in which they were fixed. They come first;
    then notes get theirs from the oldest to the newest. A slug that is taken gets a number.
    """
    by_path = {note.path: note for note in notes}
    later = sorted((n for n in by_path.values() if n.path not in fixed), key=lambda n: (n.created, n.path))
    ordered = [*(by_path[path] for path in fixed if path in by_path), *later]
    taken = set(RESERVED)
    slugs: dict[str, str] = {}
    for note in ordered:
        slug = _find_free(find_own_slug(note) or fixed.get(note.path) or build_slug(note.title), taken)
        taken.add(slug)
        slugs[note.path] = slug
    return slugs


def find_own_slug(note: NoteRecord) -> str:
    """Return the slug that the person wrote into the note; nothing when there is none."""
    own = note.properties.get("slug")
    return build_slug(str(own)) if isinstance(own, str | int) and str(own).strip() else ""


def _find_free(slug: str, taken: Collection[str]) -> str:
    number, free = 2, slug
    while free in taken:
        tail = f"-{number}"
        free = slug[: LONGEST_SLUG - len(tail)].rstrip("-") + tail
        number += 1
    return free


def build_skill(note: NoteRecord, slug: str) -> Skill:
    """Return the skill that a note is."""
    return Skill(
        slug=slug,
        title=note.title,
        description=" ".join((note.summary or "").split()),
        surfaces=parse_surfaces(note.properties.get("skill_surfaces")),
        path=note.path,
        note_id=note.note_id,
    )


def find_version(skills: Iterable[Skill]) -> str:
    """Return what is another when slugs, descriptions or surfaces are: 12 hex digits."""
    lines = sorted(f"{one.slug}\t{one.description}\t{','.join(sorted(one.surfaces))}\n" for one in skills)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:VERSION_DIGITS]


def render_names(skills: Sequence[Skill], limit: int) -> str:
    """Return the slugs in one line of at most so many characters, with the number of those that did not fit."""
    return ", ".join(_fit([one.slug for one in skills], limit))


def _fit(names: Sequence[str], limit: int) -> Iterator[str]:
    room = limit
    for number, name in enumerate(names):
        room -= len(name) + 2
        if room < len(f"{len(names)} more") and number + 1 < len(names):
            yield f"{len(names) - number} more"
            return
        yield name
