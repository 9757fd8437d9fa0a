"""What the catalogue keeps of one note's bytes."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.config import Config
from vault_memex.core.analyzer import analyze
from vault_memex.core.changes import Signature
from vault_memex.index.document import HEAD_CHARS, WHOLE_LIMIT, WORDS_CHARS, build_document
from vault_memex.store.indexed import IndexedNote

SIGNATURE = Signature(1, 2, 3, 4)


def build(text: str | bytes, path: str = "a/Note.md", config: Config | None = None) -> IndexedNote:
    data = text.encode() if isinstance(text, str) else text
    return build_document(path, data, SIGNATURE, config or Config())


def test_everything_a_note_says_is_kept() -> None:
    note = build(
        "---\ntitle: Kiln log\naliases: [Oven]\ntags: [fire/high]\ncreated: 2024-05-06\nsummary: Heat.\n"
        "id: 12\nformer_titles: [Stove]\nlayer: state\nup: '[[Top]]'\n---\n# Day one\nFired [[Cup|the cup]]. #clay\n"
    )

    assert ("Kiln log", ("Oven",), ("Stove",), 12, "state", "Heat.") == (
        note.title,
        note.aliases,
        note.former_titles,
        note.own_id,
        note.layer,
        note.summary,
    )
    assert ("fire/high", "clay") == note.tags
    assert ("2024-05-06", None) == (note.own_created, note.own_updated)
    assert [("frontmatter", "Top", "up"), ("wiki", "Cup", None)] == [
        (x.kind, x.target, x.property) for x in note.links
    ]
    assert analyze("Day one") == note.words.headings.split()
    assert " ".join(analyze("Kiln log")) == note.words.title
    assert set(analyze("Heat. Fired the cup")) <= set(note.words.body.split())
    assert note.chars == len("# Day one\nFired [[Cup|the cup]]. #clay\n")


def test_note_without_frontmatter_is_titled_by_its_name_and_layered_by_its_folder() -> None:
    note = build("text", "journal/2024-01-02.md", Config(layers=(("journal/*", "past"),)))

    assert ("2024-01-02", "past", None, None) == (note.title, note.layer, note.own_id, note.own_created)


def test_values_of_own_properties_are_searchable_and_reserved_ones_are_not() -> None:
    note = build(
        "---\nauthor: Okonkwo\nparts: [{name: Flange}]\nreview: pending\nsource_url: https://quux.example\n---\n"
    )

    assert set(analyze("Okonkwo Flange")) == set(note.words.body.split())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("created: 2024-05-06", "2024-05-06"),
        ("date: 2024-05-06", "2024-05-06"),
        ("created: 2024-05-06T07:08:09+02:00", "2024-05-06T05:08:09Z"),
        ("created: 2024-05-06 07:08", "2024-05-06T07:08:00Z"),
        ("created: long ago\ndate: 2020-01-01", "2020-01-01"),
        ("created: 2024-02-31", None),
        ("created: 2024", None),
        ("created: 0001-01-01T00:00:00+14:00", None),
    ],
)
def test_creation_is_a_date_or_a_moment_in_utc_or_left_to_the_file(line: str, expected: str | None) -> None:
    assert expected == build(f"---\n{line}\n---\n").own_created


@pytest.mark.parametrize("value", ["true", "0", "-3", "'12'", "1.5", "[1]", "99999999999999999999"])
def test_only_a_positive_integer_is_a_number(value: str) -> None:
    assert build(f"---\nid: {value}\n---\n").own_id is None


def test_bad_frontmatter_is_a_notice_and_the_body_is_indexed() -> None:
    note = build("---\na: [\n---\nkiln\n")

    assert "kiln" in note.words.body
    assert note.notices


def test_binary_file_is_listed_without_text() -> None:
    note = build(b"\x00\x01binary", "b.md")

    assert ("b", "", ()) == (note.title, note.words.body, note.links)
    assert "binary" in note.notices[0]


def test_other_encoding_is_searchable_with_a_notice() -> None:
    note = build("도자기 가마에 불을 지폈다. 유약은 재로 만들었다. ".encode("cp949") * 20)

    assert set(analyze("도자기")) <= set(note.words.body.split())
    assert "not UTF-8" in note.notices[0]


def test_large_note_is_parsed_by_head_and_headings_and_its_words_are_all_found() -> None:
    filler = "word [[Link]] text\n" * (WHOLE_LIMIT // 18)
    note = build(f"# First\n{filler}```\n# in a fence\n```\n## Last one ##\nneedle\n")
    larger = build(f"# First\n{filler * (WORDS_CHARS // WHOLE_LIMIT)}first\n{filler}needle\n")

    assert analyze("First Last one") == note.words.headings.split()
    assert "needl" in note.words.body
    assert "needl" not in larger.words.body
    assert len(note.links) <= HEAD_CHARS // 18
    assert "those of its first part." in note.notices[0]
    assert "beyond its first 10,000,000 characters" in larger.notices[0]
    assert note.chars > WHOLE_LIMIT


@given(st.one_of(st.binary(max_size=400), st.text(max_size=400).map(lambda t: t.encode("utf-8", "surrogatepass"))))
def test_no_bytes_make_it_fail_and_the_result_travels_between_processes(data: bytes) -> None:
    note = build(data)

    assert note == pickle.loads(pickle.dumps(note))
    json.dumps(dict(note.properties))


def test_lone_surrogates_of_yaml_escapes_do_not_reach_the_database() -> None:
    note = build('---\ntitle: "a\\ud800b"\ntags: ["t\\udc00"]\naliases: ["x\\ud800"]\nup: "[[q\\ud800]]"\n---\n')

    for text in (note.title, *note.tags, *note.aliases, *(link.target for link in note.links), *note.words):
        text.encode()
