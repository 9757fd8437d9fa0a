"""What a caller may ask of a patch: operations read from plain JSON values and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vault_memex.core.text import with_line_ending
from vault_memex.errors import InvalidArgument, PatchNoop

MAX_OPS = 50
MAX_FIND = 20_000

Action = Literal["find", "append", "prepend", "before", "replace"]
SectionName = str | tuple[str, ...]

_ALIASES = {"old_str": "find", "old_string": "find", "new_str": "replace", "new_string": "replace"}
_FIELDS = ("find", "replace", "append", "prepend", "before", "section", "count", "subsections")
_FORMS = "find + replace, append, prepend, section + replace, or section + before"


@dataclass(frozen=True, slots=True)
class PatchOp:
    """One operation. `section` limits where it acts; None means the whole body."""

    number: int  # from 1, as errors name it
    action: Action  # "find" replaces a text, "replace" what stands under a heading
    text: str  # what is put in; "" deletes
    find: str = ""
    section: SectionName | None = None
    count: int | None = None  # how often `find` must occur; None means exactly once
    subsections: bool = True  # whether "replace" takes the subsections too


def parse_patch(raw: Sequence[Mapping[str, Any]] | str) -> tuple[PatchOp, ...]:
    """Return the operations. A JSON text of the list is taken as well.

    Raises InvalidArgument (with `operation` and `field`) for anything unknown, missing or of the wrong type, and
    PatchNoop where find and replace are the same.
    """
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError as error:
            raise InvalidArgument(
                "patch", f"patch is not a list of operations, and no JSON of one: {error}."
            ) from error
    if isinstance(raw, Mapping) or not isinstance(raw, Sequence):
        raise InvalidArgument("patch", 'patch is a list of operations: [{"find": "old", "replace": "new"}].')
    if not 1 <= len(raw) <= MAX_OPS:
        raise InvalidArgument("patch", f"patch holds {len(raw)} operations: send 1 to {MAX_OPS}.")
    return tuple(_parse_op(number, item) for number, item in enumerate(raw, 1))


def _parse_op(number: int, raw: object) -> PatchOp:
    fields = _parse_fields(number, raw)
    action = _find_action(number, fields)
    text = fields["replace" if action == "find" else action]
    if action in ("append", "prepend", "before") and not text.strip():
        raise _wrong(number, action, f"`{action}` has no text to put in")
    find = fields.get("find", "")
    if action == "find":
        _check_find(number, find, text)
    return PatchOp(
        number=number,
        action=action,
        text=text,
        find=find,
        section=fields.get("section"),
        count=fields.get("count"),
        subsections=fields.get("subsections", True),
    )


def _parse_fields(number: int, raw: object) -> dict[str, Any]:
    """Return the fields under their own names; null counts as absent."""
    if not isinstance(raw, Mapping):
        raise _wrong(number, "", f"it is {type(raw).__name__}, not an object with fields; write {_FORMS}")
    fields: dict[str, Any] = {}
    for name, value in raw.items():
        field = _ALIASES.get(name, name)
        if field not in _FIELDS:
            raise _wrong(number, str(name), f"unknown field `{name}`; known are {', '.join(_FIELDS)}")
        if value is None:
            continue
        if field in fields:
            raise _wrong(number, field, f"`{field}` is there under two names")
        fields[field] = _parse_field(number, field, value)
    return fields


def _parse_field(number: int, field: str, value: object) -> object:
    if field == "section":
        return _parse_section(number, value)
    if field == "count":
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise _wrong(number, field, "`count` is a whole number from 1: how often the text occurs")
    elif field == "subsections":
        if not isinstance(value, bool):
            raise _wrong(number, field, "`subsections` is true or false")
    elif not isinstance(value, str):
        raise _wrong(number, field, f"`{field}` is a text, not {type(value).__name__}")
    return value


def _parse_section(number: int, value: object) -> SectionName:
    parts = [value] if isinstance(value, str) else value
    if (
        not isinstance(parts, Sequence)
        or not parts
        or not all(isinstance(part, str) and part.strip() for part in parts)
    ):
        raise _wrong(
            number, "section", "`section` is a heading text, or a list of heading texts from the top down"
        )
    return value if isinstance(value, str) else tuple(parts)


def _find_action(number: int, fields: Mapping[str, Any]) -> Action:
    actions: list[Action] = [name for name in ("find", "append", "prepend", "before") if name in fields]
    if len(actions) > 1:
        raise _wrong(number, actions[1], f"`{actions[0]}` and `{actions[1]}` are two operations; send them as two")
    if not actions:
        if "replace" not in fields:
            raise _wrong(number, "", f"it says nothing to do; write {_FORMS}")
        actions = ["replace"]
    action = actions[0]
    if action in ("before", "replace") and "section" not in fields:
        need = "`find` or `section`" if action == "replace" else "`section`"
        raise _wrong(number, "section", f"`{action}` needs {need}")
    if action == "find" and "replace" not in fields:
        raise _wrong(number, "replace", '`replace` is missing; to delete the text send `"replace": ""`')
    if action not in ("find", "replace") and "replace" in fields:
        raise _wrong(number, "replace", f"`{action}` and `replace` are two operations; send them as two")
    if "count" in fields and action != "find":
        raise _wrong(number, "count", "`count` goes with `find`")
    if "subsections" in fields and action != "replace":
        raise _wrong(number, "subsections", "`subsections` goes with `section` + `replace`")
    return action


def _check_find(number: int, find: str, replace: str) -> None:
    if not find.strip():
        raise _wrong(number, "find", "`find` is empty or blank; quote some of the text itself")
    if len(find) > MAX_FIND:
        raise _wrong(
            number, "find", f"`find` has {len(find)} characters, {MAX_FIND} at most; quote less, or use `section`"
        )
    if with_line_ending(find, "\n") == with_line_ending(replace, "\n"):
        raise PatchNoop(
            f"Operation {number}: `find` and `replace` are the same, so nothing would change.",
            operation=number,
            field="replace",
        )


def _wrong(number: int, field: str, reason: str) -> InvalidArgument:
    return InvalidArgument("patch", f"Operation {number}: {reason}.", operation=number, field=field)
