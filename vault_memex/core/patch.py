"""Edits of a note's body, planned: operations in order on the running text, all or nothing.

A patch never reads or touches the frontmatter. Text to find is literal, text to put in too; a line break in either
fits the file's own. What an operation does not name keeps its bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from vault_memex.core.frontmatter import split_fences, split_frontmatter
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import ParsedNote
from vault_memex.core.patch_find import find_overlapping, find_places, render_not_found, render_not_unique
from vault_memex.core.patch_layout import (
    find_content,
    find_ending_at,
    plan_append,
    plan_before,
    plan_prepend,
    plan_section_text,
    with_gap_below,
)
from vault_memex.core.patch_ops import PatchOp, parse_patch
from vault_memex.core.patch_pairs import Pair, plan_pairs
from vault_memex.core.sections import Section, render_path, resolve_section
from vault_memex.core.text import (
    BOM,
    Span,
    TextEdit,
    apply_text_edits,
    find_common_ends,
    find_line_ending,
    with_line_ending,
)
from vault_memex.errors import InvalidArgument, PatchEmptiesNote, PatchNoop, SectionNotFound, SectionNotUnique

__all__ = ["PatchOp", "PatchPlan", "parse_patch", "plan_body", "plan_pairs", "plan_patch"]

_BREAK = re.compile(r"[\r\n]")
# Nothing stands above the first line, so a title there needs no parser; an underlined one might be a list item's.
_ATX_TITLE = re.compile(r" {0,3}#(?:[ \t][^\r\n]*|(?=[\r\n]|\Z))")
_UNDERLINED_TITLE = re.compile(r"[^\r\n]*(?:\r\n?|\n) {0,3}=+[ \t]*(?:[\r\n]|\Z)")
_CHARACTER = re.compile(r"\r\n|[\s\S]")


@dataclass(frozen=True)
class PatchPlan:
    """What a patch makes of a note."""

    before: str
    text: str  # the whole file afterwards
    removed_headings: tuple[str, ...] = field(default=())  # full paths; only `section` + `replace` reports them

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The exact texts that change, each with enough around it to occur once in the running body."""
        start = _body_start(self.before)
        return plan_pairs(self.before[start:], self.text[start:])


