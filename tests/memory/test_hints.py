"""Hints after a write: mentions with patches that apply, tags, citing notes."""

from __future__ import annotations

import random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.notes import note, vault
from tests.timing import cpu_seconds
from vault_memex.core.text import Span
from vault_memex.memory.hints import TagIndex, TitleIndex, WriteKind, find_citing, find_link_hints, find_similar
from vault_memex.memory.phrases import PhraseIndex
from vault_memex.memory.thresholds import Thresholds

TITLES = TitleIndex(
    vault(
        note("Studio/Kiln Berta.md", 1),
        note("Projects/Boathouse renovation.md", 2, aliases=("the boathouse",)),
        note("Kitchen/Ideas.md", 3),
        note("Studio/Ideas.md", 4),
        note("한국/어머님 배추김치.md", 5),
        note("金継ぎ.md", 6),
        note("People/Tomas.md", 7),
        note("damp.md", 8),
        note("Firing.md", 9, title="Firing: the checklist"),
        note("Rules/Answer me.md", 10, layer="rule"),
        note("2026-11-29.md", 11),
    )
)


def hints(text: str, path: str = "x.md", linked: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    return [(h.path, h.find, h.replace) for h in find_link_hints(text, path, linked, TITLES)]


@pytest.mark.parametrize(
    ("text", "find", "replace"),
    [
        ("We fired Kiln Berta today.", "Kiln Berta", "[[Kiln Berta]]"),
        ("We fired kiln berta's lid.", "kiln berta", "[[Kiln Berta|kiln berta]]"),
        ("We saw The Boathouse.", "The Boathouse", "[[Boathouse renovation|The Boathouse]]"),
        ("Kiln  Berta and on", "Kiln  Berta", "[[Kiln Berta|Kiln  Berta]]"),
        ("오늘 어머님 배추김치를 담갔다", "어머님 배추김치", "[[어머님 배추김치]]"),
        ("今日は金継ぎをした", "金継ぎ", "[[金継ぎ]]"),
        ("Ask Tomas, please", "Tomas", "[[Tomas]]"),
        ("See firing: the checklist.", "firing: the checklist", "[[Firing|firing: the checklist]]"),
        ("| a | Kiln berta |\n|---|---|\n", "Kiln berta", "[[Kiln Berta\\|Kiln berta]]"),
    ],
)
def test_a_mention_comes_with_a_patch(text: str, find: str, replace: str) -> None:
    assert [(find, replace)] == [(f, r) for _, f, r in hints(text)]


@pytest.mark.parametrize(
    "text",
    [
        "[[Kiln Berta]] and [Kiln Berta](x.md) and [Kiln Berta](https://x.org)",
        "`Kiln Berta` and <b title='Kiln Berta'>",
        "```\nKiln Berta\n```",
        "    Kiln Berta",
        "---\nx: Kiln Berta\n---\n",
        "# Kiln Berta\n",
        "Kiln Berta\n===\n",
        "$Kiln Berta$",
        "<!-- Kiln Berta -->",
        "https://x.org/Kiln Berta/Tomas and www.Tomas.org and Tomas.md",
        "Kiln Bertas, Kiln, Berta, pre-Kiln Berta, #Tomas, @Tomas, Tomas-like",
        "tomas and TOMAS, in lower case a word like others",
        "damp Damp",
        "Ideas of two notes",
        "Answer me, says a rule",
        "Kiln. Berta",
        "on 2026-11-29",
    ],
)
def test_what_is_no_mention_gives_no_hint(text: str) -> None:
    assert [] == hints(text)


def test_the_note_itself_and_linked_notes_are_not_suggested() -> None:
    assert [] == hints("Kiln Berta", path="Studio/Kiln Berta.md")
    assert [] == hints("Kiln Berta", linked=("Studio/Kiln Berta.md",))


def test_a_find_text_that_occurs_twice_gets_more_words() -> None:
    assert [("Studio/Kiln Berta.md", "that Kiln Berta is", "that [[Kiln Berta]] is")] == hints(
        "We know that Kiln Berta is old. `Kiln Berta` is code."
    )


def test_a_mention_that_cannot_be_told_apart_gives_no_hint() -> None:
    assert [] == hints("Kiln Berta\n\nKiln Berta\n")


def test_a_patch_of_too_many_words_is_none() -> None:
    line = "x" * 70 + " Kiln Berta " + "y" * 70

    assert [] == hints(f"{line}\n\n{line}")


def test_the_index_follows_the_vault() -> None:
    old, new = note("Old plan.md", 1), note("New plan.md", 1)
    other = note("Other plan.md", 2, aliases=("Our plan",))
    index = TitleIndex(vault(old, other))
    text = "Old plan, New plan, Other plan, Our plan"

    def found() -> list[str]:
        return [h.find for h in find_link_hints(text, "x.md", (), index)]

    assert ["Old plan", "Other plan"] == found()
    index.follow(vault(new, other))
    assert ["New plan", "Other plan"] == found()
    index.follow(vault(new, note("Our plan.md", 3), other))
    assert ["New plan", "Other plan"] == found()
    index.follow(vault(new, note("Our plan.md", 3)))
    assert ["New plan", "Our plan"] == found()


@given(
    st.lists(st.lists(st.sampled_from(["a b", "a b c", "a c", "A B", "Bc"]), unique=True, max_size=4), max_size=4)
)
def test_an_index_that_followed_finds_what_a_new_one_does(steps: list[list[str]]) -> None:
    text = "a b c. A B c, a c Bc a b"
    spans = [Span(0, len(text))]
    index = TitleIndex(vault())
    for step, titles in enumerate(steps):
        snapshot = vault(*(note(f"{step % 2}{title}.md", title=title) for title in titles))
        index.follow(snapshot)

        expected = [(n.path, span) for n, span in TitleIndex(snapshot).find_mentions(text, spans)]
        assert expected == [(n.path, span) for n, span in index.find_mentions(text, spans)]


def test_a_target_whose_name_two_files_have_is_named_with_its_folder() -> None:
    index = TitleIndex(vault(note("a/Ideas.md", title="Bright ideas"), note("b/Ideas.md", title="Dark thoughts")))

    (hint,) = find_link_hints("Some bright ideas here", "x.md", (), index)

    assert "[[a/Ideas|bright ideas]]" == hint.replace


def test_at_most_five_notes_are_suggested() -> None:
    index = TitleIndex(vault(*(note(f"Thing {n}.md") for n in range(9))))
    text = " and ".join(f"Thing {n}" for n in range(9))

    assert [f"Thing {n}.md" for n in range(5)] == [h.path for h in find_link_hints(text, "x.md", (), index)]


PIECES = st.lists(
    st.sampled_from(
        [
            "Kiln Berta",
            "kiln berta",
            "the boathouse",
            "Tomas",
            "金継ぎ",
            "`",
            "[[",
            "]]",
            " ",
            "\n",
            "|",
            "x ",
            ". ",
            "> ",
        ]
    ),
    max_size=14,
).map("".join)


@given(PIECES)
def test_each_patch_applies_once_and_makes_a_link_where_none_was(text: str) -> None:
    from vault_memex.core.markdown import parse_note

    for hint in find_link_hints(text, "x.md", (), TITLES):
        assert 1 == text.count(hint.find)
        before = len(parse_note(text).links)
        after = parse_note(text.replace(hint.find, hint.replace))
        assert before + 1 == len(after.links)


@pytest.mark.no_cover
def test_ten_thousand_titles_are_looked_for_in_milliseconds() -> None:
    dice = random.Random(3)
    words = [f"word{n}" for n in range(3000)]
    notes = [note(f"2026-11-{n % 28 + 1:02} {' '.join(dice.choices(words, k=3))} {n}.md") for n in range(10_000)]
    index = TitleIndex(vault(*notes))
    text = (
        "\n\n".join(" ".join(dice.choices([*words, "2026-11-03"], k=60)) for _ in range(30))
        + "\n\n"
        + notes[77].title
    )
    spans = [Span(0, len(text))]
    list(index.find_mentions(text, spans))  # words are folded once
    best = min(cpu_seconds(lambda: list(index.find_mentions(text, spans))) for _ in range(5))

    assert ["2026-11-22"] == [n.path[:10] for n, _ in index.find_mentions(text, spans)]
    assert best < 0.04  # 0.01 on a free core


# tags

VOCABULARY = {"kiln": 9, "project/boathouse": 4, "wet-clay": 3, "rare": 1, "skill": 5, "가족": 2, "Café": 2}


@pytest.mark.parametrize(
    ("text", "own", "expected"),
    [
        ("The Kiln is cold.", (), ["kiln"]),
        ("At the boathouse", (), ["project/boathouse"]),
        ("wet clay, kiln", (), ["kiln", "wet-clay"]),
        ("some wet-clay", (), ["wet-clay"]),
        ("kilns and rare skill", (), []),
        ("`kiln` and [[kiln]]", (), []),
        ("kiln", ("KILN",), []),
        ("kiln", ("kiln/old",), []),
        ("가족이 모였다", (), ["가족"]),
        ("a CAFÉ", (), ["Café"]),
    ],
)
def test_tags_whose_words_stand_in_the_text_are_suggested(
    text: str, own: tuple[str, ...], expected: list[str]
) -> None:
    assert expected == [hint.tag for hint in TagIndex(VOCABULARY).find_tags(text, own)]


# notes near, notes citing


def test_near_notes_are_said_to_be_the_same_or_related() -> None:
    thresholds = Thresholds(0.2, 0.1, 0.02, 0.01, 0.2, 0.1)
    notes = {n.path: n for n in (note("a.md"), note("b.md"), note("c.md"), note("r.md", layer="rule"))}
    near = [("c.md", 0.11), ("b.md", 0.1), ("a.md", 0.02), ("r.md", 0.01), ("gone.md", 0.0), ("x.md", 0.0)]

    found = find_similar(near, notes, "x.md", thresholds)

    assert [("a.md", 98), ("b.md", 90)] == [(h.path, h.percent) for h in found]
    assert ["Likely", "Related"] == [h.sentence.split()[0] for h in found]


def test_ten_citing_notes_are_named_least_recently_changed_first() -> None:
    citing = [note(f"{n:02}.md", updated=f"2026-01-{30 - n:02}") for n in range(12)]

    found = find_citing("edited", citing)

    assert found is not None
    assert [f"{n:02}.md" for n in range(11, 1, -1)] == [n.path for n in found.notes]
    assert 12 == found.total
    assert found.sentence.startswith("12 notes cited this note before")


def test_each_kind_of_write_has_its_own_words_and_nobody_citing_has_none() -> None:
    sentences = {kind: find_citing(kind, [note("a.md")]) for kind in get_args(WriteKind)}

    assert 5 == len({hint.sentence for hint in sentences.values() if hint})
    assert all("1 note" in hint.sentence for hint in sentences.values() if hint)
    assert None is find_citing("edited", [])


# phrases


def test_the_longest_phrase_from_a_word_on_is_found() -> None:
    index = PhraseIndex(["New York", "New York City", "York"])
    text = "in New York City, New York and York"

    assert ["New York City", "New York", "York"] == [o.phrase for o in index.find_in(text, [Span(0, len(text))])]


def test_a_phrase_is_not_found_across_spans() -> None:
    index = PhraseIndex(["New York"])

    assert [] == list(index.find_in("New York", [Span(0, 4), Span(4, 8)]))


@given(
    st.lists(st.sampled_from(["ab cd", "cd", "ab", "Ef", "x y z", "한국 김치", "金継ぎ"]), max_size=5),
    st.text("abcdEfxyz 한국김치金継ぎ.-", max_size=40),
)
def test_every_occurrence_reads_as_its_phrase(phrases: list[str], text: str) -> None:
    for found in PhraseIndex(phrases).find_in(text, [Span(0, len(text))]):
        assert found.phrase.casefold().split() == text[slice(*found.span)].casefold().split()
