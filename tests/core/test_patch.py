from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.core.golden import Case, read_cases
from tests.core.patch_bytes import HOME, LOG, PATCH_BYTES
from tests.timing import cpu_seconds
from vault_memex.core.frontmatter import split_fences
from vault_memex.core.markdown import parse_note
from vault_memex.core.patch import PatchPlan, parse_patch, plan_body, plan_pairs, plan_patch
from vault_memex.core.property_edit import plan_properties
from vault_memex.core.sections import resolve_section
from vault_memex.core.text import Span
from vault_memex.errors import AnchorNotFound, AnchorNotUnique, InvalidArgument, MemexError, PatchNoop

GOLDEN = [*read_cases("sections.md"), *read_cases("text.md")]


def run(case: Case) -> str:
    if "patch" in case.operation:
        return plan_patch(case.note, parse_patch(case.operation["patch"])).text
    if "body" in case.operation:
        return plan_body(case.note, case.operation["body"])
    return plan_properties(case.note, case.operation["properties"])


@pytest.mark.parametrize("case", GOLDEN, ids=[case.title for case in GOLDEN])
def test_golden_case(case: Case) -> None:
    if case.error is None:
        assert case.result == run(case)
        return
    code, words = case.error
    with pytest.raises(MemexError) as caught:
        run(case)

    assert code == caught.value.code
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("text", "raw", "expected"), [case[1:] for case in PATCH_BYTES], ids=[c[0] for c in PATCH_BYTES]
)
def test_bytes_that_markdown_does_not_show(text: str, raw: list[dict[str, Any]], expected: str) -> None:
    if expected.isupper() and "_" in expected:
        with pytest.raises(MemexError) as caught:
            plan_patch(text, parse_patch(raw))
        assert expected == caught.value.code
    else:
        assert expected == plan_patch(text, parse_patch(raw)).text


def test_a_value_in_a_crlf_file_changes_alone() -> None:
    assert LOG.replace("state", "past") == plan_properties(LOG, {"layer": "past"})


def test_a_copied_reading_matches_the_file() -> None:
    body = LOG[LOG.index("# Log") :]

    assert (
        body.replace("two", "2")
        in plan_patch(LOG, parse_patch([{"find": body, "replace": body.replace("two", "2")}])).text
    )


def test_a_new_body_takes_the_files_line_endings_and_its_last_one() -> None:
    head = LOG[: LOG.index("# Log")]

    assert head + "a\r\nb\r\n" == plan_body(LOG, "a\nb")
    assert "a\nb" == plan_body(HOME, "a\r\nb")
    assert "---\na: 1\n---\nb" == plan_body("---\na: 1\n---", "b")


