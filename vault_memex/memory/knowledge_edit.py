"""Lines of the knowledge graph put into a note's text and taken out of it; no other byte changes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from vault_memex.core.markdown import parse_note
from vault_memex.core.note import ParsedNote
from vault_memex.core.property_edit import plan_properties
from vault_memex.core.sections import Section, build_sections
from vault_memex.core.text import (
    LINE_END,
    Span,
    TextEdit,
    apply_text_edits,
    find_line_ending,
    name_key,
    with_line_ending,
)
from vault_memex.errors import NotWritable
from vault_memex.memory.knowledge import (
    ENTITY_TYPE,
    LOOSE,
    OBSERVATIONS,
    RELATIONS,
    GraphLine,
    Observation,
    RelationLine,
    find_lines,
    render_observation,
    render_relation,
)
from vault_memex.memory.knowledge_items import find_items

Value = Observation | RelationLine


def render_body(values: Sequence[Value]) -> str:
    """Return the text of a note that says this and nothing else."""
    parts = []
    for heading, kind in ((OBSERVATIONS, Observation), (RELATIONS, RelationLine)):
        items = [_render_item(value, "- ") for value in values if isinstance(value, kind)]
        if items:
            parts.append("\n".join([f"## {heading}", *items]) + "\n")
    return "\n".join(parts)


def plan_lines(text: str, add: Sequence[Value] = (), remove: Collection[Span] = ()) -> str:
    """Return the note's text without the items at `remove` and with the values at the ends of their lists.

    Raises NotWritable when the new text would not read as meant, as in a note whose code is never closed.
    """
    kept = [line.value for line in find_lines(parse_note(text)) if line.item.span not in remove]
    new = apply_text_edits(text, [TextEdit(span, "") for span in remove])
    for heading, kind in ((OBSERVATIONS, Observation), (RELATIONS, RelationLine)):
        mine = [value for value in add if isinstance(value, kind)]
        if mine:
            new = _with_items(new, heading, mine)
    said = [line.value for line in find_lines(parse_note(new))]
    for kind in (Observation, RelationLine):
        if _only(said, kind) != _only([*kept, *add], kind):
            raise NotWritable(
                "The lists of this note cannot be edited safely: an open code block, comment or the like lies before "
                f"them. Mend the note, or edit the text under `## {OBSERVATIONS}` and `## {RELATIONS}` itself."
            )
    return new


def _only(values: Sequence[Value], kind: type) -> list[Value]:
    return [value for value in values if isinstance(value, kind)]


def plan_no_entity(text: str) -> str:
    """Return the text of a note that is no entity any more: without the property, its items and emptied sections."""
    spans: list[Span] = []
    note = parse_note(text)
    lines = find_lines(note)
    for section in _find_sections(note):
        inside = [line.item.span for line in lines if _contains(section.own, line.item.span)]
        spans += inside if _has_more(note.text, section, inside) else [section.span]
    bare = apply_text_edits(text, [TextEdit(span, "") for span in _outermost(spans)])
    return plan_properties(bare, remove=(ENTITY_TYPE, LOOSE))


def has_prose(text: str, name: str) -> bool:
    """Return whether a note says more than its entity: text outside of the items and the headings over them.

    A top heading that only repeats the name is not more.
    """
    note = parse_note(text)
    edits = [TextEdit(line.item.span, "") for line in find_lines(note)]
    edits += [TextEdit(section.heading.span, "") for section in _find_sections(note)]
    top = note.headings[:1]
    if top and top[0].level == 1 and top[0].text.strip() == name.strip():
        edits.append(TextEdit(top[0].span, ""))
    return bool(apply_text_edits(text, edits)[note.body_start :].strip())


def _find_sections(note: ParsedNote) -> list[Section]:
    names = {name_key(OBSERVATIONS), name_key(RELATIONS)}
    return [section for section in build_sections(note) if name_key(section.heading.text) in names]


def _has_more(text: str, section: Section, spans: Sequence[Span]) -> bool:
    start, end = section.body
    rest = apply_text_edits(text, [TextEdit(span, "") for span in spans])
    return bool(rest[start : end - sum(span.end - span.start for span in spans)].strip())


def _contains(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _outermost(spans: Sequence[Span]) -> list[Span]:
    return [span for span in set(spans) if not any(span != other and _contains(other, span) for other in spans)]


def _render_item(value: Value, prefix: str) -> str:
    lines = render_observation(value) if isinstance(value, Observation) else render_relation(value)
    return f"\n{' ' * len(prefix)}".join([f"{prefix}{lines[0]}", *lines[1:]])


def _with_items(text: str, heading: str, values: Sequence[Value]) -> str:
    note = parse_note(text)
    found = [s for s in build_sections(note) if name_key(s.heading.text) == name_key(heading)]
    if not found:
        return _with_section(note, heading, values)
    section = found[0]
    items = find_items(text, section.own)
    if items:
        last = items[-1]
        mark = last.mark if last.mark in ("-", "*", "+") else "-"
        return _insert(text, last.span.end, _render_items(values, f"{last.indent}{mark} "))
    written = text[slice(*section.own)]
    at = section.own.start + len(written.rstrip())
    if not written.strip():
        return _insert(text, section.own.start, _render_items(values, "- "))
    following = LINE_END.match(text, at)
    return _insert(text, following.end() if following else at, f"\n{_render_items(values, '- ')}")


def _render_items(values: Sequence[Value], prefix: str) -> str:
    return "".join(f"{_render_item(value, prefix)}\n" for value in values)


def _with_section(note: ParsedNote, heading: str, values: Sequence[Value]) -> str:
    """Put a new section at the end of the note; observations go before relations."""
    text = note.text
    block = f"## {heading}\n{_render_items(values, '- ')}"
    if heading == OBSERVATIONS:
        following = [s for s in build_sections(note) if name_key(s.heading.text) == name_key(RELATIONS)]
        if following:
            return _insert(text, following[0].span.start, f"{block}\n")
    blank = not text[note.body_start :].strip()
    ends = len(LINE_END.findall(text[len(text.rstrip(" \t\r\n")) :]))
    gap = "" if blank or ends >= 2 else "\n" if ends == 1 else "\n\n"
    return _insert(text, len(text), f"{gap}{block}")


def _insert(text: str, at: int, lines: str) -> str:
    """Return the text with whole lines put in; a file without a final line ending gets none."""
    ending = find_line_ending(text)
    if at == len(text) and at > 0 and text[at - 1] not in "\r\n" and lines[0] != "\n":
        lines = f"\n{lines}"
    if at == len(text) and at > 0 and text[at - 1] not in "\r\n":
        lines = lines.removesuffix("\n")
    return text[:at] + with_line_ending(lines, ending) + text[at:]


def find_graph_lines(text: str) -> tuple[GraphLine, ...]:
    """Return the items of a note's text that say something to the graph."""
    return find_lines(parse_note(text))
