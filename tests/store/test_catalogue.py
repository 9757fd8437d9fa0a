"""What the catalogue answers: links, words, passages, snapshots by steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from vault_memex.core.changes import Signature
from vault_memex.core.links import link_key
from vault_memex.core.match_plan import MatchPlan
from vault_memex.store import catalogue_write
from vault_memex.store.catalogue import Catalogue, WordHit
from vault_memex.store.catalogue_links import find_names
from vault_memex.store.indexed import Batch, IndexedLink, IndexedNote, IndexedPassage, Touch, WordFields

SIGNATURE = Signature(1_700_000_000_000_000_000, 1_700_000_001_000_000_000, 10, 42)
LATER = Signature(1_700_000_009_000_000_000, 1_700_000_009_000_000_000, 10, 42)
WEIGHTS = (5.0, 3.0, 2.0, 2.0, 1.0)


def link(target: str, start: int = 0, subpath: str = "") -> IndexedLink:
    return IndexedLink("wiki", target, subpath, None, None, start, start + 5, link_key(target))


def note(path: str, *targets: str, body: str = "", **fields: object) -> IndexedNote:
    stem = path.rpartition("/")[2][:-3]
    values: dict[str, object] = {"signature": SIGNATURE, "racy": False, "revision": "0" * 32, "title": stem}
    links = tuple(link(target, place) for place, target in enumerate(targets))
    return IndexedNote(path, **{"links": links, "words": WordFields(stem, body=body), **values, **fields})  # type: ignore[arg-type]


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    opened = Catalogue.open(tmp_path)
    yield opened
    opened.close()


def resolved(catalogue: Catalogue, path: str) -> list[str | None]:
    return [row.path for row in catalogue.find_links(path)]


# -- links


@pytest.mark.parametrize("announced", [False, True])
def test_names_kept_between_large_batches_are_not_those_before_another_process_wrote(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, announced: bool
) -> None:
    monkeypatch.setattr(catalogue_write, "LARGE_BATCH", 1)
    catalogue.apply(Batch([note("a.md", "b", "c"), note("c.md")]))
    catalogue.apply(Batch([note("a.md", "b", "c")]))
    with closing(Catalogue.open(tmp_path)) as other:
        if announced:
            other.announce(["b.md"])
        else:
            other.apply(Batch([note("b.md")], deletes=["c.md"]))

    catalogue.apply(Batch([note("a.md", "b", "c")]))

    assert ["b.md", "c.md" if announced else None] == resolved(catalogue, "a.md")


def test_link_row_survives_create_delete_and_create_again_of_its_target(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", "b")]))
    assert [None] == resolved(catalogue, "a.md")

    catalogue.apply(Batch([note("x/b.md")]))
    assert ["x/b.md"] == resolved(catalogue, "a.md")

    catalogue.apply(Batch(deletes=["x/b.md"]))
    assert [None] == resolved(catalogue, "a.md")
    assert [("b", 1, ("a.md",))] == [(u.target, u.count, u.sources) for u in catalogue.find_unresolved()]

    catalogue.apply(Batch([note("b.md")]))
    assert ["b.md"] == resolved(catalogue, "a.md")
    assert ["a.md"] == [row.source for row in catalogue.find_backlinks("b.md")]


def test_nearer_or_exact_file_takes_a_link_over_and_gives_it_back(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("t/Index.md", "Road"), note("far/away/Road.md"), note("far/off/Road.md")]))
    (row,) = catalogue.find_links("t/Index.md")
    assert ("far/off/Road.md", True) == (row.path, bool(row.ambiguous))

    catalogue.apply(Batch([note("t/sub/Road.md")]))
    (row,) = catalogue.find_links("t/Index.md")
    assert ("t/sub/Road.md", False) == (row.path, bool(row.ambiguous))

    catalogue.apply(Batch([note("Road.md")]))
    assert ["Road.md"] == resolved(catalogue, "t/Index.md")

    catalogue.apply(Batch(deletes=["Road.md", "t/sub/Road.md"]))
    assert ["far/off/Road.md"] == resolved(catalogue, "t/Index.md")


def test_moved_source_resolves_its_own_links_anew(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("p/a.md", "b"), note("p/b.md"), note("q/b.md")]))
    assert ["p/b.md"] == resolved(catalogue, "p/a.md")

    catalogue.apply(Batch([note("q/a.md", "b")], moves=[("p/a.md", "q/a.md")]))

    assert ["q/b.md"] == resolved(catalogue, "q/a.md")
    assert () == catalogue.find_links("p/a.md")


def test_attachment_answers_with_its_extension_only(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", "chart", "chart.png")], attachments=["m/chart.png"]))

    assert [None, "m/chart.png"] == resolved(catalogue, "a.md")

    catalogue.apply(Batch([note("m/chart.md")], deletes=["m/chart.png"]))
    assert ["m/chart.md", None] == resolved(catalogue, "a.md")


def test_file_answers_to_its_name_with_and_without_each_md() -> None:
    assert {"a.md.md", "a.md", "a"} == find_names("x/A.md.md")


def test_two_notes_that_change_places_keep_their_numbers(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", "b"), note("b.md", "a")]))
    catalogue.set_note_ids({"a.md": 1, "b.md": 2})

    catalogue.apply(Batch([note("b.md", "b"), note("a.md", "a")], moves=[("a.md", "b.md"), ("b.md", "a.md")]))

    assert {"a.md": 2, "b.md": 1} == {path: n.note_id for path, n in catalogue.load_snapshot().notes.items()}
    assert (["a.md"], ["b.md"]) == (resolved(catalogue, "a.md"), resolved(catalogue, "b.md"))


def test_mover_wins_the_path_of_another_note(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", body="kiln"), note("b.md", body="ash"), note("c.md", "a", "b")]))

    catalogue.apply(Batch([note("b.md", body="kiln")], moves=[("a.md", "b.md")]))

    assert ["b.md", "c.md"] == list(catalogue.load_snapshot().notes)
    assert [None, "b.md"] == resolved(catalogue, "c.md")
    assert [] == catalogue.search_words(MatchPlan('"ash"', None), WEIGHTS)


def test_rename_by_case_alone_leaves_no_ghost(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("note.md"), note("c.md", "NOTE")]))

    catalogue.apply(Batch([note("Note.md")], moves=[("note.md", "Note.md")]))

    assert ["Note.md", "c.md"] == list(catalogue.load_snapshot().notes)
    assert ["Note.md"] == resolved(catalogue, "c.md")


def test_announced_notes_are_link_targets_but_not_notes_yet(catalogue: Catalogue) -> None:
    catalogue.announce(["b.md"])
    catalogue.apply(Batch([note("a.md", "b")]))

    assert ["b.md"] == resolved(catalogue, "a.md")
    assert ["a.md"] == list(catalogue.load_snapshot().notes)
    assert 1 == catalogue.count_notes()
    assert Signature(0, 0, 0, 0) == catalogue.signatures()["b.md"]


def test_neighbours_are_nearest_first_in_both_directions_and_bounded(catalogue: Catalogue) -> None:
    catalogue.apply(
        Batch(
            [note("a.md", "b", "c", "c", "pic.png"), note("b.md", "d"), note("c.md"), note("d.md"), note("e.md", "a"), note("far.md", "d"), note("z.md", "pic.png")],
            attachments=["pic.png"],
        )
    )  # fmt: skip

    found = catalogue.find_neighbours("a.md", depth=2)

    assert [("c.md", 1, 2), ("b.md", 1, 1), ("e.md", 1, 1), ("d.md", 2, 1)] == [
        (n.path, n.distance, n.links) for n in found
    ]
    assert ["c.md", "b.md"] == [n.path for n in catalogue.find_neighbours("a.md", 2, limit=2)]
    assert () == catalogue.find_neighbours("nowhere.md", 2)


def test_unresolved_names_count_over_spellings(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", "New thing", "new thing.md", "Other"), note("b.md", "NEW THING")]))

    assert [("New thing", 3, ("a.md", "b.md")), ("Other", 1, ("a.md",))] == [
        (u.target, u.count, u.sources) for u in catalogue.find_unresolved()
    ]


# -- batches


def test_row_that_somebody_else_brought_up_to_date_is_left_alone(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", body="old")]))
    known = catalogue.signatures()
    catalogue.apply(Batch([note("a.md", body="newest", signature=LATER), note("b.md", body="newest")]))

    applied = catalogue.apply(
        Batch([note("a.md", body="stale"), note("b.md", body="stale")], deletes=["a.md"], expected=known)
    )

    assert ("a.md", "b.md") == applied.skipped
    assert ["a.md", "b.md"] == [hit.path for hit in catalogue.search_words(MatchPlan('"newest"', None), WEIGHTS)]


def test_touch_changes_the_times_and_nothing_else(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", body="kiln", racy=True)]))
    before = catalogue.load_snapshot()
    assert {"a.md"} == catalogue.find_racy()

    catalogue.apply(Batch(touches=[Touch("a.md", LATER, False)]))

    after = catalogue.load_snapshot(before)
    assert frozenset() == catalogue.find_racy()
    assert ("2023-11-14T22:13:29Z", before.notes["a.md"].revision) == (
        after.notes["a.md"].updated,
        after.notes["a.md"].revision,
    )


# -- snapshots


def test_snapshot_by_steps_reads_only_what_changed(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md"), note("b.md"), note("c.md")], attachments=["p.png"]))
    first = catalogue.load_snapshot()

    catalogue.apply(Batch([note("b.md", title="New")], deletes=["c.md"]))
    second = catalogue.load_snapshot(first)

    assert second.notes["a.md"] is first.notes["a.md"]
    assert second.attachments is first.attachments
    assert ["a", "New"] == [n.title for n in second.notes.values()]
    assert second is catalogue.load_snapshot(second)


def test_snapshot_of_another_catalogue_is_no_base(catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue.apply(Batch([note("a.md")]))
    old = catalogue.load_snapshot()
    other = Catalogue.open(tmp_path / "other")
    other.apply(Batch([note("b.md")]))

    assert ["b.md"] == list(other.load_snapshot(old).notes)
    assert ["a.md"] == list(catalogue.load_snapshot(other.load_snapshot()).notes)

    other.close()


def test_times_come_from_frontmatter_then_git_then_the_file(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", own_created="2020-01-01"), note("b.md"), note("c.md")]))
    times = ("2021-01-01T00:00:00Z", "2022-01-01T00:00:00Z")

    catalogue.set_git_times({"a.md": times, "b.md": times, "nowhere.md": times})

    notes = catalogue.load_snapshot().notes
    assert [("2020-01-01", times[1]), times, ("2023-11-14T22:13:20Z", "2023-11-14T22:13:20Z")] == [
        (n.created, n.updated) for n in notes.values()
    ]


def test_last_commit_is_forgotten_when_the_bytes_change(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md")]))
    catalogue.set_git_times({"a.md": ("2021-01-01T00:00:00Z", "2022-01-01T00:00:00Z")})

    catalogue.apply(Batch([note("a.md", revision="1" * 32)]))

    found = catalogue.load_snapshot().notes["a.md"]
    assert ("2021-01-01T00:00:00Z", "2023-11-14T22:13:20Z") == (found.created, found.updated)


def test_setting_what_is_set_already_changes_no_revision(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", own_id=3)]))
    catalogue.set_note_ids({"a.md": 5})
    before = catalogue.load_snapshot()

    assert before.revision == catalogue.set_note_ids({"a.md": 5})
    assert 5 == before.notes["a.md"].note_id


# -- words


def test_words_are_ranked_by_column_weights_and_ties_go_by_path(catalogue: Catalogue) -> None:
    catalogue.apply(
        Batch([note("kiln.md"), note("b.md", body="kiln"), note("a.md", body="kiln"), note("c.md", body="ash")])
    )

    hits = catalogue.search_words(MatchPlan('"kiln"', None), WEIGHTS)

    assert ["kiln.md", "a.md", "b.md"] == [hit.path for hit in hits]
    assert hits[0].score > hits[1].score == hits[2].score
    assert ["kiln.md"] == [hit.path for hit in catalogue.search_words(MatchPlan('"kiln"', None), WEIGHTS, limit=1)]


def test_excluded_words_remove_hits_and_may_stand_alone(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", body="kiln ash"), note("b.md", body="kiln"), note("c.md", body="clay")]))

    assert ["b.md"] == [hit.path for hit in catalogue.search_words(MatchPlan('"kiln"', '"ash"'), WEIGHTS)]
    assert [WordHit("b.md", 0.0), WordHit("c.md", 0.0)] == catalogue.search_words(
        MatchPlan(None, '"ash"'), WEIGHTS
    )


def test_terms_are_counted_and_probed_after_edits_and_deletes(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", body="kiln kiln"), note("b.md", body="kiln 가마")]))
    assert (2, 1, 0) == (catalogue.count_term("kiln"), catalogue.count_term("가마"), catalogue.count_term("ash"))

    catalogue.apply(Batch([note("a.md", body='odd"quote')], deletes=["b.md"]))

    assert frozenset({"odd", "a"}) == catalogue.has_terms(["kiln", "가마", "odd", 'x"y', "a"])
    assert 0 == catalogue.count_term("kiln")


# -- passages


def passage(value: str, ordinal: int = 0) -> IndexedPassage:
    return IndexedPassage(ordinal, value * 32, ("Top", "Sub"), 3, 9, 6)


def test_matching_is_told_of_the_paths_that_were_asked_for(catalogue: Catalogue) -> None:
    catalogue.apply(
        Batch([note("a.md", body="kiln ash"), note("b.md", body="kiln"), note("c.md", body="ash kiln")])
    )

    assert frozenset({"c.md"}) == catalogue.find_matching('"kiln" AND "ash"', ["b.md", "c.md", "gone.md"])


def test_a_term_is_common_from_so_many_notes_on(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", body="kiln ash"), note("b.md", body="kiln"), note("c.md", body="kiln")]))

    assert frozenset({"kiln"}) == catalogue.find_common(["kiln", "ash", "clay"], 3)


def test_each_hash_waits_once_and_the_last_changed_note_comes_first(catalogue: Catalogue) -> None:
    catalogue.apply(
        Batch([note("a.md", passages=(passage("a"), passage("c", 1))), note("b.md", passages=(passage("b"),))])
    )
    catalogue.apply(Batch([note("d.md", passages=(passage("d"), passage("a", 1)))]))

    assert ["a", "d", "b", "c"] == [p.hash[0] for p in catalogue.find_unembedded("m", 10)]
    assert ["a", "d"] == [p.hash[0] for p in catalogue.find_unembedded("m", 2)]

    catalogue.mark_embedded("m", ["a" * 32, "b" * 32])

    assert ["d", "c"] == [p.hash[0] for p in catalogue.find_unembedded("m", 10)]
    assert ((2, 4), (0, 4)) == (catalogue.count_embedded("m"), catalogue.count_embedded("other"))

    catalogue.set_embedded("m", ["c" * 32])

    assert (1, 4) == catalogue.count_embedded("m")
    assert {value * 32 for value in "abcd"} == catalogue.find_hashes()


def test_hash_is_found_wherever_it_stands_and_nowhere_once_it_left(catalogue: Catalogue) -> None:
    catalogue.apply(
        Batch([note("a.md", passages=(passage("a"),)), note("b.md", passages=(passage("b"), passage("a", 1)))])
    )

    found = catalogue.get_passages(["b" * 32, "a" * 32, "f" * 32])

    assert [("b.md", 0), ("a.md", 0), ("b.md", 1)] == [(p.path, p.ordinal) for p in found]
    assert (("Top", "Sub"), 3, 9, 6) == (found[0].heading_path, found[0].start, found[0].end, found[0].chars)
    catalogue.apply(Batch(deletes=["a.md", "b.md"]))
    assert () == catalogue.get_passages(["a" * 32])


def test_renamed_note_with_the_same_text_waits_for_nothing(catalogue: Catalogue) -> None:
    catalogue.apply(Batch([note("a.md", passages=(passage("a"),))]))
    catalogue.mark_embedded("m", ["a" * 32])

    catalogue.apply(Batch([note("z/a.md", passages=(passage("a"),))], moves=[("a.md", "z/a.md")]))

    assert () == catalogue.find_unembedded("m", 10)
    assert ["z/a.md"] == [p.path for p in catalogue.get_passages(["a" * 32])]


def test_states_are_kept_and_removed(catalogue: Catalogue) -> None:
    catalogue.set_state("k", "1")
    catalogue.set_state("k", "2")
    assert ("2", None) == (catalogue.get_state("k"), catalogue.get_state("other"))

    catalogue.set_state("k", None)

    assert catalogue.get_state("k") is None