@pytest.mark.parametrize(
    ("raw", "operation", "field", "words"),
    [
        ([{"find": "a", "replace": "b", "colour": "red"}], 1, "colour", "unknown field `colour`"),
        ([{"append": "x"}, {"find": "a"}], 2, "replace", "`replace` is missing"),
        ([{"find": "a", "replace": None}], 1, "replace", "`replace` is missing"),
        ([{"find": 3, "replace": "b"}], 1, "find", "is a text, not int"),
        ([{"find": "x" * 20_001, "replace": "b"}], 1, "find", "20000 at most"),
        ([{"find": "a", "replace": "b", "count": 0}], 1, "count", "from 1"),
        ([{"find": "a", "replace": "b", "count": True}], 1, "count", "from 1"),
        ([{"find": "a", "replace": "b", "count": "2"}], 1, "count", "from 1"),
        ([{"append": "a", "count": 2}], 1, "count", "goes with `find`"),
        ([{"append": "a", "prepend": "b"}], 1, "prepend", "two operations"),
        ([{"append": "a", "replace": "b"}], 1, "replace", "two operations"),
        ([{"append": " \n"}], 1, "append", "no text"),
        ([{"before": "a"}], 1, "section", "`before` needs `section`"),
        ([{"replace": "a"}], 1, "section", "`find` or `section`"),
        ([{"section": "A"}], 1, "", "nothing to do"),
        ([{"section": "A", "replace": "x", "subsections": "no"}], 1, "subsections", "true or false"),
        ([{"section": "A", "append": "x", "subsections": False}], 1, "subsections", "goes with"),
        ([{"section": " ", "append": "x"}], 1, "section", "heading text"),
        ([{"section": [], "append": "x"}], 1, "section", "heading text"),
        ([{"section": 3, "append": "x"}], 1, "section", "heading text"),
        ([{"find": "a", "old_str": "a", "replace": "b"}], 1, "find", "two names"),
        (["append"], 1, "", "not an object"),
        ([], None, None, "0 operations"),
        ([{"append": "x"}] * 51, None, None, "51 operations"),
        ({"append": "x"}, None, None, "a list of operations"),
        ("not json", None, None, "no JSON"),
        ("3", None, None, "a list of operations"),
    ],
)  # fmt: skip
def test_a_patch_that_makes_no_sense_names_operation_and_field(
    raw: Any, operation: int | None, field: str | None, words: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_patch(raw)

    assert words in caught.value.message
    assert "patch" == caught.value.argument
    assert operation == caught.value.fields.get("operation")
    assert field == caught.value.fields.get("field")


def test_other_names_and_a_list_as_text_are_understood() -> None:
    plain = parse_patch([{"find": "a", "replace": "b"}, {"append": "c", "section": ["A", "B"], "find": None}])

    assert plain == parse_patch([{"old_str": "a", "new_string": "b"}, {"append": "c", "section": ("A", "B")}])
    assert plain == parse_patch(
        json.dumps([{"old_string": "a", "new_str": "b"}, {"append": "c", "section": ["A", "B"]}])
    )


def test_find_and_replace_that_differ_only_in_line_endings_are_the_same() -> None:
    with pytest.raises(PatchNoop):
        parse_patch([{"find": "a\nb", "replace": "a\r\nb"}])


def test_the_error_quotes_sixty_characters_and_lists_ten_places() -> None:
    text = "\n".join(["word " * 20] * 12)

    with pytest.raises(AnchorNotUnique) as caught:
        plan_patch(text, parse_patch([{"find": "word " * 18, "replace": "x"}]))

    assert f'"{("word " * 18)[:60]}…" occurs 12 times' in caught.value.message
    assert "and 2 more" in caught.value.message
    assert 12 == caught.value.fields["found"]
    assert 10 == len(caught.value.fields["places"])


@pytest.mark.parametrize(
    ("text", "find", "hint"),
    [
        ("3\u110b\u116f\u11af\n", "3월", "Unicode form (composed or decomposed characters) from line 1"),
        ("x\n\na\u00a0b\n", "a b", "no-break or other special spaces from line 3"),
        ("a\u200bb\n", "ab", "invisible characters from line 1"),
        ("a  \r\nb\r\n", "a\nb", "spaces at line ends, indents or runs of spaces from line 1"),
        ("something else entirely\n", "zzzz qqqq", "Read the note again"),
    ],
)
def test_a_miss_says_what_is_nearly_there(text: str, find: str, hint: str) -> None:
    with pytest.raises(AnchorNotFound) as caught:
        plan_patch(text, parse_patch([{"find": find, "replace": "!"}]))

    assert hint in caught.value.message


def test_headings_that_go_are_listed_and_those_that_come_back_are_not() -> None:
    text = "# T\n\n## A\n\n### A1\n\n### A2\n\n```\n## code\n```\n\n## B\n"

    plan = plan_patch(text, parse_patch([{"section": "A", "replace": "### A2\n\nkept"}]))
    emptied = plan_patch(text, parse_patch([{"section": "T", "replace": ""}]))
    kept = plan_patch(text, parse_patch([{"section": "A", "replace": "x", "subsections": False}]))

    assert ("T > A > A1",) == plan.removed_headings
    assert ("T > A", "T > A > A1", "T > A > A2", "T > B") == emptied.removed_headings
    assert () == kept.removed_headings


def test_pairs_hold_the_change_with_enough_around_it_to_be_unique() -> None:
    text = "---\na: 1\n---\n# T\n\n- buy milk today\n- buy bread today\n"
    plan = plan_patch(
        text, parse_patch([{"find": "bread today", "replace": "bread tomorrow"}, {"append": "- rest"}])
    )

    assert (("bread today\n", "bread tomorrow\n- rest\n"),) == plan.pairs
    assert plan.pairs == plan_pairs(text[13:], plan.text[13:])


def test_pairs_of_a_blank_text_hold_all_of_it() -> None:
    assert (("\n", "\nx\n"),) == plan_pairs("\n", "\nx\n")
    assert (("", "x"),) == plan_pairs("", "x")
    assert () == plan_pairs("x", "x")


@pytest.mark.no_cover
def test_one_operation_on_a_small_note_takes_a_moment_only() -> None:
    note = "---\ntitle: A\ntags: [a, b]\n---\n# A\n\n" + "".join(
        f"## Part {n}\n\nSome words about the matter, with a [[link]] and a #tag.\n\n- one\n- two\n\n"
        for n in range(20)
    )
    ops = (
        parse_patch([{"append": "- three", "section": "Part 7"}]),
        parse_patch([{"find": "Part 9", "replace": "IX"}]),
    )
    best = [min(cpu_seconds(partial(plan_patch, note, op)) for _ in range(30)) for op in ops]

    assert best[0] < 0.1
    assert best[1] < 0.02


LINES = ["", "text", "- item", "- [[link]]", "# A", "## B", "## B", "B", "---", "===", "> q", "```", "~~~", "  two", "^id", "| a |", "<!--", "-->", "%%", "    code", "1. x", "text  "]  # fmt: skip


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.sampled_from(LINES), max_size=14))
    head = draw(st.sampled_from(["", "", "---\na: 'x'  # c\nb: [\n---\n", "---\nt: 1\n---\n"]))
    text = "\ufeff" * draw(st.booleans()) + head + "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    ending = draw(st.sampled_from(["\n", "\r\n", "\r", "mixed"]))
    if ending == "mixed":
        return "".join(line + draw(st.sampled_from(["\n", "\r\n"])) for line in text.split("\n"))
    return text.replace("\n", ending)


