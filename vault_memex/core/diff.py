"""A unified diff that stays small and says what it left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from vault_memex.core.text import find_common_ends

CONTEXT = 3
# Above this many pairs of lines the matcher takes too long; the whole stretch is shown as replaced.
_MAX_PAIRS = 4_000_000
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

Block = tuple[int, int, int, int]
"""Lines [a, b) of the text before became lines [c, d) of the text after."""


def split_lines(text: str) -> list[str]:
    r"""Return the lines with their endings (`\n`, `\r\n` or `\r`, nothing else ends a line)."""
    return _LINE.findall(text)


def find_changed_blocks(before: list[str], after: list[str]) -> list[Block]:
    """Return the stretches of lines that differ, in order. Equal heads and tails cost next to nothing."""
    head, tail = find_common_ends(before, after)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return []
    if not old or not new or len(old) * len(new) > _MAX_PAIRS:
        return [(head, head + len(old), head, head + len(new))]
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(a + head, b + head, c + head, d + head) for tag, a, b, c, d in codes if tag != "equal"]


def render_diff(path: str, before: str, after: str, limit: int = 4000) -> str:
    """Return a unified diff of at most about `limit` characters; "" when nothing differs.

    Cut lines are counted in a last line. Carriage returns are shown as ␍ when the line endings differ.
    """
    if before == after:
        return ""
    old, new = split_lines(before), split_lines(after)
    show_cr = {_ending(line) for line in old} != {_ending(line) for line in new}
    kept = [f"--- {path}", f"+++ {path}"]
    size = sum(len(line) + 1 for line in kept)
    cut = 0
    for line in _render_hunks(old, new, find_changed_blocks(old, new), show_cr=show_cr):
        size += len(line) + 1
        if cut or size > limit:
            cut += 1
        else:
            kept.append(line)
    if cut:
        kept.append(f"[{cut} more line{'s' if cut > 1 else ''} of this diff not shown]")
    return "\n".join(kept) + "\n"


def _render_hunks(old: list[str], new: list[str], blocks: list[Block], *, show_cr: bool) -> Iterator[str]:
    for group in _grouped(blocks):
        a, c = max(group[0][0] - CONTEXT, 0), max(group[0][2] - CONTEXT, 0)
        b, d = min(group[-1][1] + CONTEXT, len(old)), min(group[-1][3] + CONTEXT, len(new))
        yield f"@@ -{_range(a, b)} +{_range(c, d)} @@"
        at = a
        for start, end, first, last in group:
            yield from _render_lines(" ", old[at:start], show_cr=show_cr)
            yield from _render_lines("-", old[start:end], show_cr=show_cr)
            yield from _render_lines("+", new[first:last], show_cr=show_cr)
            at = end
        yield from _render_lines(" ", old[at:b], show_cr=show_cr)


def _grouped(blocks: list[Block]) -> list[list[Block]]:
    groups: list[list[Block]] = []
    for block in blocks:
        if groups and block[0] - groups[-1][-1][1] <= 2 * CONTEXT:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1 if length else start}" if length == 1 else f"{start + 1 if length else start},{length}"


def _render_lines(mark: str, lines: list[str], *, show_cr: bool) -> Iterator[str]:
    for line in lines:
        yield mark + line.rstrip("\r\n") + ("␍" if show_cr and "\r" in _ending(line) else "")
        if not _ending(line):
            yield "\\ No newline at end of file"


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
