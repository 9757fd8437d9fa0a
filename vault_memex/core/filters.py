"""Which notes a search may answer with: tags, folder, path, layer, kind of memory, review, properties, dates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import Literal, TypeVar, get_args

from vault_memex.core.dates import Period, find_period, parse_date
from vault_memex.core.note import Layer
from vault_memex.core.property_filter import PropertyFilter, parse_properties
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import name_key, without_md
from vault_memex.errors import InvalidArgument

__all__ = [
    "Filters",
    "PropertyFilter",
    "check_filters",
    "find_unknown_tags",
    "get_memory_type",
    "is_known_folder",
    "parse_filters",
    "parse_properties",
]

MemoryType = Literal["semantic", "episodic", "procedural", "working", "identity"]
Review = Literal["verified", "pending"]

LONGEST_PATTERN = 512

_Check = Callable[[NoteRecord], bool]
_Choice = TypeVar("_Choice", bound=str)


@dataclass(frozen=True, slots=True)
class Filters:
    """What a note must be. Nothing set lets every note through."""

    tags: tuple[str, ...] = ()  # as written, without #; all must match
    folder: str | None = None  # without slashes around it; "" is the root
    path_filter: str | None = None
    layer: Layer | None = None
    memory_type: str | None = None  # a kind or a pattern
    review: Review | None = None
    properties: PropertyFilter | None = None
    created: Period | None = None
    updated: Period | None = None
    zone: tzinfo = UTC
    checks: tuple[_Check, ...] = ()  # one for each of the above that is set

    @property
    def is_empty(self) -> bool:
        """Whether every note passes."""
        return not self.checks


def parse_filters(
    *,
    tags: str | Sequence[str] | None = None,
    folder: str | None = None,
    path_filter: str | None = None,
    layer: str | None = None,
    memory_type: str | None = None,
    review: str | None = None,
    properties: object = None,
    date_from: str | None = None,
    date_to: str | None = None,
    created_after: str | None = None,
    created_before: str | None = None,
    updated_after: str | None = None,
    updated_before: str | None = None,
    zone: tzinfo = UTC,
) -> Filters:
    """Return the filters; None and "" mean not filtered. Raises InvalidArgument naming the parameter.

    `date_from` and `date_to` are inclusive and look at the note's `created`, as do `created_after` (inclusive)
    and `created_before` (exclusive). In `zone` lie the days that dates name. A `folder` is a top-level folder or,
    with a slash in it, a path; notes in folders below belong to it, and `/` is the root without them.
    """
    earliest = (("date_from", date_from, True), ("created_after", created_after, True))
    latest = (("date_to", date_to, False), ("created_before", created_before, True))
    updated_from = (("updated_after", updated_after, True),)
    updated_to = (("updated_before", updated_before, True),)
    filters = Filters(
        tags=_parse_tags(tags),
        folder=_parse_folder(folder),
        path_filter=_parse_pattern("path_filter", path_filter),
        layer=_parse_choice("layer", layer, get_args(Layer)),
        memory_type=_parse_memory_type(memory_type),
        review=_parse_choice("review", review, get_args(Review)),
        properties=_parse_properties(properties),
        created=_parse_window(earliest, latest, zone),
        updated=_parse_window(updated_from, updated_to, zone),
        zone=zone,
    )
    return _with_checks(filters)


def check_filters(filters: Filters, record: NoteRecord) -> bool:
    """Whether the note passes."""
    for check in filters.checks:  # noqa: SIM110  a generator costs more than the check, and every note is checked
        if not check(record):
            return False
    return True


def find_unknown_tags(filters: Filters, known: Iterable[str]) -> tuple[Filters, tuple[str, ...]]:
    """Return the filters to use and the tags that no note has.

    Unknown tags are left out of the filters as long as another one is known; when none is, nothing matches.
    """
    if not filters.tags:
        return filters, ()
    keys = {_tag_key(tag) for tag in known}
    keys |= {key[:at] for key in keys for at, letter in enumerate(key) if letter == "/"}
    unknown = tuple(tag for tag in filters.tags if _tag_key(tag) not in keys)
    if not unknown or len(unknown) == len(filters.tags):
        return filters, unknown
    kept = tuple(tag for tag in filters.tags if tag not in unknown)
    return _with_checks(replace(filters, tags=kept)), unknown


def is_known_folder(filters: Filters, paths: Iterable[str]) -> bool:
    """Whether one of the paths lies in the folder that is filtered by; True when none is."""
    key = name_key(f"{filters.folder}/") if filters.folder else ""
    return any(name_key(path).startswith(key) for path in paths) if key else True


def get_memory_type(record: NoteRecord) -> str:
    """Return the kind of memory: the property `memory_type`, else what tags, layer and validity say."""
    stated = record.properties.get("memory_type")
    if isinstance(stated, str) and stated.strip():
        return stated.strip().casefold()
    tags = {_tag_key(tag) for tag in record.tags}
    if "user-profile" in tags:
        return "identity"
    if record.layer == "rule" or "skill" in tags:
        return "procedural"
    if record.layer == "state" and ("working" in tags or record.properties.get("valid_until") is not None):
        return "working"
    return "episodic" if record.layer == "past" else "semantic"


# --- checks of single notes


def _with_checks(filters: Filters) -> Filters:
    checks: list[_Check] = [_check_tag(_tag_key(tag)) for tag in filters.tags]
    if filters.layer is not None:
        checks.append(lambda record: record.layer == filters.layer)
    if filters.review is not None:
        checks.append(lambda record: record.pending == (filters.review == "pending"))
    if filters.folder is not None:
        checks.append(_check_folder(name_key(filters.folder)))
    if filters.created is not None:
        checks.append(_check_period(filters.created, filters.zone, lambda record: record.created))
    if filters.updated is not None:
        checks.append(_check_period(filters.updated, filters.zone, lambda record: record.updated))
    if filters.properties is not None:
        checks.append(filters.properties.check)
    if filters.memory_type is not None:
        checks.append(_check_memory_type(filters.memory_type))
    if filters.path_filter is not None:
        checks.append(_check_path(filters.path_filter))
    return replace(filters, checks=tuple(checks))


@lru_cache(maxsize=1 << 14)
def _tag_key(tag: str) -> str:
    return name_key(tag.strip().removeprefix("#"))


def _check_tag(wanted: str) -> _Check:
    below = f"{wanted}/"

    def check(record: NoteRecord) -> bool:
        return any((key := _tag_key(tag)) == wanted or key.startswith(below) for tag in record.tags)

    return check


def _check_folder(wanted: str) -> _Check:
    if not wanted:
        return lambda record: "/" not in record.path
    below = f"{wanted}/"
    return lambda record: name_key(record.path).startswith(below)


def _check_period(period: Period, zone: tzinfo, get_date: Callable[[NoteRecord], str]) -> _Check:
    start, end = period.start, period.end

    def check(record: NoteRecord) -> bool:
        date = find_period(get_date(record), zone)
        return date is not None and start <= date.start < end

    return check


def _check_memory_type(wanted: str) -> _Check:
    pattern = build_like(wanted)
    return lambda record: pattern.match(get_memory_type(record)) is not None


def _check_path(wanted: str) -> _Check:
    pattern = build_like(wanted)
    return lambda record: pattern.match(unicodedata.normalize("NFC", without_md(record.path))) is not None


@lru_cache(maxsize=256)
def build_like(pattern: str) -> re.Pattern[str]:
    r"""Return SQL's ILIKE: `%` is any run of characters, `_` one, `\` takes the next one as it is; the whole text.

    Each run but the last is atomic, so a pattern of many `%` costs no more than one pass for each.
    """
    runs = [""]
    literal = False
    for character in unicodedata.normalize("NFC", pattern):
        if literal or character not in "%_\\":
            runs[-1] += re.escape(character)
            literal = False
        elif character == "\\":
            literal = True
        elif character == "_":
            runs[-1] += "."
        elif runs[-1] or len(runs) == 1:
            runs.append("")
    first, *others = runs
    inner = "".join(f"(?>.*?{run})" for run in others[:-1])
    last = f".*{others[-1]}" if others else ""
    return re.compile(f"{first}{inner}{last}\\Z", re.IGNORECASE | re.DOTALL)


# --- arguments


def _parse_tags(tags: str | Sequence[str] | None) -> tuple[str, ...]:
    given = [tags] if isinstance(tags, str) else tags or []
    if not isinstance(given, list | tuple) or not all(isinstance(tag, str) for tag in given):
        raise InvalidArgument("tags", 'tags is a list of tags, for example ["project", "area/work"].')
    plain = (tag.strip().removeprefix("#").strip("/") for tag in given)
    return tuple(dict.fromkeys(tag for tag in plain if tag))


def _parse_folder(folder: str | None) -> str | None:
    if folder is None or (isinstance(folder, str) and not folder.strip()):
        return None
    if not isinstance(folder, str) or "\0" in folder:
        raise InvalidArgument("folder", "folder is the path of a folder in the vault, for example Projects/2026.")
    return folder.strip().strip("/")


def _parse_properties(raw: object) -> PropertyFilter | None:
    if raw is None or raw == "":
        return None
    found = parse_properties(raw)
    return found if found.conditions else None


def _parse_choice(argument: str, value: str | None, choices: Collection[_Choice]) -> _Choice | None:
    if value is None or value == "":
        return None
    if isinstance(value, str):
        for choice in choices:
            if choice == value.strip().casefold():
                return choice
    raise InvalidArgument(argument, f"{argument}: {value!r}. Write one of {', '.join(choices)}.")


def _parse_pattern(argument: str, pattern: str | None) -> str | None:
    if pattern is None or pattern == "":
        return None
    if not isinstance(pattern, str) or len(pattern) > LONGEST_PATTERN:
        raise InvalidArgument(argument, f"{argument} is a text of at most {LONGEST_PATTERN} characters.")
    if "\0" in pattern:
        raise InvalidArgument(argument, f"{argument} holds a NUL character. Take it out.")
    if len(pattern) - len(pattern.rstrip("\\")) & 1:
        raise InvalidArgument(argument, f"{argument} ends in a single \\. Write \\\\ for the character itself.")
    return None if pattern.strip("%") == "" else pattern


def _parse_memory_type(value: str | None) -> str | None:
    pattern = _parse_pattern("memory_type", value)
    if pattern is None or pattern.strip().casefold() == "auto":
        return None
    if not any(letter in pattern for letter in "%_"):
        return _parse_choice("memory_type", pattern, get_args(MemoryType))
    return pattern


_Bounds = Iterable[tuple[str, str | None, bool]]
"""Parameter, what was given, and whether it is the start of the date that counts."""


def _parse_window(earliest: _Bounds, latest: _Bounds, zone: tzinfo) -> Period | None:
    low = _parse_bounds(earliest, zone)
    high = _parse_bounds(latest, zone)
    if not low and not high:
        return None
    start, first = max(low, default=(-(1 << 63), ""))
    end, last = min(high, default=(1 << 63, ""))
    if start >= end:
        raise InvalidArgument(first, f"{first} lies after {last}, so nothing can match. Swap or widen them.")
    return Period(start, end)


def _parse_bounds(bounds: _Bounds, zone: tzinfo) -> list[tuple[int, str]]:
    found = []
    for argument, given, use_start in bounds:
        if given is not None and given != "":
            period = parse_date(given, argument, zone)
            found.append((period.start if use_start else period.end, argument))
    return found
