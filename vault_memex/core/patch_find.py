"""Where the text to find stands, and what to say when it stands nowhere or too often."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from vault_memex.core.note import ParsedNote
from vault_memex.core.sections import find_section_at, render_path
from vault_memex.core.text import LINE_END, Span, with_line_ending
from vault_memex.errors import AnchorNotFound, AnchorNotUnique

MAX_PLACES = 10
QUOTED = 60

_ANY_ENDING = r"(?:\r\n|\n|\r)"
_CLOSEST_LINES = 2000
_CLOSEST_CHARS = 300
_TYPED = str.maketrans(
    {"‘": "'", "’": "'", "‚": "'", "′": "'", "“": '"', "”": '"', "„": '"', "″": '"', "«": '"', "»": '"'}
    | {"‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-", "…": "..."}
)
_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_HIDDEN = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_RUN = re.compile(r"[ \t]+")
_WORDS = re.compile(r"\w+")
_AROUND_BREAK = re.compile(r" ?\n ?")


def find_places(text: str, find: str, span: Span) -> list[Span]:
    """Return where the text stands inside the span, without overlap. Any line ending fits any other."""
    places: list[Span] = []
    at = span.start
    while (place := _find_next(text, find, Span(at, span.end))) is not None:
        places.append(place)
        at = place.end
    return places


def find_overlapping(text: str, find: str, first: Span, end: int) -> Span | None:
    """Return the next place after a first one, even one that overlaps it."""
    return _find_next(text, find, Span(first.start + 1, end))


def _find_next(text: str, find: str, span: Span) -> Span | None:
    lines = LINE_END.split(find)
    if len(lines) == 1 or text.find("\r", span.start, span.end) < 0:
        wanted = "\n".join(lines)
        at = text.find(wanted, *span)
        return None if at < 0 else Span(at, at + len(wanted))
    found = re.compile(_ANY_ENDING.join(map(re.escape, lines))).search(text, *span)
    return None if found is None else Span(*found.span())


def quote(text: str) -> str:
    """Return the first 60 characters in quotation marks, on one line."""
    shown = text if len(text) <= QUOTED else text[:QUOTED] + "…"
    return '"' + shown.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "⏎") + '"'


def render_places(note: ParsedNote, places: Sequence[Span]) -> list[str]:
    """Return `line 12 (A > B)` for each of the first ten places; lines count from 1 in the file."""
    shown: list[str] = []
    for place in places[:MAX_PLACES]:
        path = find_section_at(note.headings, place.start)
        line = len(LINE_END.findall(note.text, 0, place.start)) + 1
        shown.append(f"line {line} ({render_path(path)})" if path else f"line {line}")
    return shown


def render_not_unique(
    note: ParsedNote, number: int, find: str, places: Sequence[Span], count: int | None
) -> AnchorNotUnique:
    """Return the error for text that occurs another number of times than asked."""
    shown = render_places(note, places)
    more = f" and {len(places) - len(shown)} more" if len(places) > len(shown) else ""
    times = f"{len(places)} time{'s' if len(places) > 1 else ''}"
    if count is None:
        advice = f"Quote more of the text around it, name a section, or send count {len(places)} to replace all."
    else:
        advice = f"{count} expected."
    return AnchorNotUnique(
        f"Operation {number}: {quote(find)} occurs {times}: {', '.join(shown)}{more}. {advice}",
        operation=number,
        found=len(places),
        expected=count or 1,
        places=shown,
    )


def render_not_found(note: ParsedNote, number: int, find: str, span: Span, section: str | None) -> AnchorNotFound:
    """Return the error for text that does not occur; says what is nearly there."""
    where = f"the section {section!r}" if section else "the text"
    hint = _find_hint(note, find, span)
    return AnchorNotFound(
        f"Operation {number}: {quote(find)} does not occur in {where}. {hint}",
        operation=number,
        find=find[:QUOTED],
        hint=hint,
    )


def _find_hint(note: ParsedNote, find: str, span: Span) -> str:
    outside = find_places(note.text, find, Span(note.body_start, len(note.text)))
    if outside:
        return f"It occurs outside it: {', '.join(render_places(note, outside))}."
    if find_places(note.text, find, Span(0, note.body_start)):
        return "It occurs only in the frontmatter, which a patch never touches: change it by `properties`."
    first_line = len(LINE_END.findall(note.text, 0, span.start)) + 1
    text = with_line_ending(note.text[span.start : span.end], "\n")
    find = with_line_ending(find, "\n")
    return (
        _find_near(text, find, first_line)
        or _find_closest(text, find, first_line)
        or "Read the note again and quote it."
    )


_DIFFERENCES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("Unicode form (composed or decomposed characters)", lambda t: unicodedata.normalize("NFC", t)),
    ("no-break or other special spaces", lambda t: _SPACES.sub(" ", t)),
    ("invisible characters", lambda t: _HIDDEN.sub("", t)),
    ("curly quotes or dashes", lambda t: t.translate(_TYPED)),
    ("upper and lower case", lambda t: t.casefold()),
    ("spaces at line ends, indents or runs of spaces", lambda t: _AROUND_BREAK.sub("\n", _RUN.sub(" ", t))),
)


def _find_near(text: str, find: str, first_line: int) -> str | None:
    r"""Return what keeps the text from matching: a kind of difference, its outer line breaks, or a typed `\n`."""

    def line_of(where: str, what: str) -> int | None:
        at = where.find(what)
        return None if at < 0 else first_line + where.count("\n", 0, at)

    if (line := line_of(text, find.strip("\n"))) is not None:
        return f"Without the line breaks at its ends it occurs at line {line}: something else stands there."
    if "\\n" in find and (line := line_of(text, find.replace("\\n", "\n"))) is not None:
        return rf"It holds \n as two characters; with a real line break it occurs at line {line}."
    everything_text, everything_find = text, find.strip()
    for name, plain in _DIFFERENCES:
        if (line := line_of(plain(text), plain(find).strip("\n"))) is not None:
            return f"It differs only by {name} from line {line}: quote the text exactly as it stands there."
        everything_text, everything_find = plain(everything_text), plain(everything_find)
    if (line := line_of(everything_text, everything_find)) is not None:
        return f"It differs by spaces, case, quotes or Unicode form from line {line}: quote the text exactly."
    return None


def _find_closest(text: str, find: str, first_line: int) -> str | None:
    wanted = max(find.split("\n"), key=len).strip()[:_CLOSEST_CHARS]
    lines = [line.strip()[:_CLOSEST_CHARS] for line in text.split("\n")[:_CLOSEST_LINES]]
    close = get_close_matches(wanted, [line for line in lines if line], n=1, cutoff=0.6)
    line = close[0] if close else _find_like(lines, wanted)
    return f'The closest line is {first_line + lines.index(line)}: "{line}".' if line else None


def _find_like(lines: Sequence[str], wanted: str) -> str | None:
    """Return the line that holds most of the words, when that is half of them or more, counted in letters."""
    words = set(_WORDS.findall(wanted.casefold()))
    shares = [sum(len(word) for word in words.intersection(_WORDS.findall(line.casefold()))) for line in lines]
    most = max(shares)
    return lines[shares.index(most)] if most * 2 >= sum(map(len, words)) > 0 else None
