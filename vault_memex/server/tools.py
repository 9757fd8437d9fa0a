"""Which tools exist, and which are advertised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vault_memex.errors import InvalidArgument
from vault_memex.server.insight_tools import INSIGHT_DECIDE, INSIGHTS
from vault_memex.server.read_tools import CHANGES, GET, SEARCH, STATUS, VOCABULARY
from vault_memex.server.tool import ToolSpec
from vault_memex.server.write_tools import EDIT, RETIRE, SAVE

ALL_TOOLS: tuple[ToolSpec[Any], ...] = (
    SEARCH,
    GET,
    SAVE,
    EDIT,
    VOCABULARY,
    CHANGES,
    RETIRE,
    STATUS,
    INSIGHTS,
    INSIGHT_DECIDE,
)
TOOLSETS = tuple(dict.fromkeys(spec.toolset for spec in ALL_TOOLS))
MINIMAL = ("search", "get", "save", "edit")


def find_tools(choice: str, role: str) -> tuple[ToolSpec[Any], ...]:
    """Return the tools that `--tools` asks for and the role may use, most needed first.

    `choice`: `minimal`, `core`, `insights`, `full`, or these and tool names joined by commas, with `+` or `-` before
    a name. A set and a tool may share a name; the set is meant.
    """
    known = {spec.name: spec for spec in ALL_TOOLS}
    sets = {
        "minimal": set(MINIMAL),
        **{toolset: {s.name for s in ALL_TOOLS if s.toolset == toolset} for toolset in TOOLSETS},
        "full": set(known),
    }
    chosen: set[str] = set()
    for part in filter(None, (p.strip() for p in choice.split(","))):
        name = part.lstrip("+-")
        if name not in sets and name not in known:
            raise InvalidArgument("tools", f"--tools {part}: write {', '.join([*sets, *known])}.")
        names = sets.get(name, {name})
        chosen = chosen - names if part.startswith("-") else chosen | names
    return tuple(spec for spec in ALL_TOOLS if spec.name in chosen and (spec.read_only or role != "reader"))


def find_callable(role: str) -> Mapping[str, ToolSpec[Any]]:
    """Return every tool the role may call, advertised or not, by name."""
    return {spec.name: spec for spec in ALL_TOOLS if spec.read_only or role != "reader"}
