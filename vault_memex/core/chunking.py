"""Passages: the pieces of a note that are embedded, about 200 tokens each.

A passage is one heading section, or neighbouring small ones packed together, or a window of a long one. Its text
starts with a line that says where it stands: title › heading path. Tokens are estimated by script (no tokenizer
here); against the multilingual XLM-R vocabulary the estimate is within a quarter on prose in six languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from vault_memex.core.note import ParsedNote
from vault_memex.core.text import Span

TARGET_TOKENS = 200
MIN_TOKENS = 40
MAX_TOKENS = 350
_LEAST_PART = 3  # tokens of a sentence or line that is a part of its own
_LEAST_WORDS = 12  # the same of words within a sentence
_HEADER_PART_LIMIT = 120  # code points of a title or heading in the first line

# Tokens per byte of UTF-8, fitted to the real tokenizer on the benchmark texts and two vaults.
_PLAIN = 0.21  # ASCII letters and blanks
_DIGIT = 0.53
_PUNCTUATION = 1.05
_TWO_BYTES = 0.24  # per character: Latin with accents, Cyrillic, Greek, Hebrew, Arabic
_HAN_KANA = 0.72
_HANGUL = 0.70
_OTHER = 1.2  # Thai, Indic, typographic marks, emoji

_DIGITS = bytes(range(0x30, 0x3A))
_PUNCTUATIONS = bytes(c for c in range(0x21, 0x7F) if not chr(c).isalnum())
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_TWO_LEADS = bytes(range(0xC2, 0xE0))
_HAN_KANA_LEADS = bytes(range(0xE3, 0xEA))
_HANGUL_LEADS = bytes(range(0xEA, 0xEE))
_NOT_PLAIN = _DIGITS + _PUNCTUATIONS + bytes(range(0x80, 0x100))

_FENCE = r"[ \t]{0,3}(?:`{3,}|~{3,})"
_BLOCK = re.compile(
    # A fenced block up to its closing fence or the end; else lines up to a blank one or a fence.
    r"^[ \t]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*(?:\n(?![ \t]{0,3}(?P=fence))[^\n]*)*(?:\n[^\n]*)?"
    rf"|^(?=[^\n]*\S)[^\n]+(?:\n(?!{_FENCE})(?=[^\n]*\S)[^\n]+)*",
    re.MULTILINE,
)
_TABLE = re.compile(r"[ \t]*\||[^\n]*\n(?=[^\n]*\|)[ \t:|-]+(?:\n|\Z)")
_BLOB_SIZE = 512
_BLOB = re.compile(rf"(?<![A-Za-z0-9+/=_%-])[A-Za-z0-9+/=_%-]{{{_BLOB_SIZE},}}")  # base64 and the like
_LINE_END = re.compile(r"\n")
_SENTENCE_END = re.compile(
    # One character class first: the engine then skips to the candidates.
    r"[.!?…。！？｡\n](?:"
    r"(?<=[.!?…])(?<![.!?…]{2})[.!?…]*+[\"'»”’)\]*_]*+\s++(?=\S)"
    r"|(?<=[。！？｡])[。！？｡]*+[」』”’）]*+"
    r"|(?<=\n)(?=[ \t]*(?:[-*+>]|\d+[.)])[ \t]))"
)
_BLANK = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of a note and what is embedded for it."""

    ordinal: int
    heading_path: tuple[str, ...]  # that all of it stands under
    span: Span  # in the note's text
    text: str  # title › heading path, line end, the text of the span
    hash: str  # BLAKE2b-128 of `text` in hex: equal text has one vector


class _Section(NamedTuple):
    """The lines from one heading to the next, whatever their levels."""

    path: tuple[str, ...]
    start: int  # of the heading
    inner: int  # after the heading
    end: int
    tokens: float


class _Unit(NamedTuple):
    """What a window is made of: a paragraph, code block, table, or a part of one."""

    start: int
    end: int
    tokens: float


