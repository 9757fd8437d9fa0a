"""The skills that come with the program: Markdown files of the package, with title and description above the text."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from vault_memex.core.frontmatter import split_frontmatter

FOLDER = Path(__file__).parents[1] / "skills"
SLUGS = ("recall", "writing", "curation", "guide")


class BuiltinSkill(NamedTuple):
    """A skill of the package."""

    slug: str
    title: str
    description: str
    text: str


@cache
def read_builtin_skills() -> tuple[BuiltinSkill, ...]:
    """Return the skills of the package, the one that is wanted most often first."""
    return tuple(map(_read, SLUGS))


def _read(slug: str) -> BuiltinSkill:
    text = (FOLDER / f"{slug}.md").read_text(encoding="utf-8")
    block = split_frontmatter(text)
    body = text[block.span.end :].strip("\n") + "\n"
    return BuiltinSkill(slug, block.properties["title"], block.properties["description"], body)
