"""Links and tags in one stretch of running text: a paragraph, a heading, a table cell.

The note's own text is scanned, so positions are exact. The prefixes of quotes and lists between the lines of
such a stretch do no harm: none of them opens or closes anything here. Every rule looks ahead at most once
over each place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from vault_memex.core.links import WIKILINK, parse_destination, parse_markdown_link, parse_wikilink
from vault_memex.core.note import Link, LinkKind, Tag
from vault_memex.core.tags import TAG_RUN, trim_tag
from vault_memex.core.text import Span

_SPECIAL = re.compile(r"[\\`<$\[\]#]")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_BACKTICKS = re.compile(r"`++")
_HTML = re.compile(
    r"</[A-Za-z][A-Za-z0-9-]*+\s*+>"
    r"|<[A-Za-z][A-Za-z0-9-]*+(?:\s++[A-Za-z_:][A-Za-z0-9_.:-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+)*+\s*+/?>"
    r"|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+>"
)
_MATH = re.compile(r"\$(?![\s$])(?:[^$\\\r\n]|\\[^\r\n])++(?<!\s)\$(?![0-9])")
_MAX_LABEL = 2_000  # longer ones would let nested images multiply the text
_EMPHASIS = "*_~="


@dataclass(slots=True)
class _Bracket:
    """An open `[` that may turn out to start a Markdown link."""

    at: int  # of the bracket, or of the ! before it
    image: bool
    tag: Tag | None = None  # one that counts only if this is a link


class InlineScanner:
    """Collects the links and tags of a note, stretch by stretch, in order of position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.links: list[Link] = []
        self.tags: list[Tag] = []
        self.stretches: list[Span] = []  # what was read
        self.hidden: list[Span] = []  # code, HTML, mathematics and links of any kind in it

    def scan(self, start: int, end: int) -> None:
        """Read one stretch. Nothing that opens in it closes outside."""
        self.stretches.append(Span(start, end))
        first = _SPECIAL.search(self.text, start, end)
        if first is not None:
            _Stretch(self, start, end).run(first.start())


