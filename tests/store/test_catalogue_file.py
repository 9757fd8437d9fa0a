"""The catalogue's file: versions, damage, several openers."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from vault_memex.core.changes import Signature
from vault_memex.errors import IndexUnusable
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.indexed import Batch, IndexedNote, IndexedPassage, WordFields

SIGNATURE = Signature(1_700_000_000_000_000_000, 1_700_000_001_000_000_000, 10, 42)


def note(path: str, **fields: object) -> IndexedNote:
    values: dict[str, object] = {"signature": SIGNATURE, "racy": False, "revision": "0" * 32, "title": path[:-3]}
    return IndexedNote(path, **{**values, **fields})  # type: ignore[arg-type]


def filled(folder: Path, fingerprint: str = "") -> Catalogue:
    catalogue = Catalogue.open(folder, fingerprint)
    passage = IndexedPassage(0, "ab" * 16, ("H",), 0, 5, 5)
    catalogue.apply(Batch([note("a.md", words=WordFields(body="kiln"), passages=(passage,))]))
    return catalogue


def test_what_was_applied_is_there_after_reopening(tmp_path: Path) -> None:
    filled(tmp_path).close()
    catalogue = Catalogue.open(tmp_path)

    snapshot = catalogue.load_snapshot()

    assert ["a.md"] == list(snapshot.notes)
    assert "2023-11-14T22:13:20Z" == snapshot.notes["a.md"].created
    catalogue.close()


def test_other_fingerprint_empties_the_notes_and_keeps_states_and_embedding_marks(tmp_path: Path) -> None:
    catalogue = filled(tmp_path, "one")
    catalogue.mark_embedded("m", ["ab" * 16])
    catalogue.set_state("calibration", "0.3")
    old = catalogue.load_snapshot()
    catalogue.close()
    catalogue = Catalogue.open(tmp_path, "two")

    snapshot = catalogue.load_snapshot(old)

    assert {} == snapshot.notes
    assert snapshot.revision > old.revision
    assert {} == catalogue.signatures()
    assert "0.3" == catalogue.get_state("calibration")
    catalogue.apply(Batch([note("a.md", passages=(IndexedPassage(0, "ab" * 16, (), 0, 5, 5),))]))
    assert (1, 1) == catalogue.count_embedded("m")
    catalogue.close()


def test_other_schema_moves_the_file_aside(tmp_path: Path) -> None:
    filled(tmp_path).close()
    db = sqlite3.connect(tmp_path / "catalogue.sqlite")
    db.execute("PRAGMA user_version=999")
    db.close()

    catalogue = Catalogue.open(tmp_path)

    assert {} == catalogue.signatures()
    assert (tmp_path / "damaged.sqlite").exists()
    catalogue.close()


@pytest.mark.parametrize(
    "data", [b"not a database, but long enough to be looked at" * 50, b"SQLite format 3\0" + b"\1" * 5000]
)
def test_file_that_is_no_database_is_replaced(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "catalogue.sqlite").write_bytes(data)

    catalogue = Catalogue.open(tmp_path)

    assert {} == catalogue.load_snapshot().notes
    catalogue.close()


@pytest.mark.parametrize("step", [499, 997, 1_999, 4_097])
def test_file_with_bits_turned_everywhere_is_replaced_or_fails_as_a_database(tmp_path: Path, step: int) -> None:
    filled(tmp_path).close()
    file = tmp_path / "catalogue.sqlite"
    data = bytearray(file.read_bytes())
    for at in range(100, len(data), step):
        data[at] ^= 0xFF
    file.write_bytes(data)

    catalogue = Catalogue.open(tmp_path)
    for _ in range(3):
        with suppress(sqlite3.DatabaseError, UnicodeDecodeError):
            ask_often(catalogue)

    ask_often(catalogue)
    catalogue.close()


def test_folder_in_the_place_of_the_file_is_moved_aside_again_and_again(tmp_path: Path) -> None:
    for _ in range(2):
        (tmp_path / "catalogue.sqlite").unlink(missing_ok=True)
        (tmp_path / "catalogue.sqlite" / "inner").mkdir(parents=True)

        catalogue = Catalogue.open(tmp_path)

        assert {} == catalogue.signatures()
        catalogue.close()


def test_a_catalogue_is_complete_from_its_first_whole_pass_until_it_is_emptied(tmp_path: Path) -> None:
    catalogue = Catalogue.open(tmp_path)
    assert not catalogue.is_complete()

    catalogue.mark_complete()
    catalogue.mark_complete()
    assert catalogue.is_complete()

    catalogue.forget()
    assert not catalogue.is_complete()
    catalogue.close()


def test_empty_file_becomes_a_catalogue(tmp_path: Path) -> None:
    (tmp_path / "catalogue.sqlite").touch()

    catalogue = Catalogue.open(tmp_path)

    assert {} == catalogue.load_snapshot().notes
    catalogue.close()


def test_file_whose_process_died_is_checked_and_replaced_when_it_is_bad(tmp_path: Path) -> None:
    code = (
        "import os; from pathlib import Path; from tests.store.test_catalogue_file import filled, note\n"
        "from vault_memex.store.indexed import Batch, WordFields\n"
        f"c = filled(Path({str(tmp_path)!r})); words = WordFields(body='kiln ' * 500)\n"
        "c.apply(Batch([note(f'n{i}.md', words=words) for i in range(300)]))\n"
        "c._connections._database.writer.execute('PRAGMA wal_checkpoint(TRUNCATE)'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[2])
    file = tmp_path / "catalogue.sqlite"
    data = bytearray(file.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 40960] = b"\xff" * 40960
    file.write_bytes(data)

    catalogue = Catalogue.open(tmp_path)

    assert {} == catalogue.signatures()
    assert [] == [mark.name for mark in tmp_path.glob("open-*") if mark.stat().st_ino != catalogue_mark(tmp_path)]
    catalogue.close()
    assert [] == list(tmp_path.glob("open-*"))


def catalogue_mark(folder: Path) -> int:
    (mark,) = folder.glob("open-*")
    return mark.stat().st_ino


def test_file_whose_process_died_is_kept_when_it_is_sound(tmp_path: Path) -> None:
    code = f"import os; from pathlib import Path; from tests.store.test_catalogue_file import filled; filled(Path({str(tmp_path)!r})); os._exit(9)"
    subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[2])

    catalogue = Catalogue.open(tmp_path)

    assert ["a.md"] == list(catalogue.signatures())
    catalogue.close()


def test_damage_met_while_open_fails_once_and_then_a_new_file_is_used(tmp_path: Path) -> None:
    catalogue = filled(tmp_path)
    catalogue._connections._database.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with (tmp_path / "catalogue.sqlite").open("r+b") as file:
        file.write(b"\xff" * 100_000)

    with pytest.raises(sqlite3.DatabaseError):
        ask_often(catalogue)

    assert {} == catalogue.signatures()
    catalogue.close()


def ask_often(catalogue: Catalogue) -> None:
    """Ask until the file itself is read: a connection with a warm page cache may still answer at first."""
    for _ in range(20):
        catalogue.load_snapshot()
        catalogue.apply(Batch([note("b.md")]))


def test_second_opener_sees_each_commit_of_the_first(tmp_path: Path) -> None:
    first, second = filled(tmp_path), Catalogue.open(tmp_path)
    before = second.load_snapshot()

    first.apply(Batch([note("b.md")]))

    assert ["a.md", "b.md"] == list(second.load_snapshot(before).notes)
    first.close()
    second.close()


def test_deleted_file_is_made_anew_by_all_who_have_it_open(tmp_path: Path) -> None:
    first, second = filled(tmp_path), Catalogue.open(tmp_path)
    for file in tmp_path.glob("catalogue.sqlite*"):
        file.unlink()

    first.apply(Batch([note("b.md")]))

    assert ["b.md"] == list(second.load_snapshot().notes)
    first.close()
    second.close()


def test_file_emptied_and_then_deleted_is_made_anew_by_all_who_have_it_open(tmp_path: Path) -> None:
    first, second = filled(tmp_path), Catalogue.open(tmp_path)
    for spoil in (
        lambda file: file.write_bytes(b""),
        Path.unlink,
        lambda file: file.write_bytes(b""),
        Path.unlink,
    ):
        spoil(tmp_path / "catalogue.sqlite")
        for catalogue in (first, second, first):
            with suppress(sqlite3.DatabaseError):
                catalogue.count_notes()
                catalogue.set_state("a", "b")
        second.apply(Batch([note("a.md")]))
        assert [1, 1] == [first.count_notes(), second.count_notes()]

    first.close()
    second.close()


def test_new_file_that_cannot_be_made_is_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    catalogue = filled(folder)
    folder.rename(tmp_path / "gone")
    folder.write_bytes(b"in the way")
    for _ in range(3):
        with pytest.raises(IndexUnusable):
            catalogue.count_notes()
    folder.unlink()

    catalogue.apply(Batch([note("a.md")]))
    assert 1 == catalogue.count_notes()
    catalogue.close()


def test_failed_batch_changes_nothing(tmp_path: Path) -> None:
    catalogue = filled(tmp_path)
    before = catalogue.revision

    with pytest.raises(ValueError, match="hex"):
        catalogue.apply(Batch([note("b.md"), note("c.md", passages=(IndexedPassage(0, "no hex", (), 0, 1, 1),))]))

    assert ["a.md"] == list(catalogue.load_snapshot().notes)
    assert before == catalogue.revision
    catalogue.close()


def test_closed_catalogue_says_so(tmp_path: Path) -> None:
    catalogue = filled(tmp_path)
    catalogue.close()
    catalogue.close()

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        catalogue.load_snapshot()
