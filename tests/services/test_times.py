"""When a note was made and changed: its frontmatter, else git, else the file."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import OpenVault

IDENTITY = ("-c", "user.name=T", "-c", "user.email=t@localhost")


def commit(root: Path, when: str) -> None:
    env = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "PATH": "/usr/bin:/bin:/usr/local/bin"}
    for arguments in (["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *IDENTITY, *arguments], cwd=root, env=env, check=True)


def test_notes_without_dates_take_theirs_from_git(folder: Path, opening: OpenVault) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    for name in ("Plain", "Edited"):
        (folder / f"{name}.md").write_text("one\n", encoding="utf-8")
    (folder / "Dated.md").write_text("---\ncreated: 2020-01-01\n---\none\n", encoding="utf-8")
    commit(folder, "2024-03-01T10:00:00+00:00")
    (folder / "Plain.md").write_text("two\n", encoding="utf-8")
    commit(folder, "2025-04-02T10:00:00+00:00")
    (folder / "Edited.md").write_text("three\n", encoding="utf-8")

    notes = opening(folder).snapshot().notes

    assert ("2024-03-01", "2025-04-02") == (notes["Plain.md"].created[:10], notes["Plain.md"].updated[:10])
    assert "2020-01-01" == notes["Dated.md"].created
    assert "2024-03-01" == notes["Edited.md"].created[:10]
    assert notes["Edited.md"].updated > "2026"
