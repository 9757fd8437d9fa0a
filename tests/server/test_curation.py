"""The tool `curation` through a client in both eras of the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import OpenVault
from tests.server.conftest import Call, text_of
from vault_memex.server.curation_texts import render_queue
from vault_memex.server.tools import find_tools
from vault_memex.services.curation import QueueRequest
from vault_memex.services.requests import EditRequest
from vault_memex.services.runs import Finding, RunRequest
from vault_memex.vault import Vault

CLAY = "Clay body M-14"


@pytest.fixture
def vault(sample: Path, opening: OpenVault) -> Vault:
    return opening(sample, role="curator", tools="full")


@pytest.mark.anyio
async def test_a_run_takes_a_batch_reads_it_and_ends(call: Call, vault: Vault, opening: OpenVault) -> None:
    owner = opening(vault.root, role="owner", connection="owner")
    owner.upkeep.flags.raise_flag(CLAY, "Is it still sold?")

    batch = await call("curation", limit=2)
    said = batch.structured_content["candidates"]
    first = said["rows"][0]
    rest = [row["path"] for row in said["rows"]]

    assert (CLAY, "Is it still sold?", "operator_flag") == (first["title"], first["flag"], first["reasons"][0])
    assert "Held for you until" in text_of(batch)
    assert "flagged 2" in text_of(batch)
    other = opening(vault.root, role="curator", connection="second")
    assert 2 == other.upkeep.curation.find_queue(_all()).leased_elsewhere
    await call("curation_record", kind="run_summary", body="Read two.", examined=rest)
    assert 0 == other.upkeep.curation.find_queue(_all()).leased_elsewhere
    last = (await call("curation", view="last_curated", note_ids=[first["note_id"]])).structured_content
    assert [CLAY] == [row["title"] for row in last["last_curated"]["rows"]]


def _all() -> QueueRequest:
    return QueueRequest(limit=1)


@pytest.mark.anyio
async def test_each_view_says_the_same_as_text_and_as_value(call: Call, vault: Vault) -> None:
    vault.editing.edit(EditRequest("Home", summary="Where things are."))

    enrichment = await call("curation", view="enrichment", limit=3)
    blast = await call("curation", view="blast_radius", days=365)
    pairs = await call("curation", view="duplicates")
    last = await call("curation", view="last_curated")

    assert [
        row["title"] in text_of(enrichment) for row in enrichment.structured_content["enrichment"]["rows"]
    ] == [True] * 3
    assert "more: offset=3" in text_of(enrichment)
    assert text_of(blast).startswith(f"{blast.structured_content['blast_radius']['returned']} of ")
    assert "unavailable: semantic" in text_of(pairs)
    assert pairs.structured_content["duplicates"]["unavailable"]
    assert last.structured_content["last_curated"]["due"]
    assert "due: yes" in text_of(last)
    assert "never looked at" in text_of(last)


def test_an_empty_queue_says_that_there_is_nothing_to_do(folder: Path, opening: OpenVault) -> None:
    (folder / "Sleep.md").write_text("---\ntags: [x]\nsummary: Short.\n---\nSee [[Rest]].\n", encoding="utf-8")
    (folder / "Rest.md").write_text("---\ntags: [x]\nsummary: Short.\n---\nx\n", encoding="utf-8")
    vault = opening(folder, role="curator")
    findings = (Finding("Sleep"), Finding("Rest"))
    vault.upkeep.runs.record(RunRequest("run_summary", "Read both.", examined=findings))

    answer = vault.upkeep.curation.find_queue(QueueRequest())

    assert (0, "Nothing needs attention.") == (answer.total, render_queue(answer))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"reason": "boring"}, "operator_flag, untagged"),
        ({"view": "queue"}, "candidates: the queue"),
        ({"view": "enrichment", "reason": "untagged"}, "reason goes with view: candidates"),
        ({"view": "last_curated", "limit": 3}, "limit goes with"),
        ({"view": "blast_radius", "since_days": 0}, "write 1 to 365"),
        ({"view": "blast_radius", "refs": ["Nowhere"]}, "UNKNOWN_NOTES"),
        ({"stale_days": 3651}, "write 1 to 3650"),
        ({"cooldown_days": 366}, "write 0 to 365"),
        ({"limit": 101}, "write 1 to 100"),
    ],
)
@pytest.mark.anyio
async def test_what_cannot_be_asked_is_refused_with_what_can(
    call: Call, arguments: dict[str, object], said: str
) -> None:
    answer = await call("curation", **arguments)

    assert answer.is_error
    assert said in text_of(answer)


@pytest.mark.parametrize(("role", "pairs"), [("reader", False), ("agent", False), ("curator", True)])
def test_every_role_may_read_the_queue(role: str, pairs: bool, sample: Path, opening: OpenVault) -> None:
    assert "curation" in {spec.name for spec in find_tools("core,curation", role)}
    assert pairs == ("curation_record" in {spec.name for spec in find_tools("core,curation", role)})
