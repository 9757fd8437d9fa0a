"""Where each property stands in a frontmatter block, and the text edits that change one of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from vault_memex.core.note import Frontmatter, PropertyValue
from vault_memex.core.text import LINE_END, Span, TextEdit, find_line_end, find_next_line
from vault_memex.core.yaml_text import (
    LIST_INDENT,
    render_flow,
    render_item,
    render_key,
    render_text,
    render_value,
)
from vault_memex.errors import FrontmatterInvalid

_BLOCK_HEADER = re.compile(r"[|>][-+0-9]*")


@dataclass(frozen=True, slots=True)
class Slot:
    """One property's place. Positions are code points of the whole file."""

    key: str
    start: int  # of its first line
    colon: int  # after the colon
    head_end: int  # end of the part of the value that a new inline value replaces; colon when it starts below
    tail_end: int  # end of that line, before its ending: between the two stands a comment, if any
    end: int  # after its last line's ending
    node: Any  # a PyYAML node; its stubs leave out the style
    offset: int  # of the block's inner text in the file; node marks count from there


@dataclass(frozen=True, slots=True)
class Block:
    """A frontmatter block taken apart."""

    text: str  # the whole file
    inner: Span
    slots: Mapping[str, Slot]
    indent: int  # column of the keys
    list_indent: int  # how far the block's own lists stand in; what Obsidian writes when there are none
    flow: yaml.MappingNode | None  # the block is one `{...}`


def same_value(one: PropertyValue, other: PropertyValue) -> bool:
    """Tell whether two values are the same, types included: 1, 1.0 and true are three values."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(same_value(a, b) for a, b in zip(one, other, strict=True))
    return type(one) is type(other) and bool(one == other)


def compose_block(text: str, frontmatter: Frontmatter) -> Block:
    """Return the places of all properties. The block was read without an error before.

    Raises FrontmatterInvalid where a property is written in a form that cannot be edited in place (`? key`).
    """
    inner = frontmatter.inner
    source = text[inner.start : inner.end]
    try:
        root = yaml.compose(source, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _refusal(text, inner.start, f"its YAML does not parse ({str(error).splitlines()[0]})") from error
    if root is None:
        return Block(text, inner, {}, 0, LIST_INDENT, None)
    if not isinstance(root, yaml.MappingNode):
        raise _refusal(text, inner.start, "it is not a map of names and values")
    if root.flow_style:
        slots = {key.value: _flow_slot(key, value, inner.start) for key, value in root.value}
        return Block(text, inner, slots, 0, LIST_INDENT, root)
    slots = {key.value: _find_slot(text, inner, key, value) for key, value in root.value}
    indent = root.value[0][0].start_mark.column if root.value else 0
    lists = [v.start_mark.column for _, v in root.value if isinstance(v, yaml.SequenceNode) and not v.flow_style]
    return Block(text, inner, slots, indent, lists[0] - indent if lists else LIST_INDENT, None)


def _flow_slot(key: yaml.Node, value: yaml.Node, offset: int) -> Slot:
    start, end = offset + key.start_mark.index, offset + value.end_mark.index
    return Slot(key.value, start, offset + key.end_mark.index, end, end, end, value, offset)


def _find_slot(text: str, inner: Span, key: yaml.Node, value: yaml.Node) -> Slot:
    start = inner.start + key.start_mark.index - key.start_mark.column
    key_end = inner.start + key.end_mark.index
    colon = text.find(":", key_end, key_end + 200) + 1
    plain_key = isinstance(key, yaml.ScalarNode) and not text[start : inner.start + key.start_mark.index].strip()
    if not plain_key or not colon or text[key_end : colon - 1].strip(" \t"):
        raise _refusal(text, start, "a property is written in a form that cannot be edited in place")
    head_end = _find_head_end(text, inner, colon, value)
    tail_end = find_line_end(text, head_end)
    last = max(head_end, _content_end(text, inner, value))
    return Slot(key.value, start, colon, head_end, tail_end, find_next_line(text, last), value, inner.start)


def _find_head_end(text: str, inner: Span, colon: int, value: yaml.Node) -> int:
    start = inner.start + value.start_mark.index
    if start > find_line_end(text, colon) or _is_block(value):
        return colon
    header = _BLOCK_HEADER.match(text, start)
    if header and isinstance(value, yaml.ScalarNode) and value.style in ("|", ">"):
        return header.end()
    return inner.start + value.end_mark.index


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def _content_end(text: str, inner: Span, node: yaml.Node) -> int:
    """Return where the node's own text ends: collections and `|` blocks claim blank lines and comments below."""
    if _is_block(node) and node.value:
        last = node.value[-1]
        return _content_end(text, inner, last[1] if isinstance(last, tuple) else last)
    start, end = inner.start + node.start_mark.index, inner.start + node.end_mark.index
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return start + len(text[start:end].rstrip())
    return end


