"""What the curation queue and its other views say, as lines."""

from __future__ import annotations

from collections.abc import Iterator

from vault_memex.memory.queues import MEANINGS, REASONS
from vault_memex.server.lines import LONGEST_NAME, cut, join_lines
from vault_memex.services.curation import QueueAnswer, QueueRow
from vault_memex.services.curation_views import (
    BareRow,
    BlastAnswer,
    CuratedRow,
    EnrichmentAnswer,
    LastCurated,
    MovedRow,
    ShakenRow,
)

LONGEST_SAID = 300  # code points of a flag, a summary, a title of a change
Named = QueueRow | BareRow | MovedRow | ShakenRow | CuratedRow


def render_queue(answer: QueueAnswer) -> str:
    """Return a page of the queue."""
    return join_lines(_describe_queue(answer))


def _describe_queue(answer: QueueAnswer) -> Iterator[str]:
    if not answer.total:
        yield "Nothing needs attention."
        return
    chosen = f", {answer.matching} as asked" if answer.matching != answer.total else ""
    yield f"{answer.returned} of {answer.total} notes that need attention{chosen}."
    counts = [f"{reason} {answer.reason_counts[reason]}" for reason in REASONS if reason in answer.reason_counts]
    yield f"never read {answer.never_read}, lacking nothing {answer.defect_free}" + "".join(
        f", {c}" for c in counts
    )
    if answer.leased_elsewhere:
        yield f"{answer.leased_elsewhere} more are in other connections' hands for up to half an hour."
    if answer.reserved_until:
        yield f"Held for you until {answer.reserved_until}, or until your run_summary."
    for row in answer.rows:
        yield from _describe_row(row)
    left = answer.matching - answer.offset - answer.returned - answer.leased_elsewhere
    if left > 0:
        yield f"{left} more: offset={answer.offset + answer.returned}."


def _describe_row(row: QueueRow) -> Iterator[str]:
    kind = "".join(f" · {word}" for word in (row.layer, "pending" if row.pending else "") if word)
    yield f"- {_name(row)}{kind}"
    if row.flag:
        yield f"   flagged {row.flag_raised[:10]}: {cut(row.flag, LONGEST_SAID)}"
    reasons = [MEANINGS[reason] for reason in REASONS[1:] if reason in row.reasons]
    if row.edited_since:
        reasons.append("changed since it was read")
    if row.changed_neighbours:
        reasons.append(f"{row.changed_neighbours} linked notes changed since")
    if not row.last_read:
        reasons.append("never read by a curator")
    elif not reasons:
        reasons.append(f"last read {row.last_read[:10]}")
    yield f"   {'; '.join(reasons)}"


def _name(row: Named) -> str:
    number = f"#{row.note_id} " if row.note_id is not None else ""
    return f"{number}{cut(row.title, LONGEST_NAME)} ({row.path})"


def render_enrichment(answer: EnrichmentAnswer) -> str:
    """Return the notes that nobody described."""
    lines = [f"{answer.returned} of {answer.total} notes without summary or tags, oldest first."]
    if answer.awaiting_review:
        lines.append(f"{answer.awaiting_review} more wait for the person.")
    lines += [f"- {_name(row)}: no {' and no '.join(row.missing)}" for row in answer.rows]
    return join_lines([*lines, *_say_left(answer.total, answer.offset, answer.returned)])


def render_blast(answer: BlastAnswer) -> str:
    """Return the notes around which something changed."""
    lines = [
        f"{answer.returned} of {answer.total} notes with linked notes that changed since {answer.since[:10]}."
    ]
    for row in answer.rows:
        lines.append(f"- {_name(row)}: {row.changed} changed, last read {row.last_read[:10] or 'never'}")
        for one in row.neighbours:
            what = f": {cut(one.what, LONGEST_SAID)}" if one.what else ""
            lines.append(f"   {_name(one)}, {one.at[:10]} by {cut(one.by, LONGEST_NAME)}{what}")
        if row.changed > len(row.neighbours):
            lines.append(f"   … {row.changed} in all")
    return join_lines([*lines, *_say_left(answer.total, answer.offset, answer.returned)])


def render_last_curated(answer: LastCurated) -> str:
    """Return when the last run was and whether one is due, or when each note was looked at."""
    if answer.rows or answer.unknown_note_ids:
        lines = [line for row in answer.rows for line in _describe_curated(row)]
        if answer.unknown_note_ids:
            named = ", ".join(cut(ref, LONGEST_NAME) for ref in answer.unknown_note_ids)
            lines.append(f"No note, or several, by the name of: {named}")
        return join_lines(lines)
    by = f" by {cut(answer.by, LONGEST_NAME)}" if answer.by else ""
    lines = [f"last run: {answer.last_run}{by}" if answer.last_run else "last run: never"]
    if answer.summary:
        lines.append(f"   {cut(answer.summary, LONGEST_SAID)}")
    lines.append(f"changed since: {answer.changed_since} notes · queue: {answer.queue}")
    return join_lines([*lines, f"due: {'yes' if answer.due else 'no'}", *(f"   {why}" for why in answer.reasons)])


def _describe_curated(row: CuratedRow) -> Iterator[str]:
    if not row.last_curated:
        yield f"- {_name(row)}: never"
        return
    by = f" by {cut(row.by, LONGEST_NAME)}" if row.by else ""
    changed = ", changed since" if row.edited_since else ""
    yield f"- {_name(row)}: {row.last_curated}{by}{changed}, rests until {row.rests_until[:10]}"
    if row.what:
        yield f"   {cut(row.what, LONGEST_SAID)}"


def _say_left(total: int, offset: int, returned: int) -> Iterator[str]:
    left = total - offset - returned
    if left > 0:
        yield f"{left} more: offset={offset + returned}."
