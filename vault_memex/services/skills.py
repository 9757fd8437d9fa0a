"""The skills of one connection: which there are, under which slug, and the text of one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from vault_memex.core.frontmatter import without_frontmatter
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import name_key
from vault_memex.errors import MemexError, NotFound
from vault_memex.memory.connections import Connection
from vault_memex.memory.scope import Scope
from vault_memex.memory.skills import (
    SURFACES,
    Skill,
    Surface,
    assign_slugs,
    build_skill,
    check_skill,
    find_version,
    is_skill,
)
from vault_memex.memory.system_tags import SKILL
from vault_memex.services.numbering import Numbering
from vault_memex.services.reading import Reading
from vault_memex.store.builtin_skills import BuiltinSkill, read_builtin_skills
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.transaction import Stores, Transactor

SKILL_URI = "memex://skill/"
LOCK_SECONDS = 1.0  # a slug that cannot be fixed now is fixed the next time


@dataclass(frozen=True, slots=True)
class UnservedSkill:
    """A note tagged `skill` that assistants are not given."""

    path: str
    title: str
    why: str


@dataclass(frozen=True, slots=True)
class SkillsFound:
    """The skills as they are now."""

    skills: tuple[Skill, ...]  # built-in ones, then the person's by slug
    version: str  # another when slug, description or surfaces of one are
    unserved: tuple[UnservedSkill, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadedSkill:
    """A skill with its text."""

    skill: Skill
    text: str


@dataclass(frozen=True, slots=True)
class _Looked:
    """What was found, and what it rests on."""

    revision: int  # of the catalogue
    snapshot: Snapshot | None  # None after a first look, which loads no more than it needs
    fixed: Mapping[int, str]
    today: date
    found: SkillsFound
    unfixed: Mapping[str, str]  # slugs by path that no line of `ids.tsv` says yet

    def rests_on(self, revision: int, fixed: Mapping[int, str], today: date) -> bool:
        """Return whether a look now would find the same."""
        return self.revision == revision and self.fixed is fixed and self.today == today


class Parts(Protocol):
    """What a connection has that skills are made of."""

    transactor: Transactor
    numbering: Numbering
    reading: Reading
    connection: Connection
    clock: Callable[[], datetime]


class Whole(Protocol):
    """The vault as a whole."""

    catalogue: Catalogue

    def snapshot(self) -> Snapshot:
        """Return all notes."""


def open_skills(parts: Parts, whole: Whole) -> Skills:
    """Return the skills of one connection of a vault."""
    return Skills(
        catalogue=whole.catalogue,
        snapshot=whole.snapshot,
        stores=parts.transactor.stores,
        numbering=parts.numbering,
        reading=parts.reading,
        connection=parts.connection,
        clock=parts.clock,
    )


class Skills:
    """Finds and loads skills. Slugs are those of the whole vault, whatever a connection sees of it."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        snapshot: Callable[[], Snapshot],
        stores: Stores,
        numbering: Numbering,
        reading: Reading,
        connection: Connection,
        clock: Callable[[], datetime],
    ) -> None:
        self._catalogue = catalogue  # of the whole vault, as is the snapshot
        self._snapshot = snapshot
        self._ids = stores.ids
        self._lock = stores.lock
        self._numbering = numbering
        self._reading = reading
        self._scope = Scope(connection.scopes)
        self._hidden = frozenset(map(name_key, connection.hidden_skills))
        self._may_write = connection.role != "reader"
        self._clock = clock
        self._looking = threading.Lock()
        self._meant: dict[str, NoteRecord] = {}  # notes that are meant as skills
        self._looked: _Looked | None = None

    def find(self) -> SkillsFound:
        """Return the skills that this connection is offered somewhere, and the notes that are none yet."""
        return self._look().found

    def offer(self, surface: Surface | None = None) -> tuple[Skill, ...]:
        """Return the skills that are offered as `tools`, `resources` or `prompts`; None: somewhere."""
        return tuple(skill for skill in self.find().skills if surface is None or surface in skill.surfaces)

    def load(self, slug: str, surface: Surface | None = None) -> LoadedSkill:
        """Return a skill with its text, as it is now. Raises NotFound that lists those there are."""
        skill = self._get(slug, surface)
        if not skill.path:
            return LoadedSkill(skill, _get_builtin(skill.slug).text)
        self.fix()
        text = self._reading.read_text(skill.path)
        again = self._get(slug, surface)  # reading has brought the index up to a file that changed
        if again.path != skill.path:
            text = self._reading.read_text(again.path)
        return LoadedSkill(again, without_frontmatter(text).strip("\n") + "\n")

    def _get(self, slug: str, surface: Surface | None) -> Skill:
        key = name_key(slug.strip().removeprefix(SKILL_URI))
        offered = self.offer(surface)
        for skill in offered:
            if name_key(skill.slug) == key:
                return skill
        names = [skill.slug for skill in offered]
        raise NotFound(f"No skill {slug.strip()!r}. There are: {', '.join(names) or 'none'}.", names)

    def fix(self) -> None:
        """Write down slugs that are served for the first time. What cannot be written now is the next time."""
        if not self._may_write or not self._look().unfixed:
            return
        with suppress(MemexError), self._lock.hold(LOCK_SECONDS):
            self._numbering.number_all()
            unfixed = self._look().unfixed
            if unfixed:
                self._ids.fix_skills(tuple(unfixed.items()))

    def _look(self) -> _Looked:
        revision, fixed, today = self._catalogue.revision, self._ids.skills(), self._clock().date()
        with self._looking:
            before = self._looked
            if before is not None and before.rests_on(revision, fixed, today):
                return before
            snapshot = self._snapshot() if before is not None else None  # a start loads nothing for this
            self._follow(snapshot, before.snapshot if before is not None else None)
            found, unfixed = self._build(fixed, today)
            seen = revision if snapshot is None else snapshot.revision
            self._looked = _Looked(seen, snapshot, fixed, today, found, unfixed)
            return self._looked

    def _follow(self, snapshot: Snapshot | None, since: Snapshot | None) -> None:
        """Bring the notes that are meant as skills up to a snapshot; without one, from the catalogue alone."""
        if since is None:
            self._meant.clear()
        changes = snapshot.find_changes(since) if snapshot is not None else None
        for note in changes.before if changes is not None else ():
            self._meant.pop(note.path, None)
        notes = changes.after if changes is not None else self._catalogue.find_tagged(SKILL)
        self._meant |= {note.path: note for note in notes if is_skill(note)}

    def _build(self, fixed: Mapping[int, str], today: date) -> tuple[SkillsFound, Mapping[str, str]]:
        """Return what is found, and the slugs that are still to be fixed."""
        whys = {path: check_skill(note, today) for path, note in self._meant.items()}
        served = [note for path, note in self._meant.items() if not whys[path]]
        numbers = {note.note_id: note.path for note in served}
        known = {numbers[number]: slug for number, slug in fixed.items() if number in numbers}
        slugs = assign_slugs(served, known)
        own = (build_skill(note, slugs[note.path]) for note in served if self._scope.holds(note.path))
        skills = (*map(_build_builtin, read_builtin_skills()), *sorted(own, key=lambda skill: skill.slug))
        unserved = tuple(
            UnservedSkill(path, self._meant[path].title, why)
            for path, why in sorted(whys.items())
            if why and self._scope.holds(path)
        )
        shown = tuple(skill for skill in skills if name_key(skill.slug) not in self._hidden)
        unfixed = {path: slug for path, slug in slugs.items() if known.get(path) != slug}
        return SkillsFound(shown, find_version(shown), unserved), unfixed


def _build_builtin(skill: BuiltinSkill) -> Skill:
    return Skill(skill.slug, skill.title, skill.description, SURFACES)


def _get_builtin(slug: str) -> BuiltinSkill:
    return next(skill for skill in read_builtin_skills() if skill.slug == slug)
