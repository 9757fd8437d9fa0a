"""The web page of a picture: one file with everything in it, which asks the network for nothing.

The parts lie in `picture/`: page, style, script, and the library that draws (force-graph). What notes say gets into
the page in two places: as JSON in a block that is data and no script, and, escaped, in the title.
"""

from __future__ import annotations

import html
import json
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import Template

from vault_memex import __version__
from vault_memex.memory.picture import Picture

MARK = '<meta name="generator" content="vault-memex graph show'
"""Stands near the start of every page made here."""

_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def render_page(picture: Picture, vault: str, filters: Sequence[str], notes_url: str = "") -> str:
    """Return the page. `filters` says in words which notes the picture was limited to; empty for all.

    `notes_url` is where a note is read, when its path is put after it; empty for a page that stands alone.
    """
    return Template(_read("page.html")).substitute(
        mark=f'{MARK} {__version__}">',
        policy=find_policy(),
        title=html.escape(f"{vault}: a picture of the vault"),
        style=_read("page.css"),
        data=_render_data(picture, vault, filters, notes_url),
        licences=_read("force-graph.LICENSES.txt"),
        library=_read("force-graph.min.js"),
        script=_read("page.js"),
    )


@cache
def find_policy() -> str:
    """Return the page's Content-Security-Policy: its two scripts, its styles, and no request to anywhere."""
    scripts = (_read("force-graph.min.js"), _read("page.js"))
    hashes = " ".join(f"'sha256-{b64encode(sha256(s.encode('utf-8')).digest()).decode()}'" for s in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )


def _render_data(picture: Picture, vault: str, filters: Sequence[str], notes_url: str) -> str:
    """Return the picture as JSON that may stand in HTML. Rows instead of objects keep a large vault's page small."""
    tags = {tag: place for place, tag in enumerate(sorted({tag for note in picture.notes for tag in note.tags}))}
    types = {name: place for place, name in enumerate(sorted({t for link in picture.links for t in link.types}))}
    value = {
        "vault": vault,
        "filters": list(filters),
        "notesUrl": notes_url,
        "notesTotal": picture.notes_total,
        "tags": list(tags),
        "relations": list(types),
        "notes": [[n.path, n.title, n.layer, n.entity_type, [tags[t] for t in n.tags]] for n in picture.notes],
        "links": [[link.source, link.target, *(types[t] for t in link.types)] for link in picture.links],
    }
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


@cache
def _read(name: str) -> str:
    return files("vault_memex.web").joinpath("picture", name).read_text(encoding="utf-8")
