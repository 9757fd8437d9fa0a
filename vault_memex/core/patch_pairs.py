"""The exact texts that a change replaces: what a proposal stores, and what a person reads."""

from __future__ import annotations

from vault_memex.core.diff import find_changed_blocks, split_lines
from vault_memex.core.text import find_common_ends

Pair = tuple[str, str]

_FIRST_CONTEXT = 8


def plan_pairs(before: str, after: str) -> tuple[Pair, ...]:
    """Return find and replace texts that turn `before` into `after` when made in order.

    Each pair holds one changed stretch with just enough text around it to occur once in the running text. Only
    where the whole text is blank there is nothing to quote, and the pair holds all of it.
    """
    old, new = split_lines(before), split_lines(after)
    pairs: list[Pair] = []
    running, at, line = before, 0, 0
    for a, b, c, d in find_changed_blocks(old, new):
        at += sum(map(len, old[line:a]))
        line = b
        gone, put = "".join(old[a:b]), "".join(new[c:d])
        start, stop, text = _shrunk(at, gone, put)
        lo, hi = _with_context(running, start, stop)
        pairs.append((running[lo:hi], running[lo:start] + text + running[stop:hi]))
        running = running[:start] + text + running[stop:]
        at += len(put)
    return tuple(pairs)


def _shrunk(at: int, gone: str, put: str) -> tuple[int, int, str]:
    """Return start, end and new text of a changed stretch without what both sides share at their ends."""
    head, tail = find_common_ends(gone, put)
    return at + head, at + len(gone) - tail, put[head : len(put) - tail]


def _with_context(text: str, start: int, stop: int) -> tuple[int, int]:
    context = 0
    while True:
        lo, hi = _snapped(text, max(0, start - context), min(len(text), stop + context))
        found = text[lo:hi]
        if (lo, hi) == (0, len(text)):
            return lo, hi
        if found.strip() and text.find(found) == lo and text.find(found, lo + 1) < 0:
            return lo, hi
        context = context * 2 or _FIRST_CONTEXT


def _snapped(text: str, lo: int, hi: int) -> tuple[int, int]:
    """Return the stretch widened to whole words, never parting a carriage return from its line feed."""
    while lo > 0 and not text[lo - 1].isspace():
        lo -= 1
    while hi < len(text) and not text[hi].isspace():
        hi += 1
    return lo - (text[max(lo - 1, 0) : lo + 1] == "\r\n"), hi + (text[max(hi - 1, 0) : hi + 1] == "\r\n")