def build_passages(note: ParsedNote, title: str, date: str | None = None) -> tuple[Passage, ...]:
    """Return the note's passages in order of position; a note without text has one that holds its title.

    `date` goes into the first line; by default the `created` of a note that says `layer: past`.
    """
    head = _render_head(title, _find_date(note) if date is None else date)
    passages: list[Passage] = []
    for group in _pack(_find_sections(note)):
        first = group[0]
        if len(group) > 1:
            path = _common_path(group)
            start = first.inner if first.path == path else first.start
            spans = [Span(start, group[-1].end)]
        else:
            path = first.path
            spans = (
                _find_windows(note.text, first) if first.tokens > MAX_TOKENS else [Span(first.inner, first.end)]
            )
        line = head + _render_path(path, title)
        for span in spans:
            passages.append(_build_passage(note.text, len(passages), path, line, span))
    if not passages:
        end = len(note.text)
        passages.append(_build_passage(note.text, 0, (), head, Span(end, end)))
    return tuple(passages)


def estimate_tokens(text: str) -> float:
    """Return about how many tokens a multilingual model makes of the text, within a quarter for prose."""
    data = text.encode("utf-8", "surrogatepass")
    total = len(data)
    digits = total - len(data.translate(None, _DIGITS))
    punctuation = total - len(data.translate(None, _PUNCTUATIONS))
    special = digits * _DIGIT + punctuation * _PUNCTUATION
    if total == len(text):
        return (total - digits - punctuation) * _PLAIN + special
    leads = data.translate(None, _CONTINUATIONS)
    two = len(leads) - len(leads.translate(None, _TWO_LEADS))
    han = len(leads) - len(leads.translate(None, _HAN_KANA_LEADS))
    hangul = len(leads) - len(leads.translate(None, _HANGUL_LEADS))
    plain = len(leads.translate(None, _NOT_PLAIN))
    other = len(leads) - plain - digits - punctuation - two - han - hangul
    return plain * _PLAIN + special + two * _TWO_BYTES + han * _HAN_KANA + hangul * _HANGUL + other * _OTHER


def _build_passage(text: str, ordinal: int, path: tuple[str, ...], head: str, span: Span) -> Passage:
    start, end = _trimmed(text, span.start, span.end)
    body = text[start:end]
    if "\r" in body:  # the same text has the same vector whatever the file's line endings
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    whole = f"{head}\n{body}" if body else head
    digest = blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return Passage(ordinal, path, Span(start, end), whole, digest)


def _find_date(note: ParsedNote) -> str:
    if note.properties.get("layer") != "past":
        return ""
    created = note.properties.get("created")
    return created[:10] if isinstance(created, str) else ""


def _render_head(title: str, date: str) -> str:
    name = title[:_HEADER_PART_LIMIT]
    return f"{name} ({date})" if date and date not in name else name


def _render_path(path: Sequence[str], title: str) -> str:
    if path and path[0].strip().casefold() == title.strip().casefold():
        path = path[1:]  # the usual "# Title" at the top says nothing new
    return "".join(f" › {name[:_HEADER_PART_LIMIT]}" for name in path)


def _find_sections(note: ParsedNote) -> list[_Section]:
    """Return the parts between headings that say something.

    A heading without text of its own is left to the heading paths of its subsections.
    """
    text = note.text
    sections: list[_Section] = []
    marks: list[tuple[int, int, tuple[str, ...]]] = [(note.body_start, note.body_start, ())]
    marks += [(h.span.start, h.span.end, h.path) for h in note.headings]
    for index, (mark, after, path) in enumerate(marks):
        following = marks[index + 1] if index + 1 < len(marks) else None
        start, end = _trimmed(text, mark, following[0] if following else len(text))
        if start == end:
            continue
        if after >= end and following and following[2][: len(path)] == path:
            continue
        sections.append(_Section(path, start, min(after, end), end, estimate_tokens(text[start:end])))
    return sections


def _pack(sections: Sequence[_Section]) -> list[list[_Section]]:
    """Return neighbours put together up to the target; one below the minimum joins up to the maximum."""
    groups: list[list[_Section]] = []
    size = 0.0
    for section in sections:
        total = size + section.tokens
        small = min(size, section.tokens) < MIN_TOKENS
        if groups and (total <= TARGET_TOKENS or (small and total <= MAX_TOKENS)):
            groups[-1].append(section)
            size = total
        else:
            groups.append([section])
            size = section.tokens
    return groups


def _common_path(group: Sequence[_Section]) -> tuple[str, ...]:
    shortest, longest = min(s.path for s in group), max(s.path for s in group)
    size = 0
    while size < min(len(shortest), len(longest)) and shortest[size] == longest[size]:
        size += 1
    return shortest[:size]


