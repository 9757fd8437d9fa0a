"""Containment: every argument that could lead out of the vault, and names as file systems spell them."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from vault_memex.errors import (
    InvalidArgument,
    MemexError,
    NotFound,
    NotWritable,
    PathOutsideVault,
    ReservedFolder,
    VaultError,
)
from vault_memex.store.files import VaultFiles


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "b"
    vault = base / "vault"
    for folder in (
        "vault/a/.obsidian",
        "vault/Notes",
        "vault/.git/hooks",
        "vault/.obsidian/plugins/p",
        "vault/.trash",
    ):
        (base / folder).mkdir(parents=True)
    for folder in ("out", "outdir", "vault-evil"):
        (base / folder).mkdir()
    for file in (
        "vault/a/n.md", "vault/Notes/ok.md", "vault/Notes/.hidden.md", "vault/.trash/old.md", "vault/.git/config",
        "vault/.obsidian/app.json", "out/secret.md", "outdir/x.md", "vault-evil/x.md", "outside.md",
    ):  # fmt: skip
        (base / file).write_bytes(b"x")
    links = {
        "ln": "../out", "leaf.md": "../out/secret.md", "dangling.md": "../out/new.md", "inner": "a", "loop": "loop",
        "link.md": "../outside.md", "linkdir": "../outdir", "inner.md": "Notes/ok.md", "gitlink": ".git",
        "gone.md": "Notes/gone.md", "absolute.md": str(base / "outside.md"), "up": "..", "self": ".",
    }  # fmt: skip
    for name, target in links.items():
        os.symlink(target, vault / name)
    return base


OUTSIDE, RESERVED, BAD = PathOutsideVault, ReservedFolder, InvalidArgument
LONG = "x" * 300
REFUSED_FOR_WRITING = [
    ("../out/secret.md", OUTSIDE), ("a/../../out/secret.md", OUTSIDE), ("../vault-evil/x.md", OUTSIDE),
    ("ln/secret.md", OUTSIDE), ("ln/new.md", OUTSIDE), ("ln/deep/new.md", OUTSIDE), ("leaf.md", OUTSIDE),
    ("dangling.md", OUTSIDE), ("loop/x.md", NotWritable), ("~/x.md", OUTSIDE), ("~root/x.md", BAD),
    ("a/n.md\0.txt", BAD), ("C:\\x.md", OUTSIDE), ("C:/x.md", OUTSIDE), ("..\\out\\secret.md", OUTSIDE),
    ("\\\\srv\\s\\x.md", OUTSIDE), ("a\\..\\..\\out\\secret.md", OUTSIDE), ("file:///etc/passwd", OUTSIDE),
    ("%2e%2e/out/secret.md", BAD), ("%2E%2E%2Fout.md", BAD), ("a/n.md/", BAD), ("a/n.md.", BAD), ("a/n.md ", BAD),
    ("a/n.md:ads", BAD), ("CON.md", BAD), ("aux/x.md", BAD), ("a/.obsidian/x.md", RESERVED),
    (".obsidian/plugins/p/main.js", RESERVED), (".git/hooks/post-commit", RESERVED), (".GIT/hooks/x.md", RESERVED),
    ("GIT~1/hooks/x.md", RESERVED), (".g\u200cit/x.md", RESERVED), ("\u200b.git/x.md", RESERVED),
    ("a/n.txt", BAD), (f"a/{LONG}.md", BAD), ("a/\u202en.md", BAD), ("a/n\n.md", BAD), ("a\\n.md", BAD), ("", BAD),
    (".", BAD), ("..", OUTSIDE), ("self", BAD), ("self/.git/config", RESERVED), ("/", OUTSIDE), ("a/" * 600 + "x.md", BAD), ("Notes/", BAD), ("Notes", BAD),
    ("../outside.md", OUTSIDE), ("Notes/../../outside.md", OUTSIDE), ("..\\outside.md", OUTSIDE), ("link.md", OUTSIDE),
    ("absolute.md", OUTSIDE), ("up/outside.md", OUTSIDE), ("linkdir/x.md", OUTSIDE), ("linkdir/new.md", OUTSIDE),
    (".obsidian/app.json", RESERVED), (".OBSIDIAN/app.json", RESERVED), (".git/config", RESERVED),
    ("gitlink/config", RESERVED), ("gitlink/hooks/x.md", RESERVED), (".trash/old.md", RESERVED),
    ("Notes/.hidden.md", RESERVED), ("Notes/./../.git/config", OUTSIDE), ("Notes/a\0b.md", BAD), (f"{LONG}.md", BAD),
    ("%2e%2e/outside.md", BAD), ("Notes/new.sh", BAD), ("gone.md", NotWritable), ("_memex/x.md", RESERVED),
    ("_MEMEX/x.md", RESERVED), ("./_memex/inbox/1.md", RESERVED), ("a/n.md/x.md", BAD), ("a/\ud800.md", BAD),
    ("a/x#y.md", BAD), ("a/x^y.md", BAD), ("a/[x].md", BAD), ("a/x .md/y.md ", BAD), ("\u2028.md", BAD),
]  # fmt: skip


def snapshot(folder: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
    return found


@pytest.mark.parametrize(("path", "error"), REFUSED_FOR_WRITING)
def test_writing_is_refused_by_name_and_shows_no_outside_path(
    base: Path, path: str, error: type[MemexError]
) -> None:
    before = snapshot(base)

    with pytest.raises(error) as caught:
        VaultFiles(base / "vault").resolve(path, writing=True)

    assert str(base) not in caught.value.message
    assert before == snapshot(base)


@pytest.mark.parametrize("path", sorted({path for path, _ in REFUSED_FOR_WRITING} - {"a/n.txt", "Notes/new.sh"}))
def test_reading_never_returns_what_is_outside_or_hidden(base: Path, path: str) -> None:
    with pytest.raises(MemexError) as caught:
        VaultFiles(base / "vault").read(path)

    assert str(base) not in caught.value.message


def test_the_absolute_path_of_a_file_outside_is_refused(base: Path) -> None:
    with pytest.raises(PathOutsideVault):
        VaultFiles(base / "vault").read(str(base / "outside.md"))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/n.md", "a/n.md"), ("inner/n.md", "a/n.md"), ("new/dir/note.md", "new/dir/note.md"), ("a//n.md", "a/n.md"),
        ("./a/./n.md", "a/n.md"), ("self/a/n.md", "a/n.md"), ("self/self/a/n.md", "a/n.md"), ("-rf.md", "-rf.md"), ("inner.md", "Notes/ok.md"), ("A/N.md", "a/n.md"),
        ("a／n.md", "a／n.md"), ("ㄱ/메모.md", "ㄱ/메모.md"), ("👩\u200d🔬.md", "👩\u200d🔬.md"),
    ],
)  # fmt: skip
def test_what_stays_inside_is_allowed(base: Path, path: str, expected: str) -> None:
    place = VaultFiles(base / "vault").find_place(path, "note")

    assert expected == place.path
    assert place.file == base / "vault" / expected


def test_a_vault_reached_through_a_link_works(base: Path) -> None:
    os.symlink("vault", base / "door")

    assert b"x" == VaultFiles(base / "door").read("inner/n.md").data


def test_a_missing_note_is_not_found(base: Path) -> None:
    with pytest.raises(NotFound):
        VaultFiles(base / "vault").read("a/missing.md")


@pytest.mark.parametrize(
    "name", ["a\nb.md", "CON.md", "x .md", "a:b.md", "a\\b.md", "tail .", "\u202eb.md", "#1.md"]
)
def test_existing_odd_names_stay_readable(base: Path, name: str) -> None:
    (base / "vault" / name).write_bytes(b"odd")
    files = VaultFiles(base / "vault")

    assert b"odd" == files.read(name).data
    if name.endswith(".md"):
        assert name == files.find_place(name, "note").path


def test_decomposed_name_is_found_by_its_composed_form_and_keeps_its_bytes(base: Path) -> None:
    composed = "회의록.md"
    decomposed = unicodedata.normalize("NFD", composed)
    (base / "vault" / decomposed).write_text("# 회의록\n", encoding="utf-8")
    files = VaultFiles(base / "vault")

    assert decomposed == files.find_place(composed, "note").path
    assert decomposed == files.read(decomposed).path


def test_new_names_are_composed(base: Path) -> None:
    place = VaultFiles(base / "vault").find_place(unicodedata.normalize("NFD", "é/회의.md"), "note")

    assert unicodedata.normalize("NFC", "é/회의.md") == place.path


def test_two_case_twins_are_ambiguous_only_for_a_third_spelling(base: Path) -> None:
    for name in ("Plan.md", "plan.md"):
        (base / "vault" / name).write_bytes(name.encode())
    files = VaultFiles(base / "vault")

    assert [b"Plan.md", b"plan.md"] == [files.read("Plan.md").data, files.read("plan.md").data]
    with pytest.raises(MemexError) as caught:
        files.read("PLAN.md")
    assert ["Plan.md", "plan.md"] == caught.value.fields["candidates"]


@pytest.mark.parametrize("door", ["read", "note"])
def test_fifo_and_socket_are_refused_without_waiting(base: Path, door: str) -> None:
    os.mkfifo(base / "vault" / "pipe.md")

    with pytest.raises(InvalidArgument):
        VaultFiles(base / "vault").find_place("pipe.md", door)  # type: ignore[arg-type]


def test_a_note_that_is_only_in_icloud_is_not_created_anew(base: Path) -> None:
    (base / "vault/a/.gone.md.icloud").write_bytes(b"placeholder")

    with pytest.raises(NotWritable):
        VaultFiles(base / "vault").find_place("a/gone.md", "note")


def test_the_internal_door_leads_only_to_its_own_folder(base: Path) -> None:
    files = VaultFiles(base / "vault")

    assert "_memex/trash/1--x.md" == files.find_place("_memex/trash/1--x.md", "internal").path
    with pytest.raises(ReservedFolder):
        files.find_place("a/n.md", "internal")


def test_the_door_of_canvases_leads_to_canvases_that_are_there_and_the_others_do_not(base: Path) -> None:
    files = VaultFiles(base / "vault")
    for path in ("a/Board.canvas", "_memex/Board.canvas", "a/n.txt"):
        (base / "vault" / path).parent.mkdir(exist_ok=True)
        (base / "vault" / path).write_text("{}", encoding="utf-8")

    assert "a/Board.canvas" == files.find_place("a/board.canvas", "canvas").path
    for path, door, error in (
        ("a/Board.canvas", "note", InvalidArgument),
        ("a/n.md", "canvas", InvalidArgument),
        ("a/n.txt", "canvas", InvalidArgument),
        ("a/New.canvas", "canvas", NotFound),
        ("_memex/Board.canvas", "canvas", ReservedFolder),
        (".obsidian/Board.canvas", "canvas", ReservedFolder),
        ("../Board.canvas", "canvas", PathOutsideVault),
    ):
        with pytest.raises(error):
            files.find_place(path, door)  # type: ignore[arg-type]


def test_a_file_in_the_place_of_the_memex_folder_is_named(base: Path) -> None:
    (base / "vault" / ".memex").write_bytes(b"")
    files = VaultFiles(base / "vault")

    for use in (files.read_settings, lambda: files.memex_folder("journal")):
        with pytest.raises(VaultError, match=r"`\.memex` is a file"):
            use()


def test_memex_folder_that_leads_out_is_refused(base: Path) -> None:
    os.symlink("../out", base / "vault" / ".memex")

    with pytest.raises(PathOutsideVault):
        VaultFiles(base / "vault").memex_folder("journal")
