"""`vault-memex rules`: what a person sees, what a hook at the start of a session answers, and approving."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenVault
from tests.services.test_rules import YOUNG_NS, propose

QUICK = (
    "argparse",
    "pathlib._local",
    "vault_memex.vault",
    "vault_memex.errors",
    "dataclasses",
    "yaml",
    "mcp",
    "rich",
)


def run(root: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vault_memex", "rules", *words, "--vault", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    assert code == done.returncode, done.stderr
    return done


def settle(root: Path) -> None:
    """Let the rule notes be older than what is kept of them may be."""
    settled = time.time_ns() - 10 * YOUNG_NS
    for file in (root / "Rules", *(root / "Rules").glob("*")):
        os.utime(file, ns=(settled, settled))


def answer_of(done: subprocess.CompletedProcess[str]) -> str:
    said: dict[str, Any] = json.loads(done.stdout)["hookSpecificOutput"]
    assert "SessionStart" == said["hookEventName"]
    return str(said["additionalContext"])


def test_a_person_a_hook_and_a_script_see_the_same_rules(sample: Path) -> None:
    shown = run(sample).stdout

    assert shown.startswith("## House Rules\n\nThe person wrote these rules.")
    assert ["Answer in my language", "Glaze numbers are sacred", "Say where it comes from"] == [
        line.removeprefix("### ") for line in shown.splitlines() if line.startswith("### ")
    ]
    assert shown.rstrip("\n") == answer_of(run(sample, "--hook"))
    assert shown.rstrip("\n") == json.loads(run(sample, "--json").stdout)["text"]


def test_the_hook_answers_from_what_was_kept_without_importing_what_takes_time(sample: Path) -> None:
    settle(sample)
    first = answer_of(run(sample, "--hook"))
    command = [sys.executable, "-X", "importtime", "-m", "vault_memex", "rules", "--hook", "--vault", str(sample)]
    again = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")

    assert first == answer_of(again)
    imported = {line.rpartition("|")[2].strip() for line in again.stderr.splitlines()}
    assert "vault_memex.store.kept_rules" in imported
    assert set() == imported & set(QUICK)


def test_a_hook_says_what_the_file_says_after_the_person_changed_it(sample: Path) -> None:
    settle(sample)
    run(sample, "--hook")
    file = sample / "Rules" / "Say where it comes from.md"
    file.write_text(file.read_text(encoding="utf-8") + "\nAlways.\n", encoding="utf-8")

    assert "Always." in answer_of(run(sample, "--hook"))


def test_without_rules_a_person_is_told_so_and_a_hook_says_nothing(folder: Path) -> None:
    (folder / ".obsidian").mkdir()

    for _ in range(2):  # put together, then kept
        assert ("", "No house rules are in force.\n") == (run(folder, "--hook").stdout, run(folder).stdout)


def test_a_proposed_rule_is_named_with_the_reason_until_it_is_approved(folder: Path, opening: OpenVault) -> None:
    path = propose(opening(folder))
    before = run(folder)
    done = run(folder, "approve", "Metric only")

    assert "No house rules are in force.\n" == before.stdout
    assert f"vault-memex: #1 {path}: it is provisional: you have not approved it.\n" == before.stderr
    assert f"Approved: Metric only\n   {path}\n" in done.stdout
    assert "### Metric only\n\nKilograms and litres.\n" in run(folder).stdout
    assert "is in force already" in run(folder, "approve", "Metric only", code=2).stderr


def test_approving_needs_a_name_and_a_name_needs_an_act(sample: Path) -> None:
    assert "Name the rule" in run(sample, "approve", code=2).stderr


def test_a_folder_that_is_no_vault_is_one_line_for_a_hook_too(tmp_path: Path) -> None:
    done = run(tmp_path / "nowhere", "--hook", code=2)

    assert ("", True) == (done.stdout, done.stderr.startswith("vault-memex: There is no folder"))


@pytest.mark.parametrize("value", ["0", "false", "off"])
def test_rules_can_be_switched_off(sample: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MEMEX_INJECT_RULES", value)

    assert "" == run(sample, "--hook").stdout
