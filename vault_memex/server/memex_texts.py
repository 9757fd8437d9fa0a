"""Answers of the profile `memex` as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_memex.core.snapshot import NoteRecord
from vault_memex.server.advice import render_flashback_lines, render_signal_hint, render_similar
from vault_memex.server.lines import LONGEST_NAME, cut, join_lines, render_fenced, render_names
from vault_memex.server.render import render_write
from vault_memex.services.insights import InferenceView, InsightsAnswer, NoteName, SignalView, SourceView
from vault_memex.services.reading import NoteView
from vault_memex.services.requests import WriteAnswer
from vault_memex.services.retrieval import SearchAnswer
from vault_memex.services.rows import SearchRow
from vault_memex.services.vocabulary import VocabularyAnswer

MOST_REFERENCES = 100
SUMMARY_SHOWN = 600  # code points of an inference in a list


def _name(number: int | None, title: str, path: str) -> str:
    """Return `#142 "Title"`; a note without a number is named by its path."""
    shown = f'"{cut(title, LONGEST_NAME)}"'
    return f"#{number} {shown}" if number is not None else f"{shown} ({path})"


# -- reading


def render_search(answer: SearchAnswer) -> str:
    """Return the notes found, then what to know about the answer, then flashbacks of the first."""
    head = [] if answer.rows else ["No notes found."]
    blocks = [join_lines(_describe_row(number, row)) for number, row in enumerate(answer.rows, 1)]
    below = join_lines([*answer.remarks(), *render_flashback_lines(answer.flashbacks)])
    return "\n\n".join(filter(None, [*head, *blocks, below]))


def _describe_row(number: int, row: SearchRow) -> Iterator[str]:
    name = f"id: {row.note_id}" if row.note_id is not None else row.path
    yield f"## {number}. {row.title} ({name})"
    folder = row.path.rpartition("/")[0] or "/"
    related = "related only" if row.tier == "related" else ""
    facts = (folder, row.layer or "", f"created {row.created[:10]}", ", ".join(row.tags[:6]), related)
    yield " · ".join(fact for fact in facts if fact)
    if row.validity:
        instead = f": read {row.superseded_by}" if row.superseded_by else ""
        yield f"{row.validity.replace('_', ' ')}{instead}"
    text = " ".join((row.matched_text or row.summary or "").split())
    if row.matched_section:
        yield f"in: {cut(' > '.join(row.matched_section), LONGEST_NAME)}"
    if text:
        yield text


def render_list(notes: Sequence[NoteRecord], total: int) -> str:
    """Return one line a note."""
    if not notes:
        return "No notes yet."
    lines = [
        " · ".join(
            fact
            for fact in (
                f"- [{note.note_id or note.path}] {cut(note.title, LONGEST_NAME)} ({note.created[:10]})",
                note.layer or "",
                note.folder or "/",
                ", ".join(note.tags[:6]),
            )
            if fact
        )
        for note in notes
    ]
    more = [f"{total - len(notes)} more: raise limit, or search."] if total > len(notes) else []
    return join_lines([*lines, *more])


def render_tags(answer: VocabularyAnswer) -> str:
    """Return one line a tag: `name (notes)`; below them those that the person took out of use."""
    lines = [f"{cut(tag.name, LONGEST_NAME)} ({tag.notes})" for tag in answer.tags]
    retired = [
        f"retired: {cut(tag.name, LONGEST_NAME)}"
        + (f", write {cut(tag.instead, LONGEST_NAME)}" if tag.instead else "")
        for tag in answer.retired_tags
    ]
    return join_lines([*lines, *_count_more(answer.total["tags"], len(lines)), *retired] or ["No tags yet."])


def render_folders(answer: VocabularyAnswer) -> str:
    """Return one line a folder: notes in it, and with its subfolders where that is more."""
    lines = [
        f"{cut(folder.path, LONGEST_NAME)} ({folder.notes}"
        + (f", with subfolders {folder.total})" if folder.total > folder.notes else ")")
        for folder in answer.folders
    ]
    return join_lines([*lines, *_count_more(answer.total["folders"], len(lines))] or ["No folders yet."])


def _count_more(total: int, shown: int) -> list[str]:
    return [f"… {total} in all"] if total > shown else []


def render_note(view: NoteView, linking: Sequence[NoteRecord], surfaced: Sequence[NoteRecord]) -> str:
    """Return the note, the notes that refer to it, those it came up with, and its facts."""
    notices = filter(None, (view.profile_notice, view.live_state_notice, *view.notices))
    head = [f"# {cut(view.title, LONGEST_NAME)}", *(f"notice: {notice}" for notice in notices)]
    below = [f"Cut here: offset={view.next_offset} goes on."] if view.next_offset is not None else []
    below += _list_notes("Referenced by:", linking)
    below += _list_notes("Surfaced as flashback in:", surfaced)
    facts = (
        f"id: {view.note_id}" if view.note_id is not None else f"path: {view.path}",
        f"layer: {view.layer or 'none'}",
        f"folder: {view.path.rpartition('/')[0] or '/'}",
        f"tags: {render_names(view.tags)}" if view.tags else "",
        f"created: {view.created}",
        f"updated: {view.updated}",
        f"revision: {view.revision[:12]}",
    )
    below.append(" | ".join(fact for fact in facts if fact))
    text = render_fenced("text of the note", "end of the text", view.text)
    return join_lines(head, text, join_lines(below))


def _list_notes(heading: str, notes: Sequence[NoteRecord]) -> list[str]:
    if not notes:
        return []
    rows = [f"- {_name(note.note_id, note.title, note.path)}" for note in notes[:MOST_REFERENCES]]
    return [heading, *rows, *_count_more(len(notes), len(rows))]


# -- writing


def render_save(answer: WriteAnswer) -> str:
    """Return `Saved note #142: "…"`, then warning, flashbacks and what else to know."""
    return _render_write("Saved", answer)


def render_update(answer: WriteAnswer) -> str:
    """Return `Updated note #142: "…"` and what else to know."""
    return _render_write("Updated", answer)


def render_delete(answer: WriteAnswer) -> str:
    """Return `Deleted note #142: "…"` and the notes that still link there."""
    return _render_write("Deleted", answer)


def _render_write(verb: str, answer: WriteAnswer) -> str:
    if answer.proposal is not None or answer.outcome == "pending":
        return render_write(answer)
    number = f" #{answer.note_id}" if answer.note_id is not None else ""
    lines = [f'{verb} note{number}: "{cut(answer.title, LONGEST_NAME)}"', f"path: {answer.path}"]
    if answer.trash_path:
        lines[-1] = f"now at: {answer.trash_path}"
    if answer.similar:
        lines.append(render_similar(answer.similar))
    if answer.new_tags:
        lines.append(f"new tags: {render_names(answer.new_tags)}")
    if answer.new_folder:
        lines.append(f"new folder: {answer.new_folder}")
    if answer.relinked:
        lines.append(f"links rewritten in: {render_names(answer.relinked)}")
    if answer.cited_by:
        lines.append(f"referenced by: {render_names(answer.cited_by)}. {answer.citing_advice}")
    lines += render_flashback_lines(answer.flashbacks)
    if answer.signal_hint is not None:
        lines.append(render_signal_hint(answer.signal_hint, "get_signals"))
    if answer.commit_error:
        lines.append(f"git: not committed ({answer.commit_error}); the note is written all the same")
    return join_lines([*lines, *answer.notes])


# -- signals and inferences


def render_signals(answer: InsightsAnswer, status: str) -> str:
    """Return each signal with its type, reason and notes."""
    head = [] if answer.signals else [f"No {status} signals."]
    blocks = [join_lines(_describe_signal(signal)) for signal in answer.signals]
    below = list(answer.notes)
    if answer.unavailable:
        below.append(f"Threads and overtaken states are not looked for: {answer.unavailable}")
    below += _count_more(answer.total, answer.returned)
    return "\n\n".join(filter(None, [*head, *blocks, join_lines(below)]))


def _describe_signal(signal: SignalView) -> Iterator[str]:
    detail = f" {signal.detail}" if signal.detail else ""
    until = f" until {signal.until}" if signal.until else ""
    yield f"#{signal.id} [{signal.type}]{detail}{until}"
    yield signal.reason
    for note in signal.notes:
        yield f"  - {_name_note(note)}"
    if signal.notes_total > len(signal.notes):
        yield f"  … {signal.notes_total} notes in all"


def _name_note(note: NoteName | SourceView) -> str:
    return _name(note.note_id, note.title, note.path)


def render_decision(number: int, signal: SignalView | None) -> str:
    """Return `Signal #3 → dismissed.`."""
    if signal is None:
        return f"Signal #{number} → removed: links of that note are looked for again."
    until = f" until {signal.until}" if signal.until else ""
    about = (
        f" ({signal.reason})" if signal.id != number else ""
    )  # a whole note was dismissed, under its own number
    return join_lines([f"Signal #{signal.id} → {signal.status}{until}.{about}"])


def render_inferences(answer: InsightsAnswer) -> str:
    """Return each inference with its confidence, whether it is stale, and how to cite it."""
    head = [] if answer.inferences else ["No inferences."]
    blocks = [
        join_lines(
            [_head_inference(one), cut(" ".join(one.summary.split()), SUMMARY_SHOWN), f"cite as: {one.citation}"]
        )
        for one in answer.inferences
    ]
    below = join_lines([*answer.notes, *_count_more(answer.total, answer.returned)])
    return "\n\n".join(filter(None, [*head, *blocks, below]))


def _head_inference(one: InferenceView) -> str:
    mark = {"stale": " [STALE]", "archived": " [ARCHIVED]"}.get(one.status, "")
    confidence = f" (conf {one.confidence:.2f})" if one.confidence is not None else ""
    return f"#{one.id}{mark}{confidence} {cut(one.title, LONGEST_NAME)}"


def render_inference(one: InferenceView) -> str:
    """Return one inference with all its sources, then and now."""
    facts = [f"status: {one.status}", f"created: {one.created[:10]}"]
    facts += [f"via {one.model_id}"] if one.model_id else []
    facts += [f"from signal #{one.from_signal}"] if one.from_signal else []
    facts += [f"replaced by inference #{one.superseded_by}"] if one.superseded_by else []
    lines = [_head_inference(one), " | ".join(facts), one.summary, f"cite as: {one.citation}", "Evidence:"]
    for source in one.sources:
        lines.append(f"  - {_name_note(source)} [{source.state}]")
        if source.state != "unchanged":
            lines.append(f"    then: {source.excerpt}")
        if source.current_excerpt:
            lines.append(f"    now: {source.current_excerpt}")
    return join_lines(lines)


def render_minted(one: InferenceView) -> str:
    """Return what was kept, from how many notes, and how to cite it."""
    count = f"{one.sources_total} source {'note' if one.sources_total == 1 else 'notes'}"
    head = f'Minted inference #{one.id} "{cut(one.title, LONGEST_NAME)}" from {count}.'
    return join_lines([head, f"cite as: {one.citation}"])
