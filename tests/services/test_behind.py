"""Work that answers do not wait for."""

from __future__ import annotations

import threading

from vault_memex.services.behind import QUICK_SECONDS, Behind


def test_quick_work_is_done_when_it_was_asked_for() -> None:
    done: list[str] = []
    behind = Behind(lambda: done.append("x"), "test")

    behind.ask()

    assert ["x"] == done
    behind.close()


def test_slow_work_is_not_waited_for_and_done_once_for_all_who_asked_meanwhile() -> None:
    done: list[str] = []
    go = threading.Event()

    def work() -> None:
        go.wait(QUICK_SECONDS * 2 if not done else 10)
        done.append("x")

    behind = Behind(work, "test")
    behind.ask()
    for _ in range(5):
        behind.ask()
    before = len(done)
    go.set()
    behind.flush()

    assert (1, 2) == (before, len(done))
    behind.close()


def test_closing_does_what_was_asked_for() -> None:
    done: list[str] = []
    go = threading.Event()

    def work() -> None:
        go.wait(QUICK_SECONDS * 2 if not done else 10)
        done.append("x")

    behind = Behind(work, "test")
    behind.ask()
    behind.ask()
    go.set()
    behind.close()

    assert ["x", "x"] == done
