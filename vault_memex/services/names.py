"""The titles, tags and folders in use, kept up to date from one snapshot to the next."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import name_key
from vault_memex.memory.hints import LinkHint, TagHint, TagIndex, TitleIndex, find_link_hints, occurs_once

MOST_CHARS = 20_000  # of a note that hints are looked for in


class Names:
    """What a new text can be compared with. Any thread may ask; one at a time is answered.

    Made at the first write: the names of 10,000 notes take a fifth of a second. Later only changed notes are looked at.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at: Snapshot | None = None
        self._titles: TitleIndex | None = None
        self._spellings: dict[str, Counter[str]] = {}  # of each tag, by its key
        self._folders: Counter[str] = Counter()
        self._uses: dict[str, int] | None = None  # of each tag as it is mostly spelled; None: to be counted anew
        self._tags: tuple[frozenset[str], TagIndex] | None = None  # made of the tags that two notes have

    def find_new(
        self, snapshot: Snapshot, note: NoteRecord, before: NoteRecord | None
    ) -> tuple[tuple[str, ...], str | None]:
        """Return the tags of a note just written that no other note has, and its folder if it holds no other.

        What the note had before the write is not new.
        """
        with self._lock:
            self._follow(snapshot)
            had = {name_key(tag) for tag in before.tags} if before else set()
            keys = {name_key(tag): tag for tag in reversed(note.tags)}
            tags = [
                tag
                for key, tag in reversed(keys.items())
                if key not in had and self._spellings.get(key, Counter()).total() <= 1
            ]
            moved = before is None or before.folder != note.folder
            folder = note.folder if note.folder and moved and self._folders[note.folder] <= 1 else None
            return tuple(tags), folder

    def find_link_hints(
        self, snapshot: Snapshot, text: str, path: str, linked: Collection[str], before: str = ""
    ) -> tuple[LinkHint, ...]:
        """Return notes that a text names and does not link, with patches that apply to it."""
        head = _cut(text)
        with self._lock:
            titles = self._follow(snapshot)
            hints = find_link_hints(head, path, linked, titles, before)
        return tuple(hint for hint in hints if len(head) == len(text) or occurs_once(text, hint.find))

    def find_tag_hints(
        self, snapshot: Snapshot, text: str, own: Collection[str], before: str = ""
    ) -> tuple[TagHint, ...]:
        """Return tags in use whose words stand in a text and that its note does not have."""
        with self._lock:
            self._follow(snapshot)
            if self._uses is None:
                self._uses = {c.most_common(1)[0][0]: c.total() for c in self._spellings.values()}
                telling = frozenset(tag for tag, count in self._uses.items() if count > 1)
                if self._tags is None or self._tags[0] != telling:
                    self._tags = telling, TagIndex(self._uses)
            assert self._tags is not None
            uses = self._uses
            hints = self._tags[1].find_tags(_cut(text), own, before)
            return tuple(replace(hint, notes=uses.get(hint.tag, hint.notes)) for hint in hints)

    def _follow(self, snapshot: Snapshot) -> TitleIndex:
        changes = snapshot.find_changes(self._at)
        self._at = snapshot
        if self._titles is None:
            self._titles = TitleIndex(snapshot)
        else:
            self._titles.follow(snapshot)
        former = {note.path: note for note in changes.before}
        for note in changes.after:
            old = former.get(note.path)
            if old is not None and old.tags == note.tags:
                del former[note.path]
            else:
                self._count(note, 1)
        for note in former.values():
            self._count(note, -1)
        return self._titles

    def _count(self, note: NoteRecord, by: int) -> None:
        self._folders[note.folder] += by
        self._uses = None
        for key, tag in {name_key(tag): tag for tag in note.tags}.items():
            spellings = self._spellings.setdefault(key, Counter())
            spellings[tag] += by
            if spellings[tag] <= 0:
                del spellings[tag]
            if not spellings:
                del self._spellings[key]


def _cut(text: str) -> str:
    """Return the part that is looked at, in whole lines."""
    return text if len(text) <= MOST_CHARS else text[: text.rfind("\n", 0, MOST_CHARS) + 1]
