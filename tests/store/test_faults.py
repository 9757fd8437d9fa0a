"""The n-th system call fails, for every n: a note is old or new, never torn, and the journal tells the truth."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import put, visible_files
from tests.store.crash_child import NEW, OLD, SCENARIOS, open_plain
from tests.store.test_crash_recovery import template_of, without_temps
from vault_memex.core.changes import Change
from vault_memex.errors import MemexError, VaultError
from vault_memex.store import disk

CALLS = (
    "write",
    "fsync",
    "open",
    "replace",
    "rename",
    "link",
    "mkdir",
    "unlink",
    "ftruncate",
    "listdir",
    "fchmod",
)


class Faults:
    """Counts watched system calls and fails the n-th, or all from the n-th on."""

    def __init__(self, code: int, fail_at: int, for_good: bool) -> None:
        self.code = code
        self.fail_at = fail_at
        self.for_good = for_good
        self.count = 0
        self.active = True

    def hit(self) -> bool:
        if not self.active:
            return False
        self.count += 1
        return self.count == self.fail_at or (self.for_good and self.count > self.fail_at)


@contextmanager
def failing(faults: Faults) -> Iterator[None]:
    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if faults.hit():
                raise OSError(faults.code, os.strerror(faults.code))
            return real(*arguments, **named)

        return call

    def rename(*arguments: Any) -> int:
        if faults.hit():
            ctypes.set_errno(faults.code)
            return -1
        return int(real_rename(*arguments))

    real_rename = disk._renameat2
    assert real_rename is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "_renameat2", rename)
        for name in CALLS:
            patch.setattr(os, name, wrap(getattr(os, name)))
        try:
            yield
        finally:
            faults.active = False


def calls_of(tmp_path: Path, change: Change) -> int:
    """Return how many watched calls the change takes, and check that without faults it works."""
    vault = template_of(tmp_path / "count")
    os.link(vault / "Linked.md", tmp_path / "count" / "other name")
    faults = Faults(errno.EIO, 0, for_good=False)
    one = open_plain(vault)
    with failing(faults):
        one.apply(change)
    return faults.count


QUICK = (("create", errno.ENOSPC, False), ("swap", errno.EIO, True), ("several", errno.ENOSPC, True))
ALL = [
    (s, code, for_good)
    for s in sorted(SCENARIOS)
    for code in (errno.ENOSPC, errno.EIO)
    for for_good in (False, True)
]


@pytest.mark.parametrize(
    ("scenario", "code", "for_good"),
    [pytest.param(*case, marks=[] if case in QUICK else [pytest.mark.slow]) for case in ALL],
    ids=[f"{s}-{errno.errorcode[code]}-{'for-good' if good else 'once'}" for s, code, good in ALL],
)
def test_each_call_failing_in_turn(tmp_path: Path, scenario: str, code: int, for_good: bool) -> None:
    change = SCENARIOS[scenario]
    total = calls_of(tmp_path, change)
    assert total >= 10
    old = visible_files(template_of(tmp_path / "old"))
    new = without_temps(tmp_path / "count" / "template")
    refused = 0
    for n in range(1, total + 1):
        home = tmp_path / str(n)
        vault = template_of(home)
        os.link(vault / "Linked.md", home / "other name")
        one = open_plain(vault)
        with failing(Faults(code, n, for_good)):
            try:
                one.apply(change)
                answer = ""
            except MemexError as error:
                answer = error.message
        answered = not answer
        assert str(tmp_path) not in answer
        refused += not answered
        if not for_good:
            assert (new if answered else old) == without_temps(vault), f"call {n}"
        after = open_plain(vault)
        after.recover()
        journalled = bool(after.stores.journal.read())
        assert not answered or journalled, f"call {n}: answered, but not in the journal"
        assert (new if journalled else old) == without_temps(vault), f"call {n}, after recovery"
        assert (vault / "Linked.md").samefile(home / "other name")
        assert () == after.stores.journal.faults
        assert [] == list((vault / ".memex").glob("pending/*"))
    assert refused >= 5


def test_a_full_disk_is_named_and_the_way_out_too(tmp_path: Path) -> None:
    vault = tmp_path / "v"
    put(vault, "A.md", OLD)
    one = open_plain(vault)

    with failing(Faults(errno.ENOSPC, 4, for_good=False)), pytest.raises(VaultError) as caught:
        one.apply(SCENARIOS["swap"])

    assert "No space left" in caught.value.message
    assert "then try again" in caught.value.message


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOSYS])
@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_file_systems_that_cannot_swap_names_do_as_well(
    tmp_path: Path, scenario: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected_vault = template_of(tmp_path / "a")
    os.link(expected_vault / "Linked.md", tmp_path / "a" / "other")
    open_plain(expected_vault).apply(SCENARIOS[scenario])

    def refuse(*arguments: object) -> int:
        ctypes.set_errno(code)
        return -1

    monkeypatch.setattr(disk, "_renameat2", refuse)
    vault = template_of(tmp_path / "b")
    os.link(vault / "Linked.md", tmp_path / "b" / "other")
    open_plain(vault).apply(SCENARIOS[scenario])

    assert without_temps(expected_vault) == without_temps(vault)


def test_a_short_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = tmp_path / "v"
    put(vault, "A.md", OLD)
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:100]))

    open_plain(vault).apply(SCENARIOS["swap"])

    assert NEW == (vault / "A.md").read_bytes()
