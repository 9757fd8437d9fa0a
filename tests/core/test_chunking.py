from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.timing import cpu_seconds
from vault_memex.core.chunking import (
    MAX_TOKENS,
    MIN_TOKENS,
    TARGET_TOKENS,
    Passage,
    build_passages,
    estimate_tokens,
)
from vault_memex.core.markdown import parse_note

SENTENCE = (
    "The third firing cooled slowly and the glaze came out with fine crystals along the rim. "  # about 20 tokens
)


def passages_of(text: str, title: str = "Kiln") -> tuple[Passage, ...]:
    return build_passages(parse_note(text), title)


def paragraphs(count: int, sentences: int = 4) -> str:
    return "\n\n".join(f"Paragraph {n}. " + SENTENCE * sentences for n in range(count))


def test_a_short_note_is_one_passage_under_its_title() -> None:
    (passage,) = passages_of("---\ntags: [a]\n---\nBisque first.\n\nThen glaze.\n")

    assert "Kiln\nBisque first.\n\nThen glaze." == passage.text
    assert () == passage.heading_path
    assert 32 == len(passage.hash)


@pytest.mark.parametrize("text", ["", "\n\n  \n", "---\ntags: [a]\n---\n", "\ufeff", "# Kiln\n"])
def test_a_note_without_text_has_one_passage_of_its_title(text: str) -> None:
    (passage,) = passages_of(text)

    assert "Kiln" == passage.text
    assert passage.span.start == passage.span.end


def test_sections_that_fill_a_passage_stand_alone_under_their_heading_path() -> None:
    text = f"# Kiln\n\n## Firing\n{SENTENCE * 8}\n\n### Cone 6\n{SENTENCE * 7}\n"
    first, second = passages_of(text)

    assert ("Kiln", "Firing") == first.heading_path
    assert first.text.startswith("Kiln › Firing\nThe third firing")
    assert ("Kiln", "Firing", "Cone 6") == second.heading_path
    assert second.text.startswith("Kiln › Firing › Cone 6\n")
    assert SENTENCE.strip() in text[slice(*second.span)]


def test_small_neighbours_are_packed_under_the_path_they_share() -> None:
    text = f"## A\n### One\n{SENTENCE}\n### Two\n{SENTENCE}\n## B\n{SENTENCE * 9}\n"
    first, second = passages_of(text)

    assert ("A",) == first.heading_path
    assert first.text.startswith("Kiln › A\n### One\n")
    assert "### Two" in first.text
    assert ("B",) == second.heading_path


def test_a_scrap_joins_its_neighbour_rather_than_standing_alone() -> None:
    text = f"{SENTENCE * 9}\n\n## Note to self\nBuy cones.\n"
    (passage,) = passages_of(text)

    assert "## Note to self\nBuy cones." in passage.text


def test_a_long_section_is_split_at_paragraphs_with_half_overlap() -> None:
    text = "## Log\n" + paragraphs(6)
    result = passages_of(text)

    assert [("Log",)] * len(result) == [p.heading_path for p in result]
    assert all(text[slice(*p.span)].startswith("Paragraph") for p in result)
    for before, after in pairwise(result):
        overlap = before.span.end - after.span.start
        assert 0 < overlap <= 0.6 * (before.span.end - before.span.start)
    assert all(estimate_tokens(text[slice(*p.span)]) <= TARGET_TOKENS for p in result)
    assert text.rstrip().endswith(text[slice(*result[-1].span)])


def test_a_long_paragraph_is_split_at_sentences() -> None:
    result = passages_of(SENTENCE * 30)

    assert len(result) > 3
    assert all(p.text.endswith("rim.") for p in result)
    assert all("\nThe third" in p.text for p in result)


def test_text_without_sentences_or_blanks_is_still_bounded() -> None:
    for text in ("窯" * 3000, "слово " * 2000, "a-b." * 900):
        assert max(estimate_tokens(p.text) for p in passages_of(text)) <= TARGET_TOKENS * 1.3


def test_code_and_tables_stay_whole_up_to_the_maximum() -> None:
    code = "```python\n" + "\n".join(f"value_{n} = measure(n)" for n in range(28)) + "\n```"
    table = "| cone | °C |\n| --- | --- |\n" + "\n".join(f"| {n} | {1000 + n} |" for n in range(30))
    assert all(TARGET_TOKENS < estimate_tokens(block) < MAX_TOKENS for block in (code, table))

    result = passages_of(f"{paragraphs(3)}\n\n{code}\n\n{paragraphs(2)}\n\n{table}\n\n{paragraphs(2)}")
    assert any(code in p.text for p in result)
    assert any(table in p.text for p in result)


