"""Links that have to follow when a note is renamed, moved or merged into another."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from vault_memex.core.canvas import is_canvas, plan_canvas
from vault_memex.core.changes import WriteFile
from vault_memex.core.link_text import LinkFormat
from vault_memex.core.links import link_key
from vault_memex.core.markdown import parse_note
from vault_memex.core.merge import plan_standing
from vault_memex.core.note import ParsedNote
from vault_memex.core.refactor import LinkSettings, plan_rename, plan_retarget
from vault_memex.core.snapshot import Snapshot
from vault_memex.core.text import base_of, name_key
from vault_memex.errors import Forbidden, NotFound, NotWritable
from vault_memex.memory.scope import Scope
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import FileText, VaultFiles


@dataclass(frozen=True, slots=True)
class MergedLinks:
    """What a merge does to links."""

    moved: str  # the text of the note that goes, as it reads at the keeper's place
    kept: str  # the keeper's
    writes: tuple[WriteFile, ...]  # of other notes and of canvases


class Relinker:
    """Plans the edits of the notes around a move."""

    def __init__(
        self, files: VaultFiles, catalogue: Catalogue, snapshot: Callable[[], Snapshot], scope: Scope
    ) -> None:
        self._scope = scope
        self._files = files
        self._catalogue = catalogue
        self._snapshot = snapshot

    def plan_move(self, path: str, to: str, text: str) -> tuple[str, tuple[WriteFile, ...]]:
        """Return the moving note's own text and the writes of other notes that keep all links on their files.

        Raises NotWritable when a note or canvas that links here cannot be edited, and Forbidden when one is outside of
        the scope: a half-linked vault is no answer.
        """
        others, sources = self._read_sources(path, to, {path})
        sources[path] = parse_note(text)
        texts = plan_rename(path, to, sources, self._find_files(), read_link_settings(self._files))
        own = texts.pop(path, text)
        return own, (*self._build_writes(path, texts, others), *self._plan_canvases(path, to))

    def plan_merge(self, gone: str, keeper: str, gone_text: str, keeper_text: str) -> MergedLinks:
        """Return what has to change so that every link to a note means the one it is merged into.

        Raises as plan_move does.
        """
        others, sources = self._read_sources(gone, keeper, {gone, keeper})
        sources |= {keeper: parse_note(keeper_text), gone: parse_note(gone_text)}
        texts = plan_retarget(gone, keeper, sources, self._find_files(), read_link_settings(self._files))
        moved, kept = texts.pop(gone, gone_text), texts.pop(keeper, keeper_text)
        writes = (*self._build_writes(gone, texts, others), *self._plan_canvases(gone, keeper))
        return MergedLinks(moved, kept, writes)

    def plan_standing(self, text: str, gone: str, keeper: str) -> str:
        """Return the keeper's text without what would make it amend or supersede itself once the other note is gone."""
        return plan_standing(text, keeper, self._find_files(without=gone))

    def _read_sources(
        self, path: str, to: str, besides: Collection[str]
    ) -> tuple[dict[str, FileText], dict[str, ParsedNote]]:
        """Return the files of the notes that may have to change with a note's path, and what they say."""
        others: dict[str, FileText] = {}
        for source in self._catalogue.find_sources([link_key(path), link_key(to)]):
            if source in besides:
                continue
            try:
                others[source] = self._files.read(source)
            except NotFound:
                continue  # deleted this instant, so its links are too
        return others, {source: parse_note(file.text) for source, file in others.items()}

    def _build_writes(
        self, path: str, texts: Mapping[str, str], others: Mapping[str, FileText]
    ) -> Iterator[WriteFile]:
        for source, new in texts.items():
            file = others[source]
            self._check_scope(source)
            if file.not_writable:
                raise _not_writable(file, path)
            yield WriteFile(source, new.encode("utf-8"), file.revision)

    def _plan_canvases(self, path: str, to: str) -> Iterator[WriteFile]:
        """Yield the writes of canvases that show the note. All are looked at: there are few, and no index has them."""
        for canvas in filter(is_canvas, self._snapshot().attachments):
            try:
                file = self._files.read(canvas)
            except NotFound:
                continue
            text = plan_canvas(file.text, {path: to})
            if text is None:
                continue
            self._check_scope(canvas)
            if file.not_writable:
                raise _not_writable(file, path)
            yield WriteFile(canvas, text.encode("utf-8"), file.revision, in_canvas=True)

    def _check_scope(self, path: str) -> None:
        if not self._scope.holds(path):
            raise Forbidden(
                "Links in notes that this connection does not see would have to follow this one. The person can "
                "rename or move it; with relink: false those links stay."
            )

    def _find_files(self, without: str | None = None) -> Callable[[str], Sequence[str]]:
        snapshot = self._snapshot()
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in (*snapshot.notes, *snapshot.attachments):
            if path != without:
                by_name[name_key(base_of(path))].append(path)
        return lambda key: by_name.get(key, ())


def _not_writable(file: FileText, path: str) -> NotWritable:
    return NotWritable(
        f"{file.path} links to {path} and cannot be edited: {file.not_writable} Mend it; a move with "
        "relink: false leaves its link as it is."
    )


def read_link_settings(files: VaultFiles) -> LinkSettings:
    """Return how the person's Obsidian writes links; its defaults where it says nothing or does not parse."""
    try:
        chosen = json.loads(files.read_obsidian_settings() or "{}").get("newLinkFormat")
    except (ValueError, AttributeError):
        return LinkSettings()
    return LinkSettings(chosen) if chosen in get_args(LinkFormat) else LinkSettings()