PUT = st.sampled_from(
    [
        "new",
        "- new",
        "# A\n\nnew",
        "new\nlines",
        "---",
        "===",
        "> ---",
        "\nnew\n",
        "1. new",
        "## B",
        "new\n\n### C\n",
    ]
)
SECTIONS = st.sampled_from([None, "A", "B", ["A", "B"]])


@st.composite
def operations(draw: st.DrawFn) -> dict[str, Any]:
    section, put = draw(SECTIONS), draw(PUT)
    kind = draw(st.sampled_from(["append", "prepend", "before", "section", "find"]))
    if kind == "find":
        find = draw(st.sampled_from(["text", "item", "- item\n- item", "B\n", "text\n\ntext", "q"]))
        op: dict[str, Any] = {"find": find, "replace": draw(st.one_of(PUT, st.just(""))), "section": section}
    elif kind == "section":
        op = {"section": section or "A", "replace": put, "subsections": draw(st.booleans())}
    elif kind == "before":
        op = {"section": section or "B", "before": put}
    else:
        op = {kind: put, "section": section}
    return op


def planned(text: str, ops: list[dict[str, Any]]) -> PatchPlan | None:
    try:
        return plan_patch(text, parse_patch(ops))
    except MemexError:
        return None


def lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_bytes_stay(text: str, op: dict[str, Any]) -> None:
    plan = planned(text, [op])
    if plan is None:
        return
    after = plan.text
    fences = split_fences(text)
    start = fences[1].end + 3 if fences else 0

    assert text[:start] == after[:start]
    if "find" in op:
        assert any(
            text[: p.start] + after[p.start : len(after) - len(text) + p.end] + text[p.end :] == after
            for p in places_of(text, op["find"])
        )
    elif "replace" in op:
        section = resolve_section(parse_note(text), op["section"])
        end = section.body.end if op["subsections"] else section.own.end
        assert after.startswith(text[: section.heading.span.end])
        assert after.endswith(text[end:])
    else:
        check_pure_insertion(text, after, lf(op.get("append") or op.get("prepend") or op.get("before")))
        if text.removeprefix("\ufeff").strip():
            assert text.endswith(("\n", "\r")) == after.endswith(("\n", "\r"))


def places_of(text: str, find: str) -> list[Span]:
    pattern = "(?:\r\n|\r|\n)".join(map(re.escape, find.split("\n")))
    return [Span(*found.span()) for found in re.finditer(pattern, text)]


def check_pure_insertion(text: str, after: str, put: str) -> None:
    """The text is the old one with one stretch put in: what was asked and line breaks."""
    grown = len(after) - len(text)
    places = [
        at
        for at in range(len(text) + 1)
        if after.startswith(text[:at])
        and after[at + grown :] == text[at:]
        and put.strip() == lf(after[at : at + grown]).strip()
    ]

    assert places


@given(texts(), operations())
@settings(max_examples=400)
@example("A\n", {"append": "---", "section": None})
def test_what_a_patch_does_not_name_stays(text: str, op: dict[str, Any]) -> None:
    check_bytes_stay(text, op)


@pytest.mark.slow
@pytest.mark.no_cover
@given(texts(), operations())
@settings(max_examples=10_000)
def test_what_ten_thousand_patches_do_not_name_stays(text: str, op: dict[str, Any]) -> None:
    check_bytes_stay(text, op)


@given(texts(), st.lists(operations(), min_size=1, max_size=3))
@settings(max_examples=300)
def test_pairs_made_in_order_give_the_same_text(text: str, ops: list[dict[str, Any]]) -> None:
    plan = planned(text, ops)
    if plan is None:
        return
    fences = split_fences(text)
    start = fences[0].end if fences else text.startswith("\ufeff")
    running = text[start:]
    for find, replace in plan.pairs:
        assert running == find or running.count(find) == 1
        running = running.replace(find, replace) if find else replace

    assert plan.text == text[:start] + running


@given(texts(), st.sampled_from(["x\ny", "text", "# A\n", "---\na: 1\n---\nx", "---\n\nrule"]))
def test_a_new_body_leaves_the_frontmatter(text: str, body: str) -> None:
    try:
        after = plan_body(text, body)
    except InvalidArgument:
        assert body.startswith("---")
        return

    assert after.endswith(body.rpartition("\n")[2] + after[len(after.rstrip("\r\n")) :])
    assert text[: len(text) - len(text.lstrip("\ufeff"))] == after[: len(after) - len(after.lstrip("\ufeff"))]
