"""A snapshot that follows another answers as one made anew."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.snapshot import REMEMBERED_STEPS, NoteRecord, Snapshot

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


def follow(first: Snapshot, states: list[dict[str, NoteRecord]]) -> list[Snapshot]:
    """Return the snapshots of a vault that comes to be as each of the states."""
    snapshots = [first]
    for state in states:
        last = snapshots[-1]
        changed = [path for path in {*last.notes, *state} if last.notes.get(path) != state.get(path)]
        notes = {path: last.notes[path] if path not in changed else state[path] for path in sorted(state)}
        snapshots.append(last.follow(last.revision + 1, notes, (), changed))
    return snapshots


@given(st.lists(vaults(), min_size=1, max_size=6), st.booleans())
def test_changes_between_two_snapshots_lead_from_one_to_the_other(
    states: list[dict[str, NoteRecord]], forgotten: bool
) -> None:
    snapshots = follow(Snapshot(1, states[0]), states[1:])
    last = snapshots[-1]
    if forgotten:  # as after a restart, or too many steps
        last = Snapshot(last.revision, last.notes)
    for since in (None, *snapshots):
        changes = last.find_changes(since)

        notes = dict(since.notes) if since else {}
        for note in changes.before:
            assert notes.pop(note.path) is note
        for note in changes.after:
            assert notes.setdefault(note.path, note) is note
        assert notes == last.notes


def test_beyond_the_steps_remembered_all_notes_are_compared() -> None:
    record = NoteRecord("A.md", "A", "x")
    first = Snapshot(1, {"A.md": record})
    states = [{"A.md": NoteRecord("A.md", "A", f"{n}")} for n in range(REMEMBERED_STEPS + 1)]
    snapshots = follow(first, states)

    assert REMEMBERED_STEPS == len(snapshots[-1].steps)
    assert (record,) == snapshots[-2].find_changes(first).before
    assert (record,) == snapshots[-1].find_changes(first).before
    assert ((), ()) == snapshots[-1].find_changes(snapshots[-1])
