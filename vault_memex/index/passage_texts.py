"""Texts of passages, from the files: what the embedding queue is given."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from vault_memex.core.chunking import build_passages
from vault_memex.core.markdown import parse_note
from vault_memex.index.document import find_indexed_text, find_title
from vault_memex.index.reading import read_settled
from vault_memex.store.catalogue_passages import PassageRow


def read_passage_texts(root: Path, passages: Sequence[PassageRow]) -> Mapping[str, str]:
    """Return hash to text; a passage whose file has moved on is missing."""
    wanted = {passage.hash for passage in passages}
    texts: dict[str, str] = {}
    for path in dict.fromkeys(passage.path for passage in passages):
        try:
            found = read_settled(os.path.join(root, path))
        except OSError:
            continue
        if found is not None:
            note = parse_note(find_indexed_text(found.data))
            texts.update(
                (p.hash, p.text) for p in build_passages(note, find_title(note, path)) if p.hash in wanted
            )
    return texts
