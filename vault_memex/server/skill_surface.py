"""Skills beside their tool: as resources and prompts, in the description of the tool, and as news on every answer."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcp import MCPError
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import (
    INVALID_PARAMS,
    CallToolResult,
    ContentBlock,
    GetPromptResult,
    Prompt,
    PromptMessage,
    Resource,
    TextContent,
    Tool,
)

from vault_memex.core.text import render_line
from vault_memex.errors import MemexError, NotFound
from vault_memex.memory.skills import Skill, Surface, render_names
from vault_memex.server.instructions import rename_tools
from vault_memex.server.lines import cut
from vault_memex.server.skill_tools import LONGEST_DESCRIPTION, answer_skill
from vault_memex.server.tool import ToolSpec
from vault_memex.services.skills import SKILL_URI, LoadedSkill, SkillsFound
from vault_memex.vault import Vault

if TYPE_CHECKING:
    from vault_memex.server.app import MemexServer

log = logging.getLogger(__name__)

LONGEST_LIST = 600  # characters of slugs in one line
VERSION, CHANGED = "skills_version", "skills_changed"
META = "vault-memex/"  # before these names in `_meta`
SEEN = "skills seen by "  # of the catalogue's states, before the name of a connection
FAULTS = (MemexError, OSError, sqlite3.Error)


class SkillSurface:
    """The skills of one server. Nothing here makes an answer fail."""

    def __init__(self, vault: Vault, listed: Sequence[ToolSpec[Any]], names: Mapping[str, str]) -> None:
        self._vault = vault
        self._names = names
        self._tells = any(spec.lists_skills for spec in listed)  # else there is nothing to look at them with
        self._seen: dict[str, str] = {}  # versions by connection, as this process knows

    def describe(self, tool: Tool) -> Tool:
        """Return the tool with the skills that there are now in its description."""
        try:
            offered = self._vault.skills.offer("tools")
        except FAULTS:
            return tool
        now = f"Now: {render_names(offered, LONGEST_LIST)}." if offered else "Now: none."
        return tool.model_copy(update={"description": f"{tool.description} {now}"})

    def list_resources(self) -> list[Resource]:
        """Return the skills that are offered as resources."""
        return [
            Resource(
                uri=f"{SKILL_URI}{quote(skill.slug)}",
                name=f"skill: {skill.slug}",
                title=render_line(skill.title),
                description=_describe(skill),
                mime_type="text/markdown",
            )
            for skill in self._offer("resources")
        ]

    def complete(self, start: str) -> list[str]:
        """Return the slugs of resources that begin so."""
        return [skill.slug for skill in self._offer("resources") if skill.slug.startswith(start.casefold())]

    def list_prompts(self) -> list[Prompt]:
        """Return the skills that are offered as prompts."""
        return [
            Prompt(name=skill.slug, title=render_line(skill.title), description=_describe(skill))
            for skill in self._offer("prompts")
        ]

    def _offer(self, surface: Surface) -> tuple[Skill, ...]:
        try:
            return self._vault.skills.offer(surface)
        except FAULTS as error:
            log.warning("skills are not listed as %s: %s", surface, error)
            return ()

    def get_prompt(self, name: str) -> GetPromptResult | None:
        """Return a skill as a prompt; None when there is none of that name. What fails is said to the client."""
        try:
            loaded = self._vault.skills.load(name, "prompts")
        except NotFound:
            return None
        except MemexError as error:
            raise MCPError(INVALID_PARAMS, render_line(error.message)) from error
        text = TextContent(type="text", text=self._render(loaded))
        return GetPromptResult(
            description=_describe(loaded.skill), messages=[PromptMessage(role="user", content=text)]
        )

    def read(self, slug: str) -> str:
        """Return a skill as a resource."""
        try:
            return self._render(self._vault.skills.load(slug, "resources"))
        except MemexError as error:
            raise ResourceNotFoundError(render_line(error.message)) from error

    def _render(self, loaded: LoadedSkill) -> str:
        answer = answer_skill(loaded)
        return rename_tools(answer.text, self._names) if answer.names_tools else answer.text

    # -- news

    def tell(self, spec: ToolSpec[Any] | None, result: CallToolResult) -> CallToolResult:
        """Return the answer with the version of the skills, and once with the list when it is another.

        They are in `_meta` of every answer. A structured value has them too (the schemas of ours leave room for more
        fields), unless its form is another server's. An error has no value: clients would hold it against that schema.
        """
        changed = ""
        try:
            found = self._vault.skills.find()
            with suppress(*FAULTS):  # the cache cannot be written: told when it can be
                changed = self._find_changed(found, told=spec is not None and spec.lists_skills)
        except FAULTS as error:
            log.warning("skills are not told of: %s", error)
            return result
        news = {VERSION: found.version, **({CHANGED: changed} if changed else {})}
        foreign = spec is not None and spec.plain_errors
        value = result.structured_content
        return result.model_copy(
            update={
                "meta": {**(result.meta or {}), **{f"{META}{name}": text for name, text in news.items()}},
                "structured_content": value if value is None or foreign else {**value, **news},
                "content": result.content if foreign or not changed else _with_line(result.content, changed),
            }
        )

    def _find_changed(self, found: SkillsFound, *, told: bool) -> str:
        """Return the list in one line when the connection last saw another; nothing the first time.

        `told`: the answer is about the skills anyway.
        """
        name = self._vault.find_actor()
        if self._seen.get(name) == found.version or not self._tells:
            return ""
        catalogue = self._vault.whole.catalogue
        if not catalogue.is_complete():
            return ""
        key = SEEN + name
        seen = catalogue.get_state(key)
        if seen != found.version:
            catalogue.set_state(key, found.version)
        self._seen[name] = found.version
        if told or seen in (None, found.version):
            return ""
        names = [skill for skill in found.skills if "tools" in skill.surfaces]
        return f"The skills are now: {render_names(names, LONGEST_LIST) or 'none'}."


def _with_line(content: Sequence[ContentBlock], changed: str) -> list[ContentBlock]:
    first, *others = content
    if not isinstance(first, TextContent):
        return list(content)
    return [first.model_copy(update={"text": f"{first.text}\n\n{CHANGED}: {changed}"}), *others]


def _describe(skill: Skill) -> str:
    return cut(skill.description or render_line(skill.title), LONGEST_DESCRIPTION)


def add_skills(app: MemexServer) -> None:
    """Add the template of the resources; the list of them and of the prompts is the server's to ask for."""

    @app.resource(
        f"{SKILL_URI}{{slug}}",
        name="skill",
        title="A skill",
        description="A way of working with this memory, by its slug. The person has approved it: follow it.",
        mime_type="text/markdown",
    )
    def skill(slug: str) -> str:
        return app.skills.read(slug)
