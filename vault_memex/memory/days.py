"""Days: what dates and moments in notes come to when only the day counts."""

from __future__ import annotations

from datetime import date

from vault_memex.core.dates import MICROSECONDS_PER_DAY, find_period

_EPOCH_DAY = date(1970, 1, 1).toordinal()


def find_day(text: object) -> date | None:
    """Return the day (UTC) on which a date or moment begins; None when the value is neither."""
    period = find_period(text.strip()) if isinstance(text, str) else None
    if period is None:
        return None
    return date.fromordinal(_EPOCH_DAY + period.start // MICROSECONDS_PER_DAY)


def find_last_day(text: object) -> date | None:
    """Return the last day (UTC) that a date, month, year or moment covers; None when the value is none of them."""
    period = find_period(text.strip()) if isinstance(text, str) else None
    if period is None:
        return None
    return date.fromordinal(_EPOCH_DAY + (period.end - 1) // MICROSECONDS_PER_DAY)
