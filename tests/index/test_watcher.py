"""The background thread with real files: whatever an editor does, the catalogue follows."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.index.indexed_vault import IndexedVault, dump, put_back_mtime, wait_until
from vault_memex.config import Config
from vault_memex.core.changes import Signature
from vault_memex.index.hints import Hints
from vault_memex.index.indexer import OwnWrite, PathReport, ScanReport
from vault_memex.index.leader import Leadership
from vault_memex.index.observer import VaultObserver
from vault_memex.index.watcher import Watcher

ROOT = Path(__file__).parents[2]
NEVER = 3600.0  # seconds between scans: what the test sees, it sees through events


class Watched:
    """A vault with a running watcher; `reports` holds all it said."""

    def __init__(self, folder: Path, *, scan_every: float = NEVER, observe: bool = True) -> None:
        self.vault = IndexedVault(folder, Config(reconcile_seconds=scan_every))
        self.reports: list[ScanReport | PathReport] = []
        self.watcher = self.make_watcher(observe)

    def make_watcher(self, observe: bool = True) -> Watcher:
        return Watcher(
            self.vault.indexer,
            Leadership(self.vault.cache),
            on_report=self.reports.append,
            observe=observe,
            retry_seconds=0.2,
        )

    def start(self) -> None:
        self.watcher.start()
        wait_until(lambda: self.watcher.status.scanned > 0)

    def close(self) -> None:
        self.watcher.stop()
        self.vault.close()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    opened = Watched(tmp_path)
    for path, text in (("a/n.md", "alpha"), ("a/sub/k.md", "beta"), ("b/z.md", "gamma [[n]]")):
        opened.vault.write(path, text)
    opened.start()
    yield opened
    opened.close()


def equals_rebuild(vault: IndexedVault, folder: Path) -> bool:
    fresh = IndexedVault(folder / "fresh")
    fresh.root.rmdir()
    fresh.root.symlink_to(vault.root)
    fresh.indexer.reconcile()
    fresh.close()
    expected = dump(fresh.cache)
    shutil.rmtree(folder / "fresh")
    return expected == dump(vault.cache)


def save_in_place(root: Path) -> None:
    descriptor = os.open(root / "a/n.md", os.O_WRONLY | os.O_TRUNC)
    os.write(descriptor, b"saved text")
    os.close(descriptor)


def save_by_rename(root: Path) -> None:
    (root / "a/.n.md.tmp").write_bytes(b"saved text")
    os.replace(root / "a/.n.md.tmp", root / "a/n.md")


def save_like_vim(root: Path) -> None:
    """The sequence of a default `:w`: probe file, old text to a backup, new file, backup removed."""
    (root / "a/4913").write_bytes(b"")
    (root / "a/4913").unlink()
    (root / "a/n.md").rename(root / "a/n.md~")
    (root / "a/n.md").write_bytes(b"saved text")
    (root / "a/n.md~").unlink()


def save_like_git(root: Path) -> None:
    (root / "a/n.md").unlink()
    (root / "a/n.md").write_bytes(b"saved text")


def save_by_append(root: Path) -> None:
    with (root / "a/n.md").open("ab") as file:
        file.write(b"\nsaved text")


def save_by_memory_map(root: Path) -> None:
    import mmap

    with (root / "a/n.md").open("r+b") as file:
        file.write(b"saved text")
        file.flush()
        with mmap.mmap(file.fileno(), 0) as memory:
            memory[0:5] = b"saved"
            memory.flush()


SAVES = [save_in_place, save_by_rename, save_like_vim, save_like_git, save_by_append, save_by_memory_map]


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.__name__)
def test_save_is_searchable_and_leaves_nothing_else_behind(
    watched: Watched, save: Callable[[Path], None], tmp_path: Path
) -> None:
    vault = watched.vault
    vault.catalogue.set_note_ids({"a/n.md": 5})

    save(vault.root)

    wait_until(lambda: vault.search("saved") == ["a/n.md"])
    assert ["a/n.md", "a/sub/k.md", "b/z.md"] == vault.notes()
    assert 5 == vault.catalogue.load_snapshot().notes["a/n.md"].note_id
    wait_until(lambda: equals_rebuild(vault, tmp_path))


def rename_note(root: Path) -> None:
    (root / "a/n.md").rename(root / "a/m.md")


def rename_by_case(root: Path) -> None:
    (root / "a/n.md").rename(root / "a/N.md")


def delete_note(root: Path) -> None:
    (root / "a/n.md").unlink()


def make_deep_folders_and_write_at_once(root: Path) -> None:
    (root / "p/q/r").mkdir(parents=True)
    (root / "p/q/r/z.md").write_bytes(b"deep")


def move_folder(root: Path) -> None:
    (root / "a").rename(root / "b/a2")


def move_folder_out(root: Path) -> None:
    (root / "a").rename(root.parent / "out")


def move_folder_in(root: Path) -> None:
    (root.parent / "in/x").mkdir(parents=True)
    (root.parent / "in/x/k.md").write_bytes(b"came in")
    (root.parent / "in").rename(root / "in")


def delete_folder(root: Path) -> None:
    shutil.rmtree(root / "a")


def add_attachment(root: Path) -> None:
    (root / "a/pic.png").write_bytes(b"png")


def add_hidden_and_linked(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git/x.md").write_bytes(b"hidden")
    (root / "linked.md").symlink_to("a/n.md")
    (root / "seen.md").write_bytes(b"seen")


CHANGES = [
    rename_note, rename_by_case, delete_note, make_deep_folders_and_write_at_once, move_folder, move_folder_out,
    move_folder_in, delete_folder, add_attachment, add_hidden_and_linked,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_change_of_files_and_folders_is_followed(
    watched: Watched, change: Callable[[Path], None], tmp_path: Path
) -> None:
    change(watched.vault.root)

    wait_until(lambda: equals_rebuild(watched.vault, tmp_path))


def test_edits_in_a_folder_that_moved_in_are_followed(watched: Watched) -> None:
    move_folder_in(watched.vault.root)
    wait_until(lambda: watched.vault.search("came") == ["in/x/k.md"])

    watched.vault.write("in/x/k.md", "edited there")

    wait_until(lambda: watched.vault.search("edited") == ["in/x/k.md"])


def test_renamed_note_keeps_its_number(watched: Watched) -> None:
    watched.vault.catalogue.set_note_ids({"a/n.md": 5})

    rename_note(watched.vault.root)

    wait_until(lambda: watched.vault.search("alpha") == ["a/m.md"])
    assert 5 == watched.vault.catalogue.load_snapshot().notes["a/m.md"].note_id
    # The report follows the commit that the search has seen.
    wait_until(lambda: ("a/n.md", "a/m.md") in [move for report in watched.reports for move in report.moved])


def test_own_write_causes_no_report(watched: Watched) -> None:
    file = watched.vault.write("own.md", "mine")
    revision = watched.vault.indexer.index_writes([OwnWrite("own.md", b"mine", Signature.of(file.stat()))])
    watched.vault.write("marker.md", "marker")
    wait_until(lambda: bool(watched.vault.search("marker")))

    assert [("marker.md",)] == [report.changed for report in watched.reports if isinstance(report, PathReport)]
    assert revision + 1 == watched.vault.catalogue.revision


def test_hundred_files_at_once_are_searchable_within_three_seconds(watched: Watched) -> None:
    started = time.monotonic()
    for number in range(100):
        watched.vault.write(f"many/{number}.md", "hundredfold")

    wait_until(lambda: len(watched.vault.search("hundredfold")) == 100)

    assert time.monotonic() - started < 3.0


def test_scan_repairs_what_no_event_told(tmp_path: Path) -> None:
    deaf = Watched(tmp_path, scan_every=0.2, observe=False)
    deaf.vault.write("a.md", "alpha")
    deaf.start()

    put_back_mtime(deaf.vault.root / "a.md", b"omega")
    deaf.vault.write("b.md", "beta")

    wait_until(lambda: (deaf.vault.search("omega"), deaf.vault.search("beta")) == (["a.md"], ["b.md"]))
    assert "events are off" == deaf.watcher.status.deaf
    deaf.close()


def test_overflow_that_watchdog_logs_causes_a_scan(watched: Watched) -> None:
    before = watched.watcher.status.scanned
    logger = logging.getLogger("watchdog.observers.inotify_c")
    logger.propagate = False

    logger.warning("Inotify queue overflowed; filesystem events were lost")

    wait_until(lambda: watched.watcher.status.scanned > before)
    logger.propagate = True


@pytest.mark.parametrize(
    "find_threads", [lambda o: list(o.emitters), lambda o: [o._inotify_fd]], ids=["emitter", "reader"]
)
def test_dead_event_thread_is_replaced(watched: Watched, find_threads: Callable[[Any], list[Any]]) -> None:
    observer = watched.watcher._observer
    assert observer is not None
    for thread in find_threads(observer._observer):
        thread.stop()
        thread.join()
    watched.vault.write("late.md", "unheard")

    wait_until(lambda: watched.vault.search("unheard") == ["late.md"])
    watched.vault.write("later.md", "heard")
    wait_until(lambda: watched.vault.search("heard") == ["later.md"])


def test_vault_that_is_away_is_told_and_followed_again_when_it_is_back(tmp_path: Path) -> None:
    watched = Watched(tmp_path, scan_every=0.2)
    watched.vault.write("a.md", "alpha")
    watched.start()
    away = tmp_path / "away"
    watched.vault.root.rename(away)

    wait_until(lambda: "cannot be read" in watched.watcher.status.error)
    assert ["a.md"] == watched.vault.notes()
    away.rename(watched.vault.root)
    watched.vault.write("b.md", "beta")

    wait_until(lambda: watched.vault.search("beta") == ["b.md"])
    wait_until(lambda: watched.watcher.status.error == "")
    watched.close()


def test_asked_for_scan_comes_soon(watched: Watched) -> None:
    before = watched.watcher.status.scanned

    watched.watcher.request_scan()

    wait_until(lambda: watched.watcher.status.scanned > before, seconds=5)


def test_stop_takes_less_than_a_second_also_in_the_middle_of_a_pass(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    for number in range(1500):
        watched.vault.write(f"{number}.md", f"text {number} [[{number + 1}]]\n" * 20)
    watched.watcher.start()
    wait_until(lambda: watched.vault.indexer.progress[0] > 0)
    started = time.monotonic()

    watched.watcher.stop()

    assert time.monotonic() - started < 1.0
    assert not watched.watcher.status.leading
    assert [] == [t.name for t in threading.enumerate() if t.name == "vault-watcher"]
    watched.close()


def test_follower_takes_over_when_the_leader_stops(watched: Watched) -> None:
    leading: list[bool] = []
    second = Watcher(watched.vault.indexer, Leadership(watched.vault.cache), on_leading=leading.append)
    second.start()
    watched.vault.write("one.md", "first")
    wait_until(lambda: watched.vault.search("first") == ["one.md"])
    assert (True, False) == (watched.watcher.status.leading, second.status.leading)

    watched.watcher.stop()
    wait_until(lambda: second.status.leading, seconds=3.0)
    watched.vault.write("two.md", "second")

    wait_until(lambda: watched.vault.search("second") == ["two.md"])
    second.stop()
    assert [True, False] == leading


LEAD = """
import sys, time
from pathlib import Path
from vault_memex.config import Config
from vault_memex.index.indexer import Indexer
from vault_memex.index.leader import Leadership
from vault_memex.index.observer import VaultObserver
from vault_memex.index.watcher import Watcher
from vault_memex.store.catalogue import Catalogue
cache = Path(sys.argv[2])
watcher = Watcher(Indexer(Path(sys.argv[1]), Catalogue.open(cache), Config()), Leadership(cache))
watcher.start()
while not watcher.status.scanned: time.sleep(0.01)
print("leading", flush=True); time.sleep(60)
"""


def test_follower_takes_over_within_three_seconds_of_kill_9(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.vault.write("a.md", "alpha")
    process = subprocess.Popen([sys.executable, "-c", LEAD, str(watched.vault.root), str(watched.vault.cache)], cwd=ROOT, stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout is not None
    assert "leading" == process.stdout.readline().strip()
    watched.watcher.start()
    wait_until(lambda: watched.vault.search("alpha") == ["a.md"])

    process.send_signal(signal.SIGKILL)
    wait_until(lambda: watched.watcher.status.leading, seconds=3.0)
    process.communicate()
    watched.vault.write("b.md", "beta")

    wait_until(lambda: watched.vault.search("beta") == ["b.md"])
    watched.close()


def test_failed_pass_is_told_and_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched(tmp_path, scan_every=0.1, observe=False)
    watched.vault.write("a.md", "alpha")
    original, failures = watched.vault.catalogue.signatures, [OSError(28, "No space left on device")]

    def signatures() -> dict[str, Signature]:
        if failures:
            raise failures.pop()
        return original()

    watched.vault.catalogue.signatures = signatures  # type: ignore[method-assign]
    watched.watcher.start()

    wait_until(lambda: watched.vault.search("alpha") == ["a.md"])

    assert ([], "") == (failures, watched.watcher.status.error)
    assert "No space left on device" in caplog.text
    watched.close()


def test_debounce_of_the_settings_is_used(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.vault.indexer.config = replace(watched.vault.config, debounce_seconds=0.0)
    watched.watcher = watched.make_watcher()
    watched.start()

    watched.vault.write("a.md", "alpha")

    wait_until(lambda: watched.vault.search("alpha") == ["a.md"])
    watched.close()


def test_machine_that_slept_causes_a_scan(tmp_path: Path) -> None:
    ahead = [0.0]
    vault = IndexedVault(tmp_path, Config(reconcile_seconds=NEVER))
    watcher = Watcher(vault.indexer, Leadership(vault.cache), wall_clock=lambda: time.time() + ahead[0])
    watcher.start()
    wait_until(lambda: watcher.status.scanned == 1)

    ahead[0] = 60.0

    wait_until(lambda: watcher.status.scanned == 2)
    watcher.stop()
    vault.close()


def test_fewer_watches_than_folders_are_told(watched: Watched) -> None:
    observer = watched.watcher._observer
    assert observer is not None

    assert ("", "only 4 of 1000 folders could be watched (fs.inotify.max_user_watches)") == (
        observer.find_fault(4),
        observer.find_fault(1000),
    )


def test_folder_that_cannot_be_watched_is_told(tmp_path: Path) -> None:
    observer = VaultObserver(tmp_path / "nowhere", (), Hints(0.1, time.monotonic, lambda: None))

    observer.start()

    assert (True, "the system refuses to watch: No such file or directory") == (
        observer.is_dead(),
        observer.find_fault(1),
    )


def chaos(root: Path, random: Random, steps: int) -> None:
    """Create, edit, move and delete notes and folders at random, as fast as it goes."""
    for _ in range(steps):
        notes = [file for file in root.rglob("*.md") if file.is_file()]
        folders = [root, *(folder for folder in root.rglob("*") if folder.is_dir())]
        act = random.randrange(8)
        with suppress(OSError):
            if act <= 2 or not notes:
                (random.choice(folders) / f"n{random.randrange(300)}.md").write_text(
                    f"[[n{random.randrange(300)}]]", encoding="utf-8"
                )
            elif act == 3:
                file = random.choice(notes)
                file.with_name(".tmp").write_text(str(random.random()), encoding="utf-8")
                os.replace(file.with_name(".tmp"), file)
            elif act == 4:
                file = random.choice(notes)
                put_back_mtime(file, file.read_bytes()[::-1])
            elif act == 5:
                os.rename(random.choice(notes), random.choice(folders) / f"m{random.randrange(300)}.md")
            elif act == 6:
                random.choice(notes).unlink()
            else:
                folder = random.choice(folders)
                if folder is root:
                    (random.choice(folders) / f"d{random.randrange(50)}/x").mkdir(parents=True, exist_ok=True)
                else:
                    folder.rename(random.choice(folders) / f"r{random.randrange(99)}")


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0.0, 0.3, 1.0])
def test_any_chaos_ends_in_what_a_new_index_says_however_many_events_are_lost(tmp_path: Path, lost: float) -> None:
    random = Random(7)
    watched = Watched(tmp_path, scan_every=1.0)
    hints = watched.watcher._hints
    mark_path, mark_scan = hints.mark_path, hints.mark_scan
    hints.mark_path = lambda path: None if random.random() < lost else mark_path(path)  # type: ignore[method-assign]
    hints.mark_scan = lambda: None if random.random() < lost else mark_scan()  # type: ignore[method-assign]
    watched.start()

    for round_number in range(3):
        chaos(watched.vault.root, Random(round_number), 300)
        wait_until(lambda: equals_rebuild(watched.vault, tmp_path))

    watched.close()


def test_a_catalogue_deleted_under_the_watcher_is_filled_again_and_not_taken_for_an_empty_vault(
    watched: Watched,
) -> None:
    before = dump(watched.vault.cache)
    for file in watched.vault.cache.glob("catalogue.sqlite*"):
        file.unlink()

    assert not watched.vault.catalogue.is_complete()
    wait_until(watched.vault.catalogue.is_complete)
    assert before == dump(watched.vault.cache)


def test_the_end_of_the_watching_is_no_error_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    observer = VaultObserver(tmp_path, (), Hints(0.1, time.monotonic, lambda: None))
    observer.start()
    observer.stop()
    logger = logging.getLogger("watchdog.observers.inotify")

    logger.error("InotifyEmitter.queue_events() called when the thread is inactive")
    logger.error("something else")

    assert ["something else"] == [r.getMessage() for r in caplog.records if r.name == logger.name]
