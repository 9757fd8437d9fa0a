"""The sample vault as memory sees it, with distances that were measured once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from tests.memory.notes import LinkRow, neighbours_of, note
from vault_memex.core.links import resolve_link
from vault_memex.core.markdown import parse_note
from vault_memex.core.note import ParsedNote
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import name_key, stem_of

ROOT = Path(__file__).parents[2] / "sample_vault"
TODAY = date(2026, 11, 30)

PATHS = sorted(
    path
    for path in (p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*") if p.is_file())
    if not path.startswith(".")
)
NOTES: dict[str, ParsedNote] = {
    path: parse_note((ROOT / path).read_bytes().decode()) for path in PATHS if path.endswith(".md")
}


def find_files(key: str) -> Sequence[str]:
    return [path for path in PATHS if name_key(path.rpartition("/")[2]) == key]


def _record(path: str, number: int) -> NoteRecord:
    parsed = NOTES[path]
    values = parsed.properties
    layer = values.get("layer")
    return note(
        path,
        number,
        title=str(values.get("title") or stem_of(path)),
        aliases=parsed.aliases,
        tags=parsed.tags,
        properties=values,
        layer=layer if isinstance(layer, str) else None,
        created=str(values.get("created", "")),
        updated=str(values.get("updated", values.get("created", ""))),
    )


SNAPSHOT = Snapshot(1, {path: _record(path, number) for number, path in enumerate(NOTES, start=1)})
LINKS = [
    (path, resolve_link(link.target, path, find_files).path, link) for path, n in NOTES.items() for link in n.links
]
UNRESOLVED = [LinkRow(path, link.target) for path, target, link in LINKS if target is None and link.target]
PROPERTY_LINKS = [LinkRow(path, target, link.key) for path, target, link in LINKS if target and link.key]
LINKED: dict[str, set[str]] = {}
for _source, _target, _ in LINKS:
    if _target is not None:
        LINKED.setdefault(_source, set()).add(_target)
        LINKED.setdefault(_target, set()).add(_source)

_measured = json.loads((Path(__file__).parent / "sample_distances.json").read_text(encoding="utf-8"))
DISTANCES: dict[tuple[str, str], float] = {
    (_measured["paths"][j], _measured["paths"][i]): distance
    for i, row in enumerate(_measured["distances"])
    for j, distance in enumerate(row)
}
NEIGHBOURS = neighbours_of(DISTANCES, NOTES, limit=2.0)
