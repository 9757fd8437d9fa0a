"""Sections: what stands under a heading, and how a caller names one.

Reading and editing use the same rule: a name that fits several headings is an error that lists their full paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vault_memex.core.note import Heading, ParsedNote
from vault_memex.core.text import Span, name_key
from vault_memex.errors import InvalidArgument, SectionNotFound, SectionNotUnique

_IGNORED = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")
_MARKS = re.compile(r"(#{1,6})[ \t]+")
_STEP = re.compile(r"\s+>\s+")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text that belongs to it."""

    heading: Heading
    span: Span  # from the heading's line to the end of the section, subsections included
    body: Span  # what follows the heading's line
    own: Span  # the body up to the first subsection


def build_sections(note: ParsedNote) -> tuple[Section, ...]:
    """Return a section for each heading, in order of position.

    A section ends at the next heading of the same or a higher level, or with the note.
    """
    headings = note.headings
    end = len(note.text)
    ends = [end] * len(headings)
    open_ones: list[int] = []
    for i, heading in enumerate(headings):
        while open_ones and headings[open_ones[-1]].level >= heading.level:
            ends[open_ones.pop()] = heading.span.start
        open_ones.append(i)
    sections: list[Section] = []
    for i, heading in enumerate(headings):
        body = _after_line(note.text, heading.span.end)
        following = headings[i + 1].span.start if i + 1 < len(headings) else end
        own = Span(body, max(body, min(following, ends[i])))
        sections.append(Section(heading, Span(heading.span.start, ends[i]), Span(body, max(body, ends[i])), own))
    return tuple(sections)


def _after_line(text: str, at: int) -> int:
    """Return the position behind the line ending at `at`."""
    if text.startswith("\r\n", at):
        return at + 2
    return min(at + 1, len(text))


def resolve_section(note: ParsedNote, name: str | Sequence[str]) -> Section:
    """Return the section that a heading text, `## text`, `A > B` or a list of texts names.

    A text is compared as it stands (case and Unicode form aside), else as Obsidian compares link and heading. In a
    path each part lies inside the one before, not necessarily directly. `#` marks are dropped; where several
    headings fit and exactly one has that level, it is meant. SectionNotFound and SectionNotUnique list full paths.
    """
    parts = [name] if isinstance(name, str) else list(name)
    if not parts or not all(isinstance(part, str) and part.strip() for part in parts):
        raise InvalidArgument(
            "section", "Name a section by its heading text, or a list of heading texts from the top down."
        )
    found = _find_headings(note.headings, parts)
    if not found and isinstance(name, str) and _STEP.search(name):
        found = _find_headings(note.headings, _STEP.split(name.strip()))
    shown = name if isinstance(name, str) else " > ".join(name)
    if not found:
        raise _not_found(note, shown)
    if len(found) > 1:
        raise _not_unique(shown, [render_path(note.headings[i].path) for i in found])
    return build_sections(note)[found[0]]


def _not_found(note: ParsedNote, shown: str) -> SectionNotFound:
    paths = [render_path(heading.path) for heading in note.headings]
    listed = "; ".join(paths[:20]) + (f" and {len(paths) - 20} more" if len(paths) > 20 else "")
    hint = f"The headings are: {listed}." if paths else "The note has no headings."
    return SectionNotFound(f"There is no section {shown!r}. {hint}", headings=paths)


def _not_unique(shown: str, paths: Sequence[str]) -> SectionNotUnique:
    step = "Give the whole path, as a list."
    if len(set(paths)) < len(paths):
        step = "Some have the same path: name the place by its text instead, or rename a heading first."
    listed = "; ".join(paths[:20])
    return SectionNotUnique(f"{len(paths)} headings answer to {shown!r}: {listed}. {step}", headings=list(paths))


def render_path(path: Sequence[str]) -> str:
    """Return a heading path as people read it: `A > B`."""
    return " > ".join(path)


def _find_headings(headings: Sequence[Heading], parts: Sequence[str]) -> list[int]:
    """Return the indexes of the headings that the path of texts names."""
    for key in (name_key, heading_key):
        found = _walk(headings, parts, key)
        if found:
            return found
    return []


def _walk(headings: Sequence[Heading], parts: Sequence[str], key: Callable[[str], str]) -> list[int]:
    """Return the headings whose text fits the last part and whose ancestors fit the others in order."""
    wanted, levels = zip(*(_split_marks(part, headings, key) for part in parts), strict=True)
    found: list[int] = []
    for i, heading in enumerate(headings):
        if key(heading.text) != wanted[-1] or not wanted[-1]:
            continue
        above = iter([key(text) for text in heading.path[:-1]])
        if all(any(step == text for text in above) for step in wanted[:-1]):
            found.append(i)
    if len(found) > 1 and levels[-1]:
        same = [i for i in found if headings[i].level == levels[-1]]
        return same if len(same) == 1 else found
    return found


def _split_marks(part: str, headings: Sequence[Heading], key: Callable[[str], str]) -> tuple[str, int]:
    """Return what to compare and the level that leading marks ask for, 0 for none.

    A heading whose own text starts with marks is meant literally.
    """
    part = part.strip()
    marks = _MARKS.match(part)
    if marks is None or any(key(heading.text) == name_key(part) for heading in headings):
        return key(part), 0
    return key(part[marks.end() :]), len(marks.group(1))


def heading_key(text: str) -> str:
    """Return what Obsidian compares a link's part and a heading by: most punctuation counts as a space."""
    return name_key(_IGNORED.sub(" ", text))


def find_section_at(headings: Sequence[Heading], position: int) -> tuple[str, ...]:
    """Return the path of the heading that holds the position; () before the first heading."""
    path: tuple[str, ...] = ()
    for heading in headings:
        if heading.span.start > position:
            break
        path = heading.path
    return path
