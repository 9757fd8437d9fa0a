"""Flashbacks: older notes from elsewhere that a new note, or the best hit of a search, brings back."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import name_key
from vault_memex.memory.days import find_day
from vault_memex.memory.system_tags import SKILL, has_tag
from vault_memex.memory.thresholds import Thresholds, match_percent

DAYS = "MEMEX_FLASHBACK_DAYS"
DISTANCE = "MEMEX_FLASHBACK_DIST"
LIMIT = "MEMEX_FLASHBACK_LIMIT"
CANDIDATES = 500  # to look at: with 15, an author measured, half of the notes he had linked by hand were missed
DEFAULT_DISTANCE = 0.4

_RARE_SHARE = 0.02  # a term is rare in at most this share of the notes
_MIN_SHARED = 3
_MIN_SCORE = 0.25


@dataclass(frozen=True, slots=True)
class FlashbackSettings:
    """What the person chose."""

    days: int = 90  # how old a note must be
    distance: float | None = (
        None  # strictly below; None: the default, or less where the vault's calibration says so
    )
    limit: int = 3  # 0 switches flashbacks off

    def find_distance(self, thresholds: Thresholds) -> float:
        """Return the distance in force."""
        return self.distance if self.distance is not None else min(DEFAULT_DISTANCE, thresholds.related)


@dataclass(frozen=True, slots=True)
class Flashback:
    """An older note, and how well it fits."""

    path: str
    note_id: int | None
    title: str
    days: int  # since it was created
    percent: int | None  # None when there are no vectors and shared words decided


def parse_flashback_settings(environment: Mapping[str, str]) -> tuple[FlashbackSettings, tuple[str, ...]]:
    """Return the settings and warnings. A value that cannot be used leaves the default."""
    default = FlashbackSettings()
    warnings: list[str] = []
    days = _parse_count(environment, DAYS, default.days, warnings)
    limit = _parse_count(environment, LIMIT, default.limit, warnings)
    distance = default.distance
    text = environment.get(DISTANCE, "").strip()
    if text:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if 0 <= value <= 2:
            distance = value
        else:
            warnings.append(f"{DISTANCE}={text!r} is no cosine distance from 0 to 2; the default is used.")
    return FlashbackSettings(days, distance, limit), tuple(warnings)


def _parse_count(environment: Mapping[str, str], name: str, default: int, warnings: list[str]) -> int:
    text = environment.get(name, "").strip()
    if not text:
        return default
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    warnings.append(f"{name}={text!r} is no whole number from 0 on; {default} is used.")
    return default


def find_flashbacks(
    anchor: NoteRecord,
    near: Iterable[tuple[str, float]],
    notes: Mapping[str, NoteRecord],
    settings: FlashbackSettings,
    *,
    distance: float | None,
    linked: Collection[str],
    superseded: Collection[str] | Mapping[str, str],
    today: date,
) -> tuple[Flashback, ...]:
    """Return the anchor's flashbacks, nearest first.

    `near` holds (path, distance) of up to 500 notes. `distance` is `settings.find_distance(...)`; None means that
    `near` comes from shared words, best first: then nothing is measured and there is no percentage. `linked` holds
    the paths that link to the anchor or are linked from it.
    """
    if settings.limit == 0:
        return ()
    found: list[Flashback] = []
    measured = sorted(near, key=lambda pair: (pair[1], pair[0])) if distance is not None else list(near)
    for path, apart in measured:
        if distance is not None and apart >= distance:
            break
        note = notes.get(path)
        if note is None or path in linked or path in superseded or not _may_surface(anchor, note):
            continue
        created = find_day(note.created)
        if created is None or (today - created).days < settings.days:
            continue
        percent = match_percent(apart) if distance is not None else None
        found.append(Flashback(path, note.note_id, note.title, (today - created).days, percent))
        if len(found) == settings.limit:
            break
    return tuple(found)


def _may_surface(anchor: NoteRecord, note: NoteRecord) -> bool:
    if note.path == anchor.path or note.pending or note.layer == "rule":
        return False
    if has_tag(note.tags, SKILL):
        return False
    one, other = _top_folder(anchor.path), _top_folder(note.path)
    return one is None or other is None or name_key(one) != name_key(other)


def _top_folder(path: str) -> str | None:
    """Return the top-level folder; None at the root, where each note counts as being elsewhere."""
    return path.partition("/")[0] if "/" in path else None


def find_lexical_neighbours(
    terms: Collection[str], candidates: Mapping[str, Collection[str]], counts: Mapping[str, int], notes: int
) -> list[tuple[str, float]]:
    """Return the notes that share rare terms with a text, best first, for when there are no vectors.

    `candidates` holds the terms of notes, `counts` in how many of all `notes` a term occurs. The score is the
    weight of the shared rare terms as a share of all rare ones of the text; three must be shared.
    """
    most = max(2, int(notes * _RARE_SHARE))
    weights = {t: math.log(1 + notes / counts[t]) for t in set(terms) if 0 < counts.get(t, 0) <= most}
    total = sum(weights.values())
    scored: list[tuple[str, float]] = []
    for path, others in candidates.items():
        shared = weights.keys() & set(others)
        score = sum(weights[term] for term in shared) / total if total else 0.0
        if len(shared) >= _MIN_SHARED and score >= _MIN_SCORE:
            scored.append((path, round(score, 6)))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def render_flashback(flashback: Flashback) -> str:
    """Return one line: `124 days ago: #48 "…" (82% match)`."""
    name = f'#{flashback.note_id} "{flashback.title}"' if flashback.note_id is not None else f'"{flashback.title}"'
    match = f" ({flashback.percent}% match)" if flashback.percent is not None else ""
    return f"{flashback.days} {'day' if flashback.days == 1 else 'days'} ago: {name}{match}"


def render_flashbacks(flashbacks: Sequence[Flashback]) -> str:
    """Return the section of an answer, or nothing."""
    if not flashbacks:
        return ""
    lines = "\n".join(f"- {render_flashback(flashback)}" for flashback in flashbacks)
    return f"Flashbacks (older notes from elsewhere; tell the person when one matters):\n{lines}"
