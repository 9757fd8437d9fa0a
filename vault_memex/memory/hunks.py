"""A change of a text as the words that change, each with the words around it; and those put onto a text that moved on.

A token is a word (in scripts without spaces: a letter), a run of white space, or one other character. A hunk is
found again by its neighbours, so that it applies wherever its place can be told beyond doubt, and nowhere else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from vault_memex.core.diff import find_changed_blocks
from vault_memex.core.revision import revision_of
from vault_memex.core.text import Span, TextEdit, apply_text_edits, find_common_ends

CONTEXT = 40  # tokens kept on each side
WHOLE_SHARE = 0.8  # of the tokens: a change of more is one of the whole text
LEAST_CONTEXT = 16  # neighbouring tokens that must be unchanged where the text moved on
_MOST_CHANGED = 600  # tokens that a stretch is searched for; with more it counts as replaced
_LONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # a letter is a word
_APART = re.compile(r"\w+")
_BREAK = re.compile(r"[\r\n]")
_TOKEN = re.compile(rf"[{_LONE}]|[^\W{_LONE}]+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Words that change. `before` and `after` are what stands around them in the text it was made for."""

    at: int  # of the first token of `old` in that text
    old: str
    new: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class TextChange:
    """A change of one text. Either hunks, or the whole new text when nearly all of it changes."""

    base: str  # revision of the text it was made for
    hunks: tuple[Hunk, ...] = ()
    whole: str | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """A text with all that fitted. `failed` are the hunks whose words or neighbours are not there any more."""

    text: str
    applied: tuple[Hunk, ...] = ()
    failed: tuple[Hunk, ...] = ()
    whole_failed: bool = False  # a whole new text, and the present one is not the one it was made for


def split_tokens(text: str) -> list[str]:
    """Return the tokens; joined they are the text."""
    return _TOKEN.findall(text)


def text_revision(text: str) -> str:
    """Return what names this state of a text."""
    return revision_of(text.encode("utf-8", "surrogatepass"))


def plan_hunks(base: str, proposed: str) -> TextChange:
    """Return the change that makes `proposed` of `base`, in order, without overlaps."""
    old, new = split_tokens(base), split_tokens(proposed)
    ranges = list(find_changed_tokens(old, new))
    if sum(b - a for a, b, _, _ in ranges) > WHOLE_SHARE * len(old):
        return TextChange(text_revision(base), whole=proposed)
    hunks = (
        Hunk(
            a,
            "".join(old[a:b]),
            "".join(new[c:d]),
            "".join(old[max(0, a - CONTEXT) : a]),
            "".join(old[b : b + CONTEXT]),
        )
        for a, b, c, d in ranges
    )
    return TextChange(text_revision(base), tuple(hunks))


TokenRange = tuple[int, int, int, int]


def find_changed_tokens(old: Sequence[str], new: Sequence[str]) -> Iterator[TokenRange]:
    """Yield (start, end) in the old tokens and (start, end) in the new ones of what differs."""
    lines_old, starts_old = _split_lines(old)
    lines_new, starts_new = _split_lines(new)
    found: list[TokenRange] = []
    for a, b, c, d in find_changed_blocks(lines_old, lines_new):
        found += _compare(old, new, (starts_old[a], starts_old[b], starts_new[c], starts_new[d]))
    joined: list[TokenRange] = []
    for one in found:
        last = joined[-1] if joined else None
        between = old[last[1] : one[0]] if last else ()
        # Words of one line with at most one word between them are changed together.
        if last and len(_APART.findall("".join(between))) <= 1 and not _BREAK.search("".join(between)):
            joined[-1] = (last[0], one[1], last[2], one[3])
        else:
            joined.append(one)
    yield from joined


