"""The tags that the person took out of use, as those who write are told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from vault_memex.errors import MemexError, NotFound
from vault_memex.memory.retired_tags import TAGS_PATH, RetiredTag, find_warnings, parse_retired
from vault_memex.memory.scope import Scope
from vault_memex.store.files import FileText, VaultFiles

_NONE: Mapping[str, RetiredTag] = MappingProxyType({})


class RetiredTags:
    """Reads `_memex/tags.md`. With a scope there are none: they were tags of notes outside of it, perhaps."""

    def __init__(self, files: VaultFiles, scope: Scope) -> None:
        self._files = files
        self._scope = scope

    def read(self) -> FileText | None:
        """Return the file; None when there is none."""
        try:
            return self._files.read(TAGS_PATH, "internal")
        except NotFound:
            return None

    def find(self) -> Mapping[str, RetiredTag]:
        """Return the retired tags by their key; none when the file cannot be read."""
        if not self._scope.is_whole:
            return _NONE
        try:
            file = self.read()
        except MemexError:
            return _NONE
        return parse_retired(file.text) if file is not None else _NONE

    def warn(self, tags: Iterable[str]) -> tuple[str, ...]:
        """Return a sentence for each of the tags that is retired."""
        wanted = tuple(tags)
        return find_warnings(self.find(), wanted) if wanted else ()
