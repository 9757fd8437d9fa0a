"""Two states of a text side by side: rows of lines, and in them the words that changed."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault_memex.core.diff import CONTEXT, Block, find_changed_blocks, split_lines
from vault_memex.memory.hunks import find_changed_tokens, split_tokens


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line."""

    text: str
    changed: bool = False


Line = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A line before and after. None: there is none on that side. Numbers count from 1."""

    old: Line | None
    new: Line | None
    old_number: int | None = None
    new_number: int | None = None
    skipped: int = 0  # lines that did not change and are left out; then the row holds nothing else

    @property
    def changed(self) -> bool:
        """Whether the sides differ."""
        return not self.skipped and self.old != self.new


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The rows that changed with some lines around them; `cut` counts the rows beyond the limit."""

    rows: tuple[Row, ...]
    cut: int = 0


def build_side_by_side(before: str, after: str, most: int = 2_000) -> SideBySide:
    """Return the comparison, at most so many rows; no rows when nothing differs."""
    old, new = split_lines(before), split_lines(after)
    rows = list(_find_rows(old, new, find_changed_blocks(old, new)))
    return SideBySide(tuple(rows[:most]), max(0, len(rows) - most))


def _find_rows(old: Sequence[str], new: Sequence[str], blocks: Sequence[Block]) -> Iterator[Row]:
    at, shift = 0, 0
    for place, (a, b, c, d) in enumerate(blocks):
        start = max(at, a - CONTEXT)
        yield from _skip(start - at)
        yield from _keep(old, start, a, shift)
        yield from _compare(old[a:b], new[c:d], a, c)
        at, shift = b, d - b
        following = blocks[place + 1][0] if place + 1 < len(blocks) else len(old)
        end = min(following, b + CONTEXT)
        yield from _keep(old, b, end, shift)
        at = end
    yield from _skip(len(old) - at if blocks else 0)


def _skip(count: int) -> Iterator[Row]:
    if count > 0:
        yield Row(None, None, skipped=count)


def _keep(old: Sequence[str], start: int, end: int, shift: int) -> Iterator[Row]:
    for number in range(start, end):
        line = (Piece(old[number].rstrip("\r\n")),)
        yield Row(line, line, number + 1, number + 1 + shift)


def _compare(old: Sequence[str], new: Sequence[str], a: int, c: int) -> Iterator[Row]:
    """Yield the rows of a block that changed; lines that share words stand beside each other."""
    left, right, pairs = _mark(old, new)
    back = {j: i for i, j in pairs.items()}
    i = j = 0
    while i < len(left) or j < len(right):
        # Of two lines that may not stand together, the one without a partner goes first.
        has_left = i < len(left) and (j >= len(right) or i not in pairs or pairs[i] == j)
        has_right = j < len(right) and (i >= len(left) or j not in back or back[j] == i)
        yield Row(
            left[i] if has_left else None,
            right[j] if has_right else None,
            a + i + 1 if has_left else None,
            c + j + 1 if has_right else None,
        )
        i, j = i + has_left, j + has_right


def _mark(old: Sequence[str], new: Sequence[str]) -> tuple[list[Line], list[Line], dict[int, int]]:
    """Return both sides with their changed words, and which old line has which new one beside it."""
    tokens = [(token, number) for number, line in enumerate(old) for token in split_tokens(line)]
    others = [(token, number) for number, line in enumerate(new) for token in split_tokens(line)]
    flags, other_flags = [False] * len(tokens), [False] * len(others)
    for start, end, first, last in find_changed_tokens([t for t, _ in tokens], [t for t, _ in others]):
        flags[start:end] = [True] * (end - start)
        other_flags[first:last] = [True] * (last - first)
    same = (one for one, changed in zip(tokens, flags, strict=True) if not changed)
    there = (one for one, changed in zip(others, other_flags, strict=True) if not changed)
    shared = Counter((i, j) for (token, i), (_, j) in zip(same, there, strict=True) if not token.isspace())
    left = _build_lines(tokens, flags, len(old))
    return left, _build_lines(others, other_flags, len(new)), _pair(shared)


def _build_lines(tokens: Sequence[tuple[str, int]], flags: Sequence[bool], count: int) -> list[Line]:
    lines: list[list[Piece]] = [[] for _ in range(count)]
    for (token, number), changed in zip(tokens, flags, strict=True):
        text, line = token.rstrip("\r\n"), lines[number]
        if line and line[-1].changed == changed:
            line[-1] = Piece(line[-1].text + text, changed)
        elif text:
            line.append(Piece(text, changed))
    return [tuple(line) for line in lines]


def _pair(shared: Counter[tuple[int, int]]) -> dict[int, int]:
    """Return pairs of lines, rising on both sides, those that share the most words first."""
    chosen: list[tuple[int, int]] = []
    for (i, j), _ in sorted(shared.items(), key=lambda item: (-item[1], item[0])):
        place = bisect_left(chosen, (i, j))
        before = chosen[place - 1] if place else (-1, -1)
        after = chosen[place] if place < len(chosen) else (i + 1, j + 1)
        if before[0] < i < after[0] and before[1] < j < after[1]:
            chosen.insert(place, (i, j))
    return dict(chosen)
