"""The tool that lists skills and loads one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from vault_memex.core.text import find_safe_cut, render_line
from vault_memex.memory.skills import Skill
from vault_memex.server.lines import LONGEST_NAME, cut, join_lines
from vault_memex.server.read_tools import LONG_ANSWER
from vault_memex.server.tool import Answer, Arguments, ToolSpec
from vault_memex.services.skills import LoadedSkill
from vault_memex.vault import Vault

LONGEST_DESCRIPTION = 350  # characters, of a list
LONGEST_TEXT = 60_000
FOLLOW = "Load the one that a task is about, with its slug, before you begin; then follow it."


class SkillsArguments(Arguments):
    """Arguments of `skills`."""

    also: ClassVar = {"name": "slug", "skill": "slug", "id": "slug", "ref": "slug"}

    slug: str = Field("", description="Load this one. Empty: list them.")


def run_skills(vault: Vault, a: SkillsArguments) -> Answer:
    """List the skills, or load one."""
    if a.slug.strip():
        return answer_skill(vault.skills.load(a.slug, "tools"))
    vault.settled()
    vault.skills.fix()
    remark = "" if vault.whole.catalogue.is_complete() else vault.background.find_remark() or ""
    return Answer("\n".join(filter(None, (render_skills(vault.skills.offer("tools")), remark))))


def answer_skill(loaded: LoadedSkill) -> Answer:
    """Return a loaded skill as an answer. One of our own speaks of tools as they are advertised."""
    return Answer(render_skill(loaded), names_tools=not loaded.skill.path)


def render_skills(skills: Sequence[Skill]) -> str:
    """Return a line for each skill."""
    if not skills:
        return "There are no skills for this connection."
    lines = [f"- {skill.slug}: {cut(_describe(skill), LONGEST_DESCRIPTION)}" for skill in skills]
    return join_lines([f"{len(skills)} skills. {FOLLOW}", *lines])


def _describe(skill: Skill) -> str:
    title = render_line(skill.title)
    return f"{title}. {skill.description}" if skill.description else title


def render_skill(loaded: LoadedSkill) -> str:
    """Return the text of a skill below its name and where it comes from."""
    skill, text = loaded.skill, loaded.text
    number = f" (#{skill.note_id})" if skill.note_id is not None else ""
    source = f"the person's own, in {skill.path}{number}" if skill.path else "comes with vault-memex"
    end = find_safe_cut(text, LONGEST_TEXT)
    rest = (
        f"Cut after {end} of {len(text)} characters; `get` {skill.path} for the rest." if end < len(text) else ""
    )
    head = f"Skill {skill.slug}: {cut(render_line(skill.title), LONGEST_NAME)} ({source})"
    return "\n\n".join(filter(None, (head, text[:end].strip("\n"), rest)))


SKILLS = ToolSpec(
    name="skills",
    title="Ways of working",
    description=(
        "Skills: how to do a kind of task with this memory, from vault-memex and from the person. List them, or load "
        "one by its slug. Look before a task that one is about, and follow what you load: the person has approved it. "
        "`skills_changed` in an answer says that the list is another."
    ),
    arguments=SkillsArguments,
    run=run_skills,
    read_only=True,
    lists_skills=True,
    meta=LONG_ANSWER,
)
