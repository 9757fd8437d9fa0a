"""Who a write comes from."""

from __future__ import annotations

from contextvars import ContextVar

from vault_memex.config import Config

ROLE = "role"  # in an event's details

CURRENT_ACTOR: ContextVar[str] = ContextVar("CURRENT_ACTOR", default="")
"""Who the present call comes from, when the connection did not name itself at start."""


def find_actor(config: Config) -> str:
    """Return the name that journal and commits give to the present call."""
    return config.connection or CURRENT_ACTOR.get() or "assistant"


def describe_role(config: Config, actor: str) -> dict[str, str]:
    """Return what the journal says beside an actor that is a curator: what one does wakes no note in the queue."""
    return {ROLE: "curator"} if config.role == "curator" and actor == find_actor(config) else {}
