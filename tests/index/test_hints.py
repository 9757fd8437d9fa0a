"""Hints wait until it is quiet. The clock is a number."""

from __future__ import annotations

from vault_memex.index.hints import MANY_PATHS, Due, Hints


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def make() -> tuple[Hints, Clock]:
    clock = Clock()
    return Hints(0.1, clock, lambda: None), clock


def test_path_is_due_once_it_was_quiet() -> None:
    hints, clock = make()
    hints.mark_path("a.md")

    clock.now = 0.09
    assert Due() == hints.take_due()
    hints.mark_path("a.md")
    clock.now = 0.15
    assert Due() == hints.take_due()
    clock.now = 0.2
    assert Due(frozenset({"a.md"})) == hints.take_due()
    assert (Due(), None) == (hints.take_due(), hints.find_next())


def test_path_that_never_falls_quiet_is_due_after_two_seconds() -> None:
    hints, clock = make()
    while clock.now < 2.0:
        hints.mark_path("a.md")
        assert Due() == hints.take_due()
        clock.now += 0.05

    hints.mark_path("a.md")

    assert Due(frozenset({"a.md"})) == hints.take_due()


def test_scan_is_asked_for_once_however_often_it_is_marked() -> None:
    hints, clock = make()
    hints.mark_scan()
    hints.mark_scan()
    clock.now = 0.1

    assert (Due(scan=True), Due()) == (hints.take_due(), hints.take_due())


def test_too_many_paths_become_one_scan() -> None:
    hints, clock = make()
    for number in range(MANY_PATHS + 1):
        hints.mark_path(f"{number}.md")
    clock.now = 0.1

    assert Due(scan=True) == hints.take_due()


def test_next_time_is_that_of_what_waits_longest() -> None:
    hints, clock = make()
    hints.mark_path("a.md")
    clock.now = 0.05
    hints.mark_scan()

    assert 0.1 == hints.find_next()
