"""Work that nobody waits for gives way to answers, and is done in the end."""

from __future__ import annotations

import threading

from vault_memex.index.turns import Turns

SECONDS = 10.0


def begin_to_give_way(turns: Turns) -> tuple[threading.Thread, threading.Event]:
    passed = threading.Event()

    def give_way() -> None:
        turns.give_way()
        passed.set()

    thread = threading.Thread(target=give_way)
    thread.start()
    return thread, passed


def test_nobody_is_waited_for_when_nothing_was_asked() -> None:
    Turns(quiet_seconds=3600.0).give_way()


def test_work_goes_on_when_the_last_answer_was_given() -> None:
    turns = Turns(quiet_seconds=0.0, longest_seconds=3600.0)
    with turns.answering():
        with turns.answering():
            thread, passed = begin_to_give_way(turns)
        assert not passed.wait(0.05)

    assert passed.wait(SECONDS)
    thread.join(SECONDS)


def test_it_waits_for_a_quiet_moment_but_not_for_ever() -> None:
    turns = Turns(quiet_seconds=3600.0, longest_seconds=0.2)
    with turns.answering():
        pass
    thread, passed = begin_to_give_way(turns)

    assert not passed.wait(0.05)
    assert passed.wait(SECONDS)
    thread.join(SECONDS)
