"""Who a write comes from."""

from __future__ import annotations

from contextvars import ContextVar

from vault_memex.config import Config

CURRENT_ACTOR: ContextVar[str] = ContextVar("CURRENT_ACTOR", default="")
"""Who the present call comes from, when the connection did not name itself at start."""


def find_actor(config: Config) -> str:
    """Return the name that journal and commits give to the present call."""
    return config.connection or CURRENT_ACTOR.get() or "assistant"
