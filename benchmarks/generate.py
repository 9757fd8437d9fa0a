"""Write a deterministic Markdown vault for measurements, with its ground truth.

    python -m benchmarks.generate NOTES OUT [--seed 7] [--bytes 1450] [--manifest FILE]

The same number of notes, seed and size always give byte-identical files. Every note has frontmatter (title,
layer, tags, numbers, a date, a nested map), a first heading, four to six sections, lists, now and then a code
fence, inline tags, and two to eight links in the forms Obsidian writes. About 2 % of the links point at nothing,
about 3 % of the names hold letters outside ASCII, and popular notes get most of the links.

Each note holds one marker, a word that occurs nowhere else, so a search for it has exactly one right answer.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

LAYERS = ("past", "past", "past", "state", "rule")
LAYER_WEIGHTS = (1, 5, 6, 3, 2)
FOLDERS = (
    "projects/atlas", "projects/borealis", "projects/cinder", "areas/health", "areas/finance", "areas/home",
    "people", "meetings/2024", "meetings/2025", "decisions", "howto", "reference/papers", "reference/tools",
    "journal/2025", "inbox",
)  # fmt: skip
TAGS = (
    "database", "auth", "search", "indexing", "latency", "budget", "travel", "recipe", "garden", "python",
    "rust", "design", "review", "risk", "hiring", "writing", "learning", "backup", "network", "sleep",
    "running", "music", "project/atlas", "project/borealis", "status/open", "status/done",
)  # fmt: skip
STATUS = ("draft", "active", "blocked", "done", "archived")
OWNERS = ("ana", "ben", "chidi", "dora")
UNITS = ("ms", "notes", "euros", "pages", "minutes")
ADJECTIVES = (
    "quiet", "brittle", "shared", "nightly", "incremental", "portable", "stale", "nested", "public", "hidden",
    "early", "weekly", "cheap", "robust", "partial", "remote", "local", "broken", "steady", "manual", "frozen",
    "warm", "cold",
)  # fmt: skip
NOUNS = (
    "ledger", "cache", "queue", "schema", "harbour", "migration", "garden", "kettle", "parser", "retry",
    "budget", "backup", "index", "vector", "router", "token", "session", "calendar", "invoice", "recipe",
    "trail", "sensor", "protocol", "checklist", "interview", "roadmap", "archive", "pipeline", "snapshot",
    "lantern", "compiler", "battery", "boundary", "contract", "deadline", "estimate", "fixture", "gateway",
    "hypothesis", "inventory",
)  # fmt: skip
VERBS = (
    "moves", "keeps", "drops", "rebuilds", "compares", "merges", "delays", "measures", "replaces", "guards",
    "repeats", "signs", "reads", "writes", "splits", "checks", "caps", "stores", "loses", "finds",
)  # fmt: skip
PLACES = (
    "the staging host", "the old laptop", "our shared drive", "the Lisbon office", "the review board",
    "a second process", "the kitchen shelf", "the morning run", "the release branch", "the customer call",
    "the backup disk", "the planning sheet",
)  # fmt: skip
REASONS = (
    "because the first attempt lost two days of edits", "so that nobody waits for a rebuild",
    "while the team agrees on a name", "after the June outage", "although the numbers are small",
    "unless the deadline slips again", "before the contract renewal", "as the earlier note already argued",
    "since the tests never covered it", "which the next review should settle",
)  # fmt: skip
HEADINGS = (
    "Context", "Decision", "Notes", "Open questions", "Next steps", "Evidence", "Alternatives", "Timeline",
    "Risks", "Links", "Summary", "Log",
)  # fmt: skip
FOREIGN = ("café", "Übersicht", "naïve", "日本語メモ", "Привет", "résumé", "ñandú", "Zürich")
FENCES = (
    "```python\ndef keep(x):\n    # not a heading\n    return [y for y in x if y]\n```",
    "```sql\nselect id, path from notes where mtime > 0;\n```",
    "```text\n## this is not a section\n[[not a link]]\n```",
)

_VOWELS = "aeiou"
_CONSONANTS = "bdfgklmnprst"
MOST_NOTES = (len(_VOWELS) * len(_CONSONANTS)) ** 3
"""How many different markers there are."""


@dataclass(frozen=True, slots=True)
class NotePlan:
    """A note before it has a body, so that links can aim at notes not yet written."""

    number: int
    title: str
    path: str
    marker: str
    layer: str
    tags: tuple[str, ...]
    status: str
    priority: int
    confidence: float
    created: str
    owner: str


@dataclass(frozen=True, slots=True)
class GeneratedNote:
    """What is true of one written note."""

    path: str
    title: str
    marker: str
    layer: str
    tags: tuple[str, ...]
    links: tuple[str, ...]  # titles, in order, missing ones and repeats included


@dataclass(frozen=True, slots=True)
class SampleQuery:
    """A query to time; `expected` is the one right path, or None where many notes would do."""

    text: str
    expected: str | None


@dataclass(frozen=True)
class Manifest:
    """The ground truth of a generated vault."""

    seed: int
    size: int
    bytes_written: int
    notes: tuple[GeneratedNote, ...]
    queries: tuple[SampleQuery, ...]

    @cached_property
    def markers(self) -> Mapping[str, str]:
        """The path that holds each marker."""
        return {note.marker: note.path for note in self.notes}

    def render(self) -> str:
        """Return the manifest as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


