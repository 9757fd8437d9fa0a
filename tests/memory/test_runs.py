"""What a curator writes down: limits, the comparison with the journal, journal and file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.errors import InvalidArgument
from vault_memex.memory.runs import (
    CLAIMS,
    RUN_KINDS,
    Deed,
    Examined,
    RunRecord,
    check_claimed,
    check_examined,
    check_text,
    find_mismatches,
    find_run_path,
    parse_run,
    render_details,
    render_run,
)

AT = "2026-11-30T02:05:00.123Z"
DEEDS = (
    Deed("edited", "#1"),
    Deed("edited", "#1"),
    Deed("edited", "#2"),
    Deed("held", "proposal 4"),
    Deed("held", "proposal 4"),
)


def test_a_summary_of_sixty_words_is_taken_and_of_sixty_one_refused_with_the_count() -> None:
    check_text("run_summary", "word " * 60)

    with pytest.raises(InvalidArgument, match="has 61 words; at most 60") as caught:
        check_text("run_summary", "word\n" * 61)

    assert 61 == caught.value.fields["words"]


def test_an_observation_may_be_longer_but_not_empty() -> None:
    check_text("observation", "word " * 500)

    with pytest.raises(InvalidArgument, match="body is empty"):
        check_text("observation", " \n ")


@pytest.mark.parametrize(
    ("claimed", "mismatches"),
    [
        ({"edited": 3, "held": 2}, ()),
        ({"edited": 2, "held": 1}, ()),  # notes and proposals, not acts
        ({}, ()),
        ({"proposed": 0}, ()),
        ({"held": 0}, ("held: claimed 0, the journal has 1 to 2 (edits that wait)",)),
        (
            {"edited": 4, "proposed": 1},
            (
                "edited: claimed 4, the journal has 2 to 3 (changes made at once)",
                "proposed: claimed 1, the journal has 0 (reports, merges and deletions that wait)",
            ),
        ),
    ],
)
def test_claims_are_compared_number_by_number(claimed: Any, mismatches: tuple[str, ...]) -> None:
    assert mismatches == find_mismatches(claimed, DEEDS)


@pytest.mark.parametrize(
    ("claimed", "message"),
    [
        ({"edits": 1}, "claimed has no 'edits'. It takes: edited, held, proposed."),
        ({"held": 1001}, "claimed.held = 1001: write 0 to 1000."),
        ({"held": -1}, "claimed.held = -1: write 0 to 1000."),
    ],
)
def test_a_claim_of_nothing_countable_is_refused(claimed: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        check_claimed(claimed)

    assert message == caught.value.message


def test_sixty_notes_are_examined_each_once_with_findings_of_a_line() -> None:
    check_examined([Examined(f"{n}.md", "t") for n in range(60)])

    for examined, message in (
        ([Examined(f"{n}.md", "t") for n in range(61)], "61 notes; at most 60"),
        ([Examined("a.md", "t"), Examined("a.md", "t")], "names a.md twice"),
        ([Examined("a.md", "t", checked="x" * 501)], "checked has 501 characters"),
        ([Examined("a.md", "t", found="x" * 501)], "found has 501 characters"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            check_examined(examined)


TEXTS = st.text(max_size=30)
EXAMINED = st.builds(
    Examined, st.text(min_size=1, max_size=20), TEXTS, st.none() | st.integers(1, 99), TEXTS, TEXTS, st.booleans()
)
RECORDS = st.builds(
    RunRecord,
    kind=st.sampled_from(RUN_KINDS),
    by=st.text(min_size=1, max_size=20),
    at=st.just(AT),
    text=st.text(min_size=1),
    started_at=st.sampled_from(["", AT]),
    examined=st.lists(EXAMINED, max_size=3).map(tuple),
    claimed=st.none() | st.dictionaries(st.sampled_from(CLAIMS), st.integers(0, 1000)),
    mismatches=st.lists(TEXTS, max_size=2).map(tuple),
)


@given(RECORDS)
def test_the_journal_gives_back_what_was_recorded(record: RunRecord) -> None:
    details = json.loads(json.dumps(render_details(record)))

    assert record == parse_run(record.kind, record.by, record.at, details)


@given(RECORDS)
def test_the_file_is_one_place_and_its_properties_parse(record: RunRecord) -> None:
    path, front = find_run_path(record), split_frontmatter(render_run(record))

    assert path.startswith("_memex/runs/2026-11-30T0205Z-")
    assert path.count("/") == 2
    assert front.error is None
    assert record.kind == front.properties["kind"]


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"text": "x", "examined": 5},
        {"text": "x", "examined": [[1]]},
        {"text": "x", "claimed": {"edited": "no"}},
    ],
)
def test_a_damaged_record_is_none_and_stops_nothing(details: dict[str, Any]) -> None:
    assert parse_run("run_summary", "c", AT, details) is None


def test_an_event_of_another_kind_is_no_run() -> None:
    assert parse_run("changed", "c", AT, {"text": "x"}) is None


def test_the_file_reads_like_a_report() -> None:
    record = RunRecord(
        "run_summary",
        "claude code",
        AT,
        "Tidied the kitchen notes.",
        started_at="2026-11-30T01:50:00.000Z",
        examined=(Examined("Kitchen/Stove.md", "Stove", 7, "summary", "none; wrote one", True),),
        claimed={"edited": 2},
        mismatches=("edited: claimed 2, the journal has 1 (changes made at once)",),
    )

    assert "_memex/runs/2026-11-30T0205Z-claude-code-2.md" == find_run_path(record, copy=2)
    assert (
        "# Run summary by claude code\n\nTidied the kitchen notes.\n\n"
        "## Claimed, but not in the journal\n\n- edited: claimed 2, the journal has 1 (changes made at once)\n\n"
        "## Looked at\n\n- #7 [[Kitchen/Stove|Stove]] · summary: none; wrote one\n"
    ) == render_run(record).partition("---\n")[2].partition("---\n")[2].lstrip()
