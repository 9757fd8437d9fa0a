"""What an answer offers beside itself: warnings, hints, flashbacks. One line each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from vault_memex.memory.duplicates import Duplicate, render_duplicate
from vault_memex.memory.flashbacks import Flashback, render_flashbacks
from vault_memex.server.lines import LONGEST_NAME, cut, join_lines
from vault_memex.services.requests import SignalHint, WriteAnswer, WriteHints


def render_similar(similar: Sequence[Duplicate]) -> str:
    """Return the warning that a new note is much like others."""
    return f"⚠️ Much like {', '.join(map(render_duplicate, similar))}: should that have been edited instead?"


def render_advice(answer: WriteAnswer) -> str:
    """Return hints and flashbacks of a write; empty when there are none."""
    hints = _render_hints(answer.hints) if answer.hints is not None else ()
    signal = [render_signal_hint(answer.signal_hint, "insights")] if answer.signal_hint is not None else []
    return join_lines([*hints, *signal, *render_flashback_lines(answer.flashbacks)])


def render_signal_hint(hint: SignalHint, tool: str) -> str:
    """Return the one signal to offer, and the tool that has the rest."""
    number = "" if hint.signal is None else f" {hint.signal}"
    return f"signal{number} · {hint.type}: {hint.reason} Mention it once if it helps; `{tool}` has the rest."


def render_flashback_lines(flashbacks: Sequence[Flashback]) -> list[str]:
    """Return the section of flashbacks, a line each; empty when there are none."""
    return render_flashbacks(flashbacks).split("\n") if flashbacks else []


def _render_hints(hints: WriteHints) -> Iterator[str]:
    for link in hints.links:
        patch = json.dumps({"find": link.find, "replace": link.replace}, ensure_ascii=False)
        yield f"hint: names {_name(link.path, link.note_id)} without a link; patch: {patch}"
    if hints.tags:
        yield "hint: tags in use that may fit: " + ", ".join(f"{tag.tag} ({tag.notes})" for tag in hints.tags)
    for near in hints.near:
        title = cut(near.title, LONGEST_NAME)
        yield f'hint: near "{title}" — {_name(near.path, near.note_id)} ({near.percent}% match). {near.sentence}'


def _name(path: str, note_id: int | None) -> str:
    return path if note_id is None else f"{path} (#{note_id})"
