"""`_memex/tags.md`: tags that the person took out of use, and what to write instead. A list to read and edit.

- `draft` → `idea` (2026-11-30): one word for one thing
- `misc` (2026-11-30)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vault_memex.core.tags import parse_property_tags
from vault_memex.core.text import find_line_ending, name_key, render_line

TAGS_PATH = "_memex/tags.md"

_HEAD = """\
---
about: tags that are not used any more
---
# Retired tags

Assistants are told of these when they use one. Each line: the tag, what to write instead, since when, why. You may edit
the list, which changes no note; `vault-memex tags` changes both.

"""
_LINE = re.compile(
    r"[ \t]*[-*+][ \t]+`#?(?P<tag>[^`\n]+)`"
    r"(?:[ \t]*(?:→|->|=>)[ \t]*`#?(?P<into>[^`\n]+)`)?"
    r"(?:[ \t]*\((?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})\))?[ \t]*(?::[ \t]*(?P<reason>.*))?"
)


@dataclass(frozen=True, slots=True)
class RetiredTag:
    """A tag that is not used any more."""

    name: str
    into: str = ""  # what to write instead
    date: str = ""
    reason: str = ""


def parse_retired(text: str) -> Mapping[str, RetiredTag]:
    """Return the retired tags by their key, in the order of the file. Lines that are none are passed over."""
    found: dict[str, RetiredTag] = {}
    for line in text.splitlines():
        if (tag := _parse_line(line)) is not None:
            found.setdefault(name_key(tag.name), tag)
    return found


def _parse_line(line: str) -> RetiredTag | None:
    match = _LINE.fullmatch(line.rstrip())
    if match is None:
        return None
    names, _ = parse_property_tags([match["tag"]])
    into, _ = parse_property_tags([match["into"] or ""])
    if not names:
        return None
    return RetiredTag(names[0], into[0] if into else "", match["date"] or "", (match["reason"] or "").strip())


def plan_retired(text: str, tag: RetiredTag) -> str:
    """Return the file with one more tag at its end; what stands there stays."""
    text = text or _HEAD
    ending = find_line_ending(text)
    into = f" → `{tag.into}`" if tag.into else ""
    reason = f": {render_line(tag.reason)}" if tag.reason else ""
    gap = "" if not text or text.endswith(("\n", "\r")) else ending
    return f"{text}{gap}- `{tag.name}`{into} ({tag.date}){reason}{ending}"


def plan_restored(text: str, name: str) -> str:
    """Return the file without the lines of a tag."""
    key = name_key(name)
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if (tag := _parse_line(line)) is None or name_key(tag.name) != key)


def find_successor(retired: Mapping[str, RetiredTag], name: str) -> str:
    """Return what to write instead of a retired tag in the end; nothing where there is no other."""
    seen: set[str] = set()
    tag = retired.get(name_key(name))
    while tag is not None and tag.into and name_key(tag.into) not in seen:
        seen.add(name_key(tag.into))
        following = retired.get(name_key(tag.into))
        if following is None:
            return tag.into
        tag = following
    return ""


def find_warnings(retired: Mapping[str, RetiredTag], tags: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each of the tags that is retired."""
    warnings = []
    for key in dict.fromkeys(map(name_key, tags)):
        if key in retired:
            instead = find_successor(retired, key)
            hint = f"write {instead!r} instead" if instead else "the person took it out of use"
            warnings.append(f"The tag {retired[key].name!r} is retired: {hint}.")
    return tuple(warnings)
