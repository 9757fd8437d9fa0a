"""Answers as text: short, sourced, with what was left out and how to get it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from vault_memex.errors import InvalidArgument, MemexError
from vault_memex.services.history import ChangesAnswer
from vault_memex.services.reading import MAX_REFS, NoteView, Reading, ReadRequest
from vault_memex.services.requests import WriteAnswer
from vault_memex.services.retrieval import SearchAnswer
from vault_memex.services.rows import SearchRow
from vault_memex.services.status import StatusAnswer
from vault_memex.services.vocabulary import VocabularyAnswer
from vault_memex.store.catalogue import LinkRow

SHOWN_REVISION = 12  # hex digits; `if_revision` takes eight or more
LONGEST_ANSWER = 90_000  # code points over all notes of one call
SHOWN_ELSEWHERE = frozenset(("tags", "layer", "created", "updated", "id"))  # of a note's properties


def _tag(note_id: int | None) -> str:
    return f" (#{note_id})" if note_id is not None else ""


# -- get


def render_note(reading: Reading, ref: str, refs: Sequence[str], request: ReadRequest) -> str:
    """Return one or several notes as text. Of several, one that cannot be read does not hide the others."""
    wanted = [*([ref] if ref else []), *refs]
    if not wanted:
        raise InvalidArgument("ref", "ref is empty. Write a title, a path, or a number such as #142.")
    if len(wanted) > MAX_REFS:
        raise InvalidArgument("refs", f"{len(wanted)} refs; at most {MAX_REFS} at once.")
    if len(wanted) == 1:
        return _render_view(reading.get(wanted[0], request))
    share = ReadRequest(
        request.section, request.offset, min(request.max_chars, LONGEST_ANSWER // len(wanted)), request.depth
    )
    parts = []
    for one in wanted:
        try:
            parts.append(_render_view(reading.get(one, share)))
        except MemexError as error:
            parts.append(f"# {one}\n{error.code}: {error.message}")
    return "\n\n".join(parts)


def _render_view(view: NoteView) -> str:
    """Return the note, or its next part: that comes without what the first part has said."""
    lines = [
        f"# {view.title}{_tag(view.note_id)}",
        f"path: {view.path}",
        f"revision: {view.revision[:SHOWN_REVISION]}",
    ]
    if view.offset:
        return "\n".join([*lines, *_render_text(view)])
    lines += [*_render_facts(view), *_render_text(view)]
    lines += _render_links("links to", view.links, view.links_total, outgoing=True)
    lines += _render_links("linked from", view.backlinks, view.backlinks_total, outgoing=False)
    if view.neighbours:
        lines.append("neighbours: " + ", ".join(f"{n.path} ({n.distance})" for n in view.neighbours))
    return "\n".join(lines)


def _render_facts(view: NoteView) -> list[str]:
    facts = [f"layer: {view.layer}" if view.layer else "", f"created: {view.created}", f"updated: {view.updated}"]
    lines = [" · ".join(f for f in facts if f and not f.endswith(": "))]
    if view.tags:
        lines.append("tags: " + ", ".join(view.tags))
    own = {name: value for name, value in view.properties.items() if name not in SHOWN_ELSEWHERE}
    if own.get("title") == view.title:
        del own["title"]
    if own:
        lines.append(f"properties: {json.dumps(own, ensure_ascii=False)}")
    lines += [f"notice: {notice}" for notice in view.notices]
    if view.same_title:
        lines.append(f"same title: {', '.join(view.same_title)} (use a path to mean one of them)")
    if view.raw_frontmatter is not None:
        lines.append(f"frontmatter as it stands:\n{view.raw_frontmatter.rstrip()}")
    if view.outline:
        lines.append("outline (offset, characters):")
        lines += [f"  {'#' * row.level} {row.text} ({row.offset}, {row.chars})" for row in view.outline]
    return lines


def _render_text(view: NoteView) -> list[str]:
    what = f"section {' > '.join(view.section)}" if view.section else "text"
    end = view.offset + len(view.text)
    whole = view.offset == 0 and view.next_offset is None
    extent = "" if whole else f", characters {view.offset}-{end} of {view.body_chars}"
    text = view.text if view.text.endswith("\n") or not view.text else f"{view.text}\n"
    lines = [f"--- {what} of the note{extent} ---\n{text}--- end of {what} ---"]
    if view.next_offset is not None:
        lines.append(f"Cut here. Go on with offset={view.next_offset}, or read one section.")
    return lines


def _render_links(label: str, rows: Sequence[LinkRow], total: int, *, outgoing: bool) -> list[str]:
    if not rows:
        return []
    shown: dict[str, None] = {}
    for row in rows:
        if outgoing:
            name = row.path or f"{row.target} (no such note)"
            shown[f"{name} (one of several)" if row.ambiguous else name] = None
        else:
            shown[row.source] = None
    more = f" … {total} in all" if total > len(rows) else ""
    return [f"{label}: {', '.join(shown)}{more}"]


# -- search


def render_search(answer: SearchAnswer) -> str:
    """Return the rows as a numbered list with what to know about them."""
    lines = [_render_row(number, row) for number, row in enumerate(answer.rows, answer.offset + 1)]
    head = f"{answer.returned} of {answer.total} notes." if answer.total else "No note matches."
    return "\n".join([head, *answer.remarks(), *lines])


def _render_row(number: int, row: SearchRow) -> str:
    facts = [row.layer or "", f"updated {row.updated[:10]}", ", ".join(row.tags[:6])]
    lines = [f"{number}. {row.title}{_tag(row.note_id)} — {row.path} · " + " · ".join(f for f in facts if f)]
    if row.validity:
        instead = f", read {row.superseded_by}" if row.superseded_by else ""
        lines.append(f"   {row.validity.replace('_', ' ')}{instead}")
    if row.matched_section:
        lines.append(f"   in: {' > '.join(row.matched_section)}")
    text = row.matched_text or row.summary
    if text:
        lines.append(f"   {' '.join(text.split())}")
    if row.why:
        lines.append(f"   why: {row.why}")
    return "\n".join(lines)


# -- writes


def render_write(answer: WriteAnswer) -> str:
    """Return what happened, the diff, and what to check."""
    verb = {
        "created": "Saved",
        "applied": "Changed",
        "renamed": "Changed and moved",
        "deleted": "Deleted (in the trash)",
    }[answer.outcome]
    lines = [f'{verb} note{_tag(answer.note_id)}: "{answer.title}" — {answer.path}']
    if answer.revision:
        lines.append(f"revision: {answer.revision[:SHOWN_REVISION]}")
    if answer.trash_path:
        lines.append(f"now at: {answer.trash_path}")
    if answer.removed_headings:
        lines.append("headings that went: " + "; ".join(answer.removed_headings))
    if answer.relinked:
        lines.append(f"links rewritten in: {', '.join(answer.relinked)}")
    if answer.new_tags:
        lines.append("new tags: " + ", ".join(answer.new_tags))
    if answer.new_folder:
        lines.append(f"new folder: {answer.new_folder}")
    if answer.cited_by:
        more = f" … {answer.cited_by_total} in all" if answer.cited_by_total > len(answer.cited_by) else ""
        lines.append(f"linked from: {', '.join(answer.cited_by)}{more}. Check that they still say what is right.")
    if answer.commit_error:
        lines.append(f"git: not committed ({answer.commit_error}); the note is written all the same")
    lines += answer.notes
    if answer.diff:
        lines.append(answer.diff.rstrip())
    return "\n".join(lines)


# -- the rest


def render_vocabulary(answer: VocabularyAnswer) -> str:
    """Return names with counts, one kind a line or block."""
    lines = []
    if answer.tags:
        lines.append("tags: " + ", ".join(f"{t.name} {t.notes}" for t in answer.tags))
    if answer.folders:
        lines.append("folders: " + ", ".join(f"{f.path} {f.notes}" for f in answer.folders))
    for p in answer.properties:
        more = f" … {p.more_values} more" if p.more_values else ""
        lines.append(f"property {p.name} ({p.type}, {p.notes} notes): {', '.join(p.values)}{more}")
    if answer.types:
        lines.append("entity types: " + ", ".join(f"{t.name} {t.notes}" for t in answer.types))
    lines.append("in all: " + ", ".join(f"{count} {kind}" for kind, count in answer.total.items()))
    return "\n".join(lines)


def render_changes(answer: ChangesAnswer) -> str:
    """Return one line a change, newest first."""
    lines = [f"{answer.returned} of {answer.total} changes since {answer.since}."]
    for row in answer.rows:
        came = f" (was {row.from_path})" if row.from_path else ""
        note = f"{row.path}{_tag(row.note_id)}{came}"
        lines.append(f"{row.at} {row.kind} {note} by {row.actor}" + (f": {row.title}" if row.title else ""))
    lines += answer.notes
    return "\n".join(lines)


def render_status(answer: StatusAnswer) -> str:
    """Return the state in a few lines."""
    index, meaning = answer.index, answer.meaning
    progress = f" ({index.done} of {index.to_do})" if index.state == "indexing" else ""
    keeper = " · kept by this process" if index.leader else ""
    bare = answer.without_tags_or_summary
    untidy = f"{answer.unresolved_links} unresolved links, {bare} notes without tags or summary"
    lines = [
        f"vault: {answer.vault} · notes: {answer.notes} · other files: {answer.attachments}",
        f"connected as: {answer.connection} · role {answer.role} · policy {answer.policy}",
        f"index: {index.state}{progress}{keeper} · {index.watching}",
        f"meaning: {meaning.state} · {meaning.model} · {meaning.embedded} of {meaning.passages} passages"
        + (f" · {meaning.reason}" if meaning.reason else ""),
        f"git: {answer.git}",
        f"to tidy: {untidy}; waiting for approval: {answer.pending}",
    ]
    return "\n".join([*lines, *(f"notice: {n}" for n in index.notices)])
