"""Lines of an answer. Names and texts of notes are other people's words; none may pass for the answer itself."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence

from vault_memex.core.text import render_line

LONGEST_NAME = 200  # code points of titles, headings, tags, targets of links
MOST_NAMES = 40


def join_lines(lines: Iterable[str], *blocks: str) -> str:
    """Return the lines, each of them one line whatever names it holds, then the blocks as they are."""
    return "\n".join([*map(render_line, lines), *filter(None, blocks)])


def cut(text: str, limit: int) -> str:
    """Return at most `limit` code points, and how many there are when there are more."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def render_names(names: Sequence[str]) -> str:
    """Return the first names and, when there are more, how many there are in all."""
    shown = ", ".join(cut(name, LONGEST_NAME) for name in names[:MOST_NAMES])
    return f"{shown} … {len(names)} in all" if len(names) > MOST_NAMES else shown


def render_fenced(opening: str, closing: str, text: str) -> str:
    """Return the text between two marks with a code that it cannot know, so that no text ends itself."""
    code = secrets.token_hex(3)
    while code in text:
        code = secrets.token_hex(3)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"--- {render_line(opening)} [{code}] ---\n{text}{end}--- {render_line(closing)} [{code}] ---"
