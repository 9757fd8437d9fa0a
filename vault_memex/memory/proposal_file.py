"""The file of a proposal: a text to read and decide on in Obsidian, and after it what the program reads.

The person writes `decision` in the properties, and may change a proposed text where it stands. What is proposed is
kept exactly in a comment at the end, which Obsidian does not show.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.link_text import render_named_link
from vault_memex.core.note import PropertyValue
from vault_memex.core.property_edit import render_note
from vault_memex.core.text import LINE_END, find_line_ending, render_line
from vault_memex.errors import FrontmatterInvalid
from vault_memex.memory.hunks import Hunk, TextChange
from vault_memex.memory.proposals import DECISIONS, KINDS, Decision, FieldChange, Keeper, Proposal

_DATA = re.compile(r"^%% vault-memex (\{.*\}) %%[ \t]*\r?$", re.MULTILINE)
_NEW = re.compile(r"New (\d+):[ \t]*")
_FENCE = re.compile(r"(`{3,})(text)?[^`]*")
_RUN = re.compile("`+")
_OURS = (
    "decision",
    "decision_comment",
    "precedent",
    "problem",
    "amended",
)  # of the person, kept in the properties

_KIND_TITLE = {"edit": "Change of", "report": "Report on", "delete": "Delete", "merge": "Merge"}
_MERGING = (
    "The first note goes to the trash, and links to it lead to the second one, which keeps what it has and gets what "
    "it lacks."
)
_HOW = (
    "To decide, set `decision` above to `approve` or `reject` (a `decision_comment` is told to the author; with "
    "`precedent` it holds for like cases). Deleting this file rejects. You may change a text under “New” before you "
    "approve."
)


def render_proposal(proposal: Proposal) -> str:
    """Return the whole file."""
    properties: dict[str, PropertyValue] = {
        "proposal": proposal.number,
        "kind": proposal.kind,
        "decision": proposal.decision,
        "decision_comment": proposal.decision_comment,
        "precedent": proposal.precedent,
        "by": proposal.by,
        "created": proposal.created,
        "updated": proposal.updated,
        "note": proposal.note_id,
        "path": proposal.path,
        "base": proposal.base,
    }
    if proposal.into is not None:
        properties |= {"into": proposal.into.note_id, "into_path": proposal.into.path}
    if proposal.problem:
        properties["problem"] = proposal.problem
    return render_note(properties, "\n".join([*_render_body(proposal), ""]))


def _render_body(proposal: Proposal) -> Iterator[str]:
    into = proposal.into
    keeper = f" into {render_named_link(into.path, into.title)}" if into else ""
    yield f"# {_KIND_TITLE[proposal.kind]} {render_named_link(proposal.path, proposal.title)}{keeper}"
    yield f"\n{render_line(proposal.by)} proposes: {render_line(proposal.change_title) or proposal.kind}\n"
    if proposal.comment:
        yield "\n".join(f"> {line}" for line in LINE_END.split(proposal.comment)) + "\n"
    if into is not None:
        yield from _render_merge(proposal)
    yield _HOW + "\n"
    if diff := render_difference(proposal):
        yield from ("## Difference\n", *_fence(diff, "diff"), "")
    for number, (name, old, new) in enumerate(find_texts(proposal), 1):
        yield f"## {number}. {render_line(name)}\n"
        yield from _labelled(f"Old {number}:", old)
        yield from _labelled(f"New {number}:", new)
    data = asdict(proposal)
    for name in _OURS:
        del data[name]
    # ASCII only, and no % inside: nothing in it can end the comment or be changed by an editor.
    yield f"%% vault-memex {json.dumps(data).replace('%', chr(92) + 'u0025')} %%"


def _render_merge(proposal: Proposal) -> Iterator[str]:
    yield _MERGING + (
        " Its text becomes what is proposed below.\n" if proposal.body else " Its text stays as it is.\n"
    )
    if proposal.gains:
        yield "It gets:\n"
        yield from (f"- {render_line(line)}" for line in proposal.gains)
        yield ""


def render_difference(proposal: Proposal) -> str:
    """Return the lines that change, as they are and as proposed; a whole new text is not among them."""
    lines = [line for hunk in _hunks(proposal) for line in _render_hunk(hunk)]
    return "\n".join([*lines, *(line for one in proposal.fields for line in _render_field(one))])


def count_proposed(proposal: Proposal) -> int:
    """Return how many code points are proposed, all texts together."""
    return sum(len(render_value(new)) for _, _, new in find_texts(proposal) if new is not None)


def _hunks(proposal: Proposal) -> tuple[Hunk, ...]:
    return proposal.body.hunks if proposal.body else ()


def find_texts(proposal: Proposal) -> list[tuple[str, PropertyValue, PropertyValue]]:
    """Return name, old and new value of each text that changes, in the order in which the file numbers them."""
    texts: list[tuple[str, PropertyValue, PropertyValue]] = [("Text", h.old, h.new) for h in _hunks(proposal)]
    if proposal.body is not None and proposal.body.whole is not None:
        texts.append(("Whole text", None, proposal.body.whole))
    return texts + [(one.name.capitalize(), one.old, one.new) for one in proposal.fields]


def _labelled(label: str, value: PropertyValue) -> Iterator[str]:
    if value is None:
        return
    yield label + "\n"
    yield from _fence(render_value(value), "text")
    yield ""


def render_value(value: PropertyValue) -> str:
    """Return a value as the file shows it: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fence(text: str, kind: str) -> tuple[str, str, str]:
    mark = "`" * max([3, *(len(run) + 1 for run in _RUN.findall(text))])
    return f"{mark}{kind}", LINE_END.sub("\n", text), mark


