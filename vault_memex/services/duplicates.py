"""Holding a new note against the vault before it is written: does a note say the same already?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vault_memex.core.frontmatter import without_frontmatter
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.errors import DuplicateSuspected, MemexError
from vault_memex.memory.duplicates import (
    SIMILAR_SHARE,
    Duplicate,
    NewNote,
    build_shingles,
    find_duplicates,
    measure_overlap,
    render_duplicate,
)
from vault_memex.memory.policy import suggest_amendment
from vault_memex.memory.thresholds import Thresholds
from vault_memex.services.nearby import Near, Nearby
from vault_memex.services.requests import SaveRequest
from vault_memex.store.files import VaultFiles

_APPEND = {"append": "…"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A draft held against the vault."""

    near: Near
    similar: tuple[Duplicate, ...] = ()


class Duplicates:
    """Compares drafts with the notes of one vault."""

    def __init__(
        self,
        *,
        files: VaultFiles,
        nearby: Nearby,
        thresholds: Callable[[], Thresholds],
        snapshot: Callable[[], Snapshot],
        duplicate_distance: float | None,
    ) -> None:
        self._files = files
        self._nearby = nearby
        self._thresholds = thresholds
        self._snapshot = snapshot
        self._duplicate_distance = duplicate_distance

    def compare(self, request: SaveRequest, path: str, amended: str | None) -> Comparison:
        """Hold a draft against the vault. Raises DuplicateSuspected when a note says the same.

        What the draft amends is no duplicate, however near.
        """
        snapshot = self._snapshot()
        near = self._nearby.find_near_draft(request.title, request.body, len(snapshot.notes))
        bodies = self._read_bodies(near.likely)
        found = find_duplicates(
            NewNote(request.title, path, request.body),
            snapshot,
            bodies,
            near.copies if near.measured else None,
            self._thresholds(),
            chosen_distance=self._duplicate_distance,
        )
        found = tuple(d for d in found if d.path != amended)
        certain = [d for d in found if d.kind == "certain" and self._is_borne_out(d, request, near, bodies)]
        if certain and not request.allow_duplicate:
            raise DuplicateSuspected(
                f"Nothing was written: {', '.join(map(render_duplicate, certain))} "
                f"{'says' if len(certain) == 1 else 'say'} the same. "
                "Call `suggestion` to put what is new there, or send allow_duplicate: true to keep both.",
                candidates=[_describe(duplicate) for duplicate in certain],
                suggestion=_suggest_change(snapshot.notes[certain[0].path]),
            )
        return Comparison(near, found[:3])

    def _is_borne_out(
        self, duplicate: Duplicate, request: SaveRequest, near: Near, bodies: Mapping[str, str]
    ) -> bool:
        """Whether words bear out a nearness that was measured on a part of a long draft."""
        if duplicate.reason != "meaning" or near.whole:
            return True
        other = bodies.get(duplicate.path, "")
        return measure_overlap(build_shingles(request.body), build_shingles(other)) >= SIMILAR_SHARE

    def _read_bodies(self, paths: Iterable[str]) -> dict[str, str]:
        bodies = {}
        for path in paths:
            try:
                text = self._files.read(path).text
            except MemexError:
                continue  # deleted or unreadable this instant
            bodies[path] = without_frontmatter(text)
        return bodies


def _describe(duplicate: Duplicate) -> dict[str, Any]:
    return {
        "path": duplicate.path,
        "id": duplicate.note_id,
        "title": duplicate.title,
        "match": f"{duplicate.percent}%",
        "why": f"the same {duplicate.reason}",
    }


def _suggest_change(note: NoteRecord) -> dict[str, Any]:
    """Return the call that says the new thing in the note that is there."""
    if note.layer == "past":
        return suggest_amendment(note)
    if note.layer == "rule":
        return {"tool": None, "say": "Only the person changes rules: propose the wording in the conversation."}
    return {"tool": "edit", "ref": note.path, "patch": [_APPEND]}
