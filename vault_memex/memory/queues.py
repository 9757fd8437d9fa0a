"""What needs a curator's attention and why: reasons, who may rest, and what comes first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, get_args

from vault_memex.core.snapshot import NoteRecord
from vault_memex.memory.flags import Flag
from vault_memex.memory.looks import NEVER, NoteLog

Reason = Literal[
    "operator_flag",
    "untagged",
    "no_summary",
    "not_embedded",
    "disconnected",
    "dangling_links",
    "nonstandard_tags",
    "weak_title",
    "stale_state",
    "expired",
    "contested",
]
REASONS: tuple[Reason, ...] = get_args(Reason)
MEANINGS: Mapping[Reason, str] = {
    "operator_flag": "the person flagged it",
    "untagged": "has no tags",
    "no_summary": "has no summary",
    "not_embedded": "is not found by meaning yet",
    "disconnected": "no link to or from another note",
    "dangling_links": "has links that lead nowhere",
    "nonstandard_tags": "has tags with capitals or spaces",
    "weak_title": "its title says little",
    "stale_state": "later records overtook what it says is so now",
    "expired": "its valid_until has passed",
    "contested": "a note corrects it, and it does not say so (superseded_by)",
}
_PLACES = {reason: place for place, reason in enumerate(REASONS)}
_NEVER = "~"  # later than every moment
DEFAULT_COOLDOWN = 7  # days
MOST_COOLDOWN = 365
MOST_DOUBLINGS = 3  # of the rest: 7, 14, 28, 56 days

_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}\Z|\.(?:mp[34]|7z)\Z", re.ASCII)
_HANDLE = re.compile(r"[-_]|\d")
_DATE = re.compile(r"\d{4}(-(\d\d|W\d\d|Q\d)(-\d\d)?)?\Z", re.ASCII)  # how daily and weekly notes are named


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of notes beside their metadata, as paths."""

    linked: Mapping[str, Collection[str]]  # notes with a link to or from another one, and which
    dangling: Collection[str] = frozenset()
    unembedded: Collection[str] = frozenset()
    stale: Collection[str] = frozenset()
    expired: Collection[str] = frozenset()
    contested: Collection[str] = frozenset()


def find_own_reasons(note: NoteRecord) -> tuple[Reason, ...]:
    """Return what a note lacks by itself, in the order of `REASONS`."""
    found: tuple[tuple[Reason, bool], ...] = (
        ("untagged", not note.tags),
        ("no_summary", not (note.summary or "").strip()),
        ("nonstandard_tags", any(map(_is_nonstandard, note.tags))),
        ("weak_title", note.layer != "past" and is_weak_title(note.title)),  # what is past keeps its title
    )
    return tuple(reason for reason, holds in found if holds)


def find_other_reasons(paths: Iterable[str], facts: Facts) -> dict[str, list[Reason]]:
    """Return what else is wrong with which of the notes."""
    lists: tuple[tuple[Reason, Iterable[str]], ...] = (
        ("not_embedded", facts.unembedded),
        ("disconnected", [path for path in paths if not facts.linked.get(path)]),
        ("dangling_links", facts.dangling),
        ("stale_state", facts.stale),
        ("expired", facts.expired),
        ("contested", facts.contested),
    )
    found: dict[str, list[Reason]] = {}
    for reason, members in lists:
        for path in members:
            found.setdefault(path, []).append(reason)
    return found


def join_reasons(own: tuple[Reason, ...], other: Sequence[Reason] | None) -> tuple[Reason, ...]:
    """Return both in the order of `REASONS`; the person's flag is in neither."""
    return tuple(sorted((*own, *other), key=_PLACES.__getitem__)) if other else own


def _is_nonstandard(tag: str) -> bool:
    return tag != tag.lower() or len(tag.split()) != 1