def _render_hunk(hunk: Hunk) -> Iterator[str]:
    head, tail = LINE_END.split(hunk.before)[-1], LINE_END.split(hunk.after)[0]
    yield from (f"-{line}" for line in LINE_END.split(head + hunk.old + tail))
    yield from (f"+{line}" for line in LINE_END.split(head + hunk.new + tail))
    yield ""


def _render_field(one: FieldChange) -> Iterator[str]:
    for mark, value in (("-", one.old), ("+", one.new)):
        if value is not None:
            yield from (f"{mark}{render_line(one.name)}: {line}" for line in LINE_END.split(render_value(value)))


# -- reading


def parse_proposal(text: str) -> Proposal:
    """Return the proposal of a file, with what the person decided and changed in it.

    Raises FrontmatterInvalid when that cannot be told; nothing is done with such a file.
    """
    front = split_frontmatter(text)
    if front.error is not None:
        raise FrontmatterInvalid(f"its properties do not parse: {front.error}", line=front.error_line)
    found = _DATA.findall(text)
    if not found:
        raise FrontmatterInvalid(
            "the program's line at its end (%% vault-memex … %%) is gone. Restore or delete it."
        )
    proposal = _parse_data(found[-1])
    return _with_amendments(_with_decision(proposal, front.properties), text)


def _parse_data(line: str) -> Proposal:
    try:
        raw: dict[str, Any] = json.loads(line)
        body = raw.pop("body")
        change = body and TextChange(body["base"], tuple(Hunk(**h) for h in body["hunks"]), body["whole"])
        fields = tuple(FieldChange(**one) for one in raw.pop("fields"))
        into = raw.pop("into", None)
        keeper = Keeper(**into) if into else None
        gains = tuple(raw.pop("gains", ()))
        proposal = Proposal(**raw, body=change, fields=fields, into=keeper, gains=gains)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FrontmatterInvalid(
            "the program's line at its end was changed. Restore or delete the file."
        ) from None
    known = proposal.kind in KINDS and (proposal.kind == "merge") == (proposal.into is not None)
    if not known or not isinstance(proposal.number, int):
        raise FrontmatterInvalid("the program's line at its end names no kind of proposal.")
    return proposal


