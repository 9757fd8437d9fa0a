"""Links that have to follow when a note is renamed or moved."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import get_args

from vault_memex.core.canvas import is_canvas, plan_canvas
from vault_memex.core.changes import WriteFile
from vault_memex.core.link_text import LinkFormat
from vault_memex.core.links import link_key
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import ParsedNote
from vault_memex.core.refactor import LinkSettings, plan_rename
from vault_memex.core.snapshot import Snapshot
from vault_memex.core.text import base_of, name_key
from vault_memex.errors import Forbidden, NotFound, NotWritable
from vault_memex.memory.scope import Scope
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.files import FileText, VaultFiles


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
        others: dict[str, FileText] = {}
        sources: dict[str, ParsedNote] = {path: parse_note(text)}
        for source in self._catalogue.find_sources([link_key(path), link_key(to)]):
            if source == path:
                continue
            try:
                others[source] = self._files.read(source)
            except NotFound:
                continue  # deleted this instant, so its links are too
            sources[source] = parse_note(others[source].text)
        texts = plan_rename(path, to, sources, self._find_files(), read_link_settings(self._files))
        own = texts.pop(path, text)
        writes = []
        for source, new in texts.items():
            file = others[source]
            self._check_scope(source)
            if file.not_writable:
                raise _not_writable(file, path)
            writes.append(WriteFile(source, new.encode("utf-8"), file.revision))
        return own, (*writes, *self._plan_canvases(path, to))

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

    def _find_files(self) -> Callable[[str], Sequence[str]]:
        snapshot = self._snapshot()
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in (*snapshot.notes, *snapshot.attachments):
            by_name[name_key(base_of(path))].append(path)
        return lambda key: by_name.get(key, ())


def _not_writable(file: FileText, path: str) -> NotWritable:
    return NotWritable(
        f"{file.path} links to {path} and cannot be edited: {file.not_writable} Mend it, or move with "
        "relink: false and its link stays as it is."
    )


def read_link_settings(files: VaultFiles) -> LinkSettings:
    """Return how the person's Obsidian writes links; its defaults where it says nothing or does not parse."""
    try:
        chosen = json.loads(files.read_obsidian_settings() or "{}").get("newLinkFormat")
    except (ValueError, AttributeError):
        return LinkSettings()
    return LinkSettings(chosen) if chosen in get_args(LinkFormat) else LinkSettings()
