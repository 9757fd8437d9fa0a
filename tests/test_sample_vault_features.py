"""What the parser must find in the sample vault: one row for each feature, and the threads the detectors follow."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import combinations
from pathlib import Path

import pytest

from vault_memex.core.links import resolve_link
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import Link, ParsedNote, PropertyValue
from vault_memex.core.sections import resolve_section
from vault_memex.core.text import name_key, stem_of

ROOT = Path(__file__).parents[1] / "sample_vault"
PATHS = [
    path
    for path in sorted(p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*") if p.is_file())
    if not path.startswith(".")
]
NOTES = {path: parse_note((ROOT / path).read_bytes().decode()) for path in PATHS if path.endswith(".md")}
TODAY = date(2026, 11, 30)


def all_links() -> Iterator[tuple[str, Link]]:
    return ((path, link) for path, note in NOTES.items() for link in note.links)


def has_link(test: Callable[[Link], bool]) -> bool:
    return any(test(link) for _, link in all_links())


def all_values(value: PropertyValue) -> Iterator[PropertyValue]:
    yield value
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from all_values(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from all_values(inner)


def has_value(test: Callable[[PropertyValue], bool]) -> bool:
    return any(test(v) for note in NOTES.values() for p in note.properties.values() for v in all_values(p))


def is_text(pattern: str) -> Callable[[PropertyValue], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def in_block(pattern: str) -> bool:
    """Whether some frontmatter matches, as written."""
    blocks = (note.text[note.frontmatter.inner.start : note.frontmatter.inner.end] for note in NOTES.values())
    return any(re.search(pattern, block, re.MULTILINE) for block in blocks)


def in_body(pattern: str) -> bool:
    return any(re.search(pattern, note.body, re.MULTILINE) for note in NOTES.values())


def of_layer(layer: str | None) -> list[str]:
    return [path for path, note in NOTES.items() if note.properties.get("layer") == layer]


def tagged(tag: str) -> list[str]:
    return [path for path, note in NOTES.items() if tag in note.tags]


def created(path: str) -> date:
    return date.fromisoformat(str(NOTES[path].properties["created"]))


def find_files(key: str) -> Sequence[str]:
    return [path for path in PATHS if name_key(path.rpartition("/")[2]) == key]


def target_of(source: str, link: Link) -> str | None:
    return resolve_link(link.target, source, find_files).path


def linked_pairs() -> set[frozenset[str]]:
    pairs = ((source, target_of(source, link)) for source, link in all_links())
    return {frozenset((source, target)) for source, target in pairs if target is not None and target != source}


def is_wiki(link: Link) -> bool:
    return link.kind == "wiki" and not link.markdown


def in_table(note: ParsedNote, link: Link) -> bool:
    line_start = note.text.rfind("\n", 0, link.span.start) + 1
    written = note.text[link.span.start : link.span.end]
    return note.text[line_start] == "|" and r"\|" in written and not link.target.endswith("\\")


FEATURES: Mapping[str, Callable[[], bool]] = {
    # properties
    "records of the past": lambda: len(of_layer("past")) >= 12,
    "present states": lambda: len(of_layer("state")) >= 8,
    "three short rules": lambda: 3 == len([p for p in of_layer("rule") if len(NOTES[p].body) < 400]),
    "plain notes without a layer": lambda: len(of_layer(None)) >= 8,
    "summaries": lambda: sum("summary" in note.properties for note in NOTES.values()) >= 6,
    "a description that stands for a summary": lambda: any(
        "description" in n.properties and "summary" not in n.properties for n in NOTES.values()
    ),
    "a title that is not the file's name": lambda: any(
        n.properties.get("title") not in (None, stem_of(p)) for p, n in NOTES.items()
    ),
    "aliases": lambda: sum(bool(note.aliases) for note in NOTES.values()) >= 5,
    "a former title": lambda: any("former_titles" in note.properties for note in NOTES.values()),
    "tags as a block list": lambda: in_block(r"^tags:\n  - "),
    "tags as a flow list": lambda: in_block(r"^tags: \["),
    "a nested tag in the frontmatter": lambda: len(tagged("project/boathouse")) >= 3,
    "an inline tag": lambda: any(tag.name == "inbox" for note in NOTES.values() for tag in note.inline_tags),
    "a nested inline tag": lambda: any("/" in tag.name for note in NOTES.values() for tag in note.inline_tags),
    "a tag in Hangul and one in Cyrillic": lambda: bool(tagged("가족") and tagged("семья")),
    "an integer": lambda: has_value(lambda v: type(v) is int),
    "a fraction": lambda: has_value(lambda v: type(v) is float),
    "both booleans": lambda: has_value(lambda v: v is True) and has_value(lambda v: v is False),
    "an empty value": lambda: has_value(lambda v: v is None),
    "a date as text": lambda: has_value(is_text(r"\d{4}-\d\d-\d\d")),
    "a date with time as text": lambda: has_value(is_text(r"\d{4}-\d\d-\d\dT\d\d:\d\d")),
    "a list of texts": lambda: has_value(lambda v: isinstance(v, list | tuple) and len(v) > 1),
    "an empty list": lambda: has_value(lambda v: isinstance(v, list | tuple) and not v),
    "a nested map": lambda: has_value(lambda v: isinstance(v, Mapping)),
    "a map inside a map": lambda: has_value(
        lambda v: isinstance(v, Mapping) and any(isinstance(inner, Mapping) for inner in v.values())
    ),
    "property names in other scripts": lambda: all(
        any(re.search(script, key) for n in NOTES.values() for key in n.properties)
        for script in ("[가-힣]", "[а-я]")
    ),
    "a folded text": lambda: in_block(r"^summary: >-$"),
    "a comment line in a block": lambda: in_block(r"^# \S"),
    "a comment behind a value": lambda: in_block(r"^\w+: \S+\s+# "),
    "single and double quotes kept": lambda: in_block(r"^title: '[^']+'$") and in_block(r'^aliases: \["'),
    "a profile note": lambda: len(tagged("user-profile")) == 1,
    # links
    "a plain wikilink": lambda: has_link(
        lambda k: is_wiki(k) and k.target and not k.subpath and k.display is None
    ),
    "a wikilink with other words": lambda: has_link(lambda k: is_wiki(k) and bool(k.display)),
    "a wikilink to a heading": lambda: has_link(
        lambda k: is_wiki(k) and re.match(r"#[^^]", k.subpath) is not None
    ),
    "a wikilink to a block": lambda: has_link(
        lambda k: is_wiki(k) and bool(k.target) and k.subpath.startswith("#^")
    ),
    "a wikilink inside its own note": lambda: has_link(lambda k: is_wiki(k) and not k.target and bool(k.subpath)),
    "a wikilink by folder": lambda: has_link(lambda k: is_wiki(k) and k.target == "Kitchen/Ideas"),
    "a wikilink in a table with an escaped pipe": lambda: any(in_table(NOTES[p], link) for p, link in all_links()),
    "an embedded section": lambda: has_link(lambda k: k.kind == "embed" and bool(k.subpath)),
    "an embedded picture with a width": lambda: has_link(
        lambda k: k.kind == "embed" and k.target.endswith(".png") and k.display == "120"
    ),
    "an embedded picture in Markdown": lambda: has_link(lambda k: k.kind == "embed" and k.markdown),
    "a Markdown link with angle brackets": lambda: (
        in_body(r"\]\(<[^>]+ [^>]+\.md>\)")
        and has_link(lambda k: k.markdown and k.target.startswith("2025-06-30 Three"))
    ),
    "a frontmatter link": lambda: has_link(lambda k: k.key == "up"),
    "a frontmatter list of links": lambda: has_link(lambda k: k.key == "related.1" and k.display == "the clay"),
    "a Markdown link in frontmatter with %20": lambda: has_link(
        lambda k: k.key == "source" and k.target == "2026-11-12 Harbour Café tasting.md"
    ),
    "a link across scripts": lambda: has_link(lambda k: k.target == "청자 유약 실험"),
    # blocks
    "a block id at the end of a line": lambda: any(b.id == "cooling" for n in NOTES.values() for b in n.blocks),
    "a block id on its own line": lambda: any(b.id == "verdict" for n in NOTES.values() for b in n.blocks),
    "a callout that folds": lambda: in_body(r"^> \[!warning\]- "),
    "open, done and other tasks": lambda: all(in_body(rf"^- \[{mark}\] ") for mark in " x/"),
    "a footnote": lambda: in_body(r"\[\^run\][^:]") and in_body(r"^\[\^run\]: "),
    "mathematics": lambda: in_body(r"\$m\$"),
    "a highlight": lambda: in_body(r"==\w+\.=="),
    "a table with alignment": lambda: in_body(r"^\|---\|:---:\|"),
    "a comment of Obsidian's": lambda: in_body(r"^%% .* %%$"),
    "an underlined heading": lambda: (
        in_body(r"^={5,}$")
        and "Firing checklist" in [h.text for h in NOTES["Studio/Firing checklist.md"].headings]
    ),
    "headings of four levels": lambda: {1, 2, 3, 4} <= {h.level for n in NOTES.values() for h in n.headings},
    # what looks like something and is not
    "fences that hold false headings and links": lambda: (
        in_body(r"^## 5 kg")
        and "5 kg  2026-05-19" not in [h.text for n in NOTES.values() for h in n.headings]
        and not has_link(lambda k: k.target.startswith("not a link"))
    ),
    "a fence of tildes": lambda: in_body(r"^~~~python$"),
    "an HTML comment that hides link and tag": lambda: (
        in_body(r"<!-- .*\[\[Kiln Berta\]\] #never -->")
        and not tagged("never")
        and not any(k.target == "Kiln Berta" for k in NOTES["Studio/Firing checklist.md"].links)
    ),
    # time
    "a fact that was superseded": lambda: any(
        "superseded_by" in n.properties and has_link(lambda k: k.key == "superseded_by") for n in NOTES.values()
    ),
    "a fact that has expired": lambda: any(
        date.fromisoformat(str(n.properties.get("valid_until", TODAY))) < TODAY
        and "superseded_by" not in n.properties
        for n in NOTES.values()
    ),
}


@pytest.mark.parametrize("feature", FEATURES)
def test_the_vault_shows(feature: str) -> None:
    assert FEATURES[feature]()


def test_every_frontmatter_parses_without_a_notice() -> None:
    faults = {p: (n.frontmatter.error, n.notices) for p, n in NOTES.items() if n.frontmatter.error or n.notices}

    assert {} == faults


def test_dates_lie_between_january_2024_and_today() -> None:
    dated = {path: created(path) for path, note in NOTES.items() if "created" in note.properties}

    assert len(dated) >= len(NOTES) - 2
    assert date(2024, 1, 1) <= min(dated.values())
    assert max(dated.values()) <= TODAY


def test_three_links_dangle_on_purpose_and_no_other() -> None:
    dangling = [link.target for source, link in all_links() if target_of(source, link) is None]

    assert ["Boathuose renovation", "Sponge supplier", "Title"] == sorted(dangling)


def test_no_link_is_ambiguous() -> None:
    unclear = [
        (source, link.target)
        for source, link in all_links()
        if resolve_link(link.target, source, find_files).candidates
    ]

    assert [] == unclear


def test_every_heading_or_block_a_link_names_is_there() -> None:
    named = [(target_of(source, link), link.subpath) for source, link in all_links() if link.subpath]

    assert len(named) >= 10
    for target, subpath in named:
        assert target is not None
        *parts, last = subpath.removeprefix("#").split("#")
        if last.startswith("^"):
            assert last[1:] in {block.id for block in NOTES[target].blocks}
        else:
            assert resolve_section(NOTES[target], [*parts, last])  # raises when it is not there


def test_people_have_observations_and_relations_that_name_notes() -> None:
    people = [path for path, note in NOTES.items() if note.properties.get("entity_type") == "person"]

    assert len(people) >= 4
    for path in people:
        note = NOTES[path]
        sections = dict(re.findall(r"^## (\w+)\n\n((?:- .+\n)+)", note.body, re.MULTILINE))

        assert len(sections["Observations"].splitlines()) >= 4, path
        relations = [
            re.fullmatch(r"- \w+ \[\[[^\]]+\]\]( \(from .+\))?", r) for r in sections["Relations"].splitlines()
        ]

        assert relations, path
        assert None not in relations, path


def test_a_relation_has_ended() -> None:
    assert in_body(r"^- sells_at \[\[.+\]\] \(from 2026-03-01, until 2026-10-31\)$")


def test_a_later_note_corrects_an_earlier_one() -> None:
    later = "Decisions/2025-09-02 The liner needs a longer soak.md"
    properties = NOTES[later].properties
    amended = next(target_of(later, link) for link in NOTES[later].links if link.key == "amends")

    assert "corrects" == properties["amend_kind"]
    assert "Decisions/2025-04-10 Cone 6 for the café line.md" == amended
    assert created(amended) < created(later)


def test_a_worry_runs_through_five_unlinked_notes_of_more_than_390_days() -> None:
    arc = tagged("wrist")
    days = sorted(created(path) for path in arc)
    pairs = {frozenset(pair) for pair in combinations(arc, 2)}

    assert 5 == len(arc)
    assert days[-1] - days[0] > timedelta(days=390)
    assert 5 == len({(day.year, day.month) for day in days})
    assert 5 == len({path.partition("/")[0] for path in arc})
    assert set() == pairs & linked_pairs()
    assert set(arc) <= set(of_layer("past"))


def test_a_plan_was_overtaken_by_four_later_records() -> None:
    plan = NOTES["Studio/Kiln Berta.md"].properties
    later = [path for path in of_layer("past") if path in tagged("kiln") and str(created(path)) > plan["updated"]]

    assert "state" == plan["layer"]
    assert "derives_from" not in plan
    assert 4 == len(later)


def test_one_tag_comes_back_after_a_long_silence_and_no_other() -> None:
    days_of: dict[str, list[date]] = defaultdict(list)
    for path, note in NOTES.items():
        for tag in note.tags:
            if "created" in note.properties:
                days_of[tag].append(created(path))

    assert ["celadon"] == [tag for tag, days in days_of.items() if is_burst(days)]


def is_burst(days: Sequence[date]) -> bool:
    """At least three in the last fortnight, and half a year of silence between them and the last earlier one."""
    recent = [day for day in days if day > TODAY - timedelta(days=14)]
    earlier = [day for day in days if day <= TODAY - timedelta(days=14)]
    return len(recent) >= 3 and bool(earlier) and min(recent) - max(earlier) >= timedelta(days=180)


def test_an_old_note_elsewhere_answers_a_recent_one() -> None:
    old, recent = "House/Damp in the pantry.md", "Studio/Log/2026-11-24 Damp in the drying room.md"

    assert TODAY - created(old) > timedelta(days=90)
    assert TODAY - created(recent) < timedelta(days=14)
    assert frozenset((old, recent)) not in linked_pairs()
