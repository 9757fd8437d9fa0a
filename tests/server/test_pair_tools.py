"""Pairs that may be duplicates as a curator's client sees them, by meaning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.conftest import Call, text_of
from tests.services.test_saving import BREAD, KILN, Opened
from tests.services.test_standing import write
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio
TWO = {"ref": "Log/Kiln trouble.md", "other": "Studio/Kiln.md"}


@pytest.fixture
def vault(folder: Path) -> Iterator[Vault]:
    write(folder, TWO["ref"], KILN.replace("nine hours", "ten hours"))
    write(folder, TWO["other"], KILN, layer="state")
    write(folder, "Kitchen/Bread.md", BREAD)
    near = {"duplicate": 0.1, "near": 0.2}
    opened = Opened(meaning=True)
    yield opened(folder, role="curator", tools="full", distances=near)
    for one in opened.vaults:
        one.close(patient=False)


async def test_a_pair_comes_with_its_distance_until_it_is_judged_and_its_notes_stay_the_same(
    call: Call, vault: Vault
) -> None:
    shown = await call("curation", view="duplicates")
    alias = await call("duplicate_candidates", max_distance=0.05)
    judged = await call("curation_record", kind="not_duplicates", body="One is the log of the other.", **TWO)
    after = await call("curation", view="duplicates")
    await call("edit", ref=TWO["ref"], patch=[{"append": "It tripped again."}])
    vault.meaning.embed_all()  # type: ignore[attr-defined]
    changed = (await call("curation", view="duplicates")).structured_content["duplicates"]

    found = shown.structured_content["duplicates"]
    (row,) = found["rows"]
    assert list(TWO.values()) == [row[name]["path"] for name in ("one", "other")]
    assert 0 < row["distance"] <= found["max_distance"] == 0.1
    assert f"1. distance {row['distance']:g}" in text_of(shown)
    assert not alias.is_error
    assert "remembered" == judged.structured_content["outcome"]
    assert (0, 1) == tuple(after.structured_content["duplicates"][name] for name in ("total", "rejected"))
    assert "1 left out: judged to be two notes, and unchanged since" in text_of(after)
    assert 1 == changed["total"]


async def test_notes_whose_passages_have_no_vector_yet_are_told_as_unsettled(call: Call, vault: Vault) -> None:
    write(vault.root, "New.md", KILN.replace("nine", "eight"))
    vault.refresh()

    answer = await call("curation", view="duplicates")

    assert 1 == answer.structured_content["duplicates"]["unsettled"]
    assert "unsettled: 1 passages are not compared yet" in text_of(answer)
