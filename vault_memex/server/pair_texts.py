"""Pairs of notes that may be duplicates, as text to read."""

from __future__ import annotations

from vault_memex.memory.thresholds import match_percent
from vault_memex.server.lines import LONGEST_NAME, cut, join_lines
from vault_memex.services.pairs import PairedNote, PairsAnswer


def render_pairs(answer: PairsAnswer) -> str:
    """Return two lines a pair, nearest first, and what to know about what is missing."""
    lines = [f"{answer.returned} of {answer.total} pairs up to distance {answer.max_distance:g}."]
    if answer.unavailable:
        lines.append(f"unavailable: semantic ({answer.unavailable})")
    if answer.unsettled:
        lines.append(f"unsettled: {answer.unsettled} passages are not compared yet")
    if answer.rejected:
        lines.append(f"{answer.rejected} left out: judged to be two notes, and unchanged since")
    lines += answer.notes
    for number, row in enumerate(answer.rows, answer.offset + 1):
        lines.append(f"{number}. distance {row.distance:g} ({match_percent(row.distance)}% match)")
        lines += [f"   {_render_note(note)}" for note in (row.one, row.other)]
    left = answer.total - answer.offset - answer.returned
    if left > 0:
        lines.append(f"{left} more: offset={answer.offset + answer.returned}.")
    return join_lines(lines)


def _render_note(note: PairedNote) -> str:
    number = f"#{note.note_id} " if note.note_id is not None else ""
    facts = " · ".join(filter(None, (note.layer, f"{note.chars} characters", f"updated {note.updated[:10]}")))
    return f"{number}{cut(note.title, LONGEST_NAME)} ({note.path}) · {facts}"
