"""Links that lead nowhere: a stock example, a slip of the pen, or a note that is yet to be written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Protocol

from vault_memex.core.snapshot import NoteRecord, Snapshot, find_title_keys
from vault_memex.core.text import name_key, stem_of, without_md
from vault_memex.memory.signals import Signal, find_identities, is_project_file

_EXAMPLES = frozenset(
    (
        *("title", "old title", "new title", "exact title", "note title", "page title", "name", "note name"),
        *("note", "notes", "a note", "my note", "your note", "note a", "note b", "page", "page name", "target"),
        *("link", "links", "wikilink", "wikilinks", "file", "filename", "path", "path/to/note", "something"),
        *("example", "example note", "sample", "placeholder", "test", "foo", "bar", "baz", "x", "xxx", "...", "…"),
    )
)
_IN_TRASH = "which is in the trash: `vault-memex trash restore {ref}` brings it back."
_UNWRITTEN = "which is not written yet."
_NOTHING: Mapping[str, str] = MappingProxyType({})
_NUMBER = re.compile(r"#?[0-9]+")
_MOST_EDITS = 2
_LEAST_LENGTH = 4  # of a name that may be a slip


class UnresolvedLink(Protocol):
    """A link as the catalogue has it when no file answers."""

    @property
    def source(self) -> str:
        """The note it is written in."""

    @property
    def target(self) -> str:
        """The path part as written, decoded; without `#Heading` and display text."""


def find_dangling_links(
    snapshot: Snapshot,
    links: Iterable[UnresolvedLink],
    names: NameIndex | None = None,
    trashed: Mapping[str, str] = _NOTHING,
) -> Iterator[Signal]:
    """Yield one signal for each note and target, in order of both. `names` is the index of this snapshot, if made.

    `trashed` are notes in the trash: by the key of a name, what to write to restore the note. Rules are no source:
    they quote what not to write.
    """
    names = names or NameIndex(snapshot)
    seen: dict[tuple[str, str], str] = {}
    for link in links:
        seen.setdefault((link.source, name_key(without_md(link.target.strip()))), link.target.strip())
    for (source, key), target in sorted(seen.items()):
        note = snapshot.notes.get(source)
        if note is None or note.layer == "rule" or not key:
            continue
        kind, meant = _classify(note, key, names, trashed)
        anchors = (tuple(f"{identity}|{key}" for identity in find_identities(note)),)
        reason = _render_reason(note, target, kind, meant, trashed.get(key, ""))
        yield Signal("dangling_link", anchors, (source,), reason, kind, meant.path if meant else "")


def _classify(
    note: NoteRecord, key: str, names: NameIndex, trashed: Mapping[str, str]
) -> tuple[str, NoteRecord | None]:
    if key in _EXAMPLES or _NUMBER.fullmatch(key) or is_project_file(note.path):
        return "placeholder", None
    if note.path.startswith("docs/") or "/docs/" in note.path:
        return "placeholder", None
    if key in trashed:
        return "trashed", None
    meant = names.find_alias(key) or names.find_nearest(key)
    return ("typo", meant) if meant else ("forward", None)


def _render_reason(note: NoteRecord, target: str, kind: str, meant: NoteRecord | None, trashed: str) -> str:
    if kind == "placeholder":
        return f"{note.title!r} links to [[{target}]], which looks like an example."
    if meant is not None:
        return f"{note.title!r} links to [[{target}]]; [[{stem_of(meant.path)}]] is probably meant."
    return f"{note.title!r} links to [[{target}]], {_IN_TRASH.format(ref=trashed) if trashed else _UNWRITTEN}"


def hide_trash(reason: str) -> str:
    """Return the reason of a link to a note in the trash for somebody who may not know that the note ever was."""
    return f"{reason.rpartition(_IN_TRASH.partition('{')[0])[0]}{_UNWRITTEN}"


class NameIndex:
    """Finds the name that is a slip away from another, among many.

    A name within two edits of another has at least one third of it unchanged, shifted by at most two places. So
    each name is filed under its three parts, and only those that share one are measured.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._parts: dict[tuple[int, int, str], list[str]] = {}
        self._lengths: Counter[int] = Counter()
        self._letters: dict[str, int] = {}
        for key in snapshot.by_title_key:
            self._count(key, 1)

    def follow(self, snapshot: Snapshot) -> None:
        """Take in what another snapshot has changed: a matter of the changed notes alone."""
        changes = snapshot.find_changes(self._snapshot)
        former, names = self._snapshot.by_title_key, snapshot.by_title_key
        self._snapshot = snapshot
        for key in {key for note in changes.before for key in find_title_keys(note)}:
            if key not in names:
                self._count(key, -1)
        for key in {key for note in changes.after for key in find_title_keys(note)}:
            if key not in former:
                self._count(key, 1)

    def _count(self, key: str, by: int) -> None:
        if len(key) + _MOST_EDITS < _LEAST_LENGTH:
            return
        self._lengths[len(key)] += by
        if by > 0:
            self._letters[key] = _mark_letters(key)
        else:
            del self._letters[key]
        for number, (start, end) in enumerate(_find_thirds(len(key))):
            part = (len(key), number, key[start:end])
            if by > 0:
                self._parts.setdefault(part, []).append(key)
                continue
            self._parts[part].remove(key)
            if not self._parts[part]:
                del self._parts[part]

    def find_alias(self, key: str) -> NoteRecord | None:
        """Return the note that has the name as an alias: in a vault of Obsidian's it is not reached that way."""
        return next(iter(self._snapshot.by_alias_key.get(key, ())), None)

    def find_nearest(self, key: str) -> NoteRecord | None:
        """Return the note whose name is at most min(2, length ÷ 4) edits away, the nearest one, then by name."""
        most = min(_MOST_EDITS, len(key) // 4)
        last = key.rpartition("/")[2]
        found = min(
            (
                (edits, name)
                for wanted in {key, last}
                for name in self._find_candidates(wanted, most)
                if 0 < (edits := count_edits(wanted, name, most)) <= most
            ),
            default=None,
        )
        return self._snapshot.by_title_key[found[1]][0] if found else None

    def _find_candidates(self, key: str, most: int) -> set[str]:
        found: set[str] = set()
        letters = _mark_letters(key)
        for length in range(len(key) - most, len(key) + most + 1):
            if not self._lengths[length]:
                continue
            for number, (start, end) in enumerate(_find_thirds(length)):
                for shift in range(-most, most + 1):
                    if start + shift >= 0:
                        found.update(self._parts.get((length, number, key[start + shift : end + shift]), ()))
        # An edit adds a letter, takes one away, or both: most names that share a third differ in more letters.
        return {name for name in found if (self._letters[name] ^ letters).bit_count() <= 2 * most}


def _mark_letters(key: str) -> int:
    """Return which letters occur, as bits; a few letters share one."""
    marks = 0
    for letter in key:
        marks |= 1 << (ord(letter) & 63)
    return marks


def _find_thirds(length: int) -> tuple[tuple[int, int], ...]:
    one, two = length // 3, length * 2 // 3
    return ((0, one), (one, two), (two, length))


def count_edits(one: str, other: str, most: int) -> int:
    """Return how many letters to add, drop or replace make one text the other; `most` + 1 when more than that."""
    start, ends = _find_difference(one, other)
    one, other = one[start : ends[0]], other[start : ends[1]]
    if abs(len(one) - len(other)) > most:
        return most + 1
    if most <= 2:  # the usual case, by comparing pieces alone
        return min(_count_few(one, other), most + 1)
    row = list(range(len(other) + 1))
    far = most + 1
    for i, letter in enumerate(one, start=1):
        first, last = (
            max(1, i - most),
            min(len(other), i + most),
        )  # beyond this band there are more edits than asked
        before, row[first - 1] = row[first - 1], i if first == 1 else far
        for j in range(first, last + 1):
            above = row[j] if j < i + most else far
            before, row[j] = row[j], min(above + 1, row[j - 1] + 1, before + (letter != other[j - 1]))
        if min(row[first - 1 : last + 1]) > most:
            return far
    return min(row[-1], far)


def _count_few(one: str, other: str) -> int:
    """Return how many edits make one text the other, 3 for more than 2. Neither first nor last letters are the same.

    So one edit is at the start and another at the end, unless there is but one letter; what is between must fit.
    """
    longest = max(len(one), len(other))
    if longest <= 1 or not one or not other:
        return min(longest, 3)
    if one[1:-1] in (other, other[1:], other[:-1]) or other[1:-1] in (one, one[1:], one[:-1]):
        return 2
    return 2 if one[1:-1] == other[1:-1] or one[1:] == other[:-1] or one[:-1] == other[1:] else 3


def _find_difference(one: str, other: str) -> tuple[int, tuple[int, int]]:
    """Return where two texts begin to differ, and where in each of them they end to."""
    shorter = min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return start, (len(one) - end, len(other) - end)


def find_dismissed_class(note: NoteRecord) -> tuple[str, ...]:
    """Return the identities that stand for all dangling links of a note."""
    return tuple(f"{identity}|" for identity in find_identities(note))  # no link has an empty target
