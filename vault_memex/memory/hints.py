"""Hints after a write: what the author may want to do next. Nothing of it is done by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from vault_memex.core.markdown import find_prose
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import Span, name_key, stem_of, without_md
from vault_memex.memory.phrases import PhraseIndex
from vault_memex.memory.system_tags import SYSTEM_TAGS
from vault_memex.memory.thresholds import Thresholds, match_percent

LINKS_SHOWN = 5
TAGS_SHOWN = 5
SIMILAR_SHOWN = 5
CITING_SHOWN = 10

_WIDEST_CONTEXT = 120  # characters of a patch's text to find
_LEAST_USES = 2  # of a tag, to be suggested

WriteKind = Literal["created", "edited", "deleted", "deleting", "merging"]


@dataclass(frozen=True, slots=True)
class LinkHint:
    """A note that is mentioned and not linked, with a patch that links it."""

    path: str
    note_id: int | None
    title: str
    find: str  # occurs once in the body
    replace: str


@dataclass(frozen=True, slots=True)
class TagHint:
    """A tag of the vault whose words are in the text."""

    tag: str
    notes: int  # that have it


@dataclass(frozen=True, slots=True)
class SimilarHint:
    """A note near this one."""

    path: str
    note_id: int | None
    title: str
    percent: int
    sentence: str


@dataclass(frozen=True, slots=True)
class CitingHint:
    """The notes that link here, and what to check in them."""

    notes: tuple[NoteRecord, ...]  # at most ten, least recently changed first
    total: int
    sentence: str


class TitleIndex:
    """The names of all notes, ready to be looked for: titles, file names, aliases.

    Making it takes a fifth of a second for 10,000 notes, following a change only what the changed notes need. One
    thread at a time may use it.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._at: Snapshot | None = None
        self._named: dict[str, dict[str, NoteRecord]] = {}  # by name, then path
        self._stems: dict[str, int] = {}
        self._phrases = PhraseIndex(())
        self.follow(snapshot)

    def follow(self, snapshot: Snapshot) -> None:
        """Take in what another snapshot has changed."""
        changes = snapshot.find_changes(self._at)
        self._at = snapshot
        for note in changes.before:
            self._drop(note)
        for note in changes.after:
            self._add(note)

    def _add(self, note: NoteRecord) -> None:
        stem = name_key(stem_of(note.path))
        self._stems[stem] = self._stems.get(stem, 0) + 1
        for name in _find_names(note):
            named = self._named.setdefault(name, {})
            named[note.path] = note
            if len(named) == 1:
                self._phrases.add(name)

    def _drop(self, note: NoteRecord) -> None:
        self._stems[name_key(stem_of(note.path))] -= 1
        for name in _find_names(note):
            del self._named[name][note.path]
            if not self._named[name]:
                del self._named[name]
                self._phrases.drop(name)

    def find_mentions(self, text: str, spans: Sequence[Span]) -> Iterable[tuple[NoteRecord, Span]]:
        """Yield the notes whose names stand in the spans, in order of position; none for a name that two have."""
        for found in self._phrases.find_in(text, spans):
            named = self._named[found.phrase]
            if len(named) == 1:
                yield next(iter(named.values())), found.span

    def render_target(self, note: NoteRecord) -> str:
        """Return what a link to the note names: the file, with its folders where another file has that name."""
        stem = stem_of(note.path)
        return stem if self._stems.get(name_key(stem)) == 1 else without_md(note.path)


def _find_names(note: NoteRecord) -> frozenset[str]:
    """Return what a note may be mentioned by; nothing for rules and what waits for approval."""
    if note.layer == "rule" or note.pending:
        return frozenset()
    return frozenset((note.title, stem_of(note.path), *note.aliases))


def find_link_hints(
    text: str, path: str, linked: Collection[str], titles: TitleIndex, before: str = ""
) -> tuple[LinkHint, ...]:
    """Return notes mentioned in a note's text and not linked from it, with patches; in order of position.

    Not looked at are headings, code, HTML, mathematics, links and their texts. `linked` holds the paths that the
    note links to already. Of a text that was another `before`, only the lines that are new are looked at.
    """
    hints: dict[str, LinkHint] = {}
    patched = text
    for note, span in titles.find_mentions(text, find_new_prose(text, before)):
        if note.path == path or note.path in linked or note.path in hints or _in_address(text, span):
            continue
        patch = _plan_link(text, span, titles.render_target(note))
        if patch is not None and occurs_once(patched, patch[0]):  # so that all hints may be taken, in their order
            patched = patched.replace(*patch, 1)
            hints[note.path] = LinkHint(note.path, note.note_id, note.title, *patch)
            if len(hints) == LINKS_SHOWN:
                break
    return tuple(hints.values())


def find_new_prose(text: str, before: str) -> Sequence[Span]:
    """Return the running text in the lines of a text that it had not before, in order."""
    prose = find_prose(text)
    if not before:
        return prose
    known, new, at = set(before.splitlines()), list[Span](), 0
    for line, whole in zip(text.splitlines(), text.splitlines(keepends=True), strict=True):
        end = at + len(whole)
        if line not in known:
            start = new.pop().start if new and new[-1].end == at else at
            new.append(Span(start, end))
        at = end
    cut = ((max(part.start, line.start), min(part.end, line.end)) for line in new for part in prose)
    return [Span(start, end) for start, end in cut if start < end]


