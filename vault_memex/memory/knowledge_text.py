r"""Texts of the knowledge graph as one Markdown list item, and back, without losing a character.

What would start another block is escaped with a backslash, as Markdown has it: `\# no heading`. What no line keeps
(blanks at its ends, control characters) is written as a reference: `&#32;`. Everything else stays as it is, so that
links and tags in a text are live. A backslash alone on a line stands for an empty line.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from vault_memex.errors import InvalidArgument

_PUNCTUATION = frozenset(string.punctuation)
_REFERENCE = re.compile(r"&#([0-9]{0,7});")
_WRITTEN = re.compile(r"\\([!-/:-@\[-`{-~])|&#([0-9]{0,7});")
_ODD = frozenset(("Cc", "Zl", "Zp"))  # control characters and line breaks; a tab inside a line may stay
_BLANKS = " \t"
EMPTY_LINE = "\\"

_NUMBERED = re.compile(r"[0-9]{1,9}(?=[.)](?:[ \t]|$))")
_STARTS_BLOCK = re.compile(
    r"#{1,6}(?:[ \t]|$)|[-+*](?:[ \t]|$)|(?:[-*_][ \t]*){2,}$|>|`{3}|~{3}|\||=+[ \t]*$|<|%%|\$\$|\^"
    r"|\[.\](?:[ \t]|$)|\[[^\]]*\]:"
)
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+$")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_VALIDITY = re.compile(rf"[ \t]+\((?:from ({_DATE})(?:, until ({_DATE}))?|until ({_DATE}))\)$")
_IN_TYPES = "`<$["  # they could hide or make a link
_IN_NAMES = frozenset("[]|`<$\\")


@dataclass(frozen=True, slots=True)
class Validity:
    """From when and until when something holds: ISO dates, both included; "" for open."""

    start: str = ""
    until: str = ""

    def has_ended(self, today: str) -> bool:
        """Return whether the last day lies before this one."""
        return bool(self.until) and self.until < today


ALWAYS = Validity()


def parse_validity(start: str, until: str) -> Validity:
    """Return the span, or raise InvalidArgument for what is no date, and for an end before the beginning."""
    for name, day in (("valid_from", start), ("valid_until", until)):
        if day and not _is_date(day):
            raise InvalidArgument(name, f"{name} = {day!r}: write a day as 2026-01-31.")
    if start and until and until < start:
        raise InvalidArgument("valid_until", f"valid_until = {until} lies before valid_from = {start}.")
    return Validity(start, until)


def _is_date(day: str) -> bool:
    if not re.fullmatch(_DATE, day):
        return False
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return True


def render_validity(validity: Validity) -> str:
    """Return what stands behind a text, with a space before it; "" for what always holds."""
    parts = [f"from {validity.start}"] if validity.start else []
    parts += [f"until {validity.until}"] if validity.until else []
    return f" ({', '.join(parts)})" if parts else ""


def split_validity(line: str) -> tuple[str, Validity]:
    """Return a line as written without a block id and the span at its end, and that span."""
    line = _without_block_id(line)
    found = _VALIDITY.search(line)
    if found is None or not line[: found.start()]:
        return line, ALWAYS
    return line[: found.start()], Validity(found[1] or "", found[2] or found[3] or "")


def _without_block_id(line: str) -> str:
    found = _BLOCK_ID.search(line)
    return line[: found.start()] if found and line[: found.start()] else line


def render_text(text: str, validity: Validity = ALWAYS) -> list[str]:
    """Return the lines of a text as they stand in a list item, without its mark and indentation."""
    lines = [_guard_start(_escape(line)) if line else EMPTY_LINE for line in text.split("\n")]
    lines[-1] = _guard_end(lines[-1]) + render_validity(validity)
    return lines


def parse_text(lines: Sequence[str]) -> tuple[str, Validity]:
    """Return the text that a list item's lines say, and when it holds."""
    last, validity = split_validity(lines[-1].rstrip(_BLANKS))
    written = [*(line.rstrip(_BLANKS) for line in lines[:-1]), last]
    return "\n".join("" if line == EMPTY_LINE else unescape(line) for line in written), validity


def render_type(name: str) -> str:
    """Return the type of a relation on one line, with a space behind it unless it is empty."""
    return f"{_guard_start(_escape(name, _IN_TYPES))} " if name else ""


def unescape(written: str) -> str:
    """Return what was written with escapes and references."""
    if "\\" not in written and "&#" not in written:
        return written
    return _WRITTEN.sub(lambda found: found[1] or _character(found[2], found[0]), written)


def _character(number: str, written: str) -> str:
    if not number:
        return ""
    code = int(number)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else written


def _escape(line: str, also: str = "") -> str:
    """Return the text without line feeds escaped, but for what only counts at the start of a line."""
    ends = (0, len(line) - 1)
    written: list[str] = []
    for at in range(len(line) - 1, -1, -1):  # from the end: a backslash depends on what is written after it
        char = line[at]
        if _is_odd(char) or (char in _BLANKS and at in ends):
            written.append(f"&#{ord(char)};")
        elif char == "\\":
            written.append("\\\\" if not written or written[-1][0] in _PUNCTUATION else "\\")
        elif char in also or (char == "&" and _REFERENCE.match(line, at)):
            written.append(f"\\{char}")
        else:
            written.append(char)
    return "".join(reversed(written))


def _is_odd(char: str) -> bool:
    return char != "\t" and unicodedata.category(char) in _ODD


def _guard_start(written: str) -> str:
    number = _NUMBERED.match(written)
    if number is not None:
        return f"{number[0]}\\{written[number.end() :]}"
    return f"\\{written}" if _STARTS_BLOCK.match(written) else written


def _guard_end(written: str) -> str:
    """Return the last line so that its end is not taken for a block id or a span of time."""
    for ending in (_BLOCK_ID, _VALIDITY):
        found = ending.search(written)
        if found is not None:
            at = found.start() + len(found[0]) - len(found[0].lstrip(_BLANKS))
            return f"{written[:at]}\\{written[at:]}"
    return written


def render_exact_name(name: str) -> str:
    """Return a name as what a link shows, marked as exact by at least one reference; a person never writes one."""
    written = []
    for at, char in enumerate(name):
        at_end = at in (0, len(name) - 1)
        odd = (
            unicodedata.category(char) in _ODD or char in _IN_NAMES or (char.isspace() and (at_end or char != " "))
        )
        written.append(f"&#{ord(char)};" if odd or _REFERENCE.match(name, at) else char)
    shown = "".join(written)
    return shown if _REFERENCE.search(shown) else f"&#;{shown}"


def parse_exact_name(display: str | None) -> str | None:
    """Return the name that a link shows if it is marked as exact."""
    if display is None or not _REFERENCE.search(display):
        return None
    return _REFERENCE.sub(lambda found: _character(found[1], found[0]), display)
