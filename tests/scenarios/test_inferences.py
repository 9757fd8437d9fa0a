"""Inferences through a real vault: minted with the person's word, stale when a source moves on, never searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.scenarios.conftest import ThinkingVault, days_ago
from tests.scenarios.test_signals import write_arc
from vault_memex.errors import ConfirmationRequired, InvalidArgument, NotFound, RoleRequired, UnknownNotes
from vault_memex.memory.inferences import Draft, Inference, render_citation
from vault_memex.services.inferences import MintRequest
from vault_memex.services.requests import EditRequest, RetireRequest
from vault_memex.services.retrieval import SearchRequest

SECRET = "zwanzigtausend"  # a word of inferences that stands in no note


def mint(
    thinking: ThinkingVault,
    *refs: str,
    title: str = "The clay is the cause",
    from_signal: int | None = None,
    roles: Sequence[str] = (),
    **more: Any,
) -> Inference:
    fields = {"title": title, "summary": f"Heavy clay hurts the wrist, {SECRET}.", "confirmed": True, **more}
    evidence = [(ref, roles[i] if i < len(roles) else "source") for i, ref in enumerate(refs)]
    request = MintRequest(Draft(**fields), evidence, from_signal)
    return thinking.vault.inferences.mint(request).inference


def statuses(thinking: ThinkingVault) -> dict[int, str]:
    return {now.inference.number: now.inference.status for now in thinking.vault.inferences.find().inferences}


@pytest.fixture
def pair(thinking: ThinkingVault) -> ThinkingVault:
    """Two notes, indexed."""
    thinking.write("Clay.md", "The clay weighs twelve kilos.", tags="[clay]")
    thinking.write("Log/Wrist.md", "The wrist hurts on Mondays.", layer="past", created=days_ago(40))
    thinking.index()
    return thinking


def test_a_minted_inference_is_a_file_with_its_evidence_and_a_line_in_the_journal(pair: ThinkingVault) -> None:
    found = mint(pair, "Clay", "Log/Wrist.md", roles=["source", "supports"], confidence=0.78, model_id="m-1")
    text = pair.read("_memex/inferences/0001-the-clay-is-the-cause.md")

    assert [("Clay.md", "source"), ("Log/Wrist.md", "supports")] == [(e.path, e.role) for e in found.evidence]
    assert "The clay weighs twelve kilos." in text
    assert "minted_by: tester" in text
    assert "minted: Mint inference 1: The clay is the cause" == pair.events()[-1]
    assert "[Inference #1, conf 0.78, from notes #2, #1]" == render_citation(found)


def test_without_the_persons_word_nothing_is_written(pair: ThinkingVault) -> None:
    with pytest.raises(ConfirmationRequired):
        mint(pair, "Clay", confirmed=False)

    assert not (pair.root / "_memex").exists()


def test_unknown_evidence_is_named_and_nothing_is_written(pair: ThinkingVault) -> None:
    with pytest.raises(UnknownNotes) as caught:
        mint(pair, "Clay", "Nobody", "#99")

    assert ["Nobody", "#99"] == caught.value.fields["unknown"]
    assert not (pair.root / "_memex").exists()


def test_what_waits_for_approval_is_no_evidence(pair: ThinkingVault) -> None:
    pair.write("Draft.md", "Perhaps.", review="pending")
    pair.index()

    with pytest.raises(InvalidArgument, match="waits for approval"):
        mint(pair, "Draft")


@pytest.mark.parametrize(
    "fault", [{"title": " "}, {"summary": ""}, {"confidence": 1.5}, {"roles": ["proof"]}, {"refs": ()}]
)
def test_a_draft_that_lacks_something_names_it(pair: ThinkingVault, fault: dict[str, Any]) -> None:
    more = dict(fault)

    with pytest.raises(InvalidArgument):
        mint(pair, *more.pop("refs", ("Clay",)), **more)


def test_an_edit_of_a_source_makes_it_stale_and_undoing_the_edit_active_again(pair: ThinkingVault) -> None:
    mint(pair, "Clay", "Log/Wrist.md")
    path = "_memex/inferences/0001-the-clay-is-the-cause.md"
    before = statuses(pair)
    pair.replace("Clay.md", "twelve", "eight")
    stale = statuses(pair)
    stale_text = pair.read(path)
    pair.replace("Clay.md", "eight", "twelve")

    assert ({1: "active"}, {1: "stale"}, {1: "active"}) == (before, stale, statuses(pair))
    assert "status: stale" in stale_text
    assert "status: active" in pair.read(path)
    assert ["inferences: Inferences: 1 stale", "inferences: Inferences: 1 active"] == pair.events()[-2:]


def test_deleting_a_source_makes_it_stale_and_the_evidence_stays(pair: ThinkingVault) -> None:
    mint(pair, "Clay", "Log/Wrist.md")
    pair.vault.editing.retire(RetireRequest("Clay", "Moved out."))

    now = pair.vault.inferences.get(1)

    assert "stale" == now.inference.status
    assert ["deleted", "unchanged"] == [check.state for check in now.checks]
    assert "The clay weighs twelve kilos." == now.inference.evidence[0].excerpt


def test_tags_properties_line_endings_and_a_move_do_not_make_it_stale(pair: ThinkingVault) -> None:
    mint(pair, "Clay", "Log/Wrist.md")
    pair.vault.editing.edit(EditRequest("Clay", tags=("clay", "heavy"), properties={"kg": 12}))
    pair.vault.editing.edit(EditRequest("Clay", title="Clay body", folder="Studio"))
    file = pair.root / "Log/Wrist.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))

    assert {1: "active"} == statuses(pair)


def test_a_changed_source_shows_what_it_said_and_what_it_says(pair: ThinkingVault) -> None:
    mint(pair, "Clay")
    pair.replace("Clay.md", "twelve", "eight")

    (check,) = pair.vault.inferences.get(1).checks

    assert ("changed", "The clay weighs twelve kilos.", "The clay weighs eight kilos.") == (
        check.state,
        check.evidence.excerpt,
        check.current_excerpt,
    )


def test_an_archived_inference_is_never_touched_again(pair: ThinkingVault) -> None:
    mint(pair, "Clay")
    pair.vault.inferences.archive(1)
    text = pair.read("_memex/inferences/0001-the-clay-is-the-cause.md")
    pair.replace("Clay.md", "twelve", "eight")

    assert {1: "archived"} == statuses(pair)
    assert text == pair.read("_memex/inferences/0001-the-clay-is-the-cause.md")
    assert "archived: Archive inference 1: The clay is the cause" == pair.events()[-1]


def test_listing_by_status_gives_exactly_those_newest_first(pair: ThinkingVault) -> None:
    for number in range(3):
        mint(pair, "Clay" if number != 1 else "Log/Wrist.md", title=f"Thought {number}")
    pair.replace("Clay.md", "twelve", "eight")
    find = pair.vault.inferences.find

    assert [3, 1] == [now.inference.number for now in find("stale").inferences]
    assert [2] == [now.inference.number for now in find("active").inferences]
    assert [3, 2, 1] == [now.inference.number for now in find().inferences]
    with pytest.raises(InvalidArgument):
        find("rotten")


def test_minting_from_a_signal_takes_its_notes_and_marks_it(thinking: ThinkingVault) -> None:
    write_arc(thinking)
    (arc,) = thinking.signals()
    found = mint(thinking, from_signal=arc.number)

    assert [ref.path for ref in arc.notes] == [e.path for e in found.evidence]
    assert ["minted"] == [row.status for row in thinking.signals()]
    assert 1 == len([e for e in thinking.events() if e.startswith("minted")])


def test_minting_again_from_the_same_signal_archives_the_older_inference(thinking: ThinkingVault) -> None:
    write_arc(thinking)
    (arc,) = thinking.signals()
    mint(thinking, from_signal=arc.number)
    mint(thinking, from_signal=arc.number, title="Rowing helps")

    assert {2: "active", 1: "archived"} == statuses(thinking)
    assert 2 == thinking.vault.inferences.get(1).inference.superseded_by


def test_a_number_is_not_used_again_when_the_last_file_was_deleted(pair: ThinkingVault) -> None:
    mint(pair, "Clay")
    (pair.root / "_memex/inferences/0001-the-clay-is-the-cause.md").unlink()

    assert 2 == mint(pair, "Clay").number


def test_search_and_get_never_find_one(pair: ThinkingVault) -> None:
    mint(pair, "Clay")
    pair.index()

    assert 0 == pair.vault.retrieval.search(SearchRequest(SECRET, mode="exact")).total
    assert [] == [
        r for r in pair.vault.retrieval.search(SearchRequest(SECRET)).rows if r.path.startswith("_memex")
    ]
    with pytest.raises(NotFound):
        pair.vault.reading.find_note("The clay is the cause")


def test_a_file_that_cannot_be_read_is_named_and_hides_no_other(pair: ThinkingVault) -> None:
    mint(pair, "Clay")
    pair.write("_memex/inferences/0002-broken.md", "no frontmatter")
    pair.write(
        "_memex/inferences/0003-odd.md",
        "x",
        inference=3,
        title="Odd",
        status="active",
        evidence='[{path: "../../etc/passwd", hash: "0"}]',
    )

    found = pair.vault.inferences.find()

    assert {1: "active", 3: "stale"} == {now.inference.number: now.inference.status for now in found.inferences}
    assert found.notes[0].startswith("_memex/inferences/0002-broken.md: The inference cannot be read")
    assert 4 == mint(pair, "Clay").number


def test_a_reader_sees_what_is_stale_and_writes_nothing(pair: ThinkingVault) -> None:
    mint(pair, "Clay")
    pair.replace("Clay.md", "twelve", "eight")
    pair.reopen(role="reader")
    pair.index()

    assert {1: "stale"} == statuses(pair)
    assert "status: active" in pair.read("_memex/inferences/0001-the-clay-is-the-cause.md")
    for refused in (lambda: mint(pair, "Clay"), lambda: pair.vault.inferences.archive(1)):
        with pytest.raises(RoleRequired):
            refused()


def test_what_waits_is_counted_without_looking_for_anything(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]] and [[Other]]")
    thinking.signals()
    mint(thinking, "a")
    thinking.replace("a.md", "and", "or")
    before = (thinking.vault.signals.count_new(), thinking.vault.inferences.count_stale())
    thinking.vault.inferences.find()

    assert ((2, 0), (2, 1)) == (
        before,
        (thinking.vault.signals.count_new(), thinking.vault.inferences.count_stale()),
    )
