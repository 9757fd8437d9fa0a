"""Hypotheses: minted only when confirmed, held by the text of their sources."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.notes import note
from vault_memex.errors import ConfirmationRequired, FrontmatterInvalid, InvalidArgument, NotFound
from vault_memex.memory.inference_file import parse_inference, plan_status, render_inference
from vault_memex.memory.inferences import (
    EVIDENCE_ROLES,
    INFERENCE_STATUSES,
    Draft,
    Evidence,
    Inference,
    archive_inference,
    body_hash,
    build_evidence,
    build_inference,
    check_evidence,
    find_excerpt,
    find_inferences,
    find_status,
    find_superseded,
    get_inference,
    render_citation,
    render_slug,
)

NOW, LATER = "2026-11-30T10:00:00Z", "2026-12-01T10:00:00Z"
BODIES = {"Health/Physio.md": "# Physio\n\nPressure on the nerve.\n", "Log/market.md": "The wrist is bad again.\n"}
PHYSIO = note("Health/Physio.md", 12)
MARKET = note("Log/market.md", 34)
DRAFT = Draft("The wheel hurts the wrist", "It is worse after throwing.", confirmed=True, confidence=0.78)


def minted(number: int = 7, **options: Any) -> Inference:
    evidence = [
        build_evidence(PHYSIO, BODIES[PHYSIO.path]),
        build_evidence(MARKET, BODIES[MARKET.path], "supports"),
    ]
    return build_inference(DRAFT, number, evidence, NOW, **options)


def status_with(bodies: dict[str, str], inference: Inference | None = None) -> tuple[str, list[str]]:
    one = inference or minted()
    checks = check_evidence(one, lambda evidence: bodies.get(evidence.path))
    return find_status(one, checks), [check.state for check in checks]


FILE = """\
---
inference: 7
title: The wheel hurts the wrist
status: active
confidence: 0.78
from_signal: 3
model_id: m-1
minted_by: claude
created: 2026-11-30T10:00:00Z
updated: 2026-11-30T10:00:00Z
evidence:
  - path: Health/Physio.md
    note: 12
    title: Physio
    role: source
    hash: {one}
    excerpt: Physio Pressure on the nerve.
  - path: Log/market.md
    note: 34
    title: market
    role: supports
    hash: {two}
    excerpt: The wrist is bad again.
---
# The wheel hurts the wrist

It is worse after throwing.

## Sources

