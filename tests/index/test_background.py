"""What runs beside the answers: two of them on one vault, started, asked and stopped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.index.indexed_vault import IndexedVault, wait_until
from vault_memex.config import Config
from vault_memex.index import meaning_process
from vault_memex.index.background import Background
from vault_memex.index.indexer import PathReport, ScanReport
from vault_memex.index.leader import Leadership
from vault_memex.index.meaning import Meaning

Begin = Callable[[], "Server"]


class Server:
    """What a server process has of it."""

    def __init__(self, folder: Path) -> None:
        self.vault = IndexedVault(folder, Config(reconcile_seconds=3600.0))
        self.meaning = Meaning(self.vault.root, self.vault.cache, "hash", "")
        self.recovered = 0
        self.reports: list[ScanReport | PathReport] = []
        self.background = Background(
            self.vault.indexer,
            Leadership(self.vault.cache),
            self.meaning,
            before_scan=self._recover,
            after_report=self.reports.append,
        )

    def _recover(self) -> None:
        assert not self.reports
        self.recovered += 1

    def is_embedded(self, passages: int) -> bool:
        return (passages, passages) == self.meaning.count_embedded(self.vault.catalogue)

    def close(self) -> None:
        self.background.stop()
        self.vault.close()


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    monkeypatch.setattr(meaning_process, "CHILD", "tests.index.hash_child")
    servers: list[Server] = []

    def begin_one() -> Server:
        servers.append(Server(tmp_path))
        return servers[-1]

    yield begin_one
    for server in servers:
        server.close()
    assert [] == psutil.Process().children()


def test_notes_are_indexed_and_embedded_beside_the_answers(begin: Begin) -> None:
    server = begin()
    server.vault.write("a.md", "the kiln was fired")
    assert "not watching (one command)" == server.background.state().watching
    server.background.start()
    wait_until(lambda: server.is_embedded(1))

    server.vault.write("b.md", "the boat wants oil")
    wait_until(lambda: server.is_embedded(2))
    state = server.background.state()
    assert ("ready", True, 1) == (state.state, state.leader, server.recovered)
    assert server.background.find_remark() is None


def test_of_two_servers_one_embeds_and_the_other_takes_over(begin: Begin) -> None:
    first, second = begin(), begin()
    first.vault.write("a.md", "the kiln was fired")
    first.background.start()
    wait_until(lambda: first.is_embedded(1))
    second.background.start()

    assert "another process watches" == second.background.state().watching
    assert (0, []) == (second.recovered, second.reports)
    assert 1 == len(psutil.Process().children())  # one meaning process
    first.close()
    second.vault.write("b.md", "the boat wants oil")
    wait_until(lambda: second.is_embedded(2))
    assert second.background.state().leader


def test_a_vault_that_went_away_is_told_with_every_answer(begin: Begin) -> None:
    server = begin()
    server.vault.write("a.md", "the kiln was fired")
    server.background.start()
    wait_until(lambda: server.is_embedded(1))
    shutil.move(server.vault.root, server.vault.root.with_name("elsewhere"))
    server.background.request_scan()

    wait_until(lambda: server.background.state().state == "stale")
    remark = server.background.find_remark()
    assert remark is not None
    assert "The index may be stale: The vault folder cannot be read" in remark
    assert ["a.md"] == server.vault.notes()


def test_a_complete_index_lets_the_first_pass_wait_and_a_new_one_does_not(begin: Begin) -> None:
    server = begin()
    server.vault.write("a.md", "the kiln was fired")
    server.background.start(delay=3600.0)
    wait_until(lambda: server.is_embedded(1))
    server.close()

    again = begin()
    again.vault.write("b.md", "the boat wants oil")
    again.background.start(delay=3600.0)

    assert not again.background.state().leader
    again.background.hurry()
    wait_until(lambda: again.is_embedded(2))


def test_stopping_at_once_leaves_nothing_behind(begin: Begin) -> None:
    server = begin()
    for number in range(50):
        server.vault.write(f"{number}.md", f"note {number}")
    server.background.start()
    server.background.stop()
    server.background.stop()

    assert [] == psutil.Process().children()
