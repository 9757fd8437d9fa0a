"""YAML text for property values, readable by YAML 1.1 and 1.2 alike and written as Obsidian writes it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date

from vault_memex.core.note import PropertyValue
from vault_memex.errors import InvalidArgument

LIST_INDENT = 2
MAX_DEPTH = 30

# What a reader of either YAML version would take for something else than text. Dates are not here: Obsidian
# writes them bare, and our own reader gives them back as text.
_NOT_TEXT = re.compile(
    r"~|null|true|false|yes|no|on|off|y|n|=|<<"
    r"|[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?0x[0-9a-f_]+"
    r"|[-+]?[0-9][0-9_]*(:[0-9_]+)*(\.[0-9_]*)?(e[-+]?[0-9]+)?"
    r"|[-+]?\.[0-9_]+(e[-+]?[0-9]+)?|[-+]?\.inf|\.nan",
    re.IGNORECASE,
)
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.\d*)?"
    r"(?:[ \t]*(?:Z|[-+](\d\d?)(?::?(\d\d))?))?"
)
_FIRST = frozenset("-?:,[]{}#&*!|>'\"%@`=")
# Printable in YAML, and no line break to anybody.
_ODD = re.compile("[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def render_text(text: str, *, flow: bool = False, quote: str = '"') -> str:
    """Return a text as one line of YAML: bare where every reader takes it for that text, else in quotes.

    `quote` says which kind is preferred; single quotes serve only what needs no escape.
    """
    if _is_plain(text, flow=flow):
        return text
    if quote == "'" and not _ODD.search(text) and "\t" not in text:
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(_escaped(char) for char in text) + '"'


def _is_plain(text: str, *, flow: bool) -> bool:
    if not text or text != text.strip() or text[0] in _FIRST or "\t" in text or _ODD.search(text):
        return False
    if ": " in text or " #" in text or text.endswith(":"):
        return False
    if flow and any(char in text for char in ",[]{}:?"):
        return False
    return _NOT_TEXT.fullmatch(text) is None and not _is_impossible_moment(text) and not text.startswith("... ")


def _is_impossible_moment(text: str) -> bool:
    """Tell whether a YAML 1.1 reader would try to make a date of it and fail, as with February 30."""
    found = _DATE.fullmatch(text) or _TIMESTAMP.fullmatch(text)
    if not found:
        return False
    parts = [int(part or 0) for part in found.groups()]
    try:
        date(*parts[:3])
    except ValueError:
        return True
    return any(part >= limit for part, limit in zip(parts[3:], (24, 60, 60, 24, 60), strict=False))


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if not _ODD.match(char):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def render_flow(value: PropertyValue, *, flow: bool = True, json: bool = False, quote: str = '"') -> str:
    """Return a value on one line; lists and maps in brackets. `json` puts every text and key in double quotes."""
    if isinstance(value, str):
        return '"' + "".join(map(_escaped, value)) + '"' if json else render_text(value, flow=flow, quote=quote)
    if isinstance(value, Mapping):
        pairs = (f"{render_flow(k, json=json)}: {render_flow(v, json=json)}" for k, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(render_flow(item, json=json) for item in value) + "]"
    return _render_other(value)


def _render_other(value: PropertyValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # YAML 1.1 readers want a dot in front of the exponent.
        return re.sub(r"^(-?\d+)e", r"\1.0e", repr(value))
    return str(value)


def render_value(value: PropertyValue, indent: int, *, list_indent: int = LIST_INDENT) -> tuple[str, list[str]]:
    """Return what stands after `key:` and the whole lines below it. `indent` is the key's, in spaces."""
    if value is None:
        return "", []
    if isinstance(value, str):
        return _render_literal(value, indent + 2) or (render_text(value), [])
    if isinstance(value, Mapping) and value:
        return "", render_block_map(value, indent + 2)
    if isinstance(value, Sequence) and value:
        return "", [line for item in value for line in render_item(item, indent + list_indent)]
    return render_flow(value), []


def render_item(item: PropertyValue, indent: int) -> list[str]:
    """Return the lines of one item of a block list; its dash stands after `indent` spaces."""
    pad = " " * indent
    if isinstance(item, Mapping) and item:
        first, *rest = render_block_map(item, indent + 2)
        return [f"{pad}- {first.lstrip(' ')}", *rest]
    return [f"{pad}- {render_flow(item, flow=isinstance(item, Sequence) and not isinstance(item, str))}"]


def render_block_map(values: Mapping[str, PropertyValue], indent: int = 0) -> list[str]:
    """Return the lines of a map, one key after the other."""
    lines: list[str] = []
    for key, value in values.items():
        inline, below = render_value(value, indent)
        lines += (" " * indent + render_key(key) + ":" + (inline and " " + inline), *below)
    return lines


def render_key(key: str) -> str:
    """Return a key, in quotes where it would not be read as that text."""
    # What flow context forbids is odd enough in a key to be quoted; a YAML 1.1 reader makes a date of a date.
    return f'"{key}"' if _DATE.fullmatch(key) else render_text(key, flow=True)


def _render_literal(text: str, indent: int) -> tuple[str, list[str]] | None:
    r"""Return text of several lines as a `|` block, or None where quotes are safer."""
    body = text.removesuffix("\n")
    lines = body.split("\n")
    tidy = all(line == line.rstrip() and "\t" not in line and not _ODD.search(line) for line in lines)
    if "\n" not in text or not tidy or not lines[0] or not lines[-1] or lines[0][0] == " ":
        return None
    return ("|" if text.endswith("\n") else "|-"), [line and " " * indent + line for line in lines]


def check_value(argument: str, value: PropertyValue, depth: int = 0) -> None:
    """Refuse what a property cannot hold: other types, keys that are no text, endless numbers, half characters."""
    if depth > MAX_DEPTH:
        raise InvalidArgument(argument, f"{argument} is nested deeper than {MAX_DEPTH} levels. Make it flatter.")
    if isinstance(value, str):
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise InvalidArgument(
                argument, f"{argument} holds half a character (a lone surrogate). Send whole text."
            )
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgument(argument, f"{argument} is {value!r}: write a finite number, or a text.")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            check_key(argument, key)
            check_value(f"{argument}.{key}", inner, depth + 1)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            check_value(f"{argument}[{number}]", inner, depth + 1)
    elif value is not None and not isinstance(value, int):
        kind = type(value).__name__
        raise InvalidArgument(
            argument, f"{argument} is a {kind}: write text, a number, true, false, a list or a map."
        )


def check_key(argument: str, key: object) -> None:
    """Refuse a property name that is no text, empty, longer than 200 characters, or blank at an end."""
    if not isinstance(key, str) or not key.strip() or len(key) > 200 or key != key.strip():
        raise InvalidArgument(
            argument,
            f"{argument}: {str(key)[:60]!r} is no property name: write 1 to 200 characters, no blank at the ends.",
        )
    check_value(argument, key)
