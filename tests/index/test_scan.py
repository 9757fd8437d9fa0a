"""Which files a scan finds, and what it says of those it cannot read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from vault_memex.core.changes import Signature
from vault_memex.errors import VaultError
from vault_memex.index.scan import is_in_scope, scan_vault


def put(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x", encoding="utf-8")


def test_notes_come_with_signatures_and_other_files_with_names(tmp_path: Path) -> None:
    put(tmp_path, "a/N.MD", "b.md", "pic.png")

    scan = scan_vault(tmp_path)

    assert {
        "a/N.MD": Signature.of((tmp_path / "a/N.MD").stat()),
        "b.md": Signature.of((tmp_path / "b.md").stat()),
    } == scan.notes
    assert ({"pic.png"}, 2) == (scan.attachments, scan.folders)


def test_hidden_names_and_the_programs_own_folder_are_left_out_but_not_its_skills(tmp_path: Path) -> None:
    put(tmp_path, ".obsidian/x.md", ".git/y.md", "a/.hidden.md", "_memex/inbox/1.md", "_memex/tags.md")
    put(tmp_path, "_memex/skills/s.md", "_memex/skills/deep/t.md", "sub/_memex/u.md")

    scan = scan_vault(tmp_path)

    assert ["_memex/skills/deep/t.md", "_memex/skills/s.md", "sub/_memex/u.md"] == sorted(scan.notes)


def test_ignored_folders_and_patterns_are_left_out(tmp_path: Path) -> None:
    put(tmp_path, "Templates/t.md", "drafts/a/b.md", "keep/x.md", "keep/x.tmp.md", "Templates2/y.md")

    scan = scan_vault(tmp_path, ("Templates", "drafts/**", "*.tmp.md"))

    assert ["Templates2/y.md", "keep/x.md"] == sorted(scan.notes)


@pytest.mark.parametrize("path", ["a.md", "Templates/t.md", "x/.y/z.md", "_memex/inbox/a.md", "_memex/skills/a.md", "_memex/t.md", "drafts/b.md", "a//b.md"])  # fmt: skip
def test_scope_of_a_name_is_what_the_scan_would_do(tmp_path: Path, path: str) -> None:
    put(tmp_path, path.replace("//", "/") if path != "a//b.md" else "elsewhere.md")
    ignore = ("Templates", "drafts/**")

    assert (path in scan_vault(tmp_path, ignore).notes) == is_in_scope(path, ignore)


def test_links_are_not_followed_wherever_they_lead(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    put(tmp_path, "outside.md", "outdir/x.md", "vault/Notes/ok.md")
    (vault / "link.md").symlink_to("../outside.md")
    (vault / "linkdir").symlink_to("../outdir")
    (vault / "inner.md").symlink_to("Notes/ok.md")
    (vault / "loop").symlink_to(".")
    (vault / "dangling.md").symlink_to("nowhere")
    through = tmp_path / "through"
    through.symlink_to("vault")

    assert ["Notes/ok.md"] == list(scan_vault(through).notes)
    assert set() == scan_vault(through).attachments


def test_pipe_named_like_a_note_is_no_note(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")

    assert {} == scan_vault(tmp_path).notes


def test_both_unicode_forms_of_a_name_are_two_files(tmp_path: Path) -> None:
    put(tmp_path, "u\u0308.md", "\u00fc.md")

    assert {"u\u0308.md", "\u00fc.md"} == scan_vault(tmp_path).notes.keys()


def test_name_that_is_not_text_is_told_not_indexed(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md"))).write_bytes(b"x")

    scan = scan_vault(tmp_path)

    assert ({}, ["bad\\udcff.md"]) == (scan.notes, scan.skipped)


def refuse(*names: str) -> object:
    """Return a scandir that may not read folders of these names, as for a user without the right."""

    def open_folder(folder: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        if os.path.basename(folder) in names:
            raise PermissionError(13, "Permission denied", folder)
        return os.scandir(folder)

    return open_folder


def test_unreadable_folder_is_told(tmp_path: Path) -> None:
    put(tmp_path, "a/secret/x.md", "a/y.md")

    scan = scan_vault(tmp_path, open_folder=refuse("secret"))  # type: ignore[arg-type]

    assert (["a/y.md"], ["a/secret"]) == (list(scan.notes), scan.unreadable)


def test_unreadable_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="Permission denied"):
        scan_vault(tmp_path, open_folder=refuse(tmp_path.name))  # type: ignore[arg-type]
    with pytest.raises(VaultError, match="cannot be read"):
        scan_vault(tmp_path / "nowhere")


def test_folder_that_vanishes_during_the_scan_is_simply_gone(tmp_path: Path) -> None:
    put(tmp_path, "a/x.md", "y.md")

    def open_folder(folder: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        if os.path.basename(folder) == "a":
            raise FileNotFoundError(2, "gone", folder)
        return os.scandir(folder)

    scan = scan_vault(tmp_path, open_folder=open_folder)

    assert (["y.md"], []) == (list(scan.notes), scan.unreadable)
