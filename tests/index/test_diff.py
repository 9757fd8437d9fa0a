"""What changed, and what moved."""

from __future__ import annotations

from vault_memex.core.changes import Signature
from vault_memex.index.diff import Diff, Identity, MoveFinder, find_diff, is_mass_removal
from vault_memex.index.scan import Scan


def signature(number: int) -> Signature:
    return Signature(number, number, number, number)


def test_equal_signatures_change_nothing() -> None:
    scan = Scan((1, 1), {"a.md": signature(1)}, {"p.png"})

    assert Diff() == find_diff(scan, {"a.md": signature(1)}, frozenset(), ["p.png"])


def test_any_other_signature_is_a_change_also_an_older_one() -> None:
    scan = Scan((1, 1), {"a.md": signature(1), "new.md": signature(2)}, {"q.png"})
    known = {"a.md": signature(9), "old.md": signature(3)}

    diff = find_diff(scan, known, frozenset(), ["p.png"])

    assert Diff(("new.md",), ("a.md",), ("old.md",), ("q.png",), ("p.png",)) == diff


def test_racy_note_is_looked_at_although_its_signature_is_equal() -> None:
    scan = Scan((1, 1), {"a.md": signature(1), "b.md": signature(1)})

    diff = find_diff(scan, {"a.md": signature(1), "b.md": signature(1)}, {"b.md"}, [])

    assert ("b.md",) == diff.changed


def test_nothing_under_an_unreadable_folder_is_removed() -> None:
    scan = Scan((1, 1), unreadable=["a/b"])

    diff = find_diff(scan, {"a/b/x.md": signature(1), "a/bc/y.md": signature(1)}, frozenset(), ["a/b/p.png"])

    assert (("a/bc/y.md",), ()) == (diff.removed, diff.attachments_removed)


def test_mass_removal_is_more_than_half_of_twenty_or_more() -> None:
    assert [False, True, False] == [is_mass_removal(10, 20), is_mass_removal(11, 20), is_mass_removal(19, 19)]


def test_moved_note_is_found_by_its_content() -> None:
    finder = MoveFinder({"a.md": Identity("r1", None, 5, 1), "b.md": Identity("r2", None, 5, 2)})

    assert "b.md" == finder.find_old("c.md", Identity("r2", None, 5, 9))
    assert ["a.md"] == list(finder.remaining)


def test_number_in_the_frontmatter_goes_before_content() -> None:
    finder = MoveFinder({"a.md": Identity("r1", 7, 5, 1), "b.md": Identity("r2", None, 5, 2)})

    assert "a.md" == finder.find_old("c.md", Identity("r2", 7, 5, 9))


def test_of_equal_contents_the_same_file_or_the_same_name_is_taken_and_each_once() -> None:
    gone = {f"{folder}/x.md": Identity("r", None, 5, number) for number, folder in enumerate("abc")}
    gone["d/y.md"] = Identity("r", None, 5, 9)
    finder = MoveFinder(gone)

    assert "c/x.md" == finder.find_old("z/q.md", Identity("r", None, 5, 2))
    assert "d/y.md" == finder.find_old("z/y.md", Identity("r", None, 5, 50))
    assert "a/x.md" == finder.find_old("z/a.md", Identity("r", None, 5, 51))
    assert "b/x.md" == finder.find_old("z/b.md", Identity("r", None, 5, 52))
    assert finder.find_old("z/c.md", Identity("r", None, 5, 53)) is None


def test_empty_notes_are_not_paired_by_their_content() -> None:
    finder = MoveFinder({"a.md": Identity("empty", None, 0, 1)})

    assert finder.find_old("b.md", Identity("empty", None, 0, 2)) is None
    assert "a.md" == finder.find_old("c.md", Identity("empty", None, 0, 1))
