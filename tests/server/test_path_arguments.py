"""Every kind of path argument through every tool that takes one: nothing outside is read or written, nothing changes."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.server.handed import ServedVault, serving_vaults
from tests.store.test_paths import REFUSED_FOR_WRITING

SECRET = "zanzibar secret\n"
INSIDE = {
    "a/n.md": "note\n",
    "Notes/ok.md": "ok\n",
    "Notes/.hidden.md": SECRET,
    ".git/config": SECRET,
    ".obsidian/app.json": "{}",
    ".trash/old.md": SECRET,
}
LINKS = {
    "ln": "../out",
    "leaf.md": "../out/secret.md",
    "linkdir": "../out",
    "gitlink": ".git",
    "up": "..",
    "self": ".",
}
REFS = sorted({path for path, _ in REFUSED_FOR_WRITING} - {"", "a/n.txt", "Notes", "self"})
# No JSON message carries half a character: tests/server/test_stdio.py.
FORGIVEN = {
    "a/n\n.md",
    "a/n.md ",
    "a/n.md/",
    "a/\ud800.md",
}  # blanks and a slash around a name: the note itself is meant


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedVault]:
    base = tmp_path_factory.mktemp("paths")
    (base / "out").mkdir()
    (base / "out" / "secret.md").write_text(SECRET, encoding="utf-8")
    with serving_vaults(base) as serve:
        made = serve(INSIDE)
        for name, target in LINKS.items():
            os.symlink(target, made.root / name)
        yield made


@pytest.mark.parametrize("ref", [ref for ref in REFS if ref not in FORGIVEN])
def test_a_path_that_is_no_note_is_refused_by_every_tool(vault: ServedVault, ref: str) -> None:
    before, outside = vault.state(), sorted(p.name for p in (vault.root.parent / "out").rglob("*"))
    answers = [
        vault.call("get", ref=ref),
        vault.call("edit", ref=ref, patch=[{"append": "x"}]),
        vault.call("edit", ref=ref, title="Other"),
        vault.call("retire", ref=ref, reason="test"),
    ]

    assert [True] * len(answers) == [bool(answer.is_error) for answer in answers]
    found = vault.call("search", folder=ref)
    assert found.is_error or ref == "Notes/" or [] == found.structured_content["rows"]  # type: ignore[index]
    assert not any("zanzibar" in str(answer.content) for answer in answers)
    assert (before, outside) == (vault.state(), sorted(p.name for p in (vault.root.parent / "out").rglob("*")))


@pytest.mark.parametrize(
    "folder",
    [
        "..",
        "../out",
        "a/../../out",
        "ln",
        "up/out",
        ".git",
        ".GIT/hooks",
        "_memex",
        "gitlink",
        "a\0b",
        "CON",
        "C:/x",
        "/nowhere/at/all",
    ],
)
def test_nothing_is_saved_or_moved_into_such_a_folder(vault: ServedVault, folder: str) -> None:
    before = vault.state()

    vault.refused("save", title="New", body="text", layer="state", folder=folder)
    vault.refused("edit", ref="a/n.md", folder=folder)
    assert before == vault.state()
