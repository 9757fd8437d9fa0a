"""Conditions on frontmatter properties: `{"status": "active", "priority": {"$gte": 2}}`, all of which must hold.

Where a value is written:

- text: the same code points after NFC (case counts); a number: by value (3 is 3.0); a boolean: exactly. A number
  never equals text, so `"3"` is not `3` and `"true"` is not `true`. Dates are text;
- a property that is a list matches when it holds the value;
- a list: the property has all of its values (a property that is no list counts as a list of one);
- `null`: the property is absent or null; an empty text is neither.

Where an object of operators is written (with or without the `$`), all of them must hold; those on elements of a
list must hold for the same element:

- `$in`: any of a list of values;
- `$gt $gte $lt $lte`, `$between [low, high]` with both ends: numbers by value, text by code points; a number and a
  text never compare. A bound that is a date covers its whole day, so `2025-03-10T12:00` is `$lte 2025-03-10`;
- `$contains`: the text holds this text, whatever the case; any other value: equals;
- `$ne`: everything that the plain value does not match, notes without the property among them;
- `$exists`: true for a value that is not null, false for null or no property.

A key is looked for as written, then as a path into grouped properties: `nested.deep.n`, also through lists of
objects, where any element will do. `tags` and `aliases` are those of the note, wherever they stand in it, and the
values of the properties as written.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from vault_memex.core.note import PropertyValue
from vault_memex.core.snapshot import NoteRecord
from vault_memex.errors import InvalidArgument

Scalar = str | int | float | bool

OPERATORS = ("$in", "$gt", "$gte", "$lt", "$lte", "$between", "$ne", "$exists", "$contains")

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:")
_Test = Callable[[Scalar], bool]
_Check = Callable[[Sequence[PropertyValue]], bool]


@dataclass(frozen=True, slots=True)
class PropertyFilter:
    """Conditions by key; a note matches when each holds for the values found under its key."""

    conditions: tuple[tuple[str, _Check], ...] = ()

    def check(self, record: NoteRecord) -> bool:
        """Whether the note's properties meet every condition."""
        return all(check(_find_values(record, key)) for key, check in self.conditions)


def parse_properties(raw: object) -> PropertyFilter:
    """Return the filter of an object or its JSON text. Raises InvalidArgument: the key and what may be written."""
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            _refuse('properties is an object, for example {"status": "active", "priority": {"$gte": 2}}')
    if not isinstance(raw, Mapping):
        _refuse('properties is an object, for example {"status": "active", "priority": {"$gte": 2}}')
    return PropertyFilter(tuple((_checked_key(key), _parse_condition(key, value)) for key, value in raw.items()))


def _refuse(message: str) -> NoReturn:
    raise InvalidArgument("properties", f"{message}.")


def _checked_key(raw: object) -> str:
    key = unicodedata.normalize("NFC", raw) if isinstance(raw, str) else ""
    if not key or not all(c.isalnum() or c in "_.-" or unicodedata.category(c)[0] == "M" for c in key):
        _refuse(f"properties: {raw!r} is no key. Write letters, digits, _ . or -, for example project.name")
    return key


def _parse_condition(key: str, value: object) -> _Check:
    if value is None:
        return _is_absent
    if isinstance(value, Mapping):
        return _parse_operators(key, value)
    if isinstance(value, list | tuple):
        if not value:
            _refuse(f"properties.{key}: the list is empty. Write the values that the property must all have")
        wanted = [_parse_value(key, item) for item in value]
        return lambda found: all(any(_equals(v, item) for v in _elements(found)) for item in wanted)
    wanted_one = _parse_value(key, value)
    return lambda found: any(_equals(v, wanted_one) for v in _elements(found))


def _parse_value(key: str, value: object) -> Scalar:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if not _is_finite(value):
            _refuse(f"properties.{key}: a number is out of range. Write one between -1e308 and 1e308")
        return value
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    _refuse(f"properties.{key}: {value!r}. Write text, a number, true or false, or an operator ({_names()})")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _names() -> str:
    return ", ".join(OPERATORS)


# --- operators


def _parse_operators(key: str, raw: Mapping[object, object]) -> _Check:
    if not raw:
        _refuse(f"properties.{key}: the object is empty. Write an operator: {_names()}")
    tests: list[_Test] = []
    checks: list[_Check] = []
    for name, value in raw.items():
        operator = name if isinstance(name, str) and name.startswith("$") else f"${name}"
        if operator == "$exists":
            checks.append(_parse_exists(key, value))
        elif operator == "$ne":
            checks.append(_parse_ne(key, value))
        elif operator in OPERATORS:
            tests.append(_TESTS[operator](key, operator, value))
        else:
            _refuse(
                f"properties.{key}: unknown operator {name!r}. Known: {_names()}. "
                f"For a value inside a group write the key as a path: {key}.{name}"
            )
    if tests:
        checks.append(_check_elements(tests))
    return checks[0] if len(checks) == 1 else lambda found: all(check(found) for check in checks)


def _check_elements(tests: Sequence[_Test]) -> _Check:
    only = tests[0] if len(tests) == 1 else lambda value: all(test(value) for test in tests)
    return lambda found: any(map(only, _scalars(found)))


def _parse_exists(key: str, value: object) -> _Check:
    if not isinstance(value, bool):
        _refuse(f"properties.{key}.$exists: write true or false")
    return (lambda found: not _is_absent(found)) if value else _is_absent


