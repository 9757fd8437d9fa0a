"""The greeting at the start of a session: counts, never content."""

from __future__ import annotations


def render_greeting(new_signals: int, stale_inferences: int) -> str:
    """Return one line about what waits; empty when nothing does."""
    parts: list[str] = []
    if new_signals:
        parts.append(f"{new_signals} new {'signal' if new_signals == 1 else 'signals'}")
    if stale_inferences:
        parts.append(f"{stale_inferences} stale {'inference' if stale_inferences == 1 else 'inferences'}")
    return f"Waiting in this vault: {' and '.join(parts)}. Mention it only when it helps." if parts else ""
