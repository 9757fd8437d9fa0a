"""Swaps that meet somebody else's save, and displaced files that an editor still writes into."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.store.conftest import put
from vault_memex.core.revision import revision_of
from vault_memex.errors import StaleRevision
from vault_memex.store.atomic import keep_conflict_copy, move_file, remove_file, swap_file
from vault_memex.store.displaced import KEEP_SECONDS, Sweeper

MOMENT = 1_796_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def displaced(vault: Path) -> Path:
    put(vault, "A.md", b"old")
    kept = swap_file(vault / "A.md", b"new", revision_of(b"old"))
    assert kept is not None
    return kept


def names(vault: Path) -> list[str]:
    return sorted(os.listdir(vault))


def test_an_unchanged_displaced_file_goes_after_its_second(vault: Path) -> None:
    clock = Clock()
    sweeper = Sweeper(clock, lambda: MOMENT)
    kept = displaced(vault)
    sweeper.keep(kept, vault / "A.md", revision_of(b"old"))

    assert () == sweeper.sweep()
    assert b"old" == kept.read_bytes()
    clock.now += KEEP_SECONDS
    assert () == sweeper.sweep()
    assert ["A.md"] == names(vault)


def test_a_changed_displaced_file_becomes_a_conflict_copy(vault: Path) -> None:
    clock = Clock()
    sweeper = Sweeper(clock, lambda: MOMENT)
    kept = displaced(vault)
    sweeper.keep(kept, vault / "A.md", revision_of(b"old"))
    kept.write_bytes(b"late words of an editor")
    clock.now += KEEP_SECONDS

    (copy,) = sweeper.sweep()

    assert b"late words of an editor" == copy.read_bytes()
    assert (["A.md", copy.name], (copy,), ()) == (
        sorted(names(vault), key=len), sweeper.take_conflicts(), sweeper.take_conflicts(),
    )  # fmt: skip


def test_the_background_thread_sweeps_and_closing_waits_for_it(vault: Path) -> None:
    sweeper = Sweeper()
    sweeper.start()
    kept = displaced(vault)
    sweeper.keep(kept, vault / "A.md", revision_of(b"old"))

    sweeper.close()

    assert ["A.md"] == names(vault)


def test_conflict_copies_are_named_after_note_and_time_and_never_overwrite(vault: Path) -> None:
    long = "가" * 80 + ".md"
    copies = []
    for data in (b"1", b"2", b"3"):
        put(vault, ".kept", data)
        copies.append(keep_conflict_copy(vault / ".kept", vault / "A.md", MOMENT))
    put(vault, ".kept", b"long")
    copies.append(keep_conflict_copy(vault / ".kept", vault / long, MOMENT))

    assert [b"1", b"2", b"3", b"long"] == [c.read_bytes() for c in copies]
    assert copies[0].name.startswith("A (conflict 2026-11-")
    assert copies[2].name.endswith(" 3).md")
    assert max(len(c.name.encode()) for c in copies) <= 250


def saving_at(step: str, file: Path, data: bytes, in_place: bool = False) -> object:
    """Return a checkpoint at which an editor saves the file."""

    def save(name: str) -> None:
        if name != step:
            return
        if in_place:
            file.write_bytes(data)
        else:
            other = file.with_name("editor-temp")
            other.write_bytes(data)
            os.replace(other, file)

    return save


@pytest.mark.parametrize("in_place", [False, True])
def test_a_save_just_before_the_swap_wins(vault: Path, in_place: bool) -> None:
    put(vault, "A.md", b"old")

    with pytest.raises(StaleRevision) as caught:
        swap_file(
            vault / "A.md", b"ours", revision_of(b"old"),
            saving_at("temp written", vault / "A.md", b"theirs", in_place),  # type: ignore[arg-type]
        )  # fmt: skip

    assert revision_of(b"theirs") == caught.value.fields["revision"]
    assert (["A.md"], b"theirs") == (names(vault), (vault / "A.md").read_bytes())


def test_a_note_deleted_just_before_the_swap_stays_deleted(vault: Path) -> None:
    put(vault, "A.md", b"old")

    def delete(name: str) -> None:
        if name == "temp written":
            (vault / "A.md").unlink()

    with pytest.raises(FileNotFoundError):
        swap_file(vault / "A.md", b"ours", revision_of(b"old"), delete)
    assert [] == names(vault)


def test_two_saves_around_the_swap_are_both_kept(vault: Path) -> None:
    put(vault, "A.md", b"old")

    def save_twice(name: str) -> None:
        other = vault / "editor-temp"
        if name in ("temp written", "swapped"):
            other.write_bytes(b"first" if name == "temp written" else b"second")
            os.replace(other, vault / "A.md")

    with pytest.raises(StaleRevision):
        swap_file(vault / "A.md", b"ours", revision_of(b"old"), save_twice)

    assert {b"first", b"second"} == {(vault / name).read_bytes() for name in names(vault)}


def test_a_link_put_in_the_notes_place_is_put_back(vault: Path, tmp_path: Path) -> None:
    put(vault, "A.md", b"old")
    (tmp_path / "outside.md").write_bytes(b"outside")

    def link(name: str) -> None:
        if name == "temp written":
            (vault / "A.md").unlink()
            os.symlink(tmp_path / "outside.md", vault / "A.md")

    with pytest.raises(StaleRevision):
        swap_file(vault / "A.md", b"ours", revision_of(b"old"), link)
    assert (["A.md"], b"outside") == (names(vault), (tmp_path / "outside.md").read_bytes())
    assert (vault / "A.md").is_symlink()


def test_moving_and_removing_check_what_they_take(vault: Path) -> None:
    put(vault, "A.md", b"theirs")
    put(vault, "B.md", b"b")

    for act in (
        lambda: move_file(vault / "A.md", vault / "C.md", revision_of(b"old")),
        lambda: remove_file(vault / "A.md", revision_of(b"old")),
    ):
        with pytest.raises(StaleRevision):
            act()
    with pytest.raises(FileExistsError):
        move_file(vault / "A.md", vault / "B.md", revision_of(b"theirs"))
    assert (["A.md", "B.md"], b"b") == (names(vault), (vault / "B.md").read_bytes())