def generate_vault(out: Path, notes: int, *, seed: int = 7, size: int = 1450) -> Manifest:
    """Write the vault below `out` and return its ground truth.

    `size` is the least size of a body in bytes; whole notes average about 2 KB with the default.
    """
    if not 1 <= notes <= MOST_NOTES:
        raise ValueError(f"{notes} notes: choose 1 to {MOST_NOTES}, for each needs its own marker")
    plans = plan_notes(notes, random.Random(seed))
    written: list[GeneratedNote] = []
    total = 0
    for plan in plans:
        # A generator for each note, so that its body does not depend on how many came before.
        body, links = render_body(random.Random(f"{seed}/{plan.number}"), plans, plan, size)
        data = (render_frontmatter(plan) + body).encode()
        file = out / plan.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        total += len(data)
        written.append(GeneratedNote(plan.path, plan.title, plan.marker, plan.layer, plan.tags, links))
    return Manifest(seed, size, total, tuple(written), _sample_queries(random.Random(seed + 1), written))


def marker_of(number: int) -> str:
    """Return the marker of a note: `zq` and six letters that spell its number."""
    letters = "zq"
    for place in range(6):
        alphabet = _VOWELS if place % 2 == 0 else _CONSONANTS
        letters += alphabet[number % len(alphabet)]
        number //= len(alphabet)
    return letters


def plan_notes(count: int, random_: random.Random) -> tuple[NotePlan, ...]:
    """Return names, folders and properties of all notes; no two titles differ only by case."""
    plans: list[NotePlan] = []
    seen: set[str] = set()
    for number in range(count):
        title = _unused_title(random_, seen)
        folder = random_.choice(FOLDERS)
        plans.append(
            NotePlan(
                number=number,
                title=title,
                path=f"{folder}/{title}.md",
                marker=marker_of(number),
                layer=random_.choices(LAYERS, LAYER_WEIGHTS)[0],
                tags=tuple(random_.sample(TAGS, random_.randint(1, 4))),
                status=random_.choice(STATUS),
                priority=random_.randint(1, 5),
                confidence=round(random_.random(), 2),
                created=f"{random_.randint(2022, 2025)}-{random_.randint(1, 12):02d}-{random_.randint(1, 28):02d}",
                owner=random_.choice(OWNERS),
            )
        )
    return tuple(plans)


def render_frontmatter(plan: NotePlan) -> str:
    """Return the property block of a note, with an empty line after it."""
    tags = "".join(f"\n  - {tag}" for tag in plan.tags)
    due = f"{int(plan.created[:4]) + 1}{plan.created[4:]}"
    return (
        f"---\ntitle: {json.dumps(plan.title, ensure_ascii=False)}\nlayer: {plan.layer}\ntags:{tags}\n"
        f"status: {plan.status}\npriority: {plan.priority}\nconfidence: {plan.confidence}\n"
        f"created: {plan.created}\nreview_round:\n  owner: {plan.owner}\n  due: {due}\n---\n\n"
    )


def render_body(
    random_: random.Random, plans: Sequence[NotePlan], plan: NotePlan, size: int
) -> tuple[str, tuple[str, ...]]:
    """Return a body of at least `size` bytes, and the titles it links to."""
    links: list[str] = []
    headings = random_.sample(HEADINGS, random_.randint(4, 6))
    marked, links_left = random_.randrange(len(headings)), random_.randint(2, 8)
    parts = [f"# {plan.title}", "", f"{_sentence(random_)} {_sentence(random_)}", ""]
    for index, heading in enumerate(headings):
        paragraph = [_sentence(random_) for _ in range(random_.randint(1, 3))]
        if index == marked:
            paragraph.insert(random_.randrange(len(paragraph) + 1), f"Its code word is {plan.marker}.")
        while links_left and random_.random() < 0.6:
            link, target = _link(random_, plans, plan)
            links.append(target)
            paragraph.append(f"See {link} for the {random_.choice(NOUNS)}.")
            links_left -= 1
        if random_.random() < 0.3:
            paragraph.append(f"Filed under #{random_.choice(TAGS)}.")
        parts += [f"## {heading}", "", " ".join(paragraph), "", *_extras(random_)]
    length = len("\n".join(parts).encode())
    while length < size:
        filler = " ".join(_sentence(random_) for _ in range(3))
        parts += [filler, ""]
        length += len(filler) + 2
    return "\n".join(parts).rstrip() + "\n", tuple(links)


