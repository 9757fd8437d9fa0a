"""The file of a proposal holds it exactly, and what a person writes into it is understood."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.errors import FrontmatterInvalid
from vault_memex.memory.hunks import plan_hunks
from vault_memex.memory.proposal_file import parse_proposal, render_proposal
from vault_memex.memory.proposals import FieldChange, Proposal, check_fit

PIECES = (
    "red",
    " ",
    "\n",
    "\r\n",
    "\r",
    "%%",
    "```",
    "````\n",
    "New 1:\n",
    "---\n",
    "\u2028",
    "“é”",
    "🙂",
    "x" * 50,
)
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40
)
NAMES = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)
VALUES = st.none() | st.booleans() | st.integers(-9, 9) | HOSTILE | st.lists(HOSTILE, max_size=3)
FIELDS = st.builds(FieldChange, NAMES, VALUES, VALUES, st.booleans())
LINES = st.text(st.characters(categories=("L", "N", "P", "Zs")), max_size=30)
BASE = "# Plan\n\nWe meet on Monday. Bring cake.\n\n- red\n- blue\n"

PROPOSALS = st.builds(
    Proposal,
    number=st.integers(1, 99999),
    kind=st.sampled_from(("edit", "report", "delete")),
    path=NAMES.map(lambda name: f"Notes/{name}.md"),
    title=HOSTILE,
    by=LINES,
    created=st.just("2026-11-30T02:05:00.000Z"),
    updated=st.just("2026-11-30T02:05:00.000Z"),
    note_id=st.none() | st.integers(1, 999),
    base=st.just("0" * 32),
    body=st.none() | st.builds(plan_hunks, HOSTILE, HOSTILE),
    fields=st.lists(FIELDS, max_size=3).map(tuple),
    comment=HOSTILE,
    change_title=LINES,
    relink=st.booleans(),
    decision=st.sampled_from(("", "approve", "reject")),
    decision_comment=LINES,
    precedent=st.booleans(),
    problem=LINES,
)


@given(PROPOSALS)
def test_a_file_holds_its_proposal_exactly(proposal: Proposal) -> None:
    assert proposal == parse_proposal(render_proposal(proposal))


@given(PROPOSALS)
def test_line_endings_that_an_editor_changes_amend_nothing(proposal: Proposal) -> None:
    text = render_proposal(proposal)

    assert proposal == parse_proposal(text.replace("\r\n", "\n").replace("\n", "\r\n"))


def make_proposal() -> Proposal:
    changed = BASE.replace("Monday", "Tuesday").replace("- blue", "- green")
    return Proposal(
        31,
        "edit",
        "Plans/Meeting.md",
        "Meeting",
        "claude-code",
        "2026-11-30T02:05:00.000Z",
        "2026-11-30T02:05:00.000Z",
        note_id=142,
        base="0" * 32,
        body=plan_hunks(BASE, changed),
        fields=(FieldChange("summary", None, "When we meet."), FieldChange("tags", ["a"], ["a", "b"])),
        comment="Anna moved it.",
        change_title="The meeting moved",
    )


def test_a_person_reads_who_what_and_the_difference() -> None:
    text = render_proposal(make_proposal())

    assert "_memex/inbox/0031-edit-142.md" == make_proposal().file
    for part in (
        "decision: ",
        "by: claude-code",
        "note: 142",
        "# Change of [[Plans/Meeting|Meeting]]",
        "> Anna moved it.",
        "-We meet on Monday. Bring cake.",
        "+We meet on Tuesday. Bring cake.",
        "New 1:\n\n```text\nTuesday\n```",
        "New 3:\n\n```text\nWhen we meet.\n```",
        'New 4:\n\n```text\n["a", "b"]\n```',
    ):
        assert part in text


def test_a_text_changed_in_the_file_is_what_is_proposed_then() -> None:
    text = render_proposal(make_proposal())
    text = text.replace("```text\nTuesday\n```", "```text\nFriday\n```").replace('["a", "b"]', '["b"]')

    found = parse_proposal(text)

    assert found.amended
    assert found.body is not None
    assert ["Friday", "green"] == [hunk.new for hunk in found.body.hunks]
    assert ["When we meet.", ["b"]] == [one.new for one in found.fields]


@pytest.mark.parametrize("word", ["approve", " Reject ", "'approve'"])
def test_a_decision_is_read_as_people_write_it(word: str) -> None:
    text = render_proposal(make_proposal()).replace('decision: ""', f"decision: {word}", 1)

    assert word.strip(" '").lower() == parse_proposal(text).decision


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('decision: ""', "decision: perhaps", "Write approve or reject"),
        ("New 1:", "Neu 1:", "New 1:"),
        ('text\n["a", "b"]', "text\na, b", "JSON"),
        ("%% vault-memex", "%% vault", "program's line"),
        ('"kind": "edit"', '"kind": "wish"', "no kind of proposal"),
        ("proposal: 31", "proposal: [", "do not parse"),
    ],
)
def test_a_file_that_cannot_be_understood_says_why(old: str, new: str, said: str) -> None:
    text = render_proposal(make_proposal())
    assert old in text

    with pytest.raises(FrontmatterInvalid) as caught:
        parse_proposal(text.replace(old, new, 1))

    assert said in caught.value.message


def test_what_moved_on_is_told_and_the_rest_fits() -> None:
    proposal = make_proposal()
    present = BASE.replace("- blue", "- teal")

    fitting = check_fit(proposal, present, {"summary": "Another.", "tags": ["a"]}, {})

    assert fitting.body is not None
    assert present.replace("Monday", "Tuesday") == fitting.body.text
    assert ("tags",) == tuple(one.name for one in fitting.fields)
    assert ("'blue' → 'green'", "summary: is not 'None' any more") == fitting.describe_failed()
    assert (False, True) == (fitting.fits, fitting.applies)


def test_nothing_of_it_may_fit() -> None:
    proposal = replace(make_proposal(), fields=(), body=plan_hunks("one two", "three four"))

    fitting = check_fit(proposal, "one two three", {}, {})

    assert (False, False) == (fitting.fits, fitting.applies)
