"""Dates and moments as people and models write them, compared as microseconds since 1970 in UTC.

A date is the whole day in the given time zone (UTC by default): as a lower bound its start, as an inclusive upper
bound its end. A month (`2026-04`) or a year (`2026`) is a longer day. A moment without an offset is UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from vault_memex.errors import InvalidArgument

MICROSECONDS_PER_DAY = 86_400_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?\Z")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Period:
    """A half-open range of microseconds. Of a moment it is one microsecond long."""

    start: int
    end: int


def parse_date(text: object, argument: str, zone: tzinfo = UTC) -> Period:
    """Return the period that a date or moment names. Raises InvalidArgument naming the argument."""
    period = find_period(text.strip(), zone) if isinstance(text, str) else None
    if period is None:
        raise InvalidArgument(
            argument,
            f"{argument}: {text!r} is no date. Write a date (2026-04-30) or a moment (2026-04-30T14:00Z).",
        )
    return period


@lru_cache(maxsize=1 << 16)
def find_period(text: str, zone: tzinfo = UTC) -> Period | None:
    """Return the period that a date or moment names; None when the text is neither."""
    try:
        day = _DAY.match(text)
        if day:
            return _find_day(day, zone)
        if not _MOMENT.match(text):
            return None
        moment = datetime.fromisoformat(text.upper())
        at = _microseconds(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None
    return Period(at, at + 1)


def _find_day(day: re.Match[str], zone: tzinfo) -> Period:
    year, month, number = (int(part) if part else None for part in day.groups())
    assert year is not None
    start = datetime(year, month or 1, number or 1, tzinfo=zone)
    try:
        if number:
            end = start + timedelta(days=1)
        elif month and month < 12:
            end = start.replace(month=month + 1)
        else:
            end = start.replace(year=year + 1, month=1)
    except (OverflowError, ValueError):  # 9999-12-31: the end of all time
        return Period(_microseconds(start), _microseconds(datetime.max.replace(tzinfo=UTC)) + 1)
    return Period(_microseconds(start), _microseconds(end))


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
