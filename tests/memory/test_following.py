"""What follows a vault from snapshot to snapshot answers as what is made anew, after any sequence of changes."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.memory.notes import LinkRow, note
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.memory.bursts import TagDays, find_tag_bursts
from vault_memex.memory.dangling import NameIndex, find_dangling_links
from vault_memex.memory.hints import TitleIndex, find_link_hints
from vault_memex.memory.signals import SignalSettings

TODAY = date(2026, 11, 30)
SETTINGS = SignalSettings(burst_notes=2)
NAMES = ("Kiln", "Kilns", "Kilm", "Glaze", "Glaze test", "glaze test", "Über")
PATHS = ("Kiln.md", "a/Kiln.md", "Glaze.md", "a/Glaze test.md", "Über.md")
TEXT = "Kiln and Kilns, a Glaze test with Glaze and Über."

records = st.builds(
    note,
    st.sampled_from(PATHS),
    layer=st.sampled_from(["past", "state", "rule", None]),
    title=st.sampled_from(NAMES),
    aliases=st.lists(st.sampled_from(NAMES), max_size=2).map(tuple),
    tags=st.lists(st.sampled_from(["Celadon", "celadon", "clay"]), max_size=2).map(tuple),
    created=st.sampled_from([0, 3, 8, 20, 400]).map(lambda ago: (TODAY - timedelta(days=ago)).isoformat()),
)
changes = st.dictionaries(st.sampled_from(PATHS), st.none() | records, max_size=3)


def follow(last: Snapshot, change: dict[str, NoteRecord | None]) -> Snapshot:
    """Return the snapshot after notes were written and deleted."""
    notes: dict[str, NoteRecord] = dict(last.notes)
    for path, record in change.items():
        notes.pop(path, None)
        if record is not None and record.path == path:
            notes[path] = record
    return last.follow(last.revision + 1, {path: notes[path] for path in sorted(notes)}, (), change)


@given(st.lists(changes, min_size=1, max_size=8), st.sets(st.integers(0, 8)))
def test_titles_tags_and_names_that_followed_are_as_if_made_anew(
    steps: list[dict[str, NoteRecord | None]], missed: set[int]
) -> None:
    snapshot = Snapshot(1, {})
    titles, days, names = TitleIndex(snapshot), TagDays(snapshot), NameIndex(snapshot)
    for number, change in enumerate(steps):
        snapshot = follow(snapshot, change)
        if number in missed:
            continue
        for index in (titles, days, names):
            index.follow(snapshot)
        links = [LinkRow(path, name) for path in snapshot.notes for name in ("Kiin", "Glaze tets", "Ubr", "Kilns")]
        fresh = Snapshot(snapshot.revision, snapshot.notes)

        assert find_link_hints(TEXT, "", (), TitleIndex(fresh)) == find_link_hints(TEXT, "", (), titles)
        assert [*find_tag_bursts(fresh, SETTINGS, TODAY)] == [*days.find_bursts(SETTINGS, TODAY)]
        assert [*find_dangling_links(fresh, links)] == [*find_dangling_links(fresh, links, names)]
