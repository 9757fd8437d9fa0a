"""A flag: the person's word that a note needs tidying, and why. A file for each, named after the note's number."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vault_memex.core.dates import find_period
from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.property_edit import render_note
from vault_memex.core.text import base_of, parse_number

FLAGS_FOLDER = "_memex/flags"
_NAME = re.compile(r"(\d{1,18})\.md", re.ASCII)


@dataclass(frozen=True, slots=True)
class Flag:
    """What the person said about a note."""

    note_id: int
    comment: str
    raised: str = ""  # UTC, as the journal writes moments; empty when the file does not say
    path: str = ""  # where the note was then


def find_flag_path(note_id: int) -> str:
    """Return the path of a note's flag, such as `_memex/flags/0142.md`."""
    return f"{FLAGS_FOLDER}/{note_id:04d}.md"


def find_flagged(path: str) -> int | None:
    """Return the number of the note that a file in the folder flags; None for another file."""
    found = _NAME.fullmatch(base_of(path))
    return parse_number(found[1]) if found else None


def render_flag(flag: Flag) -> str:
    """Return the whole file; the comment is its text."""
    return render_note(
        {"note": flag.note_id, "path": flag.path, "raised": flag.raised}, f"{flag.comment.strip()}\n"
    )


def parse_flag(text: str, note_id: int) -> Flag:
    """Return the flag in a file. One that the person wrote by hand needs no properties, and they may be damaged."""
    front = split_frontmatter(text)
    raised, path = (front.properties.get(name) for name in ("raised", "path"))
    return Flag(
        note_id,
        text[front.span.end :].strip(),
        raised if isinstance(raised, str) and find_period(raised) else "",
        path if isinstance(path, str) else "",
    )
