"""The properties of a note: where the block is, and its values by the rules of YAML 1.2.

PyYAML reads YAML 1.1, in which `yes` is true, `12:30` is 750 and `2031-02-03` is a date. `NoteLoader` keeps its C
parser and replaces what plain words mean: the 1.2 core schema, and nothing else. A block that breaks a rule has no
properties at all, as in Obsidian; the error says why.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from vault_memex.core.note import Frontmatter, PropertyValue
from vault_memex.core.text import BOM, Span

MAX_BYTES = 64 * 1024
MAX_NODES = 2_000
MAX_DEPTH = 32

_OPEN = re.compile(r"---[ \t]*+(?:\r\n?|\n|\Z)")
_CLOSE = re.compile(r"(?:(?<=\n)|(?<=\r))---[ \t]*+(?:\r\n?|\n|\Z)")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")
_MOST_DIGITS = 1_000  # of a whole number
_WORDS: Mapping[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_MAY_BE_NUMBER = frozenset("0123456789+-.")
_TEXT = "tag:yaml.org,2002:str"
_PLAIN = "plain"  # a word without quotes: what it means is decided when its value is built
_YAML_FAILURES = (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError)


class BlockError(ValueError):
    """The block breaks a rule. `line` counts from 0 inside the block; None when the rule has no place."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class TextPlace:
    """One text value that may be a link, and where it is written."""

    key: str  # "up", "near.0"
    value: str
    span: Span  # of the value with its quotes, in the note's text


@dataclass(frozen=True, slots=True)
class FrontmatterReading:
    """The block, and what links and notices need beyond its values."""

    frontmatter: Frontmatter
    places: tuple[TextPlace, ...] = ()
    bare_links: tuple[
        str, ...
    ] = ()  # keys whose value is an unquoted [[link]], which YAML reads as a list in a list


class NoteLoader(yaml.CSafeLoader):
    """YAML 1.2 core schema over PyYAML's C parser; no tags, no anchors, no double keys, bounded size."""

    def resolve(self, kind: type[Node], value: str, implicit: Any) -> str:  # noqa: ARG002 -- PyYAML calls it with all three
        """Return a tag that tells plain words from quoted text; the C composer asks for every node."""
        return _PLAIN if kind is ScalarNode and implicit[0] else _TEXT

    def get_single_data(self) -> dict[str, PropertyValue]:
        """Return the block's mapping; BlockError when it is something else or breaks a limit."""
        return _Builder().build_top(self.get_single_node())


class NoteHandler(YAMLHandler):
    """python-frontmatter's view of a note, by the same rules: `frontmatter.parse(text, handler=NoteHandler())`."""

    def detect(self, text: str) -> bool:
        """Return whether the text starts with a closed block."""
        return split_fences(text) is not None

    def split(self, text: str) -> tuple[str, str]:
        """Return the block without fences and the body; ValueError when there is no block."""
        fences = split_fences(text)
        if fences is None:
            raise ValueError("no frontmatter")
        span, inner = fences
        return text[inner.start : inner.end], text[span.end :]

    def load(self, fm: str, **_: object) -> dict[str, PropertyValue]:
        """Return the properties; BlockError or yaml.YAMLError when the block is not valid."""
        return _load(fm)[0]


def split_fences(text: str) -> tuple[Span, Span] | None:
    """Return the spans of the whole block and of what lies between the fences; None when there is no block.

    The opening fence is the very first line (after a BOM), and the block must be closed.
    """
    start = 1 if text.startswith(BOM) else 0
    opening = _OPEN.match(text, start)
    if opening is None:
        return None
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        return None
    return Span(start, closing.end()), Span(opening.end(), closing.start())


def without_frontmatter(text: str) -> str:
    """Return the body: what follows the block, or the whole text when there is none."""
    fences = split_fences(text)
    return text[fences[0].end :] if fences else text


def split_frontmatter(text: str) -> Frontmatter:
    """Return the note's frontmatter: its place, and its properties or the reason why there are none."""
    return read_frontmatter(text).frontmatter


def read_frontmatter(text: str) -> FrontmatterReading:
    """Return the frontmatter with the places of texts that may be links."""
    fences = split_fences(text)
    if fences is None:
        at = 1 if text.startswith(BOM) else 0
        return FrontmatterReading(Frontmatter(Span(at, at), Span(at, at)))
    span, inner = fences
    try:
        properties, builder = _load(text[inner.start : inner.end])
    except _YAML_FAILURES as error:
        message, line = _describe(error)
        failed = Frontmatter(span, inner, error=message, error_line=None if line is None else line + 2)
        return FrontmatterReading(failed)
    places = tuple(
        TextPlace(key, value, Span(inner.start + start, inner.start + end))
        for key, value, start, end in builder.texts
    )
    block = Frontmatter(span, inner, MappingProxyType(properties))
    return FrontmatterReading(block, places, tuple(builder.bare_links))


def _load(block: str) -> tuple[dict[str, PropertyValue], _Builder]:
    """Return the mapping and the builder that saw its nodes. Raises what `_YAML_FAILURES` names."""
    builder = _Builder()
    if len(block) > MAX_BYTES or len(block.encode("utf-8")) > MAX_BYTES:
        raise BlockError(f"the block is larger than {MAX_BYTES // 1024} KB")
    if "&" in block or "*" in block or "!" in block:
        _refuse_anchors_and_tags(block)
    loader = NoteLoader(block)
    try:
        node = loader.get_single_node()
    except yaml.YAMLError:
        properties = _load_json(block)
        if properties is None:
            raise
        return properties, builder
    finally:
        loader.dispose()
    return builder.build_top(node), builder


