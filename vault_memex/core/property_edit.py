"""Change frontmatter properties by touching only their own lines.

The block is composed for the positions of its nodes, the new text is spliced in, and the result is read again:
every other property must have the value it had, or nothing is changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.note import Frontmatter, PropertyValue
from vault_memex.core.property_block import (
    compose_block,
    plan_insert,
    plan_removal,
    plan_value,
    render_refusal,
    same_value,
)
from vault_memex.core.text import BOM, apply_text_edits, find_line_ending, with_line_ending
from vault_memex.core.yaml_text import check_key, check_value, render_block_map
from vault_memex.errors import InvalidArgument

Properties = Mapping[str, PropertyValue]
_NOTHING: Properties = MappingProxyType({})


def plan_properties(
    text: str,
    values: Properties = _NOTHING,
    remove: Collection[str] = (),
    add_items: Mapping[str, Sequence[PropertyValue]] = _NOTHING,
) -> str:
    """Return the note's text with properties set, removed, or with items added to their lists.

    A value equal to the present one, an item already in the list and an absent property to remove change nothing.
    None is a value (an empty property). Without frontmatter a block is put in front; when the last property goes
    and nothing else is in the block, the block goes too. Raises FrontmatterInvalid with `line` when the block
    cannot be edited safely, InvalidArgument for values that no property can hold.
    """
    _check_arguments(values, remove, add_items)
    before = split_frontmatter(text)
    if before.error is not None:
        raise render_refusal(before.error, before.error_line or 1)
    if before.span.start == before.span.end and text.removeprefix(BOM).startswith("---"):
        _refuse_open_fence(text)
    wanted = _wanted(before.properties, values, remove, add_items)
    if same_value(before.properties, wanted):
        return text
    if before.span.start == before.span.end:
        return _checked(text, before, _with_new_block(text, wanted), wanted)
    after = _edited(text, before, wanted)
    if not wanted and not split_frontmatter(after).properties:
        after = _without_empty_block(after)
    return _checked(text, before, after, wanted)


def render_note(properties: Properties, body: str) -> str:
    r"""Return the text of a new note, with `\n` line endings and one at its end.

    The body is kept as it is. One that would itself be read as frontmatter gets an empty block in front.
    """
    for key, value in properties.items():
        check_key("properties", key)
        check_value(f"properties.{key}", value)
    body = with_line_ending(body.removeprefix(BOM), "\n")
    if body and not body.endswith("\n"):
        body += "\n"
    if not properties and split_frontmatter(body).span == (0, 0):
        return body
    lines = render_block_map(properties)
    text = "".join(f"{line}\n" for line in ("---", *lines, "---")) + body
    written = split_frontmatter(text)
    if written.error or not same_value(written.properties, properties):
        raise InvalidArgument("properties", f"These properties cannot be written as YAML: {written.error}.")
    return text


def _check_arguments(
    values: Properties, remove: Collection[str], add_items: Mapping[str, Sequence[PropertyValue]]
) -> None:
    for key, value in values.items():
        check_key("properties", key)
        check_value(f"properties.{key}", value)
    for key, items in add_items.items():
        check_key("add_items", key)
        if isinstance(items, str) or not isinstance(items, Sequence):
            raise InvalidArgument("add_items", f"add_items.{key} is a list of the items to add.")
        check_value(f"add_items.{key}", list(items))
    twice = sorted(
        (values.keys() & set(remove)) | (values.keys() & add_items.keys()) | (add_items.keys() & set(remove))
    )
    if twice:
        raise InvalidArgument("properties", f"{twice[0]!r} is named twice: set it, remove it, or add items to it.")


def _wanted(
    present: Properties,
    values: Properties,
    remove: Collection[str],
    add_items: Mapping[str, Sequence[PropertyValue]],
) -> dict[str, PropertyValue]:
    wanted = {key: value for key, value in present.items() if key not in remove}
    for key, value in values.items():
        # A client's JSON does not tell 2 from 2.0: an equal number is no change.
        if not (key in present and _equal_number(present[key], value)):
            wanted[key] = list(value) if isinstance(value, tuple) else value
    for key, items in add_items.items():
        wanted[key] = _with_items(key, present.get(key), items)
    return wanted


def _equal_number(one: PropertyValue, other: PropertyValue) -> bool:
    return {type(one), type(other)} == {int, float} and bool(one == other)


def _with_items(key: str, present: PropertyValue, items: Sequence[PropertyValue]) -> PropertyValue:
    if isinstance(present, Mapping):
        raise InvalidArgument("add_items", f"{key!r} holds a map, not a list. Set its whole value instead.")
    have = list(present) if isinstance(present, list | tuple) else [] if present is None else [present]
    missing: list[PropertyValue] = []
    for item in items:
        if not any(same_value(item, other) for other in (*have, *missing)):
            missing.append(item)
    # A single text stays as it is when it already is the item.
    return [*have, *missing] if missing else present


def _edited(text: str, before: Frontmatter, wanted: Properties) -> str:
    block = compose_block(text, before)
    gone = [slot for key, slot in block.slots.items() if key not in wanted]
    if gone and block.flow is not None:
        shorter = apply_text_edits(text, [plan_removal(block, gone[0])])
        return _edited(shorter, split_frontmatter(shorter), wanted)
    edits = [plan_removal(block, slot) for slot in gone]
    for key, slot in block.slots.items():
        if key in wanted and not same_value(before.properties.get(key), wanted[key]):
            edits += plan_value(block, slot, before.properties.get(key), wanted[key])
    new = {key: value for key, value in wanted.items() if key not in block.slots}
    if new:
        edits.append(plan_insert(block, new))
    return apply_text_edits(text, edits)


def _with_new_block(text: str, wanted: Properties) -> str:
    ending = find_line_ending(text)
    bom = BOM if text.startswith(BOM) else ""
    block = "".join(f"{line}{ending}" for line in ("---", *render_block_map(wanted), "---"))
    return bom + block + text[len(bom) :]


def _without_empty_block(text: str) -> str:
    """Drop a block that holds nothing, unless the body would then start with a block of its own."""
    block = split_frontmatter(text)
    if text[block.inner.start : block.inner.end].strip():
        return text
    bare = text[: block.span.start] + text[block.span.end :]
    return text if bare.removeprefix(BOM).startswith("---") else bare


def _checked(text: str, before: Frontmatter, after: str, wanted: Properties) -> str:
    """Return `after` if it reads as wanted and its body is the old one, byte for byte."""
    result = split_frontmatter(after)
    if result.error is not None:
        raise render_refusal(f"the edit would make it invalid ({result.error})", result.error_line or 1)
    same_body = after[result.span.end :] == text[before.span.end :]
    if not same_body or list(result.properties) != list(wanted) or not same_value(result.properties, wanted):
        raise render_refusal(
            "it is written in a way that cannot be edited in place (the edit would not read back as meant)", 1
        )
    return after


def _refuse_open_fence(text: str) -> None:
    first = text.removeprefix(BOM).replace("\r", "\n").partition("\n")[0]
    if first.rstrip(" \t") == "---":
        raise render_refusal("line 1 opens a block that is never closed; add a line --- below the properties", 1)