class _Stretch:
    """The state of one scan: what is open, and what is known not to follow."""

    __slots__ = (
        "brackets",
        "closers",
        "dead",
        "end",
        "following",
        "hidden",
        "links",
        "runs",
        "start",
        "tag_at",
        "tags",
        "text",
    )

    def __init__(self, scanner: InlineScanner, start: int, end: int) -> None:
        self.text = scanner.text
        self.hidden = scanner.hidden
        self.links = scanner.links
        self.tags = scanner.tags
        self.start = start
        self.end = end
        self.brackets: list[_Bracket] = []
        self.dead = 0  # brackets below this index can no longer open a link: one lies inside them
        self.tag_at = start  # a tag may start here because of what was just read
        self.runs: dict[int, list[int]] | None = None  # backtick runs by length
        self.closers: dict[str, int] = {}  # last place where an emphasis mark may close
        self.following: dict[str, int] = {}  # where a closing mark was last found; -1 when there are no more

    def run(self, pos: int) -> None:
        """Read on from the first special character."""
        text, end = self.text, self.end
        search = _SPECIAL.search
        while True:
            mark = text[pos]
            if mark == "#":
                pos = self._read_tag(pos)
            elif mark == "[":
                pos = self._open_bracket(pos)
            elif mark == "]":
                pos = self._close_bracket(pos) if self.brackets else pos + 1
            elif mark == "\\":
                pos = self._read_escape(pos)
            else:
                pos = self._hide(pos, self._read_opaque(mark, pos))
            found = search(text, pos, end)
            if found is None:
                return
            pos = found.start()

    def _hide(self, start: int, end: int) -> int:
        self.hidden.append(Span(start, end))
        return end

    def _read_opaque(self, mark: str, pos: int) -> int:
        if mark == "`":
            return self._read_code(pos)
        return self._read_html(pos) if mark == "<" else self._read_math(pos)

    def _read_escape(self, pos: int) -> int:
        if pos + 1 < self.end and self.text[pos + 1] in _PUNCTUATION:
            self.tag_at = pos + 2
            return pos + 2
        return pos + 1

    def _read_code(self, pos: int) -> int:
        run = _BACKTICKS.match(self.text, pos, self.end)
        length = run.end() - pos if run is not None else 1
        if self.runs is None:
            self.runs = {}
            for found in _BACKTICKS.finditer(self.text, pos, self.end):
                self.runs.setdefault(found.end() - found.start(), []).append(found.start())
        same = self.runs.get(length, [])
        later = bisect_right(same, pos)
        return same[later] + length if later < len(same) else pos + length

    def _read_html(self, pos: int) -> int:
        if self.text.startswith("<!--", pos):
            close = self._find("-->", pos + 2)
            return close + 3 if close >= 0 else pos + 4
        tag = _HTML.match(self.text, pos, self.end)
        return tag.end() if tag is not None else pos + 1

    def _read_math(self, pos: int) -> int:
        if self.text.startswith("$$", pos):
            close = self._find("$$", pos + 2)
            return close + 2 if close >= 0 else pos + 2
        math = _MATH.match(self.text, pos, self.end)
        return math.end() if math is not None else pos + 1

    def _find(self, mark: str, at: int) -> int:
        """Return where a closing mark follows, or -1; what lies between is searched once, however often asked."""
        found = self.following.get(mark)
        if found is None or 0 <= found < at:
            found = self.following[mark] = self.text.find(mark, at, self.end)
        return found

    def _read_tag(self, pos: int) -> int:
        run = TAG_RUN.match(self.text, pos + 1, self.end)
        if run is None:
            return pos + 1
        name = trim_tag(run.group())
        if name is None:
            return run.end()
        tag = Tag(name, Span(pos, pos + 1 + len(name)))
        if self._may_start_tag(pos):
            self.tags.append(tag)
            self.tag_at = run.end()
        elif self.brackets and self.brackets[-1].at + 1 + self.brackets[-1].image == pos:
            self.brackets[-1].tag = tag
        return run.end()

    def _may_start_tag(self, pos: int) -> bool:
        if pos == self.tag_at:
            return True
        before = self.text[pos - 1]
        if before.isspace():
            return True
        if before == ">":
            return self._starts_quoted_line(pos)
        return before in _EMPHASIS and self._opens_emphasis(pos)

    def _starts_quoted_line(self, pos: int) -> bool:
        while pos > self.start and self.text[pos - 1] in " \t>":
            pos -= 1
        return pos == self.start or self.text[pos - 1] in "\r\n"

    def _opens_emphasis(self, pos: int) -> bool:
        """Return whether the run of marks before `pos` may open emphasis that closes later in the stretch."""
        mark = self.text[pos - 1]
        at = pos - 1
        while at > self.start and self.text[at - 1] == mark:
            at -= 1
        if mark in "~=" and pos - at != 2:
            return False
        before = self.text[at - 1] if at > self.start else " "
        if not (before.isspace() or before in _PUNCTUATION):
            return False
        if mark not in self.closers:
            last = self.text.rfind(mark, self.start, self.end)
            while last > pos and self.text[last - 1].isspace():
                last = self.text.rfind(mark, self.start, last)
            self.closers[mark] = last
        return self.closers[mark] > pos

    def _open_bracket(self, pos: int) -> int:
        text = self.text
        image = pos > self.start and text[pos - 1] == "!" and self.tag_at != pos
        start = pos - image
        if text.startswith("[[", pos):
            found = WIKILINK.match(text, pos, self.end)
            if found is not None:
                kind: LinkKind = "embed" if image else "wiki"
                link = parse_wikilink(text, Span(start, found.end()), kind)
                if link is not None:
                    self.links.append(link)
                return self._hide(start, found.end())
        self.brackets.append(_Bracket(start, image))
        return pos + 1

    def _close_bracket(self, pos: int) -> int:
        bracket = self.brackets.pop()
        alive = bracket.image or len(self.brackets) >= self.dead
        self.dead = min(self.dead, len(self.brackets))
        if not alive or not self.text.startswith("](", pos) or self._find(")", pos + 2) < 0:
            return pos + 1
        destination = parse_destination(self.text, pos + 1, self.end)
        if destination is None or pos - bracket.at > _MAX_LABEL:
            return pos + 1
        label = self.text[bracket.at + 1 + bracket.image : pos]
        if not bracket.image:
            self.dead = len(self.brackets)
        if bracket.tag is not None:
            self.tags.append(bracket.tag)
        if label.strip() or bracket.image:
            span = Span(bracket.at, destination.end)
            kind: LinkKind = "embed" if bracket.image else "markdown"
            link = parse_markdown_link(self.text, span, destination.span, label=label, kind=kind)
            if link is not None:
                self.links.append(link)
        return self._hide(bracket.at, destination.end)
