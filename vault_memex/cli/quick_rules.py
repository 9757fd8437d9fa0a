"""`vault-memex rules` as a hook at the start of a session runs it: the kept text, with as little as can be imported."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime

from vault_memex.cli.finding import look_for_vault
from vault_memex.store.cache_place import find_cache_path
from vault_memex.store.kept_rules import read_kept_rules

NONE = "No house rules are in force."
_VALUES = {"--vault": "vault", "--cache-dir": "cache_dir"}


def print_kept_rules(words: Sequence[str]) -> bool:
    """Print the rules if the command asks for no more than that and the kept text holds; else return False."""
    options = _parse(words)
    if options is None:
        return False
    vault = look_for_vault(options.get("vault"))
    if vault is None:
        return False  # the full command says so
    root = os.path.realpath(vault)
    base = options.get("cache_dir")
    environment = {"VAULT_MEMEX_CACHE_DIR": os.path.expanduser(base)} if base else os.environ
    today = datetime.now(UTC).date().isoformat()
    kept = read_kept_rules(find_cache_path(root, environment), root, today)
    if kept is None:
        return False
    hook = "hook" in options
    print_rules(str(kept["hook" if hook else "text"]), hook=hook)
    return True


def print_rules(text: str, *, hook: bool) -> None:
    """Print the section for people, or as what a hook at the start of a session answers: nothing without rules."""
    if not hook:
        print(text or NONE)
    elif text:
        answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
        print(json.dumps(answer, ensure_ascii=False))


def _parse(words: Sequence[str]) -> dict[str, str] | None:
    """Return the options of the plain command; None when there is anything else, which the full parser judges."""
    options: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, sign, value = word.partition("=")
        if word == "--hook":
            options["hook"] = ""
        elif name in _VALUES and sign:
            options[_VALUES[name]] = value
        elif name in _VALUES and rest:
            options[_VALUES[name]] = rest.pop(0)
        else:
            return None
    return options
