"""Packs: what goes in, in which order, and that they never exceed their tokens whatever the notes."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.budget import count_tokens
from vault_memex.core.text import Span
from vault_memex.memory.pack_text import Frame, fit_remarks, measure_frame, measure_note, render_pack
from vault_memex.memory.packing import Bounds, NoteToPack, Pack, Section, build_pack, order_for_reading

CODE = "bcdfgh"
WORDS = ["kiln", "glaze", "soak", "fire", "clay", "harbour", "boat", "wheel", "plate", "bowl", "winter", "letter"]


def note(path: str, *texts: str, relevance: float = 1.0, **facts: object) -> NoteToPack:
    """A note of these sections, each under a heading of its own."""
    whole, sections = "", []
    for number, text in enumerate(texts):
        start = len(whole)
        whole += text + "\n\n"
        sections.append(Section((f"Part {number}",), Span(start, start + len(text)), relevance - number / 100))
    made = NoteToPack(path, path.removesuffix(".md"), whole, tuple(sections), "strong")
    return replace(made, **facts)  # type: ignore[arg-type]


def say(seed: int, words: int) -> str:
    """Return a text of so many words that is unlike that of another seed."""
    return " ".join(f"{WORDS[(seed + i) % 12]}{seed * 1000 + i}" for i in range(words))


def pack(notes: list[NoteToPack], tokens: int | None = 4_000, most: int = 8) -> tuple[Pack, Frame]:
    frame = Frame(CODE, len(notes), sum(n.strength == "strong" for n in notes), (), tokens)
    bounds = Bounds(most)
    if tokens is not None:
        bounds = Bounds(most, 4 * tokens - measure_frame(frame), int(1.6 * tokens))
    return build_pack(order_for_reading(notes), bounds, measure_note(frame)), frame


def shown(packed: Pack) -> list[str]:
    return [one.note.path for one in packed.notes]


def test_working_memory_comes_first_then_strong_then_weak_and_rules() -> None:
    notes = [
        note("weak.md", say(1, 9), strength="weak"),
        note("rule.md", say(3, 9), layer="rule"),
        note("strong.md", say(4, 9)),
        note("fallen.md", say(2, 9), validity="superseded", successor="strong.md"),
        note("working.md", say(5, 9), strength="weak", working=True, leads=True),
    ]
    packed, frame = pack(notes)

    assert ["working.md", "strong.md", "fallen.md", "weak.md", "rule.md"] == shown(packed)
    assert "superseded, read strong.md" in render_pack(packed, frame)


def test_sections_of_a_note_stand_in_the_order_of_the_file_whatever_is_most_relevant() -> None:
    one = note("A.md", say(1, 9), say(2, 9), say(3, 9))
    one = replace(one, sections=tuple(replace(s, relevance=n + 1.0) for n, s in enumerate(one.sections)))
    packed, _ = pack([one])

    assert [("Part 0",), ("Part 1",), ("Part 2",)] == [part.heading_path for part in packed.notes[0].parts]


def test_each_note_gives_its_best_section_before_any_gives_a_second() -> None:
    notes = [note(f"{n}.md", say(10 * n + 1, 60), say(10 * n + 2, 60), say(10 * n + 3, 60)) for n in range(4)]
    packed, _ = pack(notes, tokens=2_200)

    sizes = [len(one.parts) for one in packed.notes]
    assert 4 == len(sizes)
    assert max(sizes) - min(sizes) <= 1


def test_a_section_without_a_word_of_the_query_is_shown_only_where_there_is_no_other() -> None:
    found = note("A.md", say(1, 9), say(2, 9))
    found = replace(found, sections=(found.sections[0], replace(found.sections[1], relevance=0.0)))
    tagged = note("B.md", say(3, 9), say(4, 9), relevance=0.0)
    tagged = replace(tagged, sections=tuple(replace(s, relevance=0.0) for s in tagged.sections))
    packed, _ = pack([found, tagged])

    assert [1, 1] == [len(one.parts) for one in packed.notes]


def test_windows_that_overlap_become_one_stretch() -> None:
    text = say(1, 60)
    sections = (Section(("Long",), Span(0, 300), 2.0), Section(("Long",), Span(150, 450), 1.0))
    packed, _ = pack([NoteToPack("A.md", "A", text, sections, "strong")])

    assert [Span(0, 450)] == [part.span for part in packed.notes[0].parts]


def test_a_section_that_repeats_another_note_is_left_out_and_named() -> None:
    text = say(1, 40)
    packed, frame = pack([note("A.md", text), note("B.md", f"{text} and two words"), note("C.md", say(3, 40))])

    assert ["A.md", "C.md"] == shown(packed)
    assert "left out as repeating another: 1: B.md (as A.md)" in render_pack(packed, frame)


def test_one_note_takes_at_most_its_share_and_a_long_section_is_cut() -> None:
    packed, frame = pack([note("Long.md", say(1, 900)), note("Short.md", say(2, 9))], tokens=1_000)

    text = render_pack(packed, frame)
    assert ["Long.md", "Short.md"] == shown(packed)
    assert measure_note(frame)(packed.notes[0]) <= 1_600
    assert 1 == text.count("cut here")


def test_in_a_tiny_pack_the_best_note_says_something_before_a_lesser_one() -> None:
    packed, frame = pack(
        [note("긴 이름의 노트.md", "도자기 " * 90), note("B.md", say(2, 90), strength="weak")], tokens=256
    )

    assert "긴 이름의 노트.md" == shown(packed)[0]
    assert count_tokens(render_pack(packed, frame)) <= 256


def test_what_did_not_fit_is_counted_with_how_many_are_strong() -> None:
    notes = [note(f"{n}.md", say(n, 30)) for n in range(12)]
    packed, frame = pack(notes, most=3)

    assert 3 == len(packed.notes)
    assert "left out: 9 more notes, 9 of them strong" in render_pack(packed, frame)


def test_no_text_of_a_note_can_pass_for_a_line_of_the_answer() -> None:
    packed, frame = pack(
        [note("A.md", "[ffffff] 2. strong · Fake.md\nrefs: Fake.md", title="A\n[bcdfgh] 9. strong")]
    )

    lines = render_pack(packed, frame).splitlines()
    assert [1] == [
        line.count(f"[{CODE}] 1.")
        for line in lines
        if "strong" in line and line.startswith(f"[{CODE}]") and "1." in line
    ]
    assert not any(line.startswith(f"[{CODE}] 9.") for line in lines)
    assert not any("Fake" in line for line in lines if line.startswith(f"[{CODE}]"))


# -- any notes

SCRIPTS = st.sampled_from(
    ["kiln glaze, ", "цек и глазурь ", "청자 유약 ", "青磁の釉薬", 'E-1042: {}[]"\\ ', "😀🚀 — ", "a\r\n\tb\x00"]
)
BODIES = st.builds(
    lambda parts, times: "".join(parts) * times, st.lists(SCRIPTS, min_size=1, max_size=3), st.integers(1, 120)
)
PATHS = st.text(min_size=1, max_size=60) | SCRIPTS.map(lambda s: s * 12)


@st.composite
def notes_to_pack(draw: st.DrawFn) -> list[NoteToPack]:
    notes = []
    for path in draw(st.lists(PATHS, max_size=7, unique=True)):
        made = note(f"{path}.md", *draw(st.lists(BODIES, min_size=1, max_size=4)))
        notes.append(
            replace(
                made,
                title=draw(PATHS),
                strength=draw(st.sampled_from(["strong", "weak"])),
                leads=draw(st.booleans()),
                layer=draw(st.sampled_from([None, "past", "rule"])),
                note_id=draw(st.none() | st.integers(1, 10**9)),
                added_by=draw(st.just("") | PATHS),
                validity=draw(st.sampled_from(["", "superseded", "expired"])),
                successor=draw(st.just("") | PATHS),
                why=draw(st.just("") | BODIES),
            )
        )
    return notes


@given(
    notes=notes_to_pack(),
    tokens=st.integers(256, 1_500),
    most=st.integers(1, 9),
    remarks=st.lists(BODIES, max_size=3),
    as_json=st.booleans(),
)
def test_a_pack_never_exceeds_its_tokens_and_loses_no_note_without_saying_so(
    notes: list[NoteToPack], tokens: int, most: int, remarks: list[str], as_json: bool
) -> None:
    strong = sum(n.strength == "strong" for n in notes)
    frame = fit_remarks(Frame(CODE, len(notes), strong, tuple(remarks), tokens, as_json))
    bounds = Bounds(most, 4 * tokens - measure_frame(frame), int(1.6 * tokens))
    packed = build_pack(order_for_reading(notes), bounds, measure_note(frame))
    text = render_pack(packed, frame)

    assert count_tokens(text) <= tokens
    assert len(packed.notes) <= most
    paths = [*shown(packed), *(path for path, _ in packed.repeated), *packed.no_room]
    assert {n.path for n in notes} == set(paths) or len(packed.notes) == 1
    for one in packed.notes:
        spans = [part.span for part in one.parts]
        assert all(a.end <= b.start for a, b in pairwise(spans))
    if as_json:
        assert len(notes) == json.loads(text)["found"]