class _Running:
    """The text as the operations so far have left it; parsed again only when one asks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._note: ParsedNote | None = None

    @property
    def note(self) -> ParsedNote:
        if self._note is None:
            self._note = parse_note(self.text)
        return self._note

    @property
    def body(self) -> Span:
        return Span(_body_start(self.text), len(self.text))

    def change(self, edits: Sequence[TextEdit]) -> None:
        self.text = apply_text_edits(self.text, edits)
        self._note = None


def plan_patch(text: str, ops: Sequence[PatchOp]) -> PatchPlan:
    """Return what the operations make of the file's text, or raise and change nothing.

    Raises AnchorNotFound, AnchorNotUnique, SectionNotFound or SectionNotUnique with `operation`; PatchNoop and
    PatchEmptiesNote for the whole; InvalidArgument where the result would begin or end a frontmatter block.
    """
    running = _Running(text)
    removed: list[str] = []
    for op in ops:
        edits, headings = _plan_op(running, op)
        running.change(edits)
        removed += headings
        _check_frontmatter(text, running.text, op.number)
    if running.text == text:
        raise PatchNoop("The patch would change nothing: the note already reads like that.")
    if not running.text[running.body.start :].strip():
        raise PatchEmptiesNote(
            "The patch would leave no text in the note. Delete the note instead, or keep some text."
        )
    return PatchPlan(text, running.text, tuple(removed))


def plan_body(text: str, body: str) -> str:
    """Return the file with another body: frontmatter, BOM, kind of line endings and a line break at the end stay.

    A copy of the note's own frontmatter at the start of `body` is dropped; any other block there is refused, for
    properties are changed by name. Raises PatchEmptiesNote for a blank body.
    """
    if not body.strip():
        raise PatchEmptiesNote("The new body is blank. Delete the note instead, or send some text.")
    start = _body_start(text)
    new = with_line_ending(body.removeprefix(BOM), "\n")
    own = with_line_ending(text[:start].removeprefix(BOM), "\n")
    if own and new.startswith(own):
        new = new[len(own) :]
    elif split_frontmatter(new).properties:
        raise InvalidArgument(
            "body", "The new body starts with a frontmatter block. Send the body alone, and properties by name."
        )
    ending = find_line_ending(text)
    # A block whose closing fence ends the file needs a line break before any text.
    head = text[:start] + (ending if own and not own.endswith("\n") else "")
    if text.endswith(("\n", "\r")) and not new.endswith("\n"):
        new += "\n"
    after = head + with_line_ending(new, ending)
    _check_frontmatter(head, after, None)
    return after


def _body_start(text: str) -> int:
    fences = split_fences(text)
    return fences[0].end if fences else len(BOM) if text.startswith(BOM) else 0


def _inner(text: str) -> Span | None:
    fences = split_fences(text)
    return fences[1] if fences else None


def _check_frontmatter(before: str, after: str, number: int | None) -> None:
    # A closing fence that ended the file may have got a line break: what it encloses counts.
    if _inner(before) != _inner(after):
        where = "" if number is None else f"Operation {number}: "
        raise InvalidArgument(
            "patch" if number else "body",
            f"{where}the note would start with `---` lines that read as frontmatter. "
            "Use `properties` for properties, or put other text first.",
            operation=number,
        )


def _plan_op(running: _Running, op: PatchOp) -> tuple[list[TextEdit], list[str]]:
    """Return the edits of one operation and the headings that go with it."""
    section = None if op.section is None else _resolve(running.note, op)
    if op.action == "find":
        return _plan_find(running, op, section), []
    if op.action == "append":
        return [_plan_append(running, op.text, section)], []
    if op.action == "prepend":
        return [_plan_prepend(running, op.text, section)], []
    assert section is not None
    if op.action == "before":
        return [plan_before(running.text, running.body.start, section.span.start, op.text)], []
    span = section.body if op.subsections else section.own
    return [plan_section_text(running.note, section, span, op.text)], _find_removed(running.note, span, op.text)


def _resolve(note: ParsedNote, op: PatchOp) -> Section:
    assert op.section is not None
    try:
        return resolve_section(note, op.section)
    except (SectionNotFound, SectionNotUnique) as error:
        raise type(error)(
            f"Operation {op.number}: {error.message}", **error.fields, operation=op.number
        ) from error


def _plan_find(running: _Running, op: PatchOp, section: Section | None) -> list[TextEdit]:
    span = section.span if section else running.body
    places = find_places(running.text, op.find, span)
    if not places:
        name = render_path(section.heading.path) if section else None
        raise render_not_found(running.note, op.number, op.find, span, name)
    if op.count is None and len(places) == 1:
        second = find_overlapping(running.text, op.find, places[0], span.end)
        if second is not None:
            places.append(second)
    if len(places) != (op.count or 1):
        raise render_not_unique(running.note, op.number, op.find, places, op.count)
    return [_plan_replacement(running.text, place, op.text) for place in places]


def _plan_replacement(text: str, place: Span, new: str) -> TextEdit:
    """Return the edit of one place; equal ends of old and new text stay as they are, line endings included."""
    old = text[place.start : place.end]
    inside = _BREAK.search(old)
    ending = find_ending_at(text, place.start + inside.start() if inside else place.end)
    new = with_line_ending(new, "\n")
    if "\r" not in old:
        return TextEdit(place, with_line_ending(new, ending))
    pieces = _CHARACTER.findall(old)
    plain = ["\n" if piece in ("\r\n", "\r") else piece for piece in pieces]
    head, tail = find_common_ends(plain, list(new))
    kept_tail = "".join(pieces[len(pieces) - tail :])
    middle = with_line_ending(new[head : len(new) - tail], ending)
    return TextEdit(place, "".join(pieces[:head]) + middle + kept_tail)


def _plan_append(running: _Running, added: str, section: Section | None) -> TextEdit:
    if section is None:
        return plan_append(running.text, running.body, added, parse_note)
    return with_gap_below(running.note, plan_append(running.text, section.span, added, parse_note))


def _plan_prepend(running: _Running, added: str, section: Section | None) -> TextEdit:
    edit = plan_prepend(running.text, _find_prepend_span(running, section), added)
    if edit is not None:
        return edit
    # Nothing but blank lines follows: the text goes under the heading, or is the note's only text.
    span = running.body if section is None else Span(section.span.start, section.body.start)
    edit = plan_append(running.text, span, added, parse_note)
    return with_gap_below(running.note, edit) if section else edit


def _find_prepend_span(running: _Running, section: Section | None) -> Span:
    """Return where the first line below counts: under the heading, or under the title that opens the note."""
    if section is not None:
        return section.body
    content = find_content(running.text, running.body)
    if content is None:
        return running.body
    if title := _ATX_TITLE.match(running.text, content.start):
        return Span(title.end(), len(running.text))
    first = running.note.headings[:1] if _UNDERLINED_TITLE.match(running.text, content.start) else ()
    if first and first[0].level == 1 and first[0].span.start == content.start:
        return Span(first[0].span.end, len(running.text))
    return running.body


def _find_removed(note: ParsedNote, span: Span, text: str) -> list[str]:
    """Return the paths of headings in the span that the new text does not bring back."""
    gone = [heading for heading in note.headings if span.start <= heading.span.start < span.end]
    if not gone:
        return []
    kept = Counter((heading.level, heading.text) for heading in parse_note(text).headings)
    removed: list[str] = []
    for heading in gone:
        key = (heading.level, heading.text)
        if kept[key]:
            kept[key] -= 1
        else:
            removed.append(render_path(heading.path))
    return removed