def is_weak_title(title: str) -> bool:
    """Return whether a title is empty or a file's or a program's name rather than a title. A date is a title."""
    words = title.split()
    if len(words) != 1:
        return not words
    word = words[0]
    return not _DATE.match(word) and bool(_EXTENSION.search(word) or _HANDLE.search(word))


def count_changed_neighbours(
    changed: Mapping[str, str], looked: Mapping[str, str], linked: Mapping[str, Collection[str]]
) -> dict[str, int]:
    """Return how many notes around each one changed since somebody looked at it, from the moments of both.

    A note that nobody looked at has none.
    """
    earliest = min(looked.values(), default=_NEVER)
    counts: dict[str, int] = {}
    for path, at in changed.items():
        if at > earliest:
            for near in linked.get(path, ()):
                if at > looked.get(near, _NEVER):
                    counts[near] = counts.get(near, 0) + 1
    return counts


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note with all that decides about its place."""

    note: NoteRecord
    reasons: tuple[Reason, ...] = ()
    log: NoteLog = NEVER
    flag: Flag | None = None
    edited: bool = False  # by anybody but a curator since a curator looked
    changed_neighbours: int = 0  # whose text anybody but a curator changed since

    @property
    def all_reasons(self) -> tuple[Reason, ...]:
        """The reasons, the person's flag first."""
        return ("operator_flag", *self.reasons) if self.flag is not None else self.reasons


def find_rest_end(log: NoteLog, cooldown_days: int) -> datetime | None:
    """Return until when a note rests; None for one that nobody looked at."""
    if not log.looked_at:
        return None
    days = cooldown_days * 2 ** min(log.clean, MOST_DOUBLINGS)
    return datetime.fromisoformat(log.looked_at) + timedelta(days=days)


def is_eligible(one: Candidate, cooldown_days: int, now: datetime) -> bool:
    """Return whether a note belongs into the queue now."""
    if one.reasons or one.flag is not None or one.edited or one.changed_neighbours:
        return True
    rest_end = find_rest_end(one.log, cooldown_days)
    return rest_end is None or rest_end <= now


def rank(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return them in their order: the person's flags (oldest first), most reasons, most changed neighbours, never
    looked at, longest not looked at, lowest number.
    """
    return sorted(candidates, key=_rank_key)


def _rank_key(one: Candidate) -> tuple[object, ...]:
    flag = (0, one.flag.raised) if one.flag is not None else (1, "")
    number = one.note.note_id
    last = (number is None, number or 0, one.note.path)
    return (flag, -len(one.reasons), -one.changed_neighbours, one.log.looked_at, last)


@dataclass(frozen=True, slots=True)
class Queue:
    """All that needs attention, ranked."""

    candidates: tuple[Candidate, ...] = ()
    reason_counts: Mapping[Reason, int] = field(default_factory=dict)
    never_read: int = 0
    defect_free: int = 0

    @property
    def total(self) -> int:
        """How many notes that is."""
        return len(self.candidates)

    def choose(self, reason: Reason | None, stale_days: int | None, now: datetime) -> Sequence[Candidate]:
        """Return those with a reason and not looked at for so many days; None: any."""
        latest = None if stale_days is None else now - timedelta(days=stale_days)
        return [
            one
            for one in self.candidates
            if (reason is None or reason in one.all_reasons)
            and (latest is None or not one.log.looked_at or datetime.fromisoformat(one.log.looked_at) <= latest)
        ]


def build_queue(candidates: Iterable[Candidate], cooldown_days: int, now: datetime) -> Queue:
    """Return the queue of those that are eligible, counted whatever is asked for later."""
    ranked = rank(one for one in candidates if is_eligible(one, cooldown_days, now))
    counts = Counter(reason for one in ranked for reason in one.all_reasons)
    return Queue(
        tuple(ranked),
        {reason: counts[reason] for reason in REASONS if counts[reason]},
        sum(not one.log.looked_at for one in ranked),
        sum(not one.all_reasons for one in ranked),
    )
