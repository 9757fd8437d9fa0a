"""`vault-memex rules`: the house rules as assistants get them, which are not among them, and approving one."""

from __future__ import annotations

import argparse
import sys

from vault_memex.cli.opening import opened
from vault_memex.cli.output import Line, print_block, print_json
from vault_memex.cli.quick_rules import print_rules
from vault_memex.errors import InvalidArgument
from vault_memex.services.rules import RuleRow, RulesFound
from vault_memex.vault import Vault

MOST_NAMED = 20  # of the rules that are not given to assistants


def run(options: argparse.Namespace) -> int:
    """Print the rules, or approve one."""
    if (options.action is None) != (options.ref is None):
        raise InvalidArgument("ref", "Name the rule: vault-memex rules approve REF (title, path or #number).")
    with opened(options) as vault:
        vault.refresh()
        if options.action is not None:
            return _approve(vault, options.ref)
        found = vault.rules.find()
        vault.rules.keep(found)
    if options.json:
        print_json(found)
        return 0
    print_rules(found.hook_text if options.hook else found.text, hook=options.hook)
    if not options.hook:
        _print_remarks(found)
    for warning in found.warnings:
        print(f"vault-memex: {warning}", file=sys.stderr)
    return 0


def _approve(vault: Vault, ref: str) -> int:
    answer = vault.editing.approve_rule(ref)
    row = next((rule for rule in vault.rules.find().rules if rule.path == answer.path), None)
    lines: list[Line] = [("bold", f"Approved: {answer.title}"), ("cyan", answer.path)]
    if row is not None and row.why:
        lines.append(("", f"Not given to assistants yet: {row.why}."))
    lines.append(("dim", "Assistants get it when they start their next session."))
    print_block(lines)
    return 0


def _print_remarks(found: RulesFound) -> None:
    silent = [rule for rule in found.rules if rule.why]
    for rule in silent[:MOST_NAMED]:
        print(f"vault-memex: {_name(rule)}: {rule.why}.", file=sys.stderr)
    if len(silent) > MOST_NAMED:
        print(f"vault-memex: {len(silent) - MOST_NAMED} more; --json names them all.", file=sys.stderr)


def _name(rule: RuleRow) -> str:
    return rule.path if rule.note_id is None else f"#{rule.note_id} {rule.path}"
