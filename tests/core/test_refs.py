from __future__ import annotations

from collections.abc import Iterable

import pytest

from vault_memex.core.refs import find_near_names, parse_ref, resolve_ref
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import stem_of
from vault_memex.errors import AmbiguousTitle, InvalidArgument, NotFound


def snapshot_of(*notes: NoteRecord) -> Snapshot:
    return Snapshot(1, {note.path: note for note in notes})


def record(
    path: str, note_id: int | None = None, *, aliases: Iterable[str] = (), former: Iterable[str] = ()
) -> NoteRecord:
    return NoteRecord(path, stem_of(path), "0" * 32, note_id, tuple(aliases), tuple(former))


VAULT = snapshot_of(
    record("Roadmap.md", 7),
    record("teams/kelp/Roadmap.md", 3),
    record("teams/kelp/Plan.md", 4, aliases=["The big plan"], former=["Old plan"]),
    record("logs/1984.md", 9),
    record("a/Ideas.md", 12),
    record("b/Ideas.md", 11),
    record("회의록.md", 20),
)


@pytest.mark.parametrize(
    ("ref", "path", "kind"),
    [
        ("4", "teams/kelp/Plan.md", "id"),
        ("#4", "teams/kelp/Plan.md", "id"),
        ("teams/kelp/Plan", "teams/kelp/Plan.md", "path"),
        ("teams/kelp/plan.MD", "teams/kelp/Plan.md", "path"),
        ("plan", "teams/kelp/Plan.md", "title"),
        ("Plan.md", "teams/kelp/Plan.md", "title"),
        ("[[Plan#Log|shown]]", "teams/kelp/Plan.md", "title"),
        ("![[Plan]]", "teams/kelp/Plan.md", "title"),
        ("vault://notes/teams/kelp/Plan.md", "teams/kelp/Plan.md", "path"),
        ("memory://Plan", "teams/kelp/Plan.md", "title"),
        ("the BIG plan", "teams/kelp/Plan.md", "alias"),
        ("old plan", "teams/kelp/Plan.md", "former_title"),
        ("1984", "logs/1984.md", "title"),
        ("회의록", "회의록.md", "path"),
        ("\u1112\u116c\u110b\u1174\u1105\u1169\u11a8", "회의록.md", "path"),
    ],
)
def test_each_kind_of_ref_finds_its_note(ref: str, path: str, kind: str) -> None:
    found = resolve_ref(VAULT, ref)

    assert (path, kind) == (found.note.path, found.kind)


def test_reading_takes_the_oldest_of_equal_titles_and_names_the_others() -> None:
    found = resolve_ref(VAULT, "ideas")

    assert ("b/Ideas.md", ["a/Ideas.md"]) == (found.note.path, [n.path for n in found.same_title])


@pytest.mark.parametrize("ref", ["ideas", "Roadmap", "roadmap", "[[ROADMAP]]"])
def test_writing_refuses_equal_titles_and_lists_all_paths(ref: str) -> None:
    with pytest.raises(AmbiguousTitle) as caught:
        resolve_ref(VAULT, ref, writing=True)

    assert len(caught.value.fields["candidates"]) == 2


@pytest.mark.parametrize("ref", ["Roadmap.md", "roadmap.MD", "7", "teams/kelp/Roadmap", "Teams/Kelp/roadmap"])
def test_a_path_or_number_is_never_ambiguous(ref: str) -> None:
    assert not resolve_ref(VAULT, ref, writing=True).same_title


def test_an_unknown_ref_names_what_is_near() -> None:
    with pytest.raises(NotFound) as caught:
        resolve_ref(VAULT, "Rodmap")

    assert "Roadmap.md" in caught.value.fields["candidates"]


def test_nothing_near_says_search() -> None:
    with pytest.raises(NotFound, match="Use search"):
        resolve_ref(VAULT, "zzzzzz")


@pytest.mark.parametrize("ref", ["", "  ", "[[]]", "[[#h]]"])
def test_an_empty_ref_is_an_argument_error(ref: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_ref(ref)


def test_near_names_are_none_for_a_name_of_nothing() -> None:
    assert [] == find_near_names(VAULT, "")
