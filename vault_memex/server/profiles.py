"""Compatibility profiles: the tools of another memory server under their own names, over the services of this one.

A profile is advertised alone (`--tools memex`), for assistants that were taught those names. Its module is imported
only when it is advertised or one of its tools is called: models of arguments take time to build, and a server must
answer within a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from vault_memex.server.tool import ToolSpec

Specs = tuple[ToolSpec[Any], ...]


class Profiles(Mapping[str, Specs]):
    """Tools by the name of the profile that advertises them; each module has them as `TOOLS`."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> Specs:
        tools: Specs = import_module(f"vault_memex.server.{self._modules[name]}").TOOLS
        return tools

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


PROFILES: Mapping[str, Specs] = Profiles(
    {
        "memex": "memex_profile",
        "memex-tools": "memex_tools_profile",
        "knowledge-graph": "graph_profile",
        "xmemo": "xmemo_profile",
    }
)