def _refuse_anchors_and_tags(block: str) -> None:
    """Raise when the block names or repeats a node, or gives one a type. Texts may hold the same characters."""
    for event in yaml.parse(block, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise BlockError("anchors and aliases (& and *) are not supported", _line_of(event))
        if getattr(event, "tag", None) is not None:
            raise BlockError("YAML tags (!) are not supported", _line_of(event))


def _line_of(event: yaml.Event) -> int | None:
    return event.start_mark.line if event.start_mark is not None else None


def _load_json(block: str) -> dict[str, PropertyValue] | None:
    """Return a JSON object that YAML refused for an escape (an emoji's two halves); None when it is no JSON."""
    if not block.lstrip().startswith("{"):
        return None
    try:
        found: dict[str, PropertyValue] = json.loads(
            block,
            object_pairs_hook=_unique_pairs,
            parse_int=_plain_value,
            parse_float=_plain_value,
            parse_constant=str,
        )
    except json.JSONDecodeError:
        return None
    _check_json(found, 1)
    return found


def _unique_pairs(pairs: list[tuple[str, PropertyValue]]) -> dict[str, PropertyValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BlockError("a key occurs twice")
    return found


def _check_json(value: PropertyValue, depth: int) -> int:
    """Return how many values there are; BlockError when they are too many or nest too deep, or are half a character."""
    if isinstance(value, str) and _HALF_CHARACTER.search(value):
        raise BlockError("a text holds half of a character (a lone surrogate)")
    if not isinstance(value, dict | list):
        return 1
    if depth > MAX_DEPTH:
        raise BlockError(f"nested deeper than {MAX_DEPTH} levels")
    children = [*value, *value.values()] if isinstance(value, dict) else value
    count = 1 + sum(_check_json(child, depth + 1) for child in children)
    if count > MAX_NODES:
        raise BlockError(f"more than {MAX_NODES} values")
    return count


def _describe(error: Exception) -> tuple[str, int | None]:
    """Return what is wrong in a few words and the line inside the block, from 0."""
    if isinstance(error, BlockError):
        return str(error), error.line
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return str(error.problem or error.context or "not valid YAML"), mark.line if mark is not None else None
    if isinstance(error, RecursionError):
        return f"nested deeper than {MAX_DEPTH} levels", None
    if isinstance(error, yaml.YAMLError):
        return "a character that YAML does not allow", None
    return f"a value that cannot be read: {str(error)[:100]}", None


class _Builder:
    """Turns composed nodes into plain values, counting as it goes, and remembers texts that may be links."""

    __slots__ = ("bare_links", "nodes", "texts")

    def __init__(self) -> None:
        self.nodes = 0
        self.texts: list[tuple[str, str, int, int]] = []
        self.bare_links: list[str] = []

    def build_top(self, node: Node | None) -> dict[str, PropertyValue]:
        """Return the properties; an empty block has none."""
        if node is None:
            return {}
        if isinstance(node, ScalarNode) and node.tag == _PLAIN and _WORDS.get(node.value, 0) is None:
            return {}
        if not isinstance(node, MappingNode):
            kind = "list" if isinstance(node, SequenceNode) else "single value"
            raise BlockError(f"the block is a {kind}, not `key: value` lines", node.start_mark.line)
        return self._mapping(node, "", 1)

    def _value(self, node: Node, key: str, depth: int) -> PropertyValue:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise BlockError(f"more than {MAX_NODES} values")
        if type(node) is ScalarNode:
            value: str = node.value
            if node.tag == _PLAIN:
                return _plain_value(value)
            if value.endswith(("]]", ")")):
                self.texts.append((key, value, node.start_mark.index, node.end_mark.index))
            return value
        if depth > MAX_DEPTH:
            raise BlockError(f"nested deeper than {MAX_DEPTH} levels", node.start_mark.line)
        if type(node) is MappingNode:
            return self._mapping(node, key + ".", depth)
        if _is_bare_link(node):
            self.bare_links.append(key)
        return [self._value(child, f"{key}.{i}", depth + 1) for i, child in enumerate(node.value)]

    def _mapping(self, node: MappingNode, prefix: str, depth: int) -> dict[str, PropertyValue]:
        found: dict[str, PropertyValue] = {}
        for name, child in node.value:
            if type(name) is not ScalarNode:
                raise BlockError("a key is a list or a map", name.start_mark.line)
            key = name.value
            if key in found:
                raise BlockError(f"the key {key[:60]!r} occurs twice", name.start_mark.line)
            self.nodes += 1
            found[key] = self._value(child, prefix + key, depth + 1)
        return found


def _is_bare_link(node: Node) -> bool:
    """Return whether a list is `[[word]]`: what an unquoted link turns into."""
    if len(node.value) != 1 or not isinstance(node, SequenceNode):
        return False
    inner = node.value[0]
    return isinstance(inner, SequenceNode) and bool(node.flow_style and inner.flow_style) and len(inner.value) == 1


def _plain_value(word: str) -> PropertyValue:
    """Return what a word without quotes means in the YAML 1.2 core schema.

    What JSON has no number for (`.inf`, `.nan`, `1e400`) stays the text it is.
    """
    if word in _WORDS:
        return _WORDS[word]
    if word[0] not in _MAY_BE_NUMBER:
        return word
    if _INT.fullmatch(word):
        if len(word) > _MOST_DIGITS:
            raise BlockError(f"a value that cannot be read: a number of more than {_MOST_DIGITS} digits")
        return int(word, 8 if word.startswith("0o") else 16 if word.startswith("0x") else 10)
    if _FLOAT.fullmatch(word):
        number = float(word)
        return number if math.isfinite(number) else word
    return word
