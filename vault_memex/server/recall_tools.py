"""The tool that recalls: a short list of what answers, or a pack of sections within a budget of tokens."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from vault_memex.core.filters import parse_filters
from vault_memex.memory.pack_text import render_pack
from vault_memex.server.read_tools import LONG_ANSWER, Text
from vault_memex.server.tool import Answer, Arguments, ToolSpec
from vault_memex.services.recall import (
    DEFAULT_ITEMS,
    DEFAULT_LIMIT,
    DEFAULT_TOKENS,
    FEWEST_TOKENS,
    MOST_ITEMS,
    MOST_PACKED,
    MOST_TOKENS,
    RecallRequest,
)
from vault_memex.vault import Vault


class RecallArguments(Arguments):
    """Arguments of `recall`."""

    also: ClassVar = {"q": "query", "category": "folder", "max_results": "limit"}

    query: Text = Field(description="What to recall: content words or a question, in any language.")
    limit: int = Field(DEFAULT_LIMIT, description=f"Notes, 1-{MOST_ITEMS}, with the best section of each.")
    max_tokens: int = Field(
        0,
        description=f"Ask for a pack instead: several sections of each note, at most so many tokens in all, "
        f"{FEWEST_TOKENS}-{MOST_TOKENS}.",
    )
    max_items: int = Field(0, description=f"Notes of a pack, 1-{MOST_PACKED}; default {DEFAULT_ITEMS}.")
    folder: str = Field("", description="A top-level folder, or a path such as projects/boat.")
    path_filter: str = Field("", description="SQL ILIKE pattern over the path without .md.")
    memory_type: str = Field(
        "", description="semantic, episodic, procedural, working or identity; % patterns allowed."
    )
    prefer_working: bool = Field(False, description="Put matching working memory that still holds first.")
    explain: bool = Field(False, description="Say for each note why it is there.")


def run_recall(vault: Vault, a: RecallArguments) -> Answer:
    """Return the list or the pack as text: a client that shows only structured values would hide the notes."""
    packs = a.sent("max_tokens") or a.sent("max_items")
    items = a.max_items if a.sent("max_items") else a.limit if a.sent("limit") else DEFAULT_ITEMS
    recalled = vault.recall.recall(
        RecallRequest(
            query=a.query,
            limit=a.limit,
            max_tokens=(a.max_tokens if a.sent("max_tokens") else DEFAULT_TOKENS) if packs else None,
            max_items=items if packs else DEFAULT_ITEMS,
            filters=parse_filters(
                folder=a.folder.strip("%"), path_filter=a.path_filter, memory_type=a.memory_type
            ),
            prefer_working=a.prefer_working,
            explain=a.explain,
        )
    )
    return Answer(render_pack(recalled.pack, recalled.frame))


RECALL = ToolSpec(
    name="recall",
    title="Recall what may help",
    description=(
        "The text of what the person wrote about something, forgiving: words or meaning, each note labelled strong or "
        "weak, what no longer holds marked and put last, every part with its source. Use it to get context in one "
        f"call; max_tokens={DEFAULT_TOKENS} gives a pack of several sections that never exceeds it and says what was "
        "left out. What is weak is unverified: say so. To list or filter notes use `search`; where a weak answer "
        "would be dangerous, `search` with mode=strict; for a whole note `get`."
    ),
    arguments=RecallArguments,
    run=run_recall,
    read_only=True,
    meta=LONG_ANSWER,
)
