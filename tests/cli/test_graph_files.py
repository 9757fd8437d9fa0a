"""`graph import` and `graph export`: there and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vault_memex.cli import main

LINES = (
    '{"type":"entity","name":"Ada/1","entityType":"person","observations":["# tea","two\\nlines"]}\n'
    '{"type":"relation","from":"Ada/1","to":"Nobody","relationType":"knows"}\n'
)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


def test_what_is_imported_is_exported_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_MEMEX_MODEL", "none")
    file, out = tmp_path / "memory.json", tmp_path / "out.jsonl"
    file.write_text(f"{LINES}{{broken\n", encoding="utf-8")

    first = run("graph", "import", str(file), "--vault", str(folder))
    said = capsys.readouterr()
    again = run("graph", "import", str(file), "--vault", str(folder))
    repeated = capsys.readouterr()
    exported = run("graph", "export", str(out), "--vault", str(folder))
    capsys.readouterr()
    printed = run("graph", "export", "--vault", str(folder))

    assert (1, 1, 0, 0) == (first, again, exported, printed)
    assert ("1 of 1 entities and 1 of 1 relations are new.\n", "skipped: line 3 is no JSON\n") == (
        said.out,
        said.err,
    )
    assert "0 of 1 entities and 0 of 1 relations are new.\n" == repeated.out
    assert LINES == out.read_text(encoding="utf-8") == capsys.readouterr().out
    assert "Ada/1" == json.loads(LINES.splitlines()[0])["name"]
    assert ["Ada-1.md"] == [note.name for note in (folder / "entities/person").iterdir()]


def test_a_file_that_is_not_there_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == run("graph", "import", "/nowhere/at/all.json", "--vault", str(folder))
    assert "There is no file '/nowhere/at/all.json'." in capsys.readouterr().err


def test_an_entity_that_a_note_stands_in_the_way_of_is_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_MEMEX_MODEL", "none")
    (folder / "Ada.md").write_text("An ordinary note.\n", encoding="utf-8")
    (tmp_path / "memory.jsonl").write_text(LINES.replace("Ada/1", "Ada"), encoding="utf-8")

    status = run("graph", "import", str(tmp_path / "memory.jsonl"), "--vault", str(folder))

    assert (1, "skipped: a note 'Ada' is there, and is no entity\n") == (status, capsys.readouterr().err)
