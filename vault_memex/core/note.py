"""What one note says, as frozen values. `core.markdown.parse_note` makes them.

Positions are code points in `ParsedNote.text`, which is the file decoded as it is: BOM, CRLF and all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from vault_memex.core.text import Span

PropertyValue = Any
"""A YAML value: str, int, float, bool, None, or lists and string-keyed maps of them. Dates are text."""

Layer = Literal["past", "state", "rule"]
LinkKind = Literal["wiki", "embed", "markdown", "frontmatter", "definition"]

RESERVED_PROPERTIES = frozenset(
    (
        "id",
        "title",
        "aliases",
        "tags",
        "summary",
        "layer",
        "review",
        "memory_type",
        "type",
        "entity_type",
        "source_url",
        "created",
        "updated",
        "author",
        "added_by",
        "edited_by",
        "former_titles",
        "valid_from",
        "valid_until",
        "superseded_by",
        "amends",
        "amend_kind",
        "derives_from",
        "pinned",
        "rule_status",
        "rule_scope",
    )
)


@dataclass(frozen=True, slots=True)
class Heading:
    """An ATX or setext heading where Markdown has one; never in code, comments or HTML."""

    level: int  # 1-6
    text: str  # raw, markup included, closing #s dropped
    span: Span  # the heading's own line or lines, without the last line ending
    path: tuple[str, ...]  # texts of its ancestors and itself, top first


@dataclass(frozen=True, slots=True)
class Link:
    """A link or embed that points into the vault, whether or not a file answers to it."""

    kind: LinkKind  # an embed by either syntax is "embed"
    target: str  # the path part, decoded; "" means this note
    subpath: str  # "#Heading#Deeper", "#^block" or ""
    display: str | None  # what stands after the pipe or between the brackets; None when there is none
    span: Span  # the whole link; for frontmatter, of the link inside the value where it can be found
    target_span: Span  # of the path part as written; a rename replaces this
    markdown: bool = False  # written as [..](..) rather than [[..]]
    key: str | None = None  # frontmatter only: "up", or "near.0" for a list item


@dataclass(frozen=True, slots=True)
class Tag:
    """An inline tag, without its #."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Block:
    """A block id (`^id`), in lower case, and the block it names."""

    id: str
    span: Span


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The block between the fences, or what is wrong with it."""

    span: Span  # of the whole block with its fences and the ending of the last one; empty when there is none
    inner: Span  # what lies between the fences
    properties: Mapping[str, PropertyValue] = field(default_factory=lambda: MappingProxyType({}))
    error: str | None = None  # why there are no properties
    error_line: int | None = None  # in the file, from 1


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """Everything that index, search and edits need to know of a note's text."""

    text: str
    frontmatter: Frontmatter
    body_start: int  # first code point after the frontmatter (and BOM)
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()  # frontmatter first, then in order of position
    definitions: tuple[Link, ...] = ()  # `[label]: path`; as in Obsidian not among the links
    inline_tags: tuple[Tag, ...] = ()
    blocks: tuple[Block, ...] = ()
    tags: tuple[str, ...] = ()  # frontmatter and inline, each once, first spelling
    aliases: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()  # what a person should know: bad YAML, tags as text, ...

    @property
    def body(self) -> str:
        """The text after the frontmatter."""
        return self.text[self.body_start :]

    @property
    def properties(self) -> Mapping[str, PropertyValue]:
        """The frontmatter's values; empty when there is none or it does not parse."""
        return self.frontmatter.properties
