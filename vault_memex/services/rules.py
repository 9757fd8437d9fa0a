"""House rules of one vault: which are in force, the text that assistants get, and why others are not in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from vault_memex.core.frontmatter import split_fences
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import BOM
from vault_memex.errors import MemexError
from vault_memex.memory.house_rules import (
    BUDGET,
    INJECT,
    MOST_RULES,
    HouseRules,
    RuleSettings,
    build_house_rules,
    build_rule,
    check_rule,
    find_considered,
    find_rules,
    parse_rule_settings,
)
from vault_memex.services.reading import Reading
from vault_memex.services.standing import Standing
from vault_memex.store.kept_rules import keep_rules, read_kept_rules

HOOK_BUDGET = 9_500  # characters: clients put what a hook says into a file when it is longer than 10,000
_DATES = ("valid_from", "valid_until")


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule note."""

    path: str
    title: str
    note_id: int | None
    in_force: bool
    why: str = ""  # when its text is not given to assistants, or not all of it


@dataclass(frozen=True, slots=True)
class RulesFound:
    """The rules as they are now."""

    text: str  # the section for assistants; empty when no rule is in force
    hook_text: str  # the same within what a hook may say
    rules: tuple[RuleRow, ...]  # all rule notes, in the order of their numbers
    warnings: tuple[str, ...] = ()


class Rules:
    """The house rules of one vault."""

    def __init__(
        self,
        *,
        reading: Reading,
        standing: Standing,
        snapshot: Callable[[], Snapshot],
        is_complete: Callable[[], bool],
        clock: Callable[[], datetime],
        environment: Mapping[str, str],
        root: Path,
        cache: Path,
        keeps: bool = True,
    ) -> None:
        self._keeps = keeps  # whether what is told may be kept for others: not what a scope leaves
        self._reading = reading
        self._standing = standing
        self._snapshot = snapshot
        self._is_complete = is_complete
        self._clock = clock
        self._settings, self._faults = parse_rule_settings(environment)
        self._root = root
        self._cache = cache
        self._told: str | None = None

    def find(self) -> RulesFound:
        """Return the rules in force and those that are not, from the files as they are now."""
        known, looked, faults = self._judge()
        texts = self._read([*looked, *(note for note in known if faults[note.path])][: 2 * MOST_RULES])
        notes, considered, faults = self._judge()  # anew: reading has brought the index up to files that changed
        faults |= {note.path: "it cannot be read" for note in considered if note.path not in texts}
        rules = [build_rule(note, texts[note.path]) for note in considered if note.path in texts]
        looked_at = {note.path for note in considered}
        beyond = {path: None for path, fault in faults.items() if not fault and path not in looked_at}
        house = build_house_rules(rules, self._settings, tuple(beyond))
        hook_settings = replace(self._settings, budget=min(self._settings.budget, HOOK_BUDGET))
        return RulesFound(
            text=house.text,
            hook_text=build_house_rules(rules, hook_settings, tuple(beyond)).text,
            rules=tuple(self._build_row(note, faults[note.path], house, beyond) for note in notes),
            warnings=(*self._faults, *house.warnings),
        )

    def _judge(self) -> tuple[Sequence[NoteRecord], Sequence[NoteRecord], dict[str, str]]:
        """Return all rule notes, those in force that are looked at, and by path why others are not in force."""
        standings = self._standing.find()
        notes = find_rules(standings.snapshot.notes.values())
        faults = {note.path: check_rule(note, standings.amendments, standings.today) for note in notes}
        return notes, find_considered([note for note in notes if not faults[note.path]]), faults

    def _read(self, notes: Sequence[NoteRecord]) -> dict[str, str]:
        """Return the texts of notes by path. What changed outside is followed into the index on the way."""
        texts: dict[str, str] = {}
        for note in notes:
            with suppress(MemexError):  # gone or unreadable; it is said of the rule
                texts[note.path] = _without_frontmatter(self._reading.read_text(note.path))
        return texts

    def _build_row(self, note: NoteRecord, fault: str, house: HouseRules, beyond: Collection[str]) -> RuleRow:
        why = fault or _find_why(note.path, house, self._settings, beyond)
        return RuleRow(note.path, note.title, note.note_id, not fault, why)

    # -- what was told, and for the next hook

    def tell(self) -> str:
        """Return the section for the server's instructions, and remember it as what the assistant was told.

        What was kept is taken while it holds, so that a start need not load the whole vault.
        """
        kept = read_kept_rules(str(self._cache), str(self._root), self._today()) if self._keeps else None
        if kept is not None:
            self._told = str(kept["text"])
            return self._told
        found = self.find()
        self._told = found.text
        self.keep(found)
        return found.text

    def differ(self, found: RulesFound) -> bool:
        """Return whether the rules are others than the assistant was told at the start; that takes a restart."""
        return self._told is not None and self._told != found.text

    def keep(self, found: RulesFound) -> bool:
        """Keep the texts for the next hook; return whether that was done: not of half an index."""
        if not self._keeps or not self._is_complete():
            return False
        snapshot = self._snapshot()
        notes = find_rules(snapshot.notes.values())
        dated = any(name in note.properties for note in notes for name in _DATES)
        with suppress(OSError):
            return keep_rules(
                str(self._cache),
                str(self._root),
                revision=snapshot.revision,
                paths=[note.path for note in notes],
                texts={"text": found.text, "hook": found.hook_text, "warnings": list(found.warnings)},
                day=self._today() if dated else "",
            )
        return False

    def _today(self) -> str:
        return self._clock().date().isoformat()


def _without_frontmatter(text: str) -> str:
    fences = split_fences(text)
    return text[fences[0].end :] if fences is not None else text.removeprefix(BOM)


def _find_why(path: str, house: HouseRules, settings: RuleSettings, beyond: Collection[str]) -> str:
    if not settings.inject:
        return f"{INJECT} switches rules off"
    if path in beyond:
        return f"only the first {MOST_RULES} rules are looked at"
    if path in house.omitted:
        return f"it does not fit: {BUDGET} is {settings.budget}"
    return f"it is cut: {BUDGET} is {settings.budget}" if house.truncated else ""
