"""Tags: which characters make one, and which of a note's `tags` property count."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vault_memex.core.note import PropertyValue
from vault_memex.core.text import name_key

TAG_RUN = re.compile(r"[^\s!-,.:-@\[-^`{-~\u2000-\u206f\u2e00-\u2e7f]++")
_DIGITS = re.compile(r"[0-9]+")


def trim_tag(run: str) -> str | None:
    """Return the tag in a run of tag characters, without a final `/`; None when only digits are left."""
    name = run.rstrip("/")
    return name if name and not _DIGITS.fullmatch(name) else None


def parse_property_tags(value: PropertyValue) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tags of the `tags` property and notices about what does not count.

    A list counts item by item, a text only as one single tag.
    """
    if value is None:
        return (), ()
    items = value if isinstance(value, list) else [value]
    found: list[str] = []
    refused: list[str] = []
    for item in items:
        name = item.strip().removeprefix("#") if isinstance(item, str) else ""
        run = TAG_RUN.fullmatch(name)
        tag = trim_tag(name) if run else None
        if tag is not None:
            found.append(tag)
        elif item is not None and item != "":
            refused.append(str(item))
    if not refused:
        return tuple(found), ()
    shown = ", ".join(f"`{text[:60]}`" for text in refused[:5])
    if isinstance(value, str):
        return (), (f"The property `tags` is the text {shown}, so it gives no tag: write a list.",)
    return tuple(found), (f"Not tags in the property `tags`: {shown}.",)


def merge_tags(*groups: Iterable[str]) -> tuple[str, ...]:
    """Return each tag once, compared without case, in the spelling seen first."""
    found: dict[str, str] = {}
    for group in groups:
        for tag in group:
            found.setdefault(name_key(tag), tag)
    return tuple(found.values())