def _ending_at(block: Block, position: int) -> str:
    """Return the line ending of the line that holds a position of the block."""
    found = LINE_END.search(block.text, position)
    return found[0] if found else "\n"


def plan_removal(block: Block, slot: Slot) -> TextEdit:
    """Return the edit that takes the property's lines out; comments on lines of their own stay.

    In a `{...}` block two removals may touch the same comma: plan and apply them one by one there.
    """
    if block.flow is None:
        return TextEdit(Span(slot.start, slot.end), "")
    slots = list(block.slots.values())
    at = slots.index(slot)
    if at + 1 < len(slots):
        return TextEdit(Span(slot.start, slots[at + 1].start), "")
    return TextEdit(Span(slots[at - 1].end if at else slot.start, slot.end), "")


def plan_insert(block: Block, values: Mapping[str, PropertyValue]) -> TextEdit:
    """Return the edit that adds properties as lines in front of the closing fence."""
    if block.flow is not None:
        return _plan_flow_insert(block, values)
    # The line above gives the ending; an empty block has only its fence above.
    ending = _ending_at(block, _start_of_line_above(block.text, block.inner.end))
    pad = " " * block.indent
    lines: list[str] = []
    for key, value in values.items():
        inline, below = render_value(value, block.indent, list_indent=block.list_indent)
        lines += (f"{pad}{render_key(key)}:{inline and ' ' + inline}", *below)
    return TextEdit(Span(block.inner.end, block.inner.end), "".join(line + ending for line in lines))


def _start_of_line_above(text: str, position: int) -> int:
    above = text[:position]
    above = above[:-2] if above.endswith("\r\n") else above[:-1]
    return max(above.rfind("\n"), above.rfind("\r")) + 1


def _plan_flow_insert(block: Block, values: Mapping[str, PropertyValue]) -> TextEdit:
    assert block.flow is not None
    json = _looks_like_json(block)
    added = ", ".join(f"{render_flow(k, json=json)}: {render_flow(v, json=json)}" for k, v in values.items())
    if block.slots:
        end = max(slot.end for slot in block.slots.values())
        return TextEdit(Span(end, end), ", " + added)
    start = block.inner.start + block.flow.start_mark.index + 1
    return TextEdit(Span(start, start), added)


def _looks_like_json(block: Block) -> bool:
    return all(block.text[slot.start] == '"' for slot in block.slots.values())


def plan_value(block: Block, slot: Slot, old: PropertyValue, new: PropertyValue) -> list[TextEdit]:
    """Return the edits that give a property another value in the style its old one has."""
    if isinstance(new, list) and isinstance(old, list) and new and old:
        edits = _plan_list(block, slot, old, new)
        if edits is not None:
            return edits
    value_start = slot.offset + slot.node.start_mark.index
    if block.flow is not None:
        text = render_flow(new, json=_looks_like_json(block))
        return [TextEdit(Span(value_start, slot.end), text)]
    inline, lines = _render_in_style(block, slot, new)
    gap = block.text[slot.colon : value_start] if value_start < slot.head_end else " "
    head = f"{block.text[slot.start : slot.colon]}{gap + inline if inline else ''}"
    tail = block.text[slot.head_end : slot.tail_end]
    ending = _ending_at(block, slot.tail_end)
    below = "".join(line + ending for line in lines)
    return [TextEdit(Span(slot.start, slot.end), f"{head}{tail}{ending}{below}")]


