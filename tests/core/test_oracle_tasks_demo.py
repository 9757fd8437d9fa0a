"""What Obsidian itself says about the notes of the Tasks-Demo vault, and what we say about them.

Obsidian's offsets count UTF-16 units. A deviation needs an entry in DEVIATIONS with its reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED, shared
from vault_memex.core.links import resolve_link
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import Link, ParsedNote
from vault_memex.core.text import Span, name_key, without_md

METADATA = SHARED / "vaults/tasks-demo/metadata"
DUMPS = sorted(METADATA.glob("*.json"))

DEVIATIONS: Mapping[str, str] = {}  # dump -> why we differ
STALE = {
    # The link in its body resolves by every rule; Obsidian's cache was dumped before it was written.
    "How To/Find tasks in notes with particular tag.md"
}


def utf16(text: str, span: Span) -> tuple[int, int]:
    start = len(text[: span.start].encode("utf-16-le")) // 2
    return start, start + len(text[span.start : span.end].encode("utf-16-le")) // 2


def offsets(entry: Mapping[str, Any]) -> tuple[int, int]:
    position = entry["position"]
    return position["start"]["offset"], position["end"]["offset"]


def shown(link: Link) -> str:
    if link.display is not None:
        return link.display
    return " > ".join(part for part in (link.target, *link.subpath.split("#")) if part)


def link_row(text: str, link: Link) -> tuple[object, ...]:
    return link.target + link.subpath, shown(link), text[slice(*link.span)], utf16(text, link.span)


def their_links(entries: Sequence[Mapping[str, Any]]) -> list[tuple[object, ...]]:
    return [(e["link"], e["displayText"], e["original"], offsets(e)) for e in entries]


def ours(note: ParsedNote) -> dict[str, object]:
    text = note.text
    return {
        "headings": [(h.level, h.text, utf16(text, h.span)) for h in note.headings],
        "links": [link_row(text, link) for link in note.links if link.kind in ("wiki", "markdown")],
        "embeds": [link_row(text, link) for link in note.links if link.kind == "embed"],
        "tags": [(f"#{tag.name}", utf16(text, tag.span)) for tag in note.inline_tags],
        "blocks": [(block.id, utf16(text, block.span)) for block in note.blocks],
        "frontmatterLinks": [
            (link.key, link.target + link.subpath, shown(link), text[slice(*link.span)])
            for link in note.links
            if link.kind == "frontmatter"
        ],
        "frontmatter": dict(note.properties),
        "allTags": {name_key(tag) for tag in note.tags},
    }


def theirs(dump: Mapping[str, Any]) -> dict[str, object]:
    metadata = dump["cachedMetadata"]
    return {
        "headings": [(h["level"], h["heading"], offsets(h)) for h in metadata.get("headings", [])],
        "links": their_links(metadata.get("links", [])),
        "embeds": their_links(metadata.get("embeds", [])),
        "tags": [(tag["tag"], offsets(tag)) for tag in metadata.get("tags", [])],
        "blocks": [(block["id"], offsets(block)) for block in metadata.get("blocks", {}).values()],
        "frontmatterLinks": [
            (e["key"], e["link"], e["displayText"], e["original"]) for e in metadata.get("frontmatterLinks", [])
        ],
        "frontmatter": metadata.get("frontmatter", {}),
        "allTags": {name_key(tag.removeprefix("#")) for tag in dump["getAllTags"]},
    }


@pytest.mark.parametrize("file", DUMPS, ids=lambda file: file.stem)
def test_note_says_what_obsidian_says(file: Path) -> None:
    dump = json.loads(file.read_text(encoding="utf-8"))
    note = parse_note(dump["fileContents"])

    if file.stem in DEVIATIONS:
        assert theirs(dump) != ours(note), "no longer a deviation"
    else:
        assert theirs(dump) == ours(note)


def test_dumps_are_there_and_deviations_are_few() -> None:
    shared("vaults/tasks-demo/metadata")

    assert 89 == len(DUMPS)
    assert set(DEVIATIONS) <= {file.stem for file in DUMPS}
    assert len(DEVIATIONS) <= 3


def test_whole_vault_has_obsidians_resolved_and_unresolved_links() -> None:
    vault = shared("vaults/tasks-demo/vault")
    resolved = json.loads((METADATA / "metadataCache/resolvedLinks.json").read_text(encoding="utf-8"))
    unresolved = json.loads((METADATA / "metadataCache/unresolvedLinks.json").read_text(encoding="utf-8"))
    files: dict[str, list[str]] = {}
    for file in vault.rglob("*"):
        path = file.relative_to(vault).as_posix()
        if file.is_file() and not any(part.startswith(".") for part in path.split("/")):
            files.setdefault(name_key(file.name), []).append(path)

    different: dict[str, object] = {}
    for path in sorted(resolved):
        text = (vault / path).read_bytes().decode("utf-8")
        found: Counter[str] = Counter()
        missing: Counter[str] = Counter()
        for link in parse_note(text).links:
            target = resolve_link(link.target, path, lambda key: files.get(key, []))
            if target.path is not None:
                found[target.path] += 1
            else:
                missing[without_md(link.target)] += 1
        if (resolved[path], unresolved[path]) != (dict(found), dict(missing)):
            different[path] = (resolved[path], dict(found), unresolved[path], dict(missing))

    assert STALE == set(different), different
