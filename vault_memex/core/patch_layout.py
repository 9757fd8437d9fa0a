"""Where inserted text goes, and which blank lines it needs: the rules of append, prepend, before and replace.

Nothing that is there is moved or trimmed; only line breaks around the new text are added, and at the end of a file
there is a line break after it exactly when there was one before.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from vault_memex.core.note import ParsedNote
from vault_memex.core.sections import Section
from vault_memex.core.text import LINE_END, Span, TextEdit, apply_text_edits, find_line_end, with_line_ending

_BLANK = " \t\r\n"
_BLANK_LINES = re.compile(r"(?:[ \t]*+(?:\r\n?|\n))*+")
_LONE_BLOCK_ID = re.compile(r"[ \t]*\^[A-Za-z0-9-]+[ \t]*")
_UNDERLINE = re.compile(r"[ \t>]*(?:-+|=+)[ \t]*")
_ITEM = re.compile(r" {0,3}(?:([-*+])|\d{1,9}([.)]))(?=[ \t]|$)")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}")
_ATX = re.compile(r"[ \t]*#{1,6}(?:[ \t]|$)")

ParseNote = Callable[[str], ParsedNote]


def find_ending_at(text: str, position: int) -> str:
    r"""Return the line ending of the line at a position, else of the line before it, else `\n`."""
    ahead = LINE_END.search(text, position)
    if ahead:
        return ahead[0]
    before = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position))
    if before < 0:
        return "\n"
    return "\r\n" if text[before] == "\n" and text[before - 1 : before] == "\r" else text[before]


def find_content(text: str, span: Span) -> Span | None:
    """Return from the start of the first line that is not blank to the end of the last one; None if all are."""
    start = _BLANK_LINES.match(text, *span)
    assert start is not None
    stop = span.start + len(text[span.start : span.end].rstrip(_BLANK))
    if stop <= start.end():
        return None
    return Span(start.end(), find_line_end(text, stop))


def _line_at(text: str, position: int) -> str:
    start = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    return text[start : find_line_end(text, position)]


def plan_append(text: str, span: Span, added: str, parse: ParseNote) -> TextEdit:
    """Return the edit that puts text on a new line after the last line of the span that is not blank.

    One blank line comes between only after a lone block id, and where `---` or `===` would otherwise make a
    heading of the paragraph above.
    """
    content = find_content(text, span)
    if content is None:
        return _plan_first_text(text, span.end, added)
    at = content.end
    ending = find_ending_at(text, at)
    added = with_line_ending(_trim_end(added), ending)
    if _LONE_BLOCK_ID.fullmatch(_line_at(text, at)):
        return TextEdit(Span(at, at), ending * 2 + added)
    edit = TextEdit(Span(at, at), ending + added)
    first = LINE_END.split(added)[0]
    if _UNDERLINE.fullmatch(first) and _makes_heading(text, edit, at + len(ending), parse):
        return TextEdit(edit.span, ending + edit.text)
    return edit


def _makes_heading(text: str, edit: TextEdit, line: int, parse: ParseNote) -> bool:
    after = parse(apply_text_edits(text, [edit]))
    return any(heading.span.start < line <= heading.span.end for heading in after.headings)


def _plan_first_text(text: str, end: int, added: str) -> TextEdit:
    """Return the edit for a place with nothing but blank lines: the text becomes its last line."""
    ending = find_ending_at(text, end)
    added = with_line_ending(_trim_end(added), ending)
    whole = text[:end].rstrip(" \t")
    if whole in ("", "\ufeff") or whole.endswith(("\n", "\r")):
        return TextEdit(Span(len(whole), len(whole)), added + ending)
    return TextEdit(Span(end, end), ending + added)


def plan_prepend(text: str, span: Span, added: str) -> TextEdit | None:
    """Return the edit that puts text in front of the first line of the span that is not blank; None if all are.

    One blank line follows, but a list item joins a list that starts there.
    """
    content = find_content(text, span)
    if content is None:
        return None
    ending = find_ending_at(text, content.start)
    added = with_line_ending(trim_blank_lines(added), ending)
    gap = ending if _joins_list(added, _line_at(text, content.start)) else ending * 2
    return TextEdit(Span(content.start, content.start), added + gap)


def _joins_list(added: str, below: str) -> bool:
    lines = [line for line in LINE_END.split(added) if line.strip()]
    kind = _item_kind(below)
    if kind is None or _item_kind(lines[0]) != kind:
        return False
    return all(_item_kind(line) == kind or line[0] in " \t" for line in lines)


def _item_kind(line: str) -> str | None:
    found = _ITEM.match(line)
    if found is None or _RULE.fullmatch(line):
        return None
    return found[1] or found[2]


def plan_before(text: str, body_start: int, position: int, added: str) -> TextEdit:
    """Return the edit that puts text above the heading line at a position, with a blank line on either side."""
    ending = find_ending_at(text, position)
    added = with_line_ending(trim_blank_lines(added), ending)
    above = text[body_start:position]
    tight = bool(above) and bool(LINE_END.split(above)[-2].strip(" \t"))
    return TextEdit(Span(position, position), (ending if tight else "") + added + ending * 2)


def plan_section_text(note: ParsedNote, section: Section, span: Span, text: str) -> TextEdit:
    """Return the edit that gives a section (the given span of it) another text; heading and blank lines stay."""
    new = strip_own_heading(section, text)
    heading_end = section.heading.span.end
    ending = find_ending_at(note.text, heading_end)
    content = find_content(note.text, span) if span.end > span.start else None
    if not new.strip():
        return _plan_emptied(note.text, heading_end, span, content)
    new = with_line_ending(new, ending if content is None else find_ending_at(note.text, content.start))
    under = Span(heading_end, heading_end)
    return with_gap_below(note, TextEdit(under, ending + new) if content is None else TextEdit(content, new))


def with_gap_below(note: ParsedNote, edit: TextEdit) -> TextEdit:
    """Return the edit with a blank line after it where an underlined heading follows directly.

    Text on the line above such a heading would become part of it.
    """
    end = LINE_END.match(note.text, edit.span.end)
    if end is None:
        return edit
    for heading in note.headings:
        if heading.span.start == end.end() and not _ATX.match(note.text, heading.span.start):
            return TextEdit(edit.span, edit.text + end[0])
    return edit


def _plan_emptied(text: str, heading_end: int, span: Span, content: Span | None) -> TextEdit:
    """Return the edit that leaves a heading with nothing under it, and one run of blank lines, not two."""
    if content is None:
        return TextEdit(Span(heading_end, heading_end), "")
    if content.end == len(text) or not text[content.end :].strip(_BLANK):
        return TextEdit(Span(heading_end, content.end), "")
    if content.start > span.start:
        return TextEdit(Span(content.start, span.end), "")
    after = LINE_END.match(text, content.end)
    return TextEdit(Span(content.start, after.end() if after else content.end), "")


def strip_own_heading(section: Section, text: str) -> str:
    """Return a section's new text without outer blank lines, and without its own heading if it starts with it."""
    text = trim_blank_lines(text)
    first, _, rest = with_line_ending(text, "\n").partition("\n")
    marks = re.fullmatch(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*", first)
    wanted = section.heading.text.casefold()
    if marks and len(marks[1]) == section.heading.level and marks[2].casefold() == wanted:
        return trim_blank_lines(rest)
    underline, _, below = rest.partition("\n")
    level = {"=": 1, "-": 2}.get(underline.strip(" \t")[:1])
    if level == section.heading.level and _UNDERLINE.fullmatch(underline) and first.strip().casefold() == wanted:
        return trim_blank_lines(below)
    return text


def trim_blank_lines(text: str) -> str:
    """Return the text without blank lines at its start and end; blanks on its last line stay."""
    content = find_content(text, Span(0, len(text)))
    return "" if content is None else text[content.start : content.end]


def _trim_end(text: str) -> str:
    content = find_content(text, Span(0, len(text)))
    return "" if content is None else text[: content.end]
