"""Answers as text: short, sourced, with what was left out and how to get it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from vault_memex.core.note import PropertyValue
from vault_memex.errors import InvalidArgument, MemexError
from vault_memex.server.advice import render_advice, render_flashback_lines, render_similar
from vault_memex.server.lines import LONGEST_NAME, cut, join_lines, render_fenced, render_names
from vault_memex.services.history import ChangesAnswer
from vault_memex.services.inbox_view import InboxAnswer
from vault_memex.services.reading import MAX_REFS, OWNER, NeighbourRow, NoteView, Reading, ReadRequest
from vault_memex.services.requests import WriteAnswer
from vault_memex.services.retrieval import SearchAnswer
from vault_memex.services.rows import SearchRow
from vault_memex.services.status import StatusAnswer
from vault_memex.services.vocabulary import VocabularyAnswer
from vault_memex.services.waiting import WaitingChange
from vault_memex.store.catalogue import LinkRow

LONGEST_FLAG = 2_000  # code points; as long as one can be
SHOWN_REVISION = 12  # hex digits; `if_revision` takes eight or more
LONGEST_ANSWER = 90_000  # code points over all notes of one call
SHOWN_ELSEWHERE = frozenset(("tags", "layer", "created", "updated", "id"))  # of a note's properties
LONGEST_PROPERTIES = 4_000  # code points of JSON; the same for frontmatter that does not parse
LONGEST_NOTICE = 300
MOST_HEADINGS = 200


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
        return render_view(reading.get(wanted[0], request))
    share = ReadRequest(
        request.section, request.offset, min(request.max_chars, LONGEST_ANSWER // len(wanted)), request.depth
    )
    parts = []
    for one in wanted:
        try:
            parts.append(render_view(reading.get(one, share)))
        except MemexError as error:
            parts.append(join_lines([f"# {cut(one, LONGEST_NOTICE)}", f"{error.code}: {error.message}"]))
    return "\n\n".join(parts)


def render_view(view: NoteView) -> str:
    """Return the note, or its next part: that comes without what the first part has said."""
    lines = [
        f"# {cut(view.title, LONGEST_NAME)}{_tag(view.note_id)}",
        f"path: {view.path}",
        f"revision: {view.revision[:SHOWN_REVISION]}",
    ]
    below = [f"Cut here. Go on with offset={view.next_offset}, or read one section."] if view.next_offset else []
    if view.offset:
        return join_lines(lines, _render_text(view), join_lines(below))
    below += _render_links("links to", view.links, view.links_total, outgoing=True)
    below += _render_links("linked from", view.backlinks, view.backlinks_total, outgoing=False)
    if view.surfaced_in:
        below.append("surfaced as flashback in: " + render_names(view.surfaced_in))
    below += map(_render_neighbour, view.neighbours)
    if view.curation_flag is not None:
        flag = view.curation_flag
        said = cut(flag.comment, LONGEST_FLAG) or "(no reason given)"
        lines.append(f"curation_flag, by the person, {flag.raised[:10]}: {said}")
    lines += [*_render_facts(view), *_render_outline(view)]
    waiting = map(_render_waiting, view.waiting_changes)
    return join_lines(lines, _render_broken(view.raw_frontmatter), *waiting, _render_text(view), join_lines(below))


def _render_waiting(change: WaitingChange) -> str:
    """Return what waits about the note, with what is proposed between marks."""
    other = f" with {cut(change.other, LONGEST_NAME)}" if change.other else ""
    about = f" of {', '.join(cut(name, LONGEST_NAME) for name in change.fields)}" if change.fields else ""
    by = f"by {cut(change.by, LONGEST_NAME)}, {change.since[:10]}, waits for the person"
    lines = [f"waiting_changes, proposal {change.number}: {change.kind}{about}{other} {by}"]
    if change.reason:
        lines.append(f"  reason: {cut(change.reason, LONGEST_NOTICE)}")
    lines += [f"  blocks: {' '.join(sentence.split())}" for sentence in change.blocks]
    name = f"proposal {change.number}"
    return join_lines(lines, render_fenced(name, f"end of {name}", change.change) if change.change else "")


def _render_neighbour(near: NeighbourRow) -> str:
    times = "one link" if near.links == 1 else f"{near.links} links"
    kinds = "" if near.kinds == ("wiki",) else f" ({', '.join(near.kinds)})"
    about = f": {near.summary}" if near.summary else ""
    return f"{near.distance} away, {times} {near.direction}{kinds}: {near.path}{_tag(near.note_id)}{about}"


def _render_facts(view: NoteView) -> list[str]:
    facts = [f"layer: {view.layer}" if view.layer else "", f"created: {view.created}", f"updated: {view.updated}"]
    lines = [" · ".join(f for f in facts if f and not f.endswith(": "))]
    if {view.added_by, view.changed_by} != {OWNER}:
        lines.append(
            f"added by {cut(view.added_by, LONGEST_NAME)}, last changed by {cut(view.changed_by, LONGEST_NAME)}"
        )
    if view.tags:
        lines.append(f"tags: {render_names(view.tags)}")
    own = {name: value for name, value in view.properties.items() if name not in SHOWN_ELSEWHERE}
    if own.get("title") == view.title:
        del own["title"]
    if own:
        lines.append(f"properties: {_render_properties(own)}")
    if view.profile_notice:
        lines.append(f"profile_notice: {view.profile_notice}")
    if view.live_state_notice:
        lines.append(f"live_state_notice: {view.live_state_notice}")
    lines += [f"notice: {cut(notice, LONGEST_NOTICE)}" for notice in view.notices]
    if view.same_title:
        lines.append(f"same title: {render_names(view.same_title)} (use a path to mean one of them)")
    return lines


def _render_outline(view: NoteView) -> list[str]:
    if not view.outline:
        return []
    rows = [
        f"  {'#' * row.level} {cut(row.text, LONGEST_NAME)} ({row.offset}, {row.chars})"
        for row in view.outline[:MOST_HEADINGS]
    ]
    more = len(view.outline) - len(rows)
    return ["outline (offset, characters):", *rows, *([f"  … {more} more headings"] if more else [])]


def _render_broken(frontmatter: str | None) -> str:
    if frontmatter is None:
        return ""
    shown = frontmatter[:LONGEST_PROPERTIES]
    part = f", first {len(shown)} of {len(frontmatter)} characters" if len(shown) < len(frontmatter) else ""
    return render_fenced(f"frontmatter as it stands{part}", "end of frontmatter", shown)


def fit_properties(own: Mapping[str, PropertyValue]) -> dict[str, PropertyValue]:
    """Return as many whole properties as an answer shows."""
    shown: dict[str, PropertyValue] = {}
    left = LONGEST_PROPERTIES
    for name, value in own.items():
        size = len(name) + len(json.dumps(value, ensure_ascii=False)) + 6  # quotes, colon, comma
        if size <= left:
            shown[name] = value
            left -= size
    return shown


def _render_properties(own: Mapping[str, PropertyValue]) -> str:
    """Return the properties as JSON, as many whole ones as fit."""
    shown = fit_properties(own)
    text = json.dumps(shown, ensure_ascii=False)
    missing = len(own) - len(shown)
    return f"{text} and {missing} more that are too long to show" if missing else text


def _render_text(view: NoteView) -> str:
    what = f"section {' > '.join(view.section)}" if view.section else "text"
    end = view.offset + len(view.text)
    whole = view.offset == 0 and view.next_offset is None
    extent = "" if whole else f", characters {view.offset}-{end} of {view.body_chars}"
    return render_fenced(f"{what} of the note{extent}", f"end of {what}", view.text)


def _render_links(label: str, rows: Sequence[LinkRow], total: int, *, outgoing: bool) -> list[str]:
    if not rows:
        return []
    shown: dict[str, None] = {}
    for row in rows:
        if outgoing:
            name = row.path or f"{cut(row.target, LONGEST_NAME)} (no such note)"
            shown[f"{name} (one of several)" if row.ambiguous else name] = None
        else:
            shown[row.source] = None
    return [f"{label}: {', '.join(shown)}" + (f" … {total} in all" if total > len(rows) else "")]


# -- search


def render_search(answer: SearchAnswer) -> str:
    """Return the rows as a numbered list with what to know about them."""
    lines = [
        line for number, row in enumerate(answer.rows, answer.offset + 1) for line in _render_row(number, row)
    ]
    least = "at least " if answer.total_is_least else ""
    head = f"{answer.returned} of {least}{answer.total} notes." if answer.total else "No note matches."
    return join_lines([head, *answer.remarks(), *lines, *render_flashback_lines(answer.flashbacks)])


def _render_row(number: int, row: SearchRow) -> list[str]:
    facts = [row.layer or "", f"updated {row.updated[:10]}", ", ".join(row.tags[:6])]
    lines = [f"{number}. {row.title}{_tag(row.note_id)} — {row.path} · " + " · ".join(f for f in facts if f)]
    if row.validity:
        instead = f", read {row.superseded_by}" if row.superseded_by else ""
        lines.append(f"   {row.validity.replace('_', ' ')}{instead}")
    if row.matched_section:
        lines.append(f"   in: {cut(' > '.join(row.matched_section), LONGEST_NOTICE)}")
    text = row.matched_text or row.summary
    if text:
        lines.append(f"   {' '.join(text.split())}")
    if row.why:
        lines.append(f"   why: {row.why}")
    return lines


# -- writes


DONE = {
    "created": "Saved",
    "pending": "Saved, waiting for approval:",
    "applied": "Changed",
    "renamed": "Changed and moved",
    "deleted": "Deleted (in the trash)",
    "held": "Waiting for approval",
    "folded": "Taken into what waits",
    "reported": "Reported",
}


def render_write(answer: WriteAnswer) -> str:
    """Return what happened, the diff, and what to check."""
    verb = DONE[answer.outcome]
    if answer.proposal is not None:
        verb += f" as proposal {answer.proposal}, about"
    into = f", to be merged into {answer.into}" if answer.into else ""
    lines = [f'{verb} note{_tag(answer.note_id)}: "{cut(answer.title, LONGEST_NAME)}" — {answer.path}{into}']
    if answer.revision:
        lines.append(f"revision: {answer.revision[:SHOWN_REVISION]}")
    if answer.discarded:
        lines.append(f"proposals that went with it: {', '.join(map(str, answer.discarded))}")
    if answer.trash_path:
        lines.append(f"now at: {answer.trash_path}")
    if answer.removed_headings:
        lines.append(f"headings that went: {render_names(answer.removed_headings)}")
    if answer.relinked:
        lines.append(f"links rewritten in: {render_names(answer.relinked)}")
    if answer.new_tags:
        lines.append(f"new tags: {render_names(answer.new_tags)}")
    if answer.new_folder:
        lines.append(f"new folder: {answer.new_folder}")
    if answer.similar:
        lines.append(render_similar(answer.similar))
    if answer.cited_by:
        more = f" … {answer.cited_by_total} in all" if answer.cited_by_total > len(answer.cited_by) else ""
        lines.append(f"linked from: {', '.join(answer.cited_by)}{more}. {answer.citing_advice}")
    if answer.commit_error:
        lines.append(f"git: not committed ({answer.commit_error}); the note is written all the same")
    lines += answer.notes
    return join_lines(lines, answer.diff.rstrip(), render_advice(answer))


# -- the rest


def render_vocabulary(answer: VocabularyAnswer) -> str:
    """Return names with counts, one kind a line or block."""
    lines = []
    if answer.tags:
        lines.append("tags: " + ", ".join(f"{cut(t.name, LONGEST_NAME)} {t.notes}" for t in answer.tags))
    lines += [f"system tag {t.name} (in {t.notes}): {t.meaning}" for t in answer.system_tags]
    retired = [
        f"{cut(t.name, LONGEST_NAME)}{f' (write {t.instead})' if t.instead else ''}" for t in answer.retired_tags
    ]
    if retired:
        lines.append(f"retired tags, not to be used: {render_names(retired)}")
    if answer.folders:
        lines.append("folders: " + ", ".join(f"{f.path} {f.notes}" for f in answer.folders))
    for p in answer.properties:
        more = f" … {p.more_values} more" if p.more_values else ""
        name, values = cut(p.name, LONGEST_NAME), cut(", ".join(p.values), LONGEST_NOTICE)
        lines.append(f"property {name} ({p.type}, in {p.notes}): {values}{more}")
    if answer.types:
        lines.append("entity types: " + ", ".join(f"{t.name} {t.notes}" for t in answer.types))
    lines.append("in all: " + ", ".join(f"{count} {kind}" for kind, count in answer.total.items()))
    return join_lines(lines)


def render_changes(answer: ChangesAnswer) -> str:
    """Return one line a change, newest first."""
    lines = [f"{answer.returned} of {answer.total} changes since {answer.since}."]
    for row in answer.rows:
        came = f" (was {row.from_path})" if row.from_path else ""
        note = f"{row.path}{_tag(row.note_id)}{came}"
        said = f": {row.title}" if row.title else ""
        lines.append(f"{row.at} {row.kind} {note} by {row.actor}{said}")
        if row.reason:
            lines.append(f"  {'precedent' if row.precedent else 'reason'}: {cut(row.reason, LONGEST_NOTICE)}")
        if row.text:
            lines.append(f"  text: {cut(' '.join(row.text.split()), LONGEST_FLAG)}")
        lines += [f"  not as claimed: {cut(mismatch, LONGEST_NOTICE)}" for mismatch in row.mismatches]
        if row.before:
            lines.append(f"  before it: {row.before}")
    lines += answer.notes
    return join_lines(lines)


def render_status(answer: StatusAnswer) -> str:
    """Return the state in a few lines."""
    index, meaning = answer.index, answer.meaning
    progress = f" ({index.done} of {index.to_do})" if index.state == "indexing" else ""
    keeper = " · kept by this process" if index.leader else ""
    bare = answer.without_tags_or_summary
    untidy = f"{answer.unresolved_links} unresolved links, {bare} notes that lack tags or a summary"
    lines = [
        f"vault: {answer.vault} · notes: {answer.notes} · other files: {answer.attachments}",
        f"connected as: {answer.connection} · role {answer.role} · policy {answer.policy}",
        f"index: {index.state}{progress}{keeper} · {index.watching}",
        f"meaning: {meaning.state} · {meaning.model} · {meaning.embedded} of {meaning.passages} passages"
        + (f" · {meaning.reason}" if meaning.reason else ""),
        f"git: {answer.git}",
        f"to tidy: {untidy}; waiting for approval: {answer.pending} notes, {answer.proposals} proposals",
        f"pointed out: {answer.new_signals} new signals, {answer.stale_inferences} stale inferences",
        *_describe_rules(answer),
    ]
    notices = (f"notice: {cut(n, LONGEST_NOTICE)}" for n in index.notices)
    return join_lines([*lines, *notices, *(render_inbox(answer.inbox) if answer.inbox is not None else ())])


def render_inbox(inbox: InboxAnswer) -> Iterator[str]:
    """Yield what waits, a line each, with what is proposed below it when it was asked for."""
    shown = len(inbox.rows)
    yield f"inbox: {inbox.pending_notes} new notes and {inbox.proposals} proposals wait; {shown} shown, oldest first"
    for row in inbox.rows:
        name = f"proposal {row.number}" if row.number is not None else "note"
        into = f" into {cut(row.into, LONGEST_NAME)}" if row.into else ""
        note = f"{cut(row.title, LONGEST_NAME)}{_tag(row.note_id)}{into}"
        line = f"- {name}: {row.kind} {note} by {cut(row.by, LONGEST_NAME)}"
        yield f"{line}, {row.since[:10]}, {row.proposed_chars} characters"
        if row.reason:
            yield f"  reason: {cut(row.reason, LONGEST_NOTICE)}"
        if row.problem:
            yield f"  problem: {cut(row.problem, LONGEST_NOTICE)}"
        if row.text:
            yield render_fenced("proposed", "end of proposed", row.text)
    yield from (f"notice: {cut(note, LONGEST_NOTICE)}" for note in inbox.notes[:MOST_HEADINGS])


def _describe_rules(answer: StatusAnswer) -> Iterator[str]:
    if answer.rules or answer.rules_not_in_force:
        waiting = answer.rules_not_in_force
        yield f"house rules: {answer.rules} in force" + (
            f"; not in force: {', '.join(waiting)}" if waiting else ""
        )
    if answer.rules_changed_since_start:
        yield "The house rules have changed since this session began. Read vault://rules; a restart brings them anew."