def _split_lines(tokens: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the tokens joined to lines, and the token at which each line starts and the last ends."""
    lines: list[str] = []
    starts, start = [0], 0
    for number, token in enumerate(tokens, 1):
        if "\n" in token or "\r" in token or number == len(tokens):
            lines.append("".join(tokens[start:number]))
            starts.append(number)
            start = number
    return lines, starts


def _compare(old: Sequence[str], new: Sequence[str], block: TokenRange) -> Iterator[TokenRange]:
    """Yield what differs in a block, by the fewest tokens (Myers' greedy search); all of it beyond a limit."""
    a, b, c, d = block
    head, tail = find_common_ends(old[a:b], new[c:d])
    a, b, c, d = a + head, b - tail, c + head, d - tail
    steps = _find_steps(old[a:b], new[c:d])
    if steps is None:
        yield (a, b, c, d)
        return
    x, y = b - a, d - c
    found: list[TokenRange] = []
    for number in range(len(steps) - 1, 0, -1):
        reached, k = steps[number - 1], x - y
        down = k == -number or (k != number and reached[k - 1] < reached[k + 1])
        from_k = k + 1 if down else k - 1
        from_x = reached[from_k]
        from_y = from_x - from_k
        end_x, end_y = (from_x, from_y + 1) if down else (from_x + 1, from_y)
        found.append((a + from_x, a + end_x, c + from_y, c + end_y))
        x, y = from_x, from_y
    yield from reversed(found)


def _find_steps(old: Sequence[str], new: Sequence[str]) -> list[dict[int, int]] | None:
    """Return how far each diagonal is reached after 0, 1, 2 ... changed tokens; None when it takes too many."""
    reached: dict[int, int] = {1: 0}
    steps: list[dict[int, int]] = []
    for changed in range(min(len(old) + len(new), _MOST_CHANGED) + 1):
        for k in range(-changed, changed + 1, 2):
            down = k == -changed or (k != changed and reached[k - 1] < reached[k + 1])
            x = reached[k + 1] if down else reached[k - 1] + 1
            while x < len(old) and x - k < len(new) and old[x] == new[x - k]:
                x += 1
            reached[k] = x
            if x >= len(old) and x - k >= len(new):
                return [*steps, dict(reached)]
        steps.append(dict(reached))
    return None


def apply_hunks(text: str, change: TextChange, chosen: Sequence[Hunk] | None = None) -> Merged:
    """Return the text with the change, as far as it fits. `chosen`: these hunks alone."""
    if change.whole is not None:
        same = text_revision(text) == change.base
        return Merged(change.whole if same else text, whole_failed=not same)
    edits: list[TextEdit] = []
    applied: list[Hunk] = []
    failed: list[Hunk] = []
    wanted = change.hunks if chosen is None else chosen
    for hunk, place in zip(change.hunks, find_places(text, change), strict=True):
        if hunk not in wanted:
            continue
        if place is None:
            failed.append(hunk)
        else:
            applied.append(hunk)
            edits.append(TextEdit(place, hunk.new))
    return Merged(apply_text_edits(text, edits), tuple(applied), tuple(failed))


def find_places(text: str, change: TextChange) -> tuple[Span | None, ...]:
    """Return where in the text each hunk's old words stand; None for one whose place cannot be told."""
    tokens = split_tokens(text)
    starts = list(accumulate(map(len, tokens), initial=0))
    same = text_revision(text) == change.base
    where: dict[str, list[int]] = defaultdict(list)
    if not same:
        for number, token in enumerate(tokens):
            where[token].append(number)
    places: list[Span | None] = []
    end = -1
    for hunk in change.hunks:
        at = hunk.at if same else _find_token(tokens, where, hunk)
        if at is None or at < end:
            places.append(None)
            continue
        end = at + len(split_tokens(hunk.old))
        places.append(Span(starts[at], starts[end]))
    return tuple(places)


def _find_token(tokens: Sequence[str], where: Mapping[str, Sequence[int]], hunk: Hunk) -> int | None:
    """Return where the hunk's old tokens stand: the one place with most of its neighbours, if those are enough."""
    old, before, after = split_tokens(hunk.old), split_tokens(hunk.before), split_tokens(hunk.after)
    if old:
        candidates: Sequence[int] = where.get(old[0], ())
    elif before:
        candidates = [at + 1 for at in where.get(before[-1], ())]
    else:
        candidates = [0]
    best, score, twice = None, 0, False
    for at in candidates:
        if old != list(tokens[at : at + len(old)]):
            continue
        left = _count_equal(before[::-1], tokens[max(0, at - CONTEXT) : at][::-1], at <= len(before))
        behind = at + len(old)
        ends = len(tokens) - behind <= len(after)
        right = _count_equal(after, tokens[behind : behind + CONTEXT], ends)
        if left and right and left + right >= score:
            best, score, twice = at, left + right, left + right == score
    return None if best is None or twice or score < LEAST_CONTEXT else best


def _count_equal(wanted: Sequence[str], present: Sequence[str], ends: bool) -> int:
    """Return how many tokens are the same, nearest first; all of them up to the text's own end are as good as all."""
    count = 0
    for one, other in zip(wanted, present, strict=False):
        if one != other:
            return count
        count += 1
    if len(wanted) < CONTEXT:  # the text ended there
        return CONTEXT if ends and count == len(wanted) == len(present) else count
    return count
