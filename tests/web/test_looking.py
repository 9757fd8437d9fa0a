"""A look for signals holds up no page, is one at a time, and says why it came to nothing."""

from __future__ import annotations

from threading import Event

from vault_memex.memory.triage import SignalTable
from vault_memex.services.signals import SignalsFound
from vault_memex.web.looking import Looking

LONG = 30.0  # seconds; never waited for


def test_a_long_look_is_not_waited_for_and_no_second_one_begins_beside_it() -> None:
    begun: list[Event] = []
    ended = Event()

    def look() -> SignalsFound:
        begun.append(ended)
        assert ended.wait(LONG)
        return SignalsFound(SignalTable(), unavailable="no model")

    looking = Looking(look)

    assert [False, False] == [looking.wait(0.01), looking.wait(0.01)]
    ended.set()
    assert looking.wait(LONG)
    assert "no model" == looking.unavailable
    assert len(begun) <= 2  # the last wait may have begun one of its own


def test_why_a_look_came_to_nothing_is_told_until_one_succeeds() -> None:
    answers = [OSError("the disk is gone"), ValueError(), SignalsFound(SignalTable())]

    def look() -> SignalsFound:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    looking = Looking(look)
    told = []
    for _ in range(3):
        assert looking.wait(LONG)
        told.append(looking.problem)

    assert ["the disk is gone", "ValueError", ""] == told
