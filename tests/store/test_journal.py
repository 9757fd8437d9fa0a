"""The journal: whole lines, ordered reading, and what a crash or another machine may leave in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.store.journal import FileState, Journal, JournalEvent, parse_event, render_event, render_moment

EVENT = JournalEvent(
    id=1, at="2026-11-30T02:05:00.123Z", kind="changed", op="changed", path="Plan.md", title="Plan: hall", actor="desk",
    note_id=7, before="aa", after="bb",
)  # fmt: skip


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / ".memex" / "journal")


def test_an_event_is_one_line_with_stable_keys() -> None:
    expected = (
        '{"id":1,"at":"2026-11-30T02:05:00.123Z","kind":"changed","op":"changed","note_id":7,"path":"Plan.md",'
        '"from_path":null,"actor":"desk","title":"Plan: hall","reason":"","before":"aa","after":"bb"}\n'
    )

    assert expected.encode() == render_event(EVENT)


@given(st.text(), st.text(), st.lists(st.tuples(st.text(), st.none() | st.text())), st.none() | st.integers())
def test_any_event_comes_back(
    title: str, reason: str, paths: list[tuple[str, str | None]], note_id: int | None
) -> None:
    files = tuple(FileState(path, source, None, "cc") for path, source in paths)
    event = replace(EVENT, title=title, reason=reason, files=files, note_id=note_id, details={"n": [1, "x"]})

    line = render_event(event)

    assert 1 == line.count(b"\n")
    assert event == parse_event(line)


def test_a_moment_is_written_in_utc() -> None:
    moment = datetime(2026, 11, 30, 11, 5, tzinfo=timezone(timedelta(hours=9)))

    assert "2026-11-30T02:05:00.000Z" == render_moment(moment)


def test_numbers_go_on_across_months_and_restarts(journal: Journal) -> None:
    journal.append(replace(EVENT, id=journal.next_id(), at="2026-11-30T23:59:59.000Z"))
    journal.append(replace(EVENT, id=journal.next_id(), at="2026-12-01T00:00:00.000Z"))

    assert ["2026-11.jsonl", "2026-12.jsonl"] == sorted(f.name for f in journal.folder.iterdir())
    assert [3, 3] == [journal.next_id(), Journal(journal.folder).next_id()]


def test_numbers_another_process_used_are_seen(journal: Journal) -> None:
    other = Journal(journal.folder)
    assert 1 == other.next_id()
    journal.append(replace(EVENT, id=journal.next_id()))
    assert 2 == other.next_id()
    journal.append(replace(EVENT, id=journal.next_id()))
    other.append(replace(EVENT, id=other.next_id()))

    assert 4 == journal.next_id()


def test_since_is_inclusive_and_until_exclusive(journal: Journal) -> None:
    for day in (1, 2, 3):
        journal.append(replace(EVENT, id=day, at=f"2026-11-0{day}T00:00:00.000Z"))
    since, until = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 3, tzinfo=UTC)

    assert [1, 2] == [e.id for e in journal.read(since, until)]
    assert [1, 2, 3] == [e.id for e in journal.read()]
    assert 2 == getattr(journal.find_event(2), "id", None)
    assert None is journal.find_event(9)


def test_events_merged_out_of_order_are_read_in_order(journal: Journal) -> None:
    for day in (3, 1, 2):
        journal.append(replace(EVENT, id=day, at=f"2026-11-0{day}T00:00:00.000Z"))

    assert [1, 2, 3] == [e.id for e in journal.read()]


@pytest.mark.parametrize("cut", range(1, len(render_event(EVENT))))
def test_a_torn_last_line_is_skipped_and_repaired_by_the_next_append(journal: Journal, cut: int) -> None:
    file, _ = journal.append(EVENT)
    with open(file, "r+b") as stream:
        stream.seek(0, 2)
        stream.write(render_event(replace(EVENT, id=2))[:cut])
    whole = cut == len(render_event(EVENT)) - 1  # only the line feed is missing

    assert ([1, 2] if whole else [1]) == [e.id for e in journal.read()]
    assert (3 if cut > 7 else 2) == journal.next_id()  # a torn number is not used again
    journal.append(replace(EVENT, id=3))
    assert ([1, 2, 3] if whole else [1, 3]) == [e.id for e in journal.read()]
    assert () == journal.faults


def test_lines_that_are_no_events_are_skipped_and_named(journal: Journal) -> None:
    file, _ = journal.append(EVENT)
    file.write_bytes(b"<<<<<<< HEAD\n[]\n" + file.read_bytes() + b'{"id":"x"}\n')

    assert [1] == [e.id for e in journal.read()]
    assert 3 == len(journal.faults)


def test_a_journal_is_continued_by_lines_at_its_end_alone(journal: Journal) -> None:
    journal.append(EVENT)
    marks = journal.find_marks()
    assert journal.is_continued({})
    file, _ = journal.append(replace(EVENT, id=2))
    assert journal.is_continued(marks)
    assert [2] == [one.id for one in journal.read_new({name: mark.size for name, mark in marks.items()})]

    file.write_bytes(b"".join(reversed(file.read_bytes().splitlines(keepends=True))))
    assert not journal.is_continued(marks)
    file.unlink()
    assert not journal.is_continued(marks)
