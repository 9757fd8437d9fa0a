"""Flashbacks on save and search: what surfaces, what it is called, and that it is remembered once."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import pytest

from tests.services.test_saving import BREAD, KILN, Opened, both, measured
from tests.services.test_standing import write
from vault_memex.services.history import ChangesRequest
from vault_memex.services.reading import ReadRequest
from vault_memex.services.requests import EditRequest, RetireRequest, SaveRequest
from vault_memex.services.retrieval import SearchRequest
from vault_memex.vault import Vault

__all__ = ["both", "measured"]  # fixtures

OLD = KILN.replace("nine hours", "all night")
DRAFT = f"{KILN} It rained."


@pytest.fixture
def diary(folder: Path) -> Path:
    """An old note about a kiln, and one about bread."""
    write(folder, "House/Breaker.md", OLD, created="2026-07-29")
    write(folder, "Kitchen/Bread.md", BREAD, created="2020-01-01")
    return folder


@pytest.fixture
def full_diary(diary: Path) -> Path:
    """The same with an old note in the folder of the new one, and a young one elsewhere."""
    write(diary, "Studio/Element.md", OLD.replace("Leipzig", "Jena"), created="2026-07-29")
    write(diary, "Boat/Kiln.md", OLD.replace("Leipzig", "Riga"), created="2026-11-01")
    return diary


def save(vault: Vault, **more: object) -> list[str]:
    request = SaveRequest(title="Firing", body=DRAFT, layer="past", folder="Studio", allow_duplicate=True, **more)
    return [flashback.path for flashback in vault.editing.save(request).flashbacks]


def events_of(root: Path) -> list[dict[str, object]]:
    lines = [
        line for file in sorted(root.glob(".memex/journal/*.jsonl")) for line in file.read_text().splitlines()
    ]
    return [event for event in map(json.loads, lines) if event["kind"] == "flashback"]


def test_an_old_note_of_another_folder_surfaces_on_save_with_its_age(diary: Path, both: Opened) -> None:
    answer = both(diary).editing.save(SaveRequest("Firing", DRAFT, "past", folder="Studio", allow_duplicate=True))

    (flashback,) = answer.flashbacks
    assert ("House/Breaker.md", 124) == (flashback.path, flashback.days)
    assert (flashback.percent is not None and flashback.percent > 90) == both.meaning
    assert flashback.note_id is not None


def test_the_best_hit_of_a_search_brings_its_flashbacks_and_nothing_else_does(diary: Path, both: Opened) -> None:
    write(diary, "Studio/Firing.md", DRAFT, created="2026-11-29", aliases="[firing diary]")
    vault = both(diary)

    def found(query: str, **more: object) -> list[str]:
        request = SearchRequest(**{"query": query, "flashbacks": True, **more})
        return [flashback.path for flashback in vault.retrieval.search(request).flashbacks]

    assert ["House/Breaker.md"] == found("firing diary")
    assert [] == found("firing diary", flashbacks=False)
    assert [] == found("firing diary", mode="strict")
    assert [] == found("firing diary", offset=1)
    assert [] == found("")


def test_linked_superseded_rule_skill_and_pending_notes_do_not_surface(folder: Path, both: Opened) -> None:
    old = {"created": "2026-01-01"}
    write(folder, "a/Linked.md", OLD, **old)
    write(folder, "b/Linking.md", f"{OLD} [[Firing]]", **old)
    write(folder, "c/Wrong.md", OLD, **old)
    write(folder, "c/Right.md", BREAD, amends="Wrong", amend_kind="corrects")
    write(folder, "d/Rule.md", OLD, layer="rule", **old)
    write(folder, "e/Skill.md", OLD, tags="[skill]", **old)
    write(folder, "f/Pending.md", OLD, review="pending", **old)
    vault = both(folder)

    answer = vault.editing.save(
        SaveRequest("Firing", f"{DRAFT} [[Linked]]", "past", folder="Studio", allow_duplicate=True)
    )

    assert () == answer.flashbacks


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("MEMEX_FLASHBACK_DAYS", "125", []),
        ("MEMEX_FLASHBACK_DAYS", "20", ["Boat/Kiln.md", "House/Breaker.md"]),
        ("MEMEX_FLASHBACK_LIMIT", "0", []),
        ("MEMEX_FLASHBACK_DIST", "0", []),
        ("MEMEX_FLASHBACK_DIST", "2", ["House/Breaker.md", "Kitchen/Bread.md"]),
    ],
)
def test_the_three_variables_decide(
    full_diary: Path,
    measured: Opened,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    expected: list[str],
) -> None:
    monkeypatch.setenv(variable, value)

    assert expected == sorted(save(measured(full_diary)))


def test_a_value_that_cannot_be_used_is_warned_of_and_the_default_stays(
    full_diary: Path, measured: Opened, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MEMEX_FLASHBACK_DAYS", "soon")
    monkeypatch.setenv("MEMEX_FLASHBACK_DIST", "-1")
    monkeypatch.setenv("MEMEX_DUPLICATE_DIST", "near")
    with caplog.at_level(logging.WARNING):
        found = save(measured(full_diary))

    assert ["House/Breaker.md"] == found
    for name in ("MEMEX_FLASHBACK_DAYS", "MEMEX_FLASHBACK_DIST", "MEMEX_DUPLICATE_DIST"):
        assert name in caplog.text


# -- remembering


def test_a_pair_is_journalled_once_and_shown_on_get_and_is_no_change(diary: Path, both: Opened) -> None:
    vault = both(diary)
    save(vault)
    for _ in range(2):
        vault.retrieval.search(SearchRequest("Firing", flashbacks=True))
    anchor = vault.snapshot().notes["Studio/Firing.md"]
    other = vault.snapshot().notes["House/Breaker.md"]

    (event,) = events_of(diary)
    assert (anchor.note_id, "tester") == (event["note_id"], event["actor"])
    assert other.note_id == event["details"]["note_id"]
    assert (f"Studio/Firing.md (#{anchor.note_id})",) == vault.reading.get("Breaker", ReadRequest()).surfaced_in
    assert ["added"] == [row.kind for row in vault.history.find_changes(ChangesRequest()).rows]


def test_what_surfaced_survives_renames_restarts_and_the_loss_of_the_cache(diary: Path, both: Opened) -> None:
    vault = both(diary)
    save(vault)
    vault.editing.edit(EditRequest("Studio/Firing", folder="Trip"))
    vault.close(patient=False)
    shutil.rmtree(vault.cache)
    again = both(diary)

    number = again.snapshot().notes["Trip/Firing.md"].note_id
    assert (f"Trip/Firing.md (#{number})",) == again.reading.get("Breaker", ReadRequest()).surfaced_in


def test_an_anchor_that_was_deleted_is_not_shown(diary: Path, both: Opened) -> None:
    vault = both(diary)
    save(vault)
    vault.editing.retire(RetireRequest("Studio/Firing", "a test"))

    assert () == vault.reading.get("Breaker", ReadRequest()).surfaced_in


@pytest.mark.parametrize("role", ["agent", "reader"])
def test_a_search_writes_nothing_into_a_vault_that_was_never_written_but_remembers(
    diary: Path, both: Opened, role: str
) -> None:
    write(diary, "Studio/Firing.md", DRAFT, created="2026-11-29")
    vault = both(diary, role=role)
    vault.retrieval.search(SearchRequest("Firing", flashbacks=True))

    assert not (diary / ".memex").exists()
    assert ("Studio/Firing.md",) == vault.reading.get("Breaker", ReadRequest()).surfaced_in


def test_what_was_remembered_before_the_first_write_is_journalled_when_it_comes_up_again(
    diary: Path, both: Opened
) -> None:
    write(diary, "Studio/Firing.md", DRAFT, created="2026-11-29")
    vault = both(diary)
    vault.retrieval.search(SearchRequest("Firing", flashbacks=True))
    vault.editing.edit(EditRequest("Bread", summary="bread"))
    vault.retrieval.search(SearchRequest("Firing", flashbacks=True))

    assert 1 == len(events_of(diary))
    assert 1 == len(vault.reading.get("Breaker", ReadRequest()).surfaced_in)


def test_what_another_process_journalled_is_seen(diary: Path, both: Opened) -> None:
    first, second = both(diary), both(diary)
    second.reading.get("Breaker", ReadRequest())
    save(first)

    assert 1 == len(second.reading.get("Breaker", ReadRequest()).surfaced_in)
    second.retrieval.search(SearchRequest("Firing", flashbacks=True))
    assert 1 == len(events_of(diary))
