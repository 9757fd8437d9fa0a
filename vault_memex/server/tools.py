"""Which tools exist, and which are advertised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vault_memex.errors import InvalidArgument
from vault_memex.server.curation_record_tools import CURATION_RECORD
from vault_memex.server.curation_tools import CURATION
from vault_memex.server.graph_tools import GRAPH, GRAPH_EDIT
from vault_memex.server.insight_tools import INSIGHT_DECIDE, INSIGHTS
from vault_memex.server.profiles import PROFILES
from vault_memex.server.read_tools import CHANGES, GET, SEARCH, STATUS, VOCABULARY
from vault_memex.server.recall_tools import RECALL
from vault_memex.server.skill_tools import SKILLS
from vault_memex.server.tool import ToolSpec
from vault_memex.server.write_tools import EDIT, RETIRE, SAVE

ALL_TOOLS: tuple[ToolSpec[Any], ...] = (
    SEARCH,
    GET,
    SAVE,
    EDIT,
    RECALL,
    VOCABULARY,
    CHANGES,
    RETIRE,
    SKILLS,
    STATUS,
    INSIGHTS,
    INSIGHT_DECIDE,
    GRAPH,
    GRAPH_EDIT,
    CURATION,
    CURATION_RECORD,
)
TOOLSETS = tuple(dict.fromkeys(spec.toolset for spec in ALL_TOOLS))
MINIMAL = ("search", "get", "save", "edit")


def find_tools(choice: str, role: str) -> tuple[ToolSpec[Any], ...]:
    """Return the tools that `--tools` asks for and the role may use, most needed first.

    `choice`: `minimal`, `core`, `insights`, `graph`, `curation`, `full`, or these and tool names joined by commas,
    with `+` or `-` before a name. A set and a tool may share a name; the set is meant. Or the name of a profile, alone.
    """
    parts = [part.strip() for part in choice.split(",") if part.strip()]
    profile = next((part for part in parts if part.lstrip("+-") in PROFILES), None)
    if profile is None:
        return tuple(spec for spec in _choose(parts) if _may_use(spec, role))
    if len(parts) > 1 or profile not in PROFILES:
        name = profile.lstrip("+-")
        raise InvalidArgument("tools", f"--tools {choice}: the profile {name} stands alone. Write --tools {name}.")
    return tuple(spec for spec in PROFILES[profile] if _may_use(spec, role))


def _choose(parts: Sequence[str]) -> Iterator[ToolSpec[Any]]:
    known = {spec.name: spec for spec in ALL_TOOLS}
    sets = {
        "minimal": set(MINIMAL),
        **{toolset: {s.name for s in ALL_TOOLS if s.toolset == toolset} for toolset in TOOLSETS},
        "full": set(known),
    }
    chosen: set[str] = set()
    for part in parts:
        name = part.lstrip("+-")
        if name not in sets and name not in known:
            names = ", ".join([*sets, *known, *PROFILES])
            raise InvalidArgument("tools", f"--tools {part}: write {names}.")
        names_meant = sets.get(name, {name})
        chosen = chosen - names_meant if part.startswith("-") else chosen | names_meant
    return (spec for spec in ALL_TOOLS if spec.name in chosen)


def _may_use(spec: ToolSpec[Any], role: str) -> bool:
    return role in ("curator", "owner") if spec.curators_only else spec.read_only or role != "reader"


def find_callable(role: str, listed: Sequence[ToolSpec[Any]] = ()) -> Mapping[str, ToolSpec[Any]]:
    """Return every tool the role may call, advertised or not, by name."""
    return CallableTools(role, listed)


class CallableTools(Mapping[str, ToolSpec[Any]]):
    """Tools by name. One name in several lists means the advertised tool, else the unified, else a profile's.

    The modules of profiles are imported when a name is asked for that is not known without them.
    """

    def __init__(self, role: str, listed: Sequence[ToolSpec[Any]]) -> None:
        self._role = role
        self._known = {spec.name: spec for spec in (*ALL_TOOLS, *listed) if _may_use(spec, role)}

    def __getitem__(self, name: str) -> ToolSpec[Any]:
        if name in self._known:
            return self._known[name]
        return self._find_in_profiles()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._find_in_profiles() | self._known)

    def __len__(self) -> int:
        return len(self._find_in_profiles() | self._known)

    def _find_in_profiles(self) -> dict[str, ToolSpec[Any]]:
        found: dict[str, ToolSpec[Any]] = {}
        for specs in PROFILES.values():
            for spec in specs:
                if _may_use(spec, self._role):
                    found.setdefault(spec.name, spec)
        return found
