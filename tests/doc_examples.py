"""What the documents show: commands in fenced `sh` blocks, searches in fenced `search` blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_NOTHING, _MORE = "nothing", "…"


@dataclass(frozen=True)
class Block:
    """A fenced block: where it is, what stands after the fence, its lines."""

    place: str
    info: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class SearchExample:
    """Arguments of `search` and the titles that the page promises."""

    place: str
    arguments: dict[str, Any]
    titles: tuple[str, ...]
    open_ended: bool  # more may follow
    by_meaning: bool


def find_blocks(kind: str) -> Iterator[Block]:
    """Yield the fenced blocks whose info string begins with the word."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for fence in _FENCE.finditer(text):
            if fence["info"].split()[:1] == [kind]:
                line = text.count("\n", 0, fence.start()) + 1
                yield Block(f"{page.name}:{line}", fence["info"], tuple(fence["text"].splitlines()))


def find_commands() -> Iterator[tuple[str, str]]:
    """Yield (place, command) for each line of every `sh` block."""
    for block in find_blocks("sh"):
        for line in block.lines:
            if line.strip() and not line.startswith("#"):
                yield block.place, line.partition("  #")[0].strip()


def find_searches() -> Iterator[SearchExample]:
    """Yield the examples of every `search` block: a query or JSON arguments, below it `→ Title · Title`."""
    for block in find_blocks("search"):
        pairs = zip(block.lines[::2], block.lines[1::2], strict=True)
        for asked, promised in pairs:
            assert promised.startswith("→ "), f"{block.place}: {promised!r} does not say what is found"
            titles = promised.removeprefix("→ ").split(" · ")
            yield SearchExample(
                place=block.place,
                arguments=json.loads(asked) if asked.startswith("{") else {"query": asked},
                titles=tuple(t for t in titles if t not in (_MORE, _NOTHING)),
                open_ended=_MORE in titles,
                by_meaning="meaning" in block.info,
            )
