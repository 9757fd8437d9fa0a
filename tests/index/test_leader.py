"""One leader a vault, whatever happens to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.index.indexed_vault import wait_until
from vault_memex.index.leader import Heartbeat, Leadership, find_heartbeat
from vault_memex.store.catalogue import Catalogue

HOLD = """
import sys, time
from pathlib import Path
from vault_memex.index.leader import Leadership
leadership = Leadership(Path(sys.argv[1]))
print(leadership.try_lead(), flush=True)
time.sleep(60)
"""


def start_leader(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    assert process.stdout is not None
    assert "True" == process.stdout.readline().strip()
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_second_does_not_lead_until_the_first_resigns(tmp_path: Path) -> None:
    first, second = Leadership(tmp_path), Leadership(tmp_path)

    assert (True, True, False) == (first.try_lead(), first.try_lead(), second.try_lead())
    first.resign()
    assert (True, False) == (second.try_lead(), first.is_leader)
    second.resign()


def test_another_process_leads_at_once_after_kill_9(tmp_path: Path) -> None:
    process = start_leader(tmp_path)
    follower = Leadership(tmp_path)
    assert not follower.try_lead()

    process.send_signal(signal.SIGKILL)
    started = time.monotonic()
    wait_until(follower.try_lead, seconds=3.0)

    assert time.monotonic() - started < 3.0
    end(process)
    follower.resign()


def test_stopped_leader_keeps_leading(tmp_path: Path) -> None:
    process = start_leader(tmp_path)
    process.send_signal(signal.SIGSTOP)

    assert not Leadership(tmp_path).try_lead()

    end(process)


def test_deleted_lock_file_costs_the_leader_its_lead(tmp_path: Path) -> None:
    first, second = Leadership(tmp_path), Leadership(tmp_path)
    first.try_lead()
    (tmp_path / "leader.lock").unlink()

    assert (True, False) == (second.try_lead(), first.is_leader)
    assert not first.try_lead()

    second.resign()


def test_heartbeat_counts_up_and_shows_a_stuck_leader(tmp_path: Path) -> None:
    catalogue = Catalogue.open(tmp_path)
    assert find_heartbeat(catalogue) is None
    leadership = Leadership(tmp_path, wall_clock=lambda: 1000.0)

    leadership.beat(catalogue, "watching")
    leadership.beat(catalogue, "indexing 3 of 9")

    heartbeat = find_heartbeat(catalogue)
    assert Heartbeat(os.getpid(), 2, 1000.0, "indexing 3 of 9") == heartbeat
    assert (False, True) == (heartbeat.is_frozen(1030.0), heartbeat.is_frozen(1030.1))
    catalogue.close()
