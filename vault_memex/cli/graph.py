"""`vault-memex graph show`: the vault as a picture in one web page."""

from __future__ import annotations

import argparse
import os
import webbrowser
from pathlib import Path

from vault_memex.cli.opening import opened
from vault_memex.core.filters import parse_filters
from vault_memex.errors import AlreadyExists, InvalidArgument, NotWritable
from vault_memex.services.picture import find_picture
from vault_memex.services.vocabulary import count_types
from vault_memex.store.disk import NO_BEFORE, write_temp
from vault_memex.web.picture_page import MARK, render_page


def run(options: argparse.Namespace) -> int:
    """Write the page and print where it is; status 1, and nothing written, when no note matches."""
    filters = parse_filters(
        tags=options.tag,
        layer=options.layer,
        properties={"entity_type": options.type} if options.type else None,
    )
    with opened(options) as vault:
        out = _check_out(Path(options.out).expanduser() if options.out else vault.cache / "graph.html")
        vault.refresh()
        picture = find_picture(vault.catalogue, vault.knowledge.view, vault.snapshot(), filters)
        name = vault.root.name
        types = count_types(vault.snapshot().notes.values()) if options.type else ()
    if not picture.notes:
        known = f" Its entities: {', '.join(f'{row.name} {row.notes}' for row in types)}." if types else ""
        meant = " --type looks at the property `entity_type`." if options.type else ""
        print(f"No note matches. The vault has {picture.notes_total}.{meant}{known}")
        return 1
    page = render_page(picture, name, _describe_filters(options)).encode("utf-8", "replace")
    _write_out(out, page)
    print(f"Notes: {len(picture.notes)}, links: {len(picture.links)}, {len(page) / 1e6:.1f} MB: {out}")
    if options.open and not webbrowser.open(out.as_uri()):
        print("No web browser was found here. Open the file yourself.")
    return 0


def _describe_filters(options: argparse.Namespace) -> list[str]:
    return [
        *(f"tag {tag.lstrip('#')}" for tag in options.tag),
        *([f"layer {options.layer}"] if options.layer else []),
        *([f"type {options.type}"] if options.type else []),
    ]


def _check_out(out: Path) -> Path:
    """Return the whole path. Nothing but an older picture is overwritten."""
    out = Path(os.path.abspath(out))
    if out.suffix.lower() not in (".html", ".htm"):
        raise InvalidArgument(
            "out", f"--out {out.name}: the picture is a web page. Give it a name like graph.html."
        )
    if not out.parent.is_dir():
        raise InvalidArgument("out", f"--out: there is no folder {out.parent}. Make it first.")
    if out.exists():
        with out.open("rb") as file:
            if MARK.encode() not in file.read(1000):
                raise AlreadyExists(f"{out} is there and is no picture of a vault. Name another file with --out.")
    return out


def _write_out(out: Path, page: bytes) -> None:
    """Put the page in place whole or not at all."""
    try:
        os.replace(write_temp(out.parent, NO_BEFORE, page), out)
    except OSError as error:
        raise NotWritable(f"{out} cannot be written: {error.strerror}. Name another file with --out.") from error
