"""A snapshot that follows another answers as one made anew."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.snapshot import NoteRecord, Snapshot

LOOK_UPS = ("by_path_key", "by_title_key", "by_alias_key", "by_former_title_key", "by_id")

names = st.sampled_from(["Alpha", "alpha", "Beta", "Über", "a/Alpha", "b/beta"])


@st.composite
def vaults(draw: st.DrawFn) -> dict[str, NoteRecord]:
    paths = draw(st.sets(st.sampled_from(["Alpha.md", "a/Alpha.md", "a/alpha.md", "Beta.md", "b/Über.md"])))
    return {
        path: NoteRecord(
            path,
            title=draw(names),
            revision=draw(st.sampled_from("xy")),
            note_id=draw(st.none() | st.integers(1, 3)),
            aliases=tuple(draw(st.lists(names, max_size=2))),
            former_titles=tuple(draw(st.lists(names, max_size=2))),
        )
        for path in sorted(paths)
    }


@given(vaults(), vaults(), st.sets(st.sampled_from(LOOK_UPS)))
def test_every_look_up_is_as_if_made_anew(
    before: dict[str, NoteRecord], after: dict[str, NoteRecord], made: set[str]
) -> None:
    first = Snapshot(1, before)
    for name in sorted(made):
        getattr(first, name)
    changed = [path for path in {*before, *after} if before.get(path) != after.get(path)]

    followed = first.follow(2, after, (), changed)

    fresh = Snapshot(2, after)
    assert [getattr(fresh, name) for name in LOOK_UPS] == [getattr(followed, name) for name in LOOK_UPS]
    assert first == Snapshot(1, before)
