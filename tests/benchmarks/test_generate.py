"""The vaults that figures are measured on are the same on every machine, and their ground truth is true."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.generate import MOST_NOTES, generate_vault, marker_of


def files_of(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def test_the_same_seed_gives_identical_bytes(tmp_path: Path) -> None:
    first = generate_vault(tmp_path / "a", 60, seed=3)
    second = generate_vault(tmp_path / "b", 60, seed=3)

    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    assert first == second


def test_another_seed_gives_another_vault(tmp_path: Path) -> None:
    generate_vault(tmp_path / "a", 20, seed=3)
    generate_vault(tmp_path / "b", 20, seed=4)

    assert files_of(tmp_path / "a") != files_of(tmp_path / "b")


def test_each_marker_stands_in_its_own_note_once_and_nowhere_else(tmp_path: Path) -> None:
    manifest = generate_vault(tmp_path, 200)

    texts = {path: data.decode() for path, data in files_of(tmp_path).items()}
    found = {m: {path: text.count(m) for path, text in texts.items() if m in text} for m in manifest.markers}

    assert 200 == len(manifest.markers)
    assert {marker: {path: 1} for marker, path in manifest.markers.items()} == found


def test_no_two_numbers_share_a_marker() -> None:
    assert MOST_NOTES == len({marker_of(n) for n in range(MOST_NOTES)})


def test_file_names_differ_by_more_than_case(tmp_path: Path) -> None:
    manifest = generate_vault(tmp_path, 500, size=0)

    doubled = [name for name, n in Counter(note.path.casefold() for note in manifest.notes).items() if n > 1]

    assert [] == doubled
    assert 500 == len(files_of(tmp_path))


def test_bodies_are_at_least_as_long_as_asked_and_the_sum_is_reported(tmp_path: Path) -> None:
    manifest = generate_vault(tmp_path, 20, size=4000)

    sizes = [len(data) for data in files_of(tmp_path).values()]

    assert all(size >= 4000 for size in sizes)
    assert sum(sizes) == manifest.bytes_written


def test_links_of_the_manifest_are_those_of_the_text(tmp_path: Path) -> None:
    manifest = generate_vault(tmp_path, 40)

    for note in manifest.notes:
        text = (tmp_path / note.path).read_text(encoding="utf-8").replace("[[not a link]]", "")

        assert text.count("[[") == len(note.links), note.path


def test_marker_queries_name_their_note(tmp_path: Path) -> None:
    manifest = generate_vault(tmp_path, 120)
    exact = [query for query in manifest.queries if query.expected]

    assert 100 == len(exact)
    assert {query.text: query.expected for query in exact}.items() <= manifest.markers.items()


def test_the_manifest_is_written_as_json_that_reads_back(tmp_path: Path) -> None:
    manifest = generate_vault(tmp_path, 5)

    read = json.loads(manifest.render())

    assert [note.path for note in manifest.notes] == [note["path"] for note in read["notes"]]
    assert manifest.bytes_written == read["bytes_written"]


@pytest.mark.parametrize("count", [0, MOST_NOTES + 1])
def test_more_notes_than_markers_are_refused(tmp_path: Path, count: int) -> None:
    with pytest.raises(ValueError, match="each needs its own marker"):
        generate_vault(tmp_path, count)
