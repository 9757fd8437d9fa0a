"""From an `EditRequest` and a note's text to its new text. Nothing here touches the disk."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from vault_memex.core.dates import parse_date
from vault_memex.core.filters import MemoryType
from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import RESERVED_PROPERTIES, PropertyValue
from vault_memex.core.patch import plan_body, plan_patch
from vault_memex.core.property_edit import plan_properties
from vault_memex.core.tags import TAG_RUN, merge_tags, parse_property_tags, trim_tag
from vault_memex.core.text import BOM, render_line, without_md
from vault_memex.errors import (
    BodyAndPatch,
    EmptyBody,
    InvalidArgument,
    PatchNoop,
    RevisionRequired,
    ShrinkRefused,
    TooLarge,
)
from vault_memex.services.requests import EditRequest, SaveRequest

MAX_TITLE = 500
MAX_SUMMARY = 5_000
MAX_CHANGE_TITLE = 120
MAX_BODY_BYTES = 1 << 20
MOST_PARSED = 8_000_000  # bytes of a note that is parsed whole for one call: some seconds of work
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_URL = re.compile(r"https?://[^\s\x00-\x20]+")
SHRINK_FROM = 200  # code points; a shorter note may shrink as it likes


@dataclass(frozen=True, slots=True)
class PlannedText:
    """The new text of a note."""

    text: str
    removed_headings: tuple[str, ...] = ()


def check_edit_request(request: EditRequest) -> None:
    """Refuse a request that contradicts itself or asks for nothing, before any file is read."""
    if request.patch and request.body is not None:
        raise BodyAndPatch(
            "Send `patch` or `body`, not both. `patch` changes exact text; `body` replaces all of it."
        )
    if not request.comment and _asks_nothing(request):
        raise InvalidArgument(
            "patch",
            "Nothing to change. Send patch, properties, tags, summary, title or folder; or a comment alone to report.",
        )
    if request.body is not None and not request.body.strip():
        raise EmptyBody("body is empty. To delete the note use `retire`; to change part of it use `patch`.")
    if request.body is not None and not request.if_revision:
        raise RevisionRequired("Replacing the whole body needs `if_revision`: the revision that `get` gave you.")
    if request.title is not None:
        check_title(request.title)
    check_texts(request.summary or "", request.change_title, request.body or "")
    check_property_names(request.properties)
    check_address(request.properties.get("source_url"))
    check_tags(request.tags or ())


def _asks_nothing(request: EditRequest) -> bool:
    return not (
        request.patch
        or request.properties
        or request.layer
        or any(value is not None for value in (request.body, request.title, request.folder, request.tags))
        or request.summary is not None
    )


def is_report(request: EditRequest) -> bool:
    """Return whether the request changes nothing and only tells the person something."""
    return bool(request.comment) and _asks_nothing(request)


def tidy_title(title: str) -> str:
    """Return the title without blanks around it and without a final `.md`, which belongs to a file name."""
    return without_md(title.strip()).strip()


def check_title(title: str) -> None:
    """Refuse an empty or over-long title, and one that is not a line of text."""
    if not tidy_title(title):
        raise InvalidArgument("title", "title is empty.")
    if render_line(title) != title:
        raise InvalidArgument(
            "title", f"title is one line without control characters, not {render_line(title)[:80]!r}."
        )
    if len(title) > MAX_TITLE:
        raise TooLarge(f"title has {len(title)} characters; at most {MAX_TITLE}.", argument="title")


def check_texts(summary: str, change_title: str, body: str) -> None:
    """Refuse texts over their limits."""
    if len(summary) > MAX_SUMMARY:
        raise TooLarge(
            f"summary has {len(summary)} characters; at most {MAX_SUMMARY}, better 350.", argument="summary"
        )
    if len(change_title) > MAX_CHANGE_TITLE or render_line(change_title) != change_title:
        raise InvalidArgument(
            "change_title", f"change_title is one line of at most {MAX_CHANGE_TITLE} characters."
        )
    if len(body.encode("utf-8", "surrogatepass")) > MAX_BODY_BYTES:
        raise TooLarge("body is over 1 MiB. Split it into several notes.", argument="body")
    check_characters("body", body)


def check_characters(argument: str, text: str) -> None:
    """Refuse what would make the file unreadable as a note: NUL, and halves of characters."""
    if found := _NO_TEXT.search(text):
        raise InvalidArgument(
            argument,
            f"{argument} holds {render_line(found[0])} at {found.start()}, which no text file can. Leave it out.",
        )


def check_address(address: PropertyValue) -> None:
    """Refuse a source that is no web address."""
    if address is not None and not (isinstance(address, str) and _URL.fullmatch(address)):
        raise InvalidArgument("source_url", "source_url begins with http:// or https:// and holds no spaces.")


def check_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return the tags once each, without `#`. Raises InvalidArgument with a tag that would do."""
    kept: list[str] = []
    for tag in tags:
        name = tag.strip().removeprefix("#")
        found, _ = parse_property_tags([name])
        if name and not found:
            better = "-".join(run for run in TAG_RUN.findall(name) if trim_tag(run))
            hint = f"; write {better!r}" if better else ""
            raise InvalidArgument(
                "tags", f"{tag!r} is no tag: letters, digits, - _ and / only, and not digits alone{hint}."
            )
        kept += found
    return merge_tags(kept)