- [[Health/Physio|#12 Physio]] (source)
  > Physio Pressure on the nerve.

- [[Log/market|#34 market]] (supports)
  > The wrist is bad again.
"""


def test_the_file_reads_well_in_obsidian() -> None:
    inference = replace(minted(from_signal=3, minted_by="claude"), model_id="m-1")
    one, two = (body_hash(body) for body in BODIES.values())

    assert FILE.format(one=one, two=two) == render_inference(inference)
    assert "_memex/inferences/0007-the-wheel-hurts-the-wrist.md" == inference.path
    assert inference == parse_inference(render_inference(inference))


def test_unchanged_sources_leave_it_active() -> None:
    assert ("active", ["unchanged", "unchanged"]) == status_with(BODIES)


def test_an_edited_source_makes_it_stale_and_a_revert_active_again() -> None:
    edited = {**BODIES, "Log/market.md": "The wrist is fine."}
    stale = replace(minted(), status="stale")

    assert ("stale", ["unchanged", "changed"]) == status_with(edited)
    assert ("active", ["unchanged", "unchanged"]) == status_with(BODIES, stale)


def test_a_deleted_source_makes_it_stale_and_its_excerpt_stays() -> None:
    left = {"Health/Physio.md": BODIES["Health/Physio.md"]}

    assert ("stale", ["unchanged", "deleted"]) == status_with(left)
    assert "The wrist is bad again." == minted().evidence[1].excerpt


def test_an_archived_one_is_not_touched() -> None:
    archived = archive_inference(minted(), LATER, superseded_by=8)

    assert "archived" == status_with({}, archived)[0]
    assert (LATER, 8) == (archived.updated, archived.superseded_by)


def test_line_endings_do_not_make_it_stale_and_spaces_do() -> None:
    assert body_hash("a\nb\n") == body_hash("a\r\nb\r\n") == body_hash("a\rb\r")
    assert body_hash("a\nb\n") != body_hash("a\nb")
    assert 64 == len(body_hash("\ud800"))


def test_a_changed_source_shows_how_it_begins_now() -> None:
    checks = check_evidence(
        minted(), lambda evidence: "# Other\ntext" if evidence.note_id == 34 else BODIES[evidence.path]
    )

    assert ["", "Other text"] == [check.current_excerpt for check in checks]


@pytest.mark.parametrize("confirmed", [False, None, 1, "true"])
def test_without_confirmation_there_is_no_inference(confirmed: Any) -> None:
    with pytest.raises(ConfirmationRequired, match="Nothing was written"):
        build_inference(replace(DRAFT, confirmed=confirmed), 1, minted().evidence, NOW)


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"title": " "}, "title"),
        ({"title": "x" * 501}, "title"),
        ({"summary": "\n"}, "summary"),
        ({"summary": "x" * 5001}, "summary"),
        ({"confidence": 1.2}, "confidence"),
        ({"confidence": -0.1}, "confidence"),
    ],
)
def test_what_is_missing_or_out_of_range_is_named(change: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        build_inference(replace(DRAFT, **change), 1, minted().evidence, NOW)

    assert argument == caught.value.argument


def test_it_needs_evidence_and_counts_a_note_once() -> None:
    with pytest.raises(InvalidArgument, match="evidence"):
        build_inference(DRAFT, 1, [], NOW)

    assert 2 == len(build_inference(DRAFT, 1, [*minted().evidence, *minted().evidence], NOW).evidence)


def test_pending_notes_and_other_roles_are_refused_as_evidence() -> None:
    with pytest.raises(InvalidArgument, match="waits"):
        build_evidence(note("p.md", properties={"review": "pending"}), "x")
    with pytest.raises(InvalidArgument, match="role"):
        build_evidence(PHYSIO, "x", "proof")


def test_an_excerpt_is_one_line_of_at_most_280_characters_cut_at_a_word() -> None:
    assert "Title > quoted text" == find_excerpt("# Title >\n> quoted   text\n")
    long = find_excerpt("word " * 100)
    assert long.endswith("word…")
    assert 270 < len(long) <= 280
    assert 280 == len(find_excerpt("長" * 500))


def test_lists_are_newest_first_and_by_status_exactly() -> None:
    active, stale = minted(1), replace(minted(2), status="stale", created=LATER)
    archived = archive_inference(minted(3), LATER)
    everything = [active, stale, archived]

    assert [2, 3, 1] == [i.number for i in find_inferences(everything)]
    assert [2] == [i.number for i in find_inferences(everything, "stale")]
    assert 3 == get_inference(everything, 3).number
    with pytest.raises(NotFound, match="9"):
        get_inference(everything, 9)
    with pytest.raises(InvalidArgument, match="active, stale, archived"):
        find_inferences(everything, "old")


def test_a_new_inference_from_the_same_signal_replaces_the_old_one() -> None:
    mine = minted(1, from_signal=3)
    gone = archive_inference(minted(2, from_signal=3), NOW)
    other = minted(3, from_signal=4)

    assert (mine,) == find_superseded([mine, gone, other, minted(4)], 3)
    assert () == find_superseded([minted(4)], None)


def test_the_citation_names_number_confidence_and_notes() -> None:
    inference = minted(42)
    checks = check_evidence(inference, lambda evidence: None)

    assert "[Inference #42, conf 0.78, from notes #12, #34]" == render_citation(inference)
    assert "[Inference #42, conf 0.78, STALE, from notes #12, #34]" == render_citation(inference, checks)
    assert "[Inference #42, from notes [[x]]]" == render_citation(
        replace(inference, confidence=None, evidence=(replace(inference.evidence[0], note_id=None, title="x"),))
    )


def test_a_status_changes_alone_and_the_rest_of_the_file_stays() -> None:
    text = render_inference(minted()).replace("It is worse", "<!-- mine -->\nIt is often worse")

    stale = plan_status(text, "stale", LATER)

    assert text.replace("status: active", "status: stale").replace(f"updated: {NOW}", f"updated: {LATER}") == stale
    assert stale == plan_status(stale, "stale", "2027-01-01T00:00:00Z")
    assert 9 == parse_inference(plan_status(stale, "archived", LATER, superseded_by=9)).superseded_by
    assert "<!-- mine -->\nIt is often worse after throwing." == parse_inference(stale).summary


def test_a_summary_that_looks_like_the_end_of_the_summary_is_kept() -> None:
    draft = replace(DRAFT, summary="Before\n\n## Sources\n\nafter")
    inference = build_inference(draft, 1, minted().evidence, NOW)

    assert "after" in parse_inference(render_inference(inference)).summary


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("inference: 7", "inference: seven"),
        ("status: active", "status: sure"),
        ("title: The", "titel: The"),
        ("  - path: Health/Physio.md", "  - place: Health/Physio.md"),
        ("status: active", "status: [active"),
        ("  - path: Health/Physio.md\n    note: 12", "  - Physio\n  - path: Health/Physio.md\n    note: 12"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(old: str, new: str) -> None:
    with pytest.raises(FrontmatterInvalid, match="cannot be read"):
        parse_inference(render_inference(minted()).replace(old, new))


def test_a_summary_may_stand_without_heading_and_sources() -> None:
    text = render_inference(minted())
    bare = text[: text.index("# The wheel")] + "Just this.\r\n"

    assert "Just this." == parse_inference(bare).summary


def test_slugs_keep_every_script() -> None:
    assert ["the-wheel-2", "глина-и-вода", "청자-유약", "untitled"] == [
        render_slug(title) for title in ("The wheel, 2!", "Глина и вода", "청자 유약", "?!")
    ]


LINES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=30)
TEXT = LINES.map(lambda text: " ".join(text.split())).filter(bool)
EVIDENCE = st.builds(
    Evidence,
    path=TEXT,
    note_id=st.none() | st.integers(1, 999),
    title=TEXT,
    role=st.sampled_from(EVIDENCE_ROLES),
    hash=st.text("0123456789abcdef", min_size=64, max_size=64),
    excerpt=TEXT,
)


@given(
    st.builds(
        Inference,
        number=st.integers(1, 9999),
        title=TEXT,
        summary=st.lists(TEXT.filter(lambda t: not t.startswith("#")), min_size=1, max_size=3).map("\n\n".join),
        status=st.sampled_from(INFERENCE_STATUSES),
        evidence=st.lists(EVIDENCE, min_size=1, max_size=3).map(tuple),
        created=st.just(NOW),
        updated=st.just(LATER),
        confidence=st.none() | st.floats(0, 1),
        from_signal=st.none() | st.integers(1, 99),
        model_id=st.just("") | TEXT,
        minted_by=st.just("") | TEXT,
        superseded_by=st.none() | st.integers(1, 99),
    )
)
def test_what_is_written_is_read(inference: Inference) -> None:
    assert inference == parse_inference(render_inference(inference))
