"""Corrections, amendments and dates: what search and get say of a note that no longer holds."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import OpenVault
from vault_memex.errors import PastImmutable, RuleUserOnly
from vault_memex.services.reading import ReadRequest
from vault_memex.services.requests import EditRequest, RetireRequest, SaveRequest
from vault_memex.services.retrieval import SearchRequest
from vault_memex.services.rows import SearchRow
from vault_memex.services.standing import Standing
from vault_memex.vault import Vault, open_vault

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def write(root: Path, path: str, body: str, **properties: Any) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{name}: {value}\n" for name, value in properties.items())
    file.write_text(f"---\n{lines}---\n{body}\n" if lines else f"{body}\n", encoding="utf-8")


def rows_of(vault: Vault, query: str) -> list[SearchRow]:
    return list(vault.retrieval.search(SearchRequest(query)).rows)


def notices_of(vault: Vault, ref: str) -> list[str]:
    return list(vault.reading.get(ref, ReadRequest()).notices)


@pytest.fixture
def chain(folder: Path) -> Path:
    """A record, what continues it, and two corrections, the second of the first."""
    write(folder, "Log/Kiln.md", "The zirkon kiln takes 40 minutes zirkon.", layer="past", created="2026-01-01")
    write(folder, "Log/More.md", "It was windy.", layer="past", created="2026-01-02", amends='"[[Kiln]]"')
    fix = {"layer": "past", "amend_kind": "corrects"}
    write(folder, "Log/Fix.md", "Zirkon: 50.", created="2026-02-01", amends='"[[Kiln]]"', **fix)
    write(folder, "Log/Fix again.md", "Zirkon: 55.", created="2026-03-01", amends='"[[Log/Fix]]"', **fix)
    return folder


def test_a_corrected_note_names_the_newest_correction_and_is_demoted_not_hidden(
    chain: Path, opening: OpenVault
) -> None:
    rows = rows_of(opening(chain), "zirkon")

    assert {
        "Log/Kiln.md": ("superseded", "Log/Fix again.md"),
        "Log/Fix.md": ("superseded", "Log/Fix again.md"),
        "Log/Fix again.md": (None, None),
    } == {row.path: (row.validity, row.superseded_by) for row in rows}
    assert "Log/Fix again.md" == rows[0].path


def test_get_says_what_to_read_instead_and_what_continues_the_note(chain: Path, opening: OpenVault) -> None:
    vault = opening(chain)

    assert [
        "Superseded: this was corrected. Read Log/Fix again.md instead.",
        "Continued in: Log/More.md.",
        "Corrected by: Log/Fix.md.",
    ] == notices_of(vault, "Kiln")
    assert [] == notices_of(vault, "Fix again")


def test_a_correction_that_is_deleted_corrects_nothing_any_more(chain: Path, opening: OpenVault) -> None:
    vault = opening(chain)
    vault.editing.retire(RetireRequest("Log/Fix again", "wrong"))

    assert ("superseded", "Log/Fix.md") == next(
        (row.validity, row.superseded_by) for row in rows_of(vault, "zirkon") if row.path == "Log/Kiln.md"
    )


@pytest.mark.parametrize("ref", ["'7'", "7", "Old plan", "'#7'"])
def test_a_number_or_title_without_brackets_names_the_amended_note_too(
    folder: Path, opening: OpenVault, ref: str
) -> None:
    write(folder, "Old plan.md", "zirkon", id=7)
    write(folder, "New.md", "zirkon", amends=ref, amend_kind="corrects")

    assert {"Old plan.md": "New.md", "New.md": None} == {
        row.path: row.superseded_by for row in rows_of(opening(folder), "zirkon")
    }


def test_dates_bound_when_a_note_holds_and_the_last_day_counts(folder: Path) -> None:
    write(folder, "Ended.md", "zirkon", valid_until="2026-11-29")
    write(folder, "Ends today.md", "zirkon", valid_until="2026-11-30")
    write(folder, "Later.md", "zirkon", valid_from="2026-12-01")
    write(folder, "Named.md", "zirkon", superseded_by="nobody knows")
    vault = open_vault(folder, flags={"model": "none"}, clock=lambda: NOW)
    vault.refresh()
    try:
        found = {row.path: row.validity for row in rows_of(vault, "zirkon")}
        notices = [notices_of(vault, name) for name in ("Ended", "Ends today", "Later", "Named")]
    finally:
        vault.close(patient=False)

    assert {
        "Ended.md": "expired",
        "Ends today.md": None,
        "Later.md": "not_yet_valid",
        "Named.md": "superseded",
    } == found
    assert [
        ["No longer valid: it held until 2026-11-29."],
        [],
        ["Not valid yet: it holds from 2026-12-01."],
        ["Superseded: this was corrected. Read nobody knows instead."],
    ] == notices


def test_the_suggestion_of_a_refusal_is_a_save_that_amends(chain: Path, opening: OpenVault) -> None:
    vault = opening(chain)
    with pytest.raises(PastImmutable) as caught:
        vault.editing.edit(EditRequest("Log/More", title="Calm"))
    suggestion = dict(caught.value.fields["suggestion"])
    assert "save" == suggestion.pop("tool")

    saved = vault.editing.save(SaveRequest(**suggestion))

    assert ("[Amendment] More", "past") == (saved.title, vault.snapshot().notes[saved.path].layer)
    assert [f"Continued in: {saved.path} (#{saved.note_id})."] == notices_of(vault, "Log/More")
    assert "Log/More.md" in [row.path for row in vault.catalogue.find_links(saved.path)]


def test_an_amended_note_with_a_namesake_is_linked_by_its_path(folder: Path, opening: OpenVault) -> None:
    write(folder, "a/Log.md", "one", layer="past")
    write(folder, "b/Log.md", "two", layer="past")
    vault = opening(folder)

    saved = vault.editing.save(SaveRequest("After", "Three.", "past", amends="b/Log.md", amend_kind="corrects"))

    assert "[[b/Log]]" == vault.snapshot().notes[saved.path].properties["amends"]
    assert ("superseded", "current") == (
        vault.standing.find().check("b/Log.md").status,
        vault.standing.find().check("a/Log.md").status,
    )


def test_folders_give_layers_and_the_notes_own_layer_wins(folder: Path, opening: OpenVault) -> None:
    write(folder, "journal/2026/Day.md", "It rained.")
    write(folder, "journal/2026/Plan.md", "Paint.", layer="state")
    write(folder, "norms/Tone.md", "Be brief.")
    (folder / ".memex").mkdir()
    (folder / ".memex/config.toml").write_text(
        '[layers]\n"journal/**" = "past"\n"norms/*" = "rule"\n', encoding="utf-8"
    )
    vault = opening(folder)

    assert ["past", "state", "rule"] == [note.layer for note in vault.snapshot().notes.values()]
    with pytest.raises(PastImmutable):
        vault.editing.edit(EditRequest("Day", title="Wet"))
    with pytest.raises(RuleUserOnly):
        vault.editing.edit(EditRequest("Tone", summary="short"))
    with pytest.raises(RuleUserOnly):
        vault.editing.edit(EditRequest("Plan", layer="rule"))
    with pytest.raises(RuleUserOnly):
        vault.editing.retire(RetireRequest("Tone", "no"))
    assert "applied" == vault.editing.edit(EditRequest("Day", tags=("rain",))).outcome


PATHS = st.sampled_from(["Plan.md", "a/Plan.md", "Fix.md", "Log.md"])
PROPERTIES = st.dictionaries(
    st.sampled_from(["amends", "superseded_by"]),
    st.sampled_from(['"[[Plan]]"', '"[[Fix]]"', "Plan", "Fix", "7", '"[[a/Plan]]"']),
    max_size=1,
) | st.sampled_from(
    [
        {"amend_kind": "corrects", "amends": '"[[Plan]]"'},
        {"amend_kind": "corrects", "amends": "Other name", "review": "pending"},
        {"valid_until": "2026-01-01"},
        {"title": "Other name"},
        {"aliases": "[Fix]"},
        {"id": 7},
        {"created": "2025-01-01"},
    ]
)
EDITS = st.tuples(PATHS, st.none() | PROPERTIES, st.booleans())


@settings(max_examples=25)
@example(
    [("Fix.md", {"amends": "Other name"}, True), ("Log.md", {}, True), ("Log.md", {"title": "Other name"}, True)]
)
@example([("Fix.md", {"amends": '"[[Log]]"'}, True), ("Log.md", {}, True), ("Log.md", None, True)])
@example(
    [("Fix.md", {"superseded_by": "Log"}, True), ("Log.md", {}, True), ("Log.md", {"review": "pending"}, True)]
)
@given(st.lists(EDITS, min_size=1, max_size=7))
def test_standings_that_followed_every_change_are_as_if_made_anew(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, dict[str, Any] | None, bool]]
) -> None:
    root = tmp_path_factory.mktemp("vault")
    vault = open_vault(root, flags={"model": "none"}, clock=lambda: NOW)
    try:
        for number, (path, properties, asked) in enumerate(edits):
            (root / path).unlink(missing_ok=True)
            if properties is not None:
                write(root, path, f"text {number}", **properties)
            vault.refresh()
            if not asked:
                continue
            found = vault.standing.find()
            fresh = Standing(vault.catalogue, vault.catalogue.load_snapshot, lambda: NOW).find()

            assert (fresh.amendments, fresh.fallen) == (found.amendments, found.fallen)
            assert fresh.snapshot == found.snapshot
    finally:
        vault.close(patient=False)


def test_a_note_that_went_after_a_failed_look_has_no_part_in_the_next(folder: Path, opening: OpenVault) -> None:
    write(folder, "Plan.md", "Go.", valid_until="2026-01-01")
    vault = opening(folder)
    vault.standing.find()
    write(folder, "Offer.md", "Buy.", valid_until="2026-01-01")
    vault.refresh()
    with closing(sqlite3.connect(vault.cache / "catalogue.sqlite")) as other:
        other.execute("ALTER TABLE links RENAME COLUMN property TO hidden")
        with pytest.raises(sqlite3.OperationalError):
            vault.standing.find()
        other.execute("ALTER TABLE links RENAME COLUMN hidden TO property")
    (folder / "Offer.md").unlink()
    vault.refresh()
    vault.standing.find()
    write(folder, "Rent.md", "Pay.", valid_until="2026-02-01")
    vault.refresh()

    assert ["Plan.md", "Rent.md"] == [*vault.standing.find().fallen]
