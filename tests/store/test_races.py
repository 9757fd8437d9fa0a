"""Real processes write one note at the same time: no line of anybody is lost beyond recovery."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.conftest import put
from vault_memex.store.files import VaultFiles
from vault_memex.store.opening import open_transactor

ROOT = str(Path(__file__).parents[2])

SERVER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from vault_memex.core.changes import Change, WriteFile
from vault_memex.errors import FileBusy, StaleRevision
from vault_memex.store.files import VaultFiles
from vault_memex.store.opening import open_transactor
vault, cache, who, count = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], int(sys.argv[5])
files = VaultFiles(vault)
one = open_transactor(files, cache, "off")
print("ready", flush=True)
sys.stdin.readline()
for n in range(count):
    while True:
        try:
            note = files.read("n.md")
            edit = WriteFile("n.md", note.data + f"{who}{n}\\n".encode(), note.revision)
            one.apply(Change("changed", "n.md", "t", (edit,)), deadline=60)
            break
        except (StaleRevision, FileBusy):
            continue
one.close()
"""

EDITOR = """
import os, random, sys, time
file, who, count, how = sys.argv[2] + "/n.md", sys.argv[4], int(sys.argv[5]), sys.argv[6]
print("ready", flush=True)
sys.stdin.readline()
for n in range(count):
    with open(file, "rb") as stream:
        data = stream.read() + f"{who}{n}\\n".encode()
    if how == "rename":
        with open(file + "~", "wb") as stream:
            stream.write(data)
        os.replace(file + "~", file)
    else:
        with open(file, "wb") as stream:
            stream.write(data)
    time.sleep(random.uniform(0.01, 0.05))
"""


def race(tmp_path: Path, *writers: tuple[str, str, int, str]) -> Path:
    """Run writers (program, name, count, way) at the same time; return the vault."""
    vault = tmp_path / "vault"
    put(vault, "n.md", b"start\n")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, ROOT, str(vault), str(tmp_path / "c"), name, str(count), how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for program, name, count, how in writers
    ]
    for process in processes:
        assert process.stdout is not None
        assert b"ready\n" == process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    try:
        assert [0] * len(processes) == [process.wait(120) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    return vault


def lines_of(*names: tuple[str, int]) -> set[str]:
    return {f"{who}{n}" for who, count in names for n in range(count)}


@pytest.mark.parametrize("count", [25, pytest.param(100, marks=pytest.mark.slow)])
def test_two_servers_lose_no_line(tmp_path: Path, count: int) -> None:
    vault = race(tmp_path, (SERVER, "a", count, ""), (SERVER, "b", count, ""))

    text = (vault / "n.md").read_text(encoding="utf-8").split()
    assert sorted([*lines_of(("a", count), ("b", count)), "start"]) == sorted(text)
    one = open_transactor(VaultFiles(vault), tmp_path / "c", "off")
    assert list(range(1, 2 * count + 1)) == [event.id for event in one.stores.journal.read()]
    one.close()
    assert [".memex", "n.md"] == sorted(f.name for f in vault.iterdir())


@pytest.mark.parametrize("count", [15, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", ["rename", "in place"])
def test_an_editor_without_lock_and_a_server_lose_nothing_beyond_recovery(
    tmp_path: Path, how: str, count: int
) -> None:
    vault = race(tmp_path, (SERVER, "s", count, ""), (EDITOR, "e", count, how))

    one = open_transactor(VaultFiles(vault), tmp_path / "c", "off")
    found = set((vault / "n.md").read_text(encoding="utf-8").split())
    # The editor's own blind saves may drop the server's lines; each is in a before-image or a conflict copy.
    kept = {
        line
        for file in [*vault.glob("n (conflict*).md"), *(tmp_path / "c" / "undo").glob("*")]
        for line in file.read_text(encoding="utf-8", errors="replace").split()
    }
    journalled = one.stores.journal.read()
    one.close()
    assert set() == lines_of(("e", count)) - found - kept, "the editor's lines"
    assert len(journalled) >= count
    assert [] == list(vault.glob(".vmx-*"))
