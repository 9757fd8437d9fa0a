"""Scopes: the part of a vault that a connection sees and writes, as patterns over paths."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property

from vault_memex.errors import Forbidden, InvalidArgument

_REMEMBERED = 100_000  # paths


@dataclass(frozen=True)
class Scope:
    """The notes whose path fits one of the patterns; without patterns, all.

    A pattern is a folder, which means all in it, or has `*` (any run of characters, `/` too), `?` and `[ ]`. Small
    letters are not capital ones.
    """

    patterns: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.patterns

    @cached_property
    def _fits(self) -> re.Pattern[str]:
        parts = []
        for pattern in self.patterns:
            bare = _normal(pattern).strip("/")
            parts += [translate(bare), translate(f"{bare}.md"), translate(f"{bare}/*")]
        return re.compile("|".join(parts))

    @cached_property
    def _known(self) -> dict[str, bool]:
        return {}

    def holds(self, path: str) -> bool:
        """Return whether the file at this path of the vault belongs to the scope."""
        if self.is_whole:
            return True
        known = self._known.get(path)
        if known is None:
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            known = self._known[path] = self._fits.match(_normal(path)) is not None
        return known

    def check(self, path: str) -> None:
        """Refuse a path outside. The message does not say whether something is there."""
        if not self.holds(path):
            raise Forbidden(
                f"This connection sees and writes only {', '.join(self.patterns)}. Name a place there."
            )


def check_pattern(pattern: str) -> None:
    """Refuse a pattern that fits no path of a vault."""
    parts = pattern.strip("/").split("/")
    if not pattern.strip("/ ") or "\\" in pattern or any(part in ("", ".", "..") for part in parts):
        raise InvalidArgument(
            "scopes",
            f"scope = {pattern!r}: write a folder or a pattern from the vault's top, such as Work or Work/**.",
        )


def _normal(path: str) -> str:
    return unicodedata.normalize("NFC", path)