def find_tags(request: EditRequest) -> tuple[str, ...]:
    """Return the tags that an edit brings, in its list and in its texts."""
    texts = [text for text in (request.body, *(op.text for op in request.patch)) if text and "#" in text]
    return merge_tags(request.tags or (), *(parse_note(text).tags for text in texts))


def check_span(valid_from: str, valid_until: str) -> None:
    """Refuse what is no date, and an end before the beginning."""
    start = parse_date(valid_from, "valid_from").start if valid_from else None
    end = parse_date(valid_until, "valid_until").end if valid_until else None
    if start is not None and end is not None and end <= start:
        raise InvalidArgument("valid_until", "valid_until lies before valid_from. Swap or mend them.")


OWN_ARGUMENT = {
    "title",
    "tags",
    "summary",
    "layer",
    "amends",
    "amend_kind",
    "valid_from",
    "valid_until",
    "source_url",
}
NEVER_SET = {"id", "review", "rule_status", "rule_scope", "added_by", "edited_by", "former_titles", "former_ids"}


def check_property_names(properties: Mapping[str, PropertyValue]) -> None:
    """Refuse names that have an argument of their own, or that are not the caller's to set."""
    for name in properties:
        if not name.strip():
            raise InvalidArgument("properties", "A property needs a name.")
        if name in {"title", "tags", "summary", "layer"}:
            raise InvalidArgument("properties", f"{name} has its own argument; send it there, not in properties.")
        if name in NEVER_SET:
            raise InvalidArgument("properties", f"{name} is kept by the program or the person; it cannot be set.")


def plan_text(text: str, request: EditRequest) -> PlannedText:
    """Return the note's new text: body first, then properties. Raises what the planners raise, and TooLarge."""
    if (size := len(text.encode("utf-8", "surrogatepass"))) > MOST_PARSED:
        raise TooLarge(
            f"The note has {size:,} bytes; notes of up to {MOST_PARSED:,} are edited. Split it in an editor, or save "
            "what is new as a note of its own that links to it."
        )
    removed: tuple[str, ...] = ()
    new = text
    if request.patch:
        plan = plan_patch(new, request.patch)
        new, removed = plan.text, plan.removed_headings
    elif request.body is not None:
        before = {h.path for h in parse_note(new).headings}
        new = plan_body(new, request.body)
        after = {h.path for h in parse_note(new).headings}
        removed = tuple(" > ".join(path) for path in sorted(before - after))
    values = {name: value for name, value in request.properties.items() if value is not None}
    drop = [name for name, value in request.properties.items() if value is None]
    if request.tags is not None:
        values["tags"] = list(check_tags(request.tags))
    if request.summary is not None:
        _set_or_drop(values, drop, "summary", request.summary)
    if request.layer:
        values["layer"] = request.layer
    if values or drop:
        new = plan_properties(new, values, drop)
    if new == text and request.title is None and request.folder is None:
        raise PatchNoop("Nothing would change: the note already says that.")
    if request.patch:
        check_characters("patch", "".join(op.text for op in request.patch))
    _check_shrink(text, new, request)
    return PlannedText(new, removed)


def _set_or_drop(values: dict[str, Any], drop: list[str], name: str, value: str) -> None:
    if value.strip():
        values[name] = value
    else:
        drop.append(name)


def _check_shrink(text: str, new: str, request: EditRequest) -> None:
    before, after = len(text), len(new)
    if not request.allow_shrink and before >= SHRINK_FROM and after * 2 < before:
        raise ShrinkRefused(
            f"The note would shrink from {before} to {after} characters. Send allow_shrink: true if that is meant.",
            before=before,
            after=after,
        )


def check_save_request(request: SaveRequest) -> None:
    """Refuse a new note that cannot be written as asked."""
    check_title(request.title)
    if not request.body.strip():
        raise EmptyBody("body is empty. A note needs something to remember.")
    check_texts(request.summary, request.change_title, request.body)
    check_tags(request.tags)
    for name in request.properties:
        if name in RESERVED_PROPERTIES:
            hint = "send it as its own argument" if name in OWN_ARGUMENT else "choose another name"
            raise InvalidArgument("properties", f"{name} is reserved; {hint}.")
    check_property_names(request.properties)
    check_address(request.source_url or None)
    if request.memory_type not in ("", *get_args(MemoryType)):
        raise InvalidArgument(
            "memory_type",
            f"memory_type = {request.memory_type!r}: write one of {', '.join(get_args(MemoryType))}.",
        )
    check_span(request.valid_from, request.valid_until)
    if split_frontmatter(request.body.removeprefix(BOM)).properties:
        raise InvalidArgument(
            "body", "body starts with a frontmatter block. Send the text alone, and properties as arguments."
        )


def build_properties(request: SaveRequest, *, note_id: int | None, now: str, name_differs: bool) -> dict[str, Any]:
    """Return the frontmatter of a new note, in the order it is written; what is empty is left out."""
    properties: dict[str, Any] = {
        "id": note_id,
        "layer": request.layer,
        "aliases": [request.title] if name_differs else None,
        "summary": request.summary.strip(),
        "tags": list(check_tags(request.tags)),
        "created": now,
        "source_url": request.source_url,
        "amends": request.amends,
        "amend_kind": request.amend_kind if request.amends else None,
        "memory_type": request.memory_type,
        "valid_from": request.valid_from,
        "valid_until": request.valid_until,
        **request.properties,
    }
    return {name: value for name, value in properties.items() if value not in (None, "", [])}


def render_body(body: str) -> str:
    """Return a new note's body: no BOM, line feeds only, one final line ending."""
    return body.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
