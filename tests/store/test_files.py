"""Reading settled files, and the file names of titles."""

from __future__ import annotations

import os
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.revision import revision_of
from vault_memex.errors import FileBusy, VaultError
from vault_memex.store.files import VaultFiles
from vault_memex.store.names import file_name_for_title, find_name_fault, is_named_after, numbered_name


class Clock:
    """Time that moves only when somebody waits, or reads it."""

    def __init__(self, now_ns: int) -> None:
        self.now_ns = now_ns
        self.waited: list[float] = []
        self.on_wait: list[object] = []

    def now(self) -> int:
        return self.now_ns

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now_ns += int(seconds * 1e9)


def files_at(vault: Path, age: float) -> tuple[VaultFiles, Clock]:
    clock = Clock((vault / "n.md").stat().st_mtime_ns + int(age * 1e9))
    return VaultFiles(vault, now_ns=clock.now, wait=clock.wait), clock


def test_reading_gives_bytes_text_revision_and_signature(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf# A\r\nb"
    (tmp_path / "n.md").write_bytes(data)

    note = files_at(tmp_path, 5)[0].read("n.md")

    assert (data, "\ufeff# A\r\nb", "utf-8", revision_of(data), "") == (
        note.data, note.text, note.encoding, note.revision, note.not_writable,
    )  # fmt: skip
    assert (tmp_path / "n.md").stat().st_ino == note.signature.inode


def test_a_file_saved_an_instant_ago_is_read_again_when_it_is_20_ms_old(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_bytes(b"x")
    files, clock = files_at(tmp_path, 0.001)

    assert b"x" == files.read("n.md").data
    assert 0.019 <= sum(clock.waited) <= 0.03


def test_an_empty_young_file_gets_longer(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_bytes(b"")
    files, clock = files_at(tmp_path, 0.001)

    files.read("n.md")

    assert 0.19 <= sum(clock.waited) <= 0.21


def test_a_file_that_goes_on_changing_is_busy_after_two_seconds(tmp_path: Path) -> None:
    note = tmp_path / "n.md"
    note.write_bytes(b"x")
    clock = Clock(note.stat().st_mtime_ns)

    def wait_and_save(seconds: float) -> None:
        clock.wait(seconds)
        os.utime(note, ns=(clock.now_ns, clock.now_ns))

    with pytest.raises(FileBusy):
        VaultFiles(tmp_path, now_ns=clock.now, wait=wait_and_save).read("n.md")
    assert 2.0 <= sum(clock.waited) <= 2.1


def test_mtimes_in_the_future_do_not_make_a_file_busy(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_bytes(b"x")
    files, clock = files_at(tmp_path, -3600)

    assert b"x" == files.read("n.md").data
    assert [] == clock.waited


def test_our_own_write_needs_no_settling(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_bytes(b"x")
    files, clock = files_at(tmp_path, 0.001)
    files.signature(tmp_path / "n.md")

    files.read("n.md")

    assert [] == clock.waited


@pytest.mark.parametrize(("data", "mode", "reason"), [(b"a\0b", 0o644, "binary"), (b"x", 0o444, "read-only")])
def test_files_that_cannot_be_edited_say_why(tmp_path: Path, data: bytes, mode: int, reason: str) -> None:
    (tmp_path / "n.md").write_bytes(data)
    os.chmod(tmp_path / "n.md", mode)

    assert reason in files_at(tmp_path, 5)[0].read("n.md").not_writable


def test_a_missing_vault_and_a_replaced_one_are_named(tmp_path: Path) -> None:
    with pytest.raises(VaultError):
        VaultFiles(tmp_path / "missing")
    vault = tmp_path / "v"
    vault.mkdir()
    files = VaultFiles(vault)
    vault.rename(tmp_path / "old")
    with pytest.raises(VaultError):
        files.check_root()
    vault.mkdir()
    with pytest.raises(VaultError):
        files.check_root()


def test_settings_are_the_text_of_the_config_file_or_nothing(tmp_path: Path) -> None:
    files = VaultFiles(tmp_path)
    assert "" == files.read_settings()
    (tmp_path / ".memex").mkdir()
    (tmp_path / ".memex/config.toml").write_text('policy = "reviewed"\n', encoding="utf-8")

    assert 'policy = "reviewed"\n' == files.read_settings()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Plan", "Plan.md"), ('a/b\\c:d*e?f"g<h>i|j', "a-b-c-d-e-f-g-h-i-j.md"), ("  spaced  out ", "spaced out.md"), ("", "untitled.md"),
        ("TCP/IP", "TCP-IP.md"), ("Моя семья/родня", "Моя семья-родня.md"), ("What?", "What.md"), ("Meeting: plan", "Meeting plan.md"),
        ("a::b", "a-b.md"), ("가/나", "가-나.md"), ("x / y", "x y.md"), ("a_/b", "a_b.md"), ("???", "untitled.md"), ("...", "untitled.md"), (".hidden", "hidden.md"), ("con", "con_.md"), ("nul.txt", "nul_txt.md"),
        ("회의록 #3 [초안]", "회의록 3 초안.md"), ("a\nb\tc", "a b c.md"), ("e\u0301", "é.md"), ("v1.", "v1.md"),
        ("x\u202ey", "xy.md"), ("가" * 100, "가" * 39 + ".md"), ("100%2e", "1002e.md"), ("git~1", "git~1_.md"),
    ],
)  # fmt: skip
def test_file_name_of_a_title(title: str, name: str) -> None:
    assert name == file_name_for_title(title)


@given(st.text(max_size=300))
def test_the_file_name_of_any_title_can_be_created_anywhere(title: str) -> None:
    name = file_name_for_title(title)

    assert find_name_fault(name) is None
    assert len(name.encode("utf-8")) <= 121
    assert not PureWindowsPath(name).is_reserved()
    assert name.endswith(".md")


def test_a_file_named_before_words_were_kept_apart_still_follows_its_title() -> None:
    found = [is_named_after(name, "TCP/IP: how?") for name in ("TCP-IP how.md", "tcpip how.md", "TCP IP.md")]

    assert [True, True, False] == found


def test_numbered_names() -> None:
    assert ["Plan (2).md", "v1.2 (3).md"] == [numbered_name("Plan.md", 2), numbered_name("v1.2.md", 3)]