def _unused_title(random_: random.Random, seen: set[str]) -> str:
    base = f"{random_.choice(ADJECTIVES)} {random_.choice(NOUNS)} {random_.choice(NOUNS)}".title()
    if random_.random() < 0.03:
        base = f"{random_.choice(FOREIGN)} {base}"
    title = base
    while title.casefold() in seen:
        title = f"{base} {random_.randint(2, 99999)}"
    seen.add(title.casefold())
    return title


def _sentence(random_: random.Random) -> str:
    text = (
        f"The {random_.choice(ADJECTIVES)} {random_.choice(NOUNS)} {random_.choice(VERBS)} "
        f"the {random_.choice(ADJECTIVES)} {random_.choice(NOUNS)}"
    )
    if random_.random() < 0.6:
        text += f" on {random_.choice(PLACES)}"
    if random_.random() < 0.5:
        text += f" {random_.choice(REASONS)}"
    if random_.random() < 0.15:
        text += f", about {random_.randint(2, 900)} {random_.choice(UNITS)}"
    return text + "."


def _link(random_: random.Random, plans: Sequence[NotePlan], plan: NotePlan) -> tuple[str, str]:
    """Return a link as written and the title it names."""
    if random_.random() < 0.02:
        missing = f"Missing {random_.choice(NOUNS)} {random_.randint(1, 500)}"
        return f"[[{missing}]]", missing
    # A power law: low numbers are the hubs.
    other = plans[min(int(len(plans) * random_.random() ** 2.2), len(plans) - 1)]
    if other is plan:
        other = plans[(plan.number + 1) % len(plans)]
    form = random_.random()
    if form < 0.62:
        return f"[[{other.title}]]", other.title
    if form < 0.78:
        return f"[[{other.title}|{random_.choice(NOUNS)}]]", other.title
    if form < 0.88:
        return f"[[{other.title}#{random_.choice(HEADINGS)}]]", other.title
    if form < 0.96:
        return f"[[{other.path.removesuffix('.md')}]]", other.title
    return f"![[{other.title}]]", other.title


def _extras(random_: random.Random) -> list[str]:
    """Return what may follow a paragraph: a list, a smaller section, a fence."""
    parts: list[str] = []
    if random_.random() < 0.45:
        parts += [f"- {_sentence(random_)}" for _ in range(random_.randint(2, 4))] + [""]
    if random_.random() < 0.25:
        parts += [f"### {random_.choice(HEADINGS)} in detail", "", _sentence(random_), ""]
    if random_.random() < 0.10:
        parts += [random_.choice(FENCES), ""]
    return parts


def _sample_queries(random_: random.Random, notes: Sequence[GeneratedNote]) -> tuple[SampleQuery, ...]:
    """Return up to a hundred markers with their note, and a hundred pairs of common words."""
    exact = [SampleQuery(note.marker, note.path) for note in random_.sample(notes, min(100, len(notes)))]
    broad = [SampleQuery(f"{random_.choice(ADJECTIVES)} {random_.choice(NOUNS)}", None) for _ in range(100)]
    return (*exact, *broad)


def main() -> None:
    """Write a vault from the command line."""
    parser = argparse.ArgumentParser(description="Write a deterministic Markdown vault for measurements.")
    parser.add_argument("notes", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--bytes", type=int, default=1450, help="least size of a body; notes average about 2 KB")
    parser.add_argument("--manifest", type=Path, help="write the ground truth as JSON to this file")
    arguments = parser.parse_args()
    manifest = generate_vault(arguments.out, arguments.notes, seed=arguments.seed, size=arguments.bytes)
    if arguments.manifest:
        arguments.manifest.write_text(manifest.render(), encoding="utf-8")
    mean = manifest.bytes_written // len(manifest.notes)
    print(f"{len(manifest.notes)} notes, {manifest.bytes_written} bytes, mean {mean} bytes in {arguments.out}")


if __name__ == "__main__":
    main()
