"""`vault-memex skills`: what assistants are offered as skills, and which notes are none yet."""

from __future__ import annotations

import argparse
import sys

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json, print_table
from vault_memex.memory.skills import SURFACES
from vault_memex.server.skill_tools import render_skill
from vault_memex.services.skills import SkillsFound


def run(options: argparse.Namespace) -> int:
    """Print the list, or one skill."""
    with opened(options) as vault:
        vault.refresh()
        if options.slug:
            loaded = vault.skills.load(options.slug)
            print_json(loaded) if options.json else print(render_skill(loaded))
            return 0
        vault.skills.fix()
        found = vault.skills.find()
    if options.json:
        print_json(found)
    else:
        _print(found)
    return 0


def _print(found: SkillsFound) -> None:
    rows = [
        (
            skill.slug,
            skill.path or "built in",
            ", ".join(skill.surfaces) if skill.surfaces != SURFACES else "",
            skill.description,
        )
        for skill in found.skills
    ]
    print_table(("skill", "from", "only as", "for"), rows)
    for note in found.unserved:
        print(f"vault-memex: {note.path} is no skill yet: {note.why}.", file=sys.stderr)
