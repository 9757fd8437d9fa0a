"""Canvas files (`*.canvas`): JSON whose nodes of type `file` name files of the vault by their whole paths."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping

from vault_memex.core.text import BOM, Span, TextEdit, apply_text_edits, stem_of

SUFFIX = ".canvas"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]+')

_NODE = ["{", "[nodes", "{"]


def is_canvas(path: str) -> bool:
    """Whether the path is that of a canvas."""
    return path.casefold().endswith(SUFFIX)


def plan_canvas(text: str, moves: Mapping[str, str]) -> str | None:
    """Return the canvas with the paths of moved files rewritten and nothing else; None when it names none of them.

    A text that is no JSON object has no nodes, for Obsidian too.
    """
    new_paths = {_compose(old): new for old, new in moves.items()}
    composed = _compose(text)
    if "\\" not in text and not any(stem_of(old) in composed for old in new_paths):
        return None
    try:
        if not isinstance(json.loads(text.removeprefix(BOM)), dict):
            return None
    except (ValueError, RecursionError):
        return None
    edits = [
        TextEdit(span, json.dumps(new_paths[old], ensure_ascii=False))
        for path, span in _find_files(text)
        if (old := _compose(path)) in new_paths
    ]
    return apply_text_edits(text, edits) if edits else None


def _compose(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _find_files(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the path of each node of type `file`, and where its string stands with its quotes."""
    stack: list[str] = []  # what is open, each with the key it stands under
    key, waits_for_key = "", False
    kind, file = "", None
    for found in _TOKEN.finditer(text, len(text) - len(text.removeprefix(BOM))):
        mark = found[0]
        if mark in "{[":
            stack.append(mark + key)
            key, waits_for_key = "", mark == "{"
            if stack == _NODE:
                kind, file = "", None
        elif mark in "}]":
            if stack == _NODE and kind == "file" and file is not None:
                yield file
            stack.pop()
            key, waits_for_key = "", False
        elif mark == ",":
            key, waits_for_key = "", stack[-1].startswith("{")
        elif mark[0] == '"' and waits_for_key:
            key, waits_for_key = json.loads(mark), False
        elif mark[0] == '"' and stack == _NODE and key == "type":
            kind = json.loads(mark)
        elif mark[0] == '"' and stack == _NODE and key == "file":
            file = json.loads(mark), Span(*found.span())
