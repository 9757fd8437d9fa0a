"""The vault lock: between threads, between processes, with a deadline, and not fooled by a deleted file."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vault_memex.errors import VaultLocked
from vault_memex.store.locks import VaultLock

HOLDER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from vault_memex.store.locks import VaultLock
with VaultLock(Path(sys.argv[1])).hold():
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def held_elsewhere(folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), str(Path(__file__).parents[2])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    assert "held\n" == process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stdin.close()


def test_another_process_waits_its_deadline_and_is_told_what_to_do(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path), pytest.raises(VaultLocked) as caught, VaultLock(tmp_path).hold(deadline=0.05):
        pass

    assert "Try again" in caught.value.message


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as process:
        process.kill()
        process.wait()
        lock = VaultLock(tmp_path)
        with lock.hold(deadline=5), pytest.raises(VaultLocked), VaultLock(tmp_path).hold(deadline=0.05):
            pass


def test_the_same_thread_may_take_it_again_and_another_waits(tmp_path: Path) -> None:
    lock = VaultLock(tmp_path)
    refused: list[bool] = []

    def other() -> None:
        try:
            with lock.hold(deadline=0.05):
                refused.append(False)
        except VaultLocked:
            refused.append(True)

    with lock.hold(), lock.hold():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert [True] == refused
    other()
    assert [True, False] == refused


def test_a_deleted_lock_file_is_noticed(tmp_path: Path) -> None:
    lock = VaultLock(tmp_path)
    with lock.hold():
        (tmp_path / "write.lock").unlink()
    with lock.hold(), pytest.raises(VaultLocked), VaultLock(tmp_path).hold(deadline=0.05):
        pass


def test_a_file_replaced_while_waiting_is_locked_anew(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path):
        (tmp_path / "write.lock").unlink()
        lock = VaultLock(tmp_path)
        with lock.hold(deadline=1), pytest.raises(VaultLocked), VaultLock(tmp_path).hold(deadline=0.05):
            pass
