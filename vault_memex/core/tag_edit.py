"""Take a tag out of a note, or put another in its place, by touching nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from vault_memex.core.markdown import parse_note
from vault_memex.core.note import PropertyValue
from vault_memex.core.property_edit import plan_properties
from vault_memex.core.tags import merge_tags
from vault_memex.core.text import Span, TextEdit, apply_text_edits, name_key
from vault_memex.errors import NotWritable


def plan_tag(text: str, tag: str, into: str = "") -> str:
    """Return the note's text without the tag, or with `into` instead; tags below it (`tag/more`) stay.

    In the text a tag that goes leaves its word: `#draft` becomes `draft`. Raises NotWritable where that would say
    something else than meant, and FrontmatterInvalid where the block cannot be edited.
    """
    note = parse_note(text)
    key = name_key(tag)
    edits = [
        TextEdit(Span(one.span.start, one.span.end), f"#{into}" if into else one.name)
        for one in note.inline_tags
        if name_key(one.name) == key
    ]
    after = apply_text_edits(text, edits)
    present = note.properties.get("tags")
    wanted = _replace(present, key, into)
    if wanted != present:
        after = plan_properties(after, {"tags": wanted})
    _check(note.tags, after, tag, into)
    return after


def _replace(value: PropertyValue, key: str, into: str) -> PropertyValue:
    """Return the value of the property `tags` with the tag replaced; where `into` stands already, left out."""
    if not isinstance(value, list):
        return (into or []) if _is(value, key) else value
    kept: list[PropertyValue] = []
    there = {name_key(item.strip().removeprefix("#")) for item in value if isinstance(item, str)}
    has = bool(into) and name_key(into) in there
    for item in value:
        if not _is(item, key):
            kept.append(item)
        elif into and not has:
            kept.append(into)
            has = True
    return kept


def _is(item: PropertyValue, key: str) -> bool:
    return isinstance(item, str) and name_key(item.strip().removeprefix("#")) == key


def _check(before: Sequence[str], text: str, tag: str, into: str) -> None:
    """Refuse a text whose tags are not those that were meant."""
    left = [one for one in before if name_key(one) != name_key(tag)]
    wanted = merge_tags(left, [into] if into and len(left) < len(before) else ())
    if {*map(name_key, wanted)} != {*map(name_key, parse_note(text).tags)}:
        raise NotWritable(f"Without the tag {tag} the text would have other tags than meant. Change it by hand.")
