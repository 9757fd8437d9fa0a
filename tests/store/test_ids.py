"""Note numbers: given once, never again, and two machines' numbers sorted out."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.errors import NotFound
from vault_memex.store.ids import IdLine, Ids, escape_field, parse_id_line, render_id_line, unescape_field

EARLY, LATE = "2026-11-01T00:00:00.000Z", "2026-11-02T00:00:00.000Z"


@pytest.fixture
def ids(tmp_path: Path) -> Ids:
    return Ids(tmp_path / ".memex" / "ids.tsv")


def test_numbers_count_up_and_a_path_keeps_its_own(ids: Ids) -> None:
    assert (1, 2) == ids.assign([("a.md", "h"), ("b.md", "h")], EARLY)
    assert (2, 3) == ids.assign([("b.md", "h"), ("c.md", "h")], LATE)
    assert (1, 3, None) == (ids.number_of("a.md"), ids.number_of("c.md"), ids.number_of("d.md"))


def test_a_batch_that_names_a_path_twice_gives_it_one_number(ids: Ids) -> None:
    assert (1, 1) == ids.assign([("a.md", "h"), ("a.md", "h")], EARLY)


def test_numbers_known_from_notes_and_trash_are_not_given_again(ids: Ids) -> None:
    assert (143,) == ids.assign([("a.md", "h")], EARLY, above=142)


def test_a_moved_note_keeps_its_number_and_leaves_its_path_free(ids: Ids) -> None:
    ids.assign([("a.md", "h")], EARLY)
    ids.moved([("a.md", "b.md", "h")])

    assert {"b.md": 1} == dict(ids.numbers())
    assert (2,) == ids.assign([("a.md", "h")], LATE)
    assert {"b.md": 1, "a.md": 2} == dict(ids.numbers())
    assert () == ids.find_conflicts()


def test_a_move_of_an_unknown_note_is_refused(ids: Ids) -> None:
    with pytest.raises(NotFound):
        ids.moved([("a.md", "b.md", "h")])


def test_a_number_of_a_gone_note_is_never_given_again(ids: Ids) -> None:
    ids.assign([("a.md", "h")], EARLY)
    fresh = Ids(ids.file)

    assert (2,) == fresh.assign([("b.md", "h")], LATE)


def test_another_process_sees_lines_added_meanwhile(ids: Ids) -> None:
    other = Ids(ids.file)
    ids.assign([("a.md", "h")], EARLY)
    assert 1 == other.number_of("a.md")
    other.assign([("b.md", "h")], EARLY)

    assert (2, 2) == (ids.number_of("b.md"), ids.highest())


def test_a_rewritten_file_is_read_anew(ids: Ids) -> None:
    ids.assign([("a.md", "h"), ("b.md", "h")], EARLY)
    ids.file.write_bytes(render_id_line(IdLine(9, "longer-name-than-before.md", "h" * 90, EARLY)) * 2)

    assert (None, 9) == (ids.number_of("a.md"), ids.highest())
    ids.file.unlink()
    assert 0 == ids.highest()


def test_two_machines_with_one_number_the_earlier_keeps_it(ids: Ids) -> None:
    lines = [IdLine(7, "late.md", "h", LATE), IdLine(7, "early.md", "h", EARLY), IdLine(8, "x.md", "h", EARLY)]
    ids.file.parent.mkdir()
    ids.file.write_bytes(b"".join(map(render_id_line, lines)))

    conflicts = ids.find_conflicts()
    assert [("early.md", "late.md")] == [(c.keeper.path, c.loser.path) for c in conflicts]
    assert [("late.md", 7, 9)] == [(r.path, r.former, r.id) for r in ids.renumber(conflicts)]
    for seen in (ids, Ids(ids.file)):
        assert () == seen.find_conflicts()
        assert (9, 7) == (seen.number_of("late.md"), seen.number_of("early.md"))


def test_equal_moments_the_smaller_path_keeps_the_number(ids: Ids) -> None:
    ids.file.parent.mkdir()
    ids.file.write_bytes(b"".join(render_id_line(IdLine(7, p, "h", EARLY)) for p in ("b.md", "a.md")))
    # One identity (number and moment) at two paths reads as a move: the last line holds.
    assert (7, None) == (ids.number_of("a.md"), ids.number_of("b.md"))


def test_three_notes_with_one_number(ids: Ids) -> None:
    ids.file.parent.mkdir()
    moments = {"c.md": "2026-01-03T", "a.md": "2026-01-01T", "b.md": "2026-01-02T"}
    ids.file.write_bytes(b"".join(render_id_line(IdLine(5, p, "h", t)) for p, t in moments.items()))

    renumbered = ids.renumber(ids.find_conflicts(), above=10)

    assert [("b.md", 11), ("c.md", 12)] == [(r.path, r.id) for r in renumbered]
    assert 5 == ids.number_of("a.md")


def test_lines_that_do_not_parse_are_skipped_named_and_stay(ids: Ids) -> None:
    ids.file.parent.mkdir()
    broken = b"<<<<<<< HEAD\n1\ta.md\th\t2026\nx\ty\n-3\tb.md\th\tz\n2\ttorn"
    ids.file.write_bytes(broken)

    assert 1 == ids.number_of("a.md")
    assert 4 == len(ids.notices)
    assert (2,) == ids.assign([("n.md", "h")], EARLY)
    assert ids.file.read_bytes().startswith(broken + b"\n2\tn.md")


@given(st.text())
def test_any_path_survives_a_line(path: str) -> None:
    assert path == unescape_field(escape_field(path))
    try:
        raw = render_id_line(IdLine(1, path, "h", EARLY))
    except UnicodeEncodeError:
        return  # lone surrogates are refused as paths
    assert 1 == raw.count(b"\n")
    assert IdLine(1, path, "h", EARLY) == parse_id_line(raw[:-1])


def test_many_threads_ask_while_numbers_are_given(tmp_path: Path) -> None:
    """The watcher's thread and every tool's thread use one object; a file that grows meanwhile confuses none."""
    giver, asker = Ids(tmp_path / "ids.tsv"), Ids(tmp_path / "ids.tsv")
    faults: list[BaseException] = []
    done = threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                numbers = asker.numbers()
                assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))
        except BaseException as error:  # noqa: BLE001 -- shown by the assertion below
            faults.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(150):
        giver.assign([(f"n{number}.md", "0" * 32)], "2026-01-01T00:00:00.000Z")
    done.set()
    for thread in threads:
        thread.join()

    assert [] == faults
    assert 150 == len(asker.numbers())


LINES = st.builds(
    IdLine,
    st.integers(1, 3),
    st.sampled_from(["a.md", "b.md", "c.md"]),
    st.just("h"),
    st.sampled_from([EARLY, LATE]),
)


@given(st.lists(st.lists(LINES, max_size=3), max_size=5))
def test_what_follows_the_file_knows_what_a_new_look_finds(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[IdLine]]
) -> None:
    file = tmp_path_factory.mktemp("ids") / "ids.tsv"
    following, lines = Ids(file), list[IdLine]()
    for batch in batches:
        with file.open("ab") as stream:
            stream.writelines(map(render_id_line, batch))
        lines += batch
        where = {(line.id, line.created): line.path for line in lines}
        latest = {line.path: line for line in lines}
        live = {path: line for path, line in latest.items() if where[line.id, line.created] == path}
        shared = {number for number, created in where if (number, EARLY if created == LATE else LATE) in where}
        conflicts = following.find_conflicts()

        assert {path: line.id for path, line in live.items()} == following.numbers()
        assert Ids(file).find_conflicts() == conflicts
        assert {conflict.id for conflict in conflicts} <= shared


def test_slugs_are_kept_beside_the_numbers_and_follow_their_notes(tmp_path: Path) -> None:
    file = tmp_path / "ids.tsv"
    ids = Ids(file)
    ids.assign([("A.md", "h1"), ("B.md", "h2")], "2026-01-01T00:00:00.000Z")
    ids.fix_skills([("B.md", "glaze"), ("A.md", "kiln"), ("gone.md", "lost")])
    ids.moved([("A.md", "New/A.md", "h1")])
    ids.fix_skills([("B.md", "my-way")])

    before = Ids(tmp_path / "none.tsv")
    assert {} == dict(before.skills())
    (tmp_path / "none.tsv").write_bytes(b"2\tB.md\th2\tc\n")
    assert {} == dict(before.skills())
    (tmp_path / "none.tsv").write_bytes(b"2\tB.md\th2\tc\nskill\tglaze\t2\tc\n")
    assert {2: "glaze"} == dict(before.skills())
    for seen in (ids, Ids(file)):
        assert [(2, "my-way"), (1, "kiln")] == list(seen.skills().items())
        assert {"New/A.md": 1, "B.md": 2} == dict(seen.numbers())
        assert () == seen.notices
    assert ids.skills() is ids.skills()


def test_a_slug_of_a_note_that_has_no_line_and_lines_that_are_none_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "ids.tsv"
    file.write_bytes(b"skill\tkiln\t7\tx\nskill\tkiln\n1\tA.md\th\tc\nskill\tglaze\t1\tc\r\nskill\t\t1\tc\n")
    ids = Ids(file)

    assert {1: "glaze"} == dict(ids.skills())
    assert 2 == len(ids.notices)
