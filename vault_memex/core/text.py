"""Spans, text edits and names: the small change every other module pays with."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

BOM = "\ufeff"
LINE_END = re.compile(r"\r\n?|\n")
_Part = TypeVar("_Part")
_MOST_DIGITS = 18  # what fits into the index


class Span(NamedTuple):
    """A half-open range of code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Put `text` where `span` is. An empty span inserts."""

    span: Span
    text: str


def apply_text_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """Return the text with all edits made. Spans refer to the text as given and must not overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: e.span):
        if edit.span.start < at:
            raise ValueError(f"edits overlap at {edit.span.start}")
        parts += (text[at : edit.span.start], edit.text)
        at = edit.span.end
    parts.append(text[at:])
    return "".join(parts)


def find_common_ends(one: Sequence[_Part], other: Sequence[_Part]) -> tuple[int, int]:
    """Return how many parts (characters, lines) are the same at the start, and of the others at the end."""
    shorter = min(len(one), len(other))
    head = 0
    while head < shorter and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < shorter - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    return head, tail


def find_line_end(text: str, position: int) -> int:
    """Return where the line at a position ends, before its line ending."""
    found = LINE_END.search(text, position)
    return found.start() if found else len(text)


def find_next_line(text: str, position: int) -> int:
    """Return where the line after the one at a position starts."""
    found = LINE_END.search(text, position)
    return found.end() if found else len(text)


def find_line_ending(text: str) -> str:
    r"""Return the ending most lines have: `\r\n`, `\n` or `\r`; `\n` when there is none."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    cr = text.count("\r") - crlf
    if crlf > lf and crlf >= cr:
        return "\r\n"
    return "\r" if cr > lf else "\n"


def with_line_ending(text: str, ending: str) -> str:
    r"""Return the text with each `\r\n`, `\r` and `\n` turned into `ending`."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain if ending == "\n" else plain.replace("\n", ending)


_JOINERS = frozenset("\u200d\ufe0e\ufe0f") | {chr(c) for c in range(0x1F3FB, 0x1F400)}


def find_safe_cut(text: str, at: int) -> int:
    r"""Return the last place at or before `at` where cutting splits no character a reader sees.

    Combining marks, emoji joined or modified, flags and `\r\n` stay whole.
    """
    at = min(at, len(text))
    while 0 < at < len(text) and _continues(text, at):
        at -= 1
    return at


def parse_number(text: str) -> int | None:
    """Return the number that decimal digits write; None for other text and for more digits than any number here has."""
    return int(text) if len(text) <= _MOST_DIGITS and text.isdecimal() else None


def shorten(text: str, limit: int) -> str:
    """Return the text in at most `limit` code points, with an ellipsis where it was cut."""
    return text if len(text) <= limit else f"{text[: find_safe_cut(text, limit - 1)]}…"


def _continues(text: str, at: int) -> bool:
    before, char = text[at - 1], text[at]
    return (
        (before == "\r" and char == "\n")
        or char in _JOINERS
        or before == "\u200d"
        or unicodedata.category(char) in {"Mn", "Me", "Mc"}
        or (_is_flag_half(before) and _is_flag_half(char))
        or ("\u1160" <= char <= "\u11ff" and "\u1100" <= before <= "\u11ff")
    )


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


# Line breaks, other control characters, halves of characters, and what turns the direction of text around.
_BREAKS_OUT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST_SUBJECT = 120


def render_line(text: str) -> str:
    r"""Return the text so that it stays on one line and looks like what it is: `\n` for a line break.

    Names, titles and tags of notes are other people's text; none may pass for a line of an answer.
    """
    return _BREAKS_OUT.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def render_subject(text: str) -> str:
    """Return what a change is called in the journal and in git: one line of at most 120 characters."""
    return render_line(text)[:_LONGEST_SUBJECT]


def name_key(name: str) -> str:
    """Return what two names are compared by: NFC, no-break spaces as spaces, trimmed, case folded."""
    if name.isascii():
        return name.strip().lower()  # the same, in a third of the time
    return unicodedata.normalize("NFC", name.replace("\u00a0", " ")).strip().casefold()


def without_md(path: str) -> str:
    """Return the path without a final `.md`, in whatever case it is written."""
    return path[:-3] if path[-3:].casefold() == ".md" else path


def folder_of(path: str) -> str:
    """Return the folder part of a vault path, without a final slash; "" at the root."""
    return path.rpartition("/")[0]


def base_of(path: str) -> str:
    """Return the file name, extension included."""
    return path.rpartition("/")[2]


def stem_of(path: str) -> str:
    """Return the file name of a note without its folder and `.md`."""
    return without_md(base_of(path))
