"""`curation_record` as a curator's client sees it, and that no other client sees it at all."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.conftest import OpenVault
from tests.server.conftest import Call, text_of
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.vault import Vault

pytestmark = pytest.mark.anyio
CLAY = "Studio/Clay body M-14.md"


@pytest.fixture
def vault(sample: Path, opening: OpenVault) -> Vault:
    owner = opening(sample, role="owner", connection="owner")
    owner.upkeep.flags.raise_flag(CLAY, "Is it still sold?")
    return opening(sample, role="curator", tools="full")


@pytest.mark.parametrize("role", ["reader", "agent", "curator"])
def test_only_a_curator_is_shown_the_tool_and_may_call_it(role: str) -> None:
    shown = "curation_record" in {spec.name for spec in find_tools("full", role)}

    assert (role == "curator") == shown == ("curation_record" in find_callable(role))


async def test_a_run_is_recorded_with_what_the_journal_says_to_it(call: Call, vault: Vault) -> None:
    (vault.root / "Bare.md").write_text("Nothing is said of it.\n", encoding="utf-8")
    vault.refresh()
    await call("edit", ref=CLAY, summary="The body we throw with.")

    answer = await call(
        "curation_record",
        kind="run_summary",
        body="Gave the clay a summary.",
        examined=[{"ref": CLAY, "checked": "no_summary", "found": "wrote one"}, "Home", "Bare"],
        started_at="2026-01-01",
        claimed={"edited": 2, "held": 0},
    )

    said = answer.structured_content
    assert "recorded" == said["outcome"]
    assert ["edited: claimed 2, the journal has 1 (changes made at once)"] == said["mismatches"]
    assert "the journal says otherwise:" in text_of(answer)
    lacks = ["untagged", "no_summary", "disconnected"]
    assert [("Bare.md", lacks)] == [(one["path"], one["reasons"]) for one in said["still_defective"]]
    assert "Bare (Bare.md): untagged, no_summary, disconnected" in text_of(answer)
    assert "wrote one" in (vault.root / said["file"]).read_text(encoding="utf-8")


async def test_a_flag_is_read_and_closed(call: Call, vault: Vault) -> None:
    before = text_of(await call("get", ref=CLAY))
    text = base64.b64encode(b"Asked: yes.").decode()
    closed = await call(
        "curation_record", kind="flag_resolution", ref=CLAY, resolution=text, body_encoding="base64"
    )

    assert "curation_flag, by the person" in before
    assert ("closed", "Is it still sold?", "Asked: yes.") == (
        closed.structured_content["outcome"],
        closed.structured_content["closed"]["comment"],
        closed.structured_content["closed"]["resolution"],
    )
    assert "curation_flag" not in text_of(await call("get", ref=CLAY))
    assert () == vault.upkeep.flags.find()


async def test_two_notes_are_remembered_as_two(call: Call, vault: Vault) -> None:
    done = await call("curation_record", kind="not_duplicates", ref=CLAY, other="Home", body="One is an index.")

    event = vault.transactor.stores.journal.read()[-1]
    assert [CLAY, "Home.md"] == [note["path"] for note in done.structured_content["two_notes"]]
    assert ("pair_rejected", "One is an index.") == (event.kind, event.reason)
    assert "offered again when the text of one changes" in text_of(done)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"kind": "question", "body": "x"}, "kind"),
        ({"kind": "run_summary"}, "body is empty"),
        ({"kind": "run_summary", "body": "w " * 61}, "has 61 words; at most 60"),
        ({"kind": "run_summary", "body": "x", "claimed": {"edits": 1}}, "It takes: edited, held, proposed"),
        ({"kind": "run_summary", "body": "x", "examined": ["Nowhere"]}, "UNKNOWN_NOTES"),
        ({"kind": "run_summary", "body": "x", "examined": [{"checked": "y"}]}, "examined.0.ref"),
        ({"kind": "run_summary", "body": "x", "resolution": "y"}, "kind: flag_resolution"),
        ({"kind": "flag_resolution", "resolution": "y"}, "ref is missing"),
        ({"kind": "not_duplicates", "ref": CLAY, "body": "y"}, "the second note"),
        ({"kind": "observation", "other": CLAY, "body": "y"}, "other goes with"),
        ({"kind": "not_duplicates", "ref": CLAY, "other": "Home"}, "body is empty"),
        ({"kind": "flag_resolution", "ref": CLAY}, "resolution is empty"),
        ({"kind": "flag_resolution", "ref": CLAY, "body": "y", "claimed": {}}, "claimed goes with"),
        ({"kind": "flag_resolution", "ref": "Home", "resolution": "y"}, "has no flag"),
    ],
)
async def test_what_cannot_be_recorded_is_refused_with_a_sentence(
    call: Call, arguments: dict[str, object], said: str
) -> None:
    answer = await call("curation_record", **arguments)

    assert answer.is_error
    assert said in text_of(answer)