def _with_decision(proposal: Proposal, properties: Mapping[str, PropertyValue]) -> Proposal:
    said = properties.get("decision")
    word = said.strip().lower() if isinstance(said, str) else "" if said is None else str(said)
    if word not in DECISIONS:
        raise FrontmatterInvalid(f"decision is {render_line(word)!r}. Write approve or reject.")
    comment = properties.get("decision_comment")
    decision: Decision = word  # type: ignore[assignment]  # one of DECISIONS, as just checked
    return replace(
        proposal,
        decision=decision,
        decision_comment=comment if isinstance(comment, str) else "" if comment is None else str(comment),
        precedent=properties.get("precedent") is True,
        problem=str(properties.get("problem") or ""),
    )


def _with_amendments(proposal: Proposal, text: str) -> Proposal:
    """Return the proposal with the texts as they stand in the file now."""
    written = _find_new_texts(text)
    values: list[PropertyValue] = []
    for number, (name, _, new) in enumerate(find_texts(proposal), 1):
        if new is None:
            values.append(None)
            continue
        if number not in written:
            raise FrontmatterInvalid(f"the text under “New {number}:” ({render_line(name)}) is gone. Restore it.")
        shown = written[number]
        same = shown == LINE_END.sub("\n", render_value(new))
        values.append(new if same else shown if isinstance(new, str) else _parse_value(number, shown))
    if values == [new for _, _, new in find_texts(proposal)]:
        return proposal
    body = proposal.body
    if body is not None:
        hunks = tuple(replace(h, new=str(value)) for h, value in zip(body.hunks, values, strict=False))
        values = values[len(hunks) :]
        body = replace(body, hunks=hunks, whole=None if body.whole is None else str(values.pop(0)))
    fields = tuple(replace(one, new=value) for one, value in zip(proposal.fields, values, strict=True))
    return replace(proposal, body=body, fields=fields, amended=True)


def _parse_value(number: int, shown: str) -> PropertyValue:
    try:
        value: PropertyValue = json.loads(shown)
    except (ValueError, RecursionError):
        raise FrontmatterInvalid(f"“New {number}:” is no value any more. Write it as JSON, as it was.") from None
    return value


def plan_amendment(text: str, values: Mapping[int, str]) -> str:
    """Return a proposal's file with other texts under `New n:`, as the person would write them there."""
    lines = LINE_END.split(text)
    places = _find_new_lines(lines)
    changed = [n for n, (start, end) in places.items() if n in values and values[n] != "\n".join(lines[start:end])]
    for number in sorted(changed, reverse=True):
        start, end = places[number]
        lines[start - 1 : end + 1] = LINE_END.split("\n".join(_fence(values[number], "text")))
    return find_line_ending(text).join(lines) if changed else text


def _find_new_texts(text: str) -> dict[int, str]:
    """Return the texts under `New n:`, without the line break before the closing fence."""
    lines = LINE_END.split(text)
    return {number: "\n".join(lines[start:end]) for number, (start, end) in _find_new_lines(lines).items()}


def _find_new_lines(lines: Sequence[str]) -> dict[int, tuple[int, int]]:
    """Return the lines of each text under `New n:`, the fences not among them."""
    found: dict[int, tuple[int, int]] = {}
    label, fence, start = None, "", 0
    for place, line in enumerate(lines):
        opened = _FENCE.fullmatch(line) if line.startswith("```") else None
        if fence:
            if line.rstrip() != fence:
                continue
            if label is not None:
                found[label] = (start, place)
            label, fence = None, ""
        elif opened:
            fence, start = opened[1], place + 1
            label = label if opened[2] else None
        elif line.startswith("New ") and (named := _NEW.fullmatch(line)):
            label = int(named[1])
        elif line.strip():
            label = None
    return found