def _parse_ne(key: str, value: object) -> _Check:
    if value is None:
        return lambda found: not _is_absent(found)
    wanted = _parse_value(key, value)
    return lambda found: not any(_equals(v, wanted) for v in _elements(found))


def _parse_in(key: str, operator: str, value: object) -> _Test:
    if not isinstance(value, list | tuple) or not value:
        _refuse(f"properties.{key}.{operator}: write a list of at least one value")
    wanted = [_parse_value(key, item) for item in value]
    return lambda found: any(_equals(found, item) for item in wanted)


def _parse_contains(key: str, operator: str, value: object) -> _Test:
    wanted = _parse_value(key, value)
    if not isinstance(wanted, str):
        return lambda found: _equals(found, wanted)
    if not wanted:
        _refuse(f"properties.{key}.{operator}: write the text to look for")
    part = wanted.casefold()
    return lambda found: isinstance(found, str) and part in unicodedata.normalize("NFC", found).casefold()


def _parse_bound(key: str, operator: str, value: object) -> _Test:
    bound = _parse_orderable(key, operator, value)
    holds = _ORDERS[operator]

    def test(found: Scalar) -> bool:
        order = _compare(found, bound)
        return order is not None and holds(order)

    return test


def _parse_between(key: str, operator: str, value: object) -> _Test:
    if not isinstance(value, list | tuple) or len(value) != 2:
        _refuse(f"properties.{key}.{operator}: write two values, [low, high]")
    low, high = (_parse_orderable(key, operator, item) for item in value)
    order = _compare(low, high)
    if order is None:
        _refuse(f"properties.{key}.{operator}: write two numbers or two texts, [low, high]")
    if order > 0:
        _refuse(f"properties.{key}.{operator}: {low!r} comes after {high!r}. Write the lower one first")
    above, below = _parse_bound(key, "$gte", low), _parse_bound(key, "$lte", high)
    return lambda found: above(found) and below(found)


def _parse_orderable(key: str, operator: str, value: object) -> str | int | float:
    if value is None or isinstance(value, bool | list | tuple | Mapping):
        _refuse(f"properties.{key}.{operator}: {value!r} has no order. Write a number, a text or a date")
    return _parse_value(key, value)


_TESTS: Mapping[str, Callable[[str, str, object], _Test]] = {
    "$in": _parse_in,
    "$contains": _parse_contains,
    "$between": _parse_between,
    "$gt": _parse_bound,
    "$gte": _parse_bound,
    "$lt": _parse_bound,
    "$lte": _parse_bound,
}
_ORDERS: Mapping[str, Callable[[int], bool]] = {
    "$gt": lambda order: order > 0,
    "$gte": lambda order: order >= 0,
    "$lt": lambda order: order < 0,
    "$lte": lambda order: order <= 0,
}


# --- values


def _equals(found: PropertyValue, wanted: Scalar) -> bool:
    if isinstance(found, str) and isinstance(wanted, str):
        return found == wanted or unicodedata.normalize("NFC", found) == wanted
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return isinstance(found, int | float) and not isinstance(wanted, str) and found == wanted


def _compare(found: Scalar, bound: Scalar) -> int | None:
    """Return -1, 0 or 1 as `found` is before, at or after the bound; None when they have no order."""
    if isinstance(found, bool) or isinstance(bound, bool):
        return None
    if isinstance(found, str) and isinstance(bound, str):
        text = unicodedata.normalize("NFC", found)
        if _DATE.match(bound) and _MOMENT.match(text):
            text = text[:10]
        return (text > bound) - (text < bound)
    if isinstance(found, int | float) and isinstance(bound, int | float):
        return (found > bound) - (found < bound)
    return None


def _is_absent(found: Sequence[PropertyValue]) -> bool:
    return all(value is None for value in found)


def _elements(found: Sequence[PropertyValue]) -> Sequence[PropertyValue]:
    if len(found) == 1 and not isinstance(found[0], list | tuple):
        return found
    return [item for value in found for item in (value if isinstance(value, list | tuple) else (value,))]


def _scalars(found: Sequence[PropertyValue]) -> Sequence[Scalar]:
    return [value for value in _elements(found) if isinstance(value, str | int | float)]


def _find_values(record: NoteRecord, key: str) -> Sequence[PropertyValue]:
    properties = record.properties
    if key in ("tags", "aliases"):
        return (*(record.tags if key == "tags" else record.aliases), *_elements((properties.get(key),)))
    if (written := _find_key(properties, key)) is not None:
        return (properties[written],)
    return tuple(_find_inside(properties, key.split("."))) if "." in key else ()


def _find_inside(value: PropertyValue, parts: Sequence[str]) -> Iterator[PropertyValue]:
    if not parts:
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _find_inside(item, parts)
    elif isinstance(value, Mapping):
        for size in range(len(parts), 0, -1):
            written = _find_key(value, ".".join(parts[:size]))
            if written is not None:
                yield from _find_inside(value[written], parts[size:])
                return


def _find_key(values: Mapping[str, PropertyValue], name: str) -> str | None:
    """Return a key as the note writes it, whatever its Unicode form; `name` is composed."""
    if name in values or name.isascii():
        return name if name in values else None
    return next((key for key in values if unicodedata.normalize("NFC", key) == name), None)
