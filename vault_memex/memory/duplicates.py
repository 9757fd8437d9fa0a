"""Duplicates at writing: a certain one is refused before anything is written, a similar one is said.

A distance here is that of `calibration.measure_copy`: how far *all* of the draft is from a note. A section or
template that two notes share makes them near, not duplicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from vault_memex.core.snapshot import Snapshot
from vault_memex.core.text import folder_of, name_key
from vault_memex.memory.phrases import find_words
from vault_memex.memory.thresholds import Thresholds, match_percent

DUPLICATE_DISTANCE = "MEMEX_DUPLICATE_DIST"
SHINGLE = 5  # words
CERTAIN_SHARE, SIMILAR_SHARE = 0.8, 0.4  # of shingles that two texts have in common
NAMED = 3

DuplicateKind = Literal["certain", "similar"]
DuplicateReason = Literal["title", "text", "meaning", "words"]


@dataclass(frozen=True, slots=True)
class NewNote:
    """What is about to be saved."""

    title: str
    path: str  # where it would go
    body: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A note that the draft repeats."""

    path: str
    note_id: int | None
    title: str
    kind: DuplicateKind
    reason: DuplicateReason
    percent: int


def parse_duplicate_distance(environment: Mapping[str, str]) -> tuple[float | None, tuple[str, ...]]:
    """Return the distance that the person set for `duplicate`, if any, and warnings."""
    text = environment.get(DUPLICATE_DISTANCE, "").strip()
    if not text:
        return None, ()
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if 0 <= value <= 2:
        return value, ()
    return None, (f"{DUPLICATE_DISTANCE}={text!r} is no cosine distance from 0 to 2; the calibrated one is used.",)


def find_duplicates(
    draft: NewNote,
    snapshot: Snapshot,
    bodies: Mapping[str, str],
    distances: Iterable[tuple[str, float]] | None,
    thresholds: Thresholds,
    *,
    chosen_distance: float | None = None,
) -> tuple[Duplicate, ...]:
    """Return what the draft repeats, certain ones first, then the best match; of either at most three.

    `bodies` holds the texts, after the frontmatter, of notes worth comparing: those that search finds for the
    draft. `distances` are of `measure_copy`; None when there are no vectors: then words are compared.
    `chosen_distance` is the person's own number for `duplicate`.
    """
    found: dict[str, Duplicate] = {}

    def add(path: str, kind: DuplicateKind, reason: DuplicateReason, percent: int) -> None:
        note = snapshot.notes.get(path)
        if note is None or path == draft.path:
            return
        known = found.get(path)
        if known is None or _rank(kind, percent) > _rank(known.kind, known.percent):
            found[path] = Duplicate(path, note.note_id, note.title, kind, reason, percent)

    for note in snapshot.by_title_key.get(name_key(draft.title), ()):
        if name_key(note.title) == name_key(draft.title) and name_key(note.folder) == name_key(
            folder_of(draft.path)
        ):
            add(note.path, "certain", "title", 100)
    for path, body in bodies.items():
        if is_same_text(draft.body, body):
            add(path, "certain", "text", 100)
    # With vectors, words in common make nothing certain: in public vaults a page on what to include and one on what
    # to exclude share four fifths of their shingles.
    if distances is not None:
        for path, distance, kind in _judge_distances(distances, thresholds, chosen_distance):
            add(path, kind, "meaning", match_percent(distance))
    else:
        for path, share, kind in _judge_words(draft.body, bodies):
            add(path, kind, "words", round(100 * share))
    ranked = sorted(found.values(), key=lambda d: (d.kind != "certain", -d.percent, d.path))
    certain = [d for d in ranked if d.kind == "certain"][:NAMED]
    return (*certain, *[d for d in ranked if d.kind == "similar"][:NAMED])


def _rank(kind: DuplicateKind, percent: int) -> tuple[bool, int]:
    return (kind == "certain", percent)


def _judge_distances(
    distances: Iterable[tuple[str, float]], thresholds: Thresholds, chosen: float | None
) -> Iterable[tuple[str, float, DuplicateKind]]:
    similar = thresholds.duplicate if chosen is None else chosen
    certain = min(thresholds.certain, similar)
    for path, distance in distances:
        if distance <= certain:
            yield path, distance, "certain"
        elif distance <= similar:
            yield path, distance, "similar"


def _judge_words(body: str, bodies: Mapping[str, str]) -> Iterable[tuple[str, float, DuplicateKind]]:
    own = build_shingles(body)
    for path, other in bodies.items():
        share = measure_overlap(own, build_shingles(other))
        if share >= CERTAIN_SHARE:
            yield path, share, "certain"
        elif share >= SIMILAR_SHARE:
            yield path, share, "similar"


def is_same_text(one: str, other: str) -> bool:
    """Whether two bodies say the same in the same words.

    A heading that only one of them begins with does not count: a person writes the title there once more, an
    assistant does not. What is left must be a sentence then, since many notes hold the same few words below it.
    """
    if fold_body(one) == fold_body(other) != "":
        return True
    (title, text), (other_title, other_text) = _split_title(one), _split_title(other)
    folded = fold_body(text)
    return (
        bool(title) != bool(other_title)
        and folded == fold_body(other_text)
        and len(list(find_words(folded))) >= SHINGLE
    )


def _split_title(body: str) -> tuple[str, str]:
    """Return the heading of the first level that a body begins with, and what follows; no heading: all follows."""
    first, _, rest = body.strip().partition("\n")
    return (first, rest) if first.startswith("# ") else ("", body)


def fold_body(body: str) -> str:
    """Return a text with all white space made one blank: what two bodies are compared by."""
    return " ".join(body.split())


def build_shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of five words; of a shorter text the one run there is.

    In scripts without spaces between words each letter counts as one.
    """
    words = [word.text for word in find_words(text)]
    if not words:
        return frozenset()
    return frozenset(tuple(words[i : i + SHINGLE]) for i in range(max(1, len(words) - SHINGLE + 1)))


def measure_overlap(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """Return the share of shingles in both among those in either (Jaccard); 0 when one is empty."""
    if not one or not other:
        return 0.0
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def join_hits(hits: Sequence[Sequence[tuple[str, float]]]) -> list[tuple[str, float]]:
    """Return the distance of a draft to notes from the nearest passages of each of its passages.

    Each item of `hits` holds (path of the note, distance) for one passage of the draft. Where a note is not among
    the hits of a passage, it is at least as far as the last of them. Nearest first.
    """
    nearest: list[dict[str, float]] = []
    floors: list[float] = []
    for passage in hits:
        best: dict[str, float] = {}
        for path, distance in passage:
            best[path] = min(distance, best.get(path, distance))
        nearest.append(best)
        floors.append(max((distance for _, distance in passage), default=2.0))
    paths = {path for best in nearest for path in best}
    joined = [
        (path, sum(best.get(path, floor) for best, floor in zip(nearest, floors, strict=True)) / len(hits))
        for path in paths
    ]
    return sorted(joined, key=lambda pair: (pair[1], pair[0]))


def render_duplicate(duplicate: Duplicate) -> str:
    """Return one line: `#12 "Title" (97% match)`."""
    name = f'#{duplicate.note_id} "{duplicate.title}"' if duplicate.note_id is not None else f'"{duplicate.title}"'
    return f"{name} ({duplicate.percent}% match)"