def _render_in_style(block: Block, slot: Slot, new: PropertyValue) -> tuple[str, list[str]]:
    node = slot.node
    if (
        isinstance(new, list | Mapping)
        and isinstance(node, yaml.CollectionNode)
        and node.flow_style
        and node.value
    ):
        return render_flow(new), []
    if isinstance(new, str) and "\n" not in new and isinstance(node, yaml.ScalarNode) and node.style == "'":
        return render_text(new, quote="'"), []
    list_indent = block.list_indent
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        list_indent = node.start_mark.column - block.indent
    return render_value(new, block.indent, list_indent=list_indent)


def _plan_list(
    block: Block, slot: Slot, old: list[PropertyValue], new: list[PropertyValue]
) -> list[TextEdit] | None:
    """Return edits for the items that differ, or None where the list has to be written anew."""
    nodes: list[yaml.Node] = slot.node.value
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    gone, added = range(head, len(old) - tail), new[head : len(new) - tail]
    if slot.node.flow_style:
        return _plan_flow_list(block, slot, head, tail, added)
    spans = _find_item_spans(block.text, slot, nodes)
    if spans is None:
        return None
    edits = [TextEdit(spans[number], "") for number in gone]
    at = spans[head - 1].end if head else spans[0].start
    ending = _ending_at(block, spans[max(head - 1, 0)].start)
    lines = [line for item in added for line in render_item(item, slot.node.start_mark.column)]
    if lines:
        edits.insert(0, TextEdit(Span(at, at), "".join(line + ending for line in lines)))
    return edits


def _common(one: Sequence[PropertyValue], other: Sequence[PropertyValue]) -> int:
    count = 0
    while count < min(len(one), len(other)) and same_value(one[count], other[count]):
        count += 1
    return count


def _find_item_spans(text: str, slot: Slot, nodes: Sequence[yaml.Node]) -> list[Span] | None:
    """Return the lines of each item of a block list, from its dash on; None when they share lines."""
    column = slot.node.start_mark.column
    dash = re.compile(rf"(?<![^\r\n])[ ]{{{column}}}-(?=[ \t\r\n])")
    inner = Span(slot.offset, slot.end)
    at = find_next_line(text, slot.colon)
    spans: list[Span] = []
    for node in nodes:
        found = dash.search(text, at, slot.offset + node.start_mark.index + 1)
        if not found:
            return None
        at = find_next_line(text, _content_end(text, inner, node))
        spans.append(Span(found.start(), at))
    return spans


def _plan_flow_list(
    block: Block, slot: Slot, head: int, tail: int, added: Sequence[PropertyValue]
) -> list[TextEdit] | None:
    nodes: list[yaml.Node] = slot.node.value
    json = block.flow is not None and _looks_like_json(block)
    rendered = [render_flow(item, json=json) for item in added]
    if head and head + tail == len(nodes) and not tail:
        end = slot.offset + nodes[-1].end_mark.index
        return [TextEdit(Span(end, end), "".join(f", {item}" for item in rendered))]
    sources = [block.text[slot.offset + n.start_mark.index : slot.offset + n.end_mark.index] for n in nodes]
    if any(LINE_END.search(source) for source in sources):
        return None
    items = [*sources[:head], *rendered, *sources[len(sources) - tail :]]
    span = Span(slot.offset + slot.node.start_mark.index, slot.offset + slot.node.end_mark.index)
    return [TextEdit(span, "[" + ", ".join(items) + "]")]


def _refusal(text: str, position: int, reason: str) -> FrontmatterInvalid:
    return render_refusal(reason, len(LINE_END.findall(text, 0, position)) + 1)


def render_refusal(reason: str, line: int) -> FrontmatterInvalid:
    """Return the error for a block that cannot be edited; `line` counts from 1 in the file."""
    return FrontmatterInvalid(
        f"The properties (frontmatter) cannot be edited: line {line}: {reason}. "
        "The text below them can still be patched.",
        line=line,
        reason=reason,
    )