def _find_windows(text: str, section: _Section) -> list[Span]:
    """Return windows of about the target over a long section, each starting half-way into the one before."""
    spans: list[Span] = []
    run: list[_Unit] = []
    for unit in _find_units(text, section.inner, section.end):
        if run and unit.start - run[-1].end >= _BLOB_SIZE:  # a window must not reach over what was left out
            spans += _find_run_windows(run)
            run = []
        run.append(unit)
    return spans + _find_run_windows(run)


def _find_run_windows(units: Sequence[_Unit]) -> list[Span]:
    spans: list[Span] = []
    first = 0
    while first < len(units):
        last, size = first + 1, units[first].tokens
        while last < len(units) and size + units[last].tokens <= TARGET_TOKENS:
            size += units[last].tokens
            last += 1
        rest = sum(u.tokens for u in units[last:]) if len(units) - last <= MIN_TOKENS else MAX_TOKENS
        if rest < MIN_TOKENS and size + rest <= MAX_TOKENS:
            last = len(units)
        spans.append(Span(units[first].start, units[last - 1].end))
        if last == len(units):
            break
        first = _find_overlap(units, first, last)
    return spans


def _find_overlap(units: Sequence[_Unit], first: int, last: int) -> int:
    """Return where the next window starts: as many whole units back as half a window holds."""
    start, size = last, 0.0
    while start - 1 > first and size + units[start - 1].tokens <= TARGET_TOKENS / 2:
        start -= 1
        size += units[start].tokens
    return start


def _find_units(text: str, start: int, end: int) -> Iterator[_Unit]:
    for match in _BLOCK.finditer(text[start:end]):
        block = _Unit(start + match.start(), start + match.end(), estimate_tokens(match[0]))
        if match["fence"] or _TABLE.match(match[0]):
            yield from [block] if block.tokens <= MAX_TOKENS else _split(text, block, _LINE_END, _BLANK)
        elif block.tokens <= TARGET_TOKENS:
            yield block
        else:
            for part in _without_blobs(text, block):
                yield from _split(text, part, _SENTENCE_END, _LINE_END, _BLANK)


def _without_blobs(text: str, block: _Unit) -> Iterator[_Unit]:
    at = block.start
    for blob in _BLOB.finditer(text, block.start, block.end):
        if at < blob.start():
            yield _Unit(at, blob.start(), estimate_tokens(text[at : blob.start()]))
        at = blob.end()
    if at == block.start:
        yield block
    elif at < block.end:
        yield _Unit(at, block.end, estimate_tokens(text[at : block.end]))


def _split(text: str, unit: _Unit, *ends: re.Pattern[str]) -> list[_Unit]:
    """Return the unit in parts of at most half the target, cut at the first kind of end that does it.

    Tokens of a part are its share of the unit by length. Scraps stay with what follows them: a part of a text
    costs as much as a word whatever its length, and a long line has hundreds of thousands of words.
    """
    half = TARGET_TOKENS / 2
    rate = unit.tokens / (unit.end - unit.start)
    if not ends:
        step = max(1, int(half / rate))
        cuts = list(range(unit.start + step, unit.end, step))
    else:
        least = _LEAST_WORDS if ends[0] is _BLANK else _LEAST_PART
        cuts = _find_cuts(text, unit, ends[0], max(1, int(least / rate)))
    parts: list[_Unit] = []
    at = unit.start
    for cut in [*cuts, unit.end]:
        part = _Unit(at, cut, rate * (cut - at))
        if part.tokens > half and ends:
            parts += _split(text, part, *ends[1:])
        elif at < cut:
            parts.append(part)
        at = cut
    return parts


def _find_cuts(text: str, unit: _Unit, end: re.Pattern[str], least: int) -> list[int]:
    """Return where to cut the unit: behind ends that lie at least so many code points after the cut before."""
    cuts: list[int] = []
    found = end.search(text, unit.start + least, unit.end)
    while found is not None:
        cuts.append(found.end())
        found = end.search(text, found.end() + least, unit.end)
    return cuts


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    body = text[start:end]
    left = len(body) - len(body.lstrip())
    return (start + left, start + len(body.rstrip())) if left < len(body) else (end, end)