def occurs_once(text: str, find: str) -> bool:
    """Whether a text stands at just one place, overlapping places counted too: the rule of edits."""
    first = text.find(find)
    return first >= 0 and text.find(find, first + 1) < 0


def _in_address(text: str, span: Span) -> bool:
    """Whether the place lies in a bare web address."""
    start = span.start
    while start and not text[start - 1].isspace():
        start -= 1
    return "://" in text[start : span.start] or text.startswith("www.", start)


def _plan_link(text: str, span: Span, target: str) -> tuple[str, str] | None:
    """Return text that occurs once, on one line, and what to put there; None when nothing short enough does."""
    line_start = max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1
    ends = [at for mark in "\r\n" if (at := text.find(mark, span.end)) >= 0]
    line_end = min(ends, default=len(text))
    written = text[span.start : span.end]
    pipe = "\\|" if text[line_start:line_end].lstrip().startswith("|") else "|"
    link = f"[[{target}]]" if written == target else f"[[{target}{pipe}{written}]]"
    start, end = span
    while True:
        find = text[start:end]
        if len(find) > _WIDEST_CONTEXT:
            return None
        if occurs_once(text, find):
            return find, text[start : span.start] + link + text[span.end : end]
        wider = _widen(text, start, end, line_start, line_end)
        if wider == (start, end):
            return None
        start, end = wider


def _widen(text: str, start: int, end: int, line_start: int, line_end: int) -> tuple[int, int]:
    """Return the place with one more word on either side, within the line."""
    if start > line_start:
        start = max(line_start, text.rfind(" ", line_start, start - 1) + 1)
    if end < line_end:
        space = text.find(" ", end + 1, line_end)
        end = line_end if space < 0 else space
    return start, end


class TagIndex:
    """The tags of a vault, ready to be looked for."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._tags: dict[str, str] = {}
        self._counts = dict(vocabulary)
        for tag, count in sorted(vocabulary.items(), key=lambda pair: (-pair[1], pair[0])):
            if count < _LEAST_USES or name_key(tag) in SYSTEM_TAGS:
                continue
            last = tag.rpartition("/")[2]
            for phrase in {last, last.replace("-", " "), last.replace("_", " ")}:
                self._tags.setdefault(phrase, tag)
        self._phrases = PhraseIndex(self._tags, loose=True)

    def find_tags(self, text: str, own: Collection[str], before: str = "") -> tuple[TagHint, ...]:
        """Return tags whose words stand in a note's prose and that it does not have, the most used first.

        Of a text that was another `before`, only the lines that are new are looked at.
        """
        have = {name_key(tag) for tag in own}
        have |= {parent for tag in have for parent in _find_parents(tag)}
        found: dict[str, TagHint] = {}
        for occurrence in self._phrases.find_in(text, find_new_prose(text, before)):
            tag = self._tags[occurrence.phrase]
            if name_key(tag) not in have:
                found.setdefault(tag, TagHint(tag, self._counts[tag]))
        return tuple(sorted(found.values(), key=lambda hint: (-hint.notes, hint.tag))[:TAGS_SHOWN])


def _find_parents(tag: str) -> list[str]:
    parts = tag.split("/")
    return ["/".join(parts[:size]) for size in range(1, len(parts))]


def find_similar(
    distances: Iterable[tuple[str, float]], notes: Mapping[str, NoteRecord], path: str, thresholds: Thresholds
) -> tuple[SimilarHint, ...]:
    """Return up to five notes within `related` of this one, nearest first, each with what it may mean."""
    hints: list[SimilarHint] = []
    for other, distance in sorted(distances, key=lambda pair: (pair[1], pair[0])):
        note = notes.get(other)
        if distance > thresholds.related or len(hints) == SIMILAR_SHOWN:
            break
        if note is None or other == path or note.layer == "rule":
            continue
        same = distance <= thresholds.duplicate
        sentence = "Likely the same: edit one of them." if same else "Related but distinct: a link may help."
        hints.append(SimilarHint(other, note.note_id, note.title, match_percent(distance), sentence))
    return tuple(hints)


_ADVICE: Mapping[WriteKind, str] = {
    "created": "This title was already a link in {notes}: check that it means this note.",
    "edited": "{notes} cited this note before: check that what is said there still holds.",
    "deleted": "Links to this note in {notes} now lead nowhere: mend or remove them.",
    "deleting": "{notes} would link to a note that is gone: tell the person where those links should go.",
    "merging": "The links in {notes} would lead to the note that stays: check that they fit it.",
}


def find_citing(kind: WriteKind, citing: Iterable[NoteRecord]) -> CitingHint | None:
    """Return the notes that link to the one written, least recently changed first; None when there are none."""
    ordered = sorted(citing, key=lambda n: (n.updated or n.created, n.path))
    if not ordered:
        return None
    total = f"{len(ordered)} {'note' if len(ordered) == 1 else 'notes'}"
    return CitingHint(tuple(ordered[:CITING_SHOWN]), len(ordered), _ADVICE[kind].format(notes=total))