def test_a_table_over_the_maximum_is_split_at_its_lines() -> None:
    rows = [f"| {n} | the value of row number {n} |" for n in range(80)]
    result = passages_of("| a | b |\n| - | - |\n" + "\n".join(rows))

    assert len(result) > 2
    assert all(line in ("| a | b |", "| - | - |", "Kiln", *rows) for p in result for line in p.text.split("\n"))


def test_embedded_data_is_left_out_of_long_sections() -> None:
    blob = "iVBORw0KGgo" * 500
    result = passages_of(f"{paragraphs(3)}\n\n![x](data:image/png;base64,{blob})\n\n{paragraphs(2)}")

    assert len(result) < 12
    assert not any(blob[:600] in p.text for p in result)


def test_the_date_of_a_past_note_is_in_the_first_line() -> None:
    past = "---\nlayer: past\ncreated: 2026-11-19T10:00:00Z\n---\nOpened the kiln.\n"

    assert "Kiln (2026-11-19)\nOpened the kiln." == passages_of(past)[0].text
    assert "2026-11-19 Log\nOpened the kiln." == passages_of(past, "2026-11-19 Log")[0].text
    assert "Kiln\nOpened the kiln." == passages_of(past.replace("past", "state"))[0].text
    assert "Kiln (2025)\nx" == build_passages(parse_note("x"), "Kiln", date="2025")[0].text


def test_line_endings_do_not_change_what_is_embedded() -> None:
    text = f"# A\n\n{paragraphs(3)}\n\n## B\n\n{SENTENCE * 8}\n"
    dos = passages_of(text.replace("\n", "\r\n"))

    assert [p.hash for p in passages_of(text)] == [p.hash for p in dos]


def test_a_change_in_one_section_leaves_the_other_hashes_alone() -> None:
    text = f"## A\n{SENTENCE * 9}\n## B\n{SENTENCE * 9}\n## C\n{SENTENCE * 9}\n"
    before = passages_of(text)
    after = passages_of(text.replace("## B\n", "## B\nNew first line. "))

    assert [before[0].hash, before[2].hash] == [after[0].hash, after[2].hash]
    assert before[1].hash != after[1].hash


@given(
    st.lists(
        st.sampled_from(
            [
                "# A\n",
                "## B\n",
                "### C\n",
                "\n",
                SENTENCE,
                SENTENCE * 6,
                "- item\n",
                "```\n",
                "| a | b |\n|--|--|\n",
                "Снег. ",
                "窯の火。",
                "word " * 90,
                "\r\n",
                "`x`",
                "---\n",
            ]
        ),
        max_size=25,
    ).map("".join)
)
def test_passages_of_any_note_are_ordered_bounded_and_lose_nothing(text: str) -> None:
    note = parse_note(text)
    result = build_passages(note, "T")

    assert result == build_passages(note, "T")
    assert list(range(len(result))) == [p.ordinal for p in result]
    assert all(estimate_tokens(p.text) <= MAX_TOKENS * 1.2 for p in result)
    assert all(a.span < b.span for a, b in pairwise(result))
    covered = bytearray(len(text))
    for passage in result:
        covered[slice(*passage.span)] = b"x" * (passage.span.end - passage.span.start)
    for heading in note.headings:  # their words stand in the first lines
        covered[slice(*heading.span)] = b"x" * (heading.span.end - heading.span.start)
    lost = [c for c, seen in zip(text[note.body_start :], covered[note.body_start :], strict=True) if not seen]
    assert "" == "".join(lost).strip()


@pytest.mark.parametrize(
    "piece", [".", "-", "|", "`", "\n", "a", "* ", "```\n", "|-", " \t", "a" * 511 + " ", "!? ", "1. "]
)
@pytest.mark.no_cover
def test_hostile_repetition_is_chunked_in_linear_time(piece: str) -> None:
    note = parse_note("x\n\n" + piece * (60_000 // len(piece)))

    assert 1 > cpu_seconds(lambda: build_passages(note, "T"))  # of a note of any size, as for parsing


@pytest.mark.parametrize("piece", ["word ", "a ", "a. "])
@pytest.mark.no_cover
def test_a_note_of_one_long_line_is_chunked_as_fast_as_one_of_many(piece: str) -> None:
    note = parse_note("x\n\n" + piece * (1_900_000 // len(piece)))

    assert 2 > cpu_seconds(lambda: build_passages(note, "T"))


def test_scraps_within_a_long_line_stay_with_what_follows_them() -> None:
    passages = passages_of("a. " * 4_000)

    assert all(passage.endswith("a.") for passage in (p.text for p in passages))
    assert all(MIN_TOKENS <= estimate_tokens(p.text) <= MAX_TOKENS for p in passages)


def test_scraps_alone_are_allowed_only_when_nothing_is_beside_them() -> None:
    result = passages_of(f"Preamble.\n\n## Big\n{paragraphs(8)}")

    assert "Kiln\nPreamble." == result[0].text
    assert all(estimate_tokens(p.text) >= MIN_TOKENS for p in result[1:])
