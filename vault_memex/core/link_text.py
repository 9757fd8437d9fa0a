"""How a link to a file is written: the path text by the vault's settings, and what Markdown needs encoded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from vault_memex.core.links import FindFiles, resolve_link
from vault_memex.core.text import base_of, folder_of, name_key, render_line, without_md
from vault_memex.errors import InvalidArgument

LinkFormat = Literal["shortest", "relative", "absolute"]

_IN_BARE = re.compile(r"[\x00-\x20%#()<>\"\\\x7f]")
_IN_ANGLE = re.compile(r"[\x00-\x1f#<>\\\x7f]|%(?=[0-9a-fA-F]{2})")
_ENTITY = re.compile(r"&(?=[a-zA-Z#][a-zA-Z0-9]*;)")
_LINKABLE = re.compile(r"[^\[\]|#^]+")
_NOT_IN_WIKILINKS = re.compile(r"[#|\r\n]|\[\[|\]\]|\A[\^ ]| \Z")


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """What `.obsidian/app.json` says about links. The form of an existing link is always kept."""

    new_link_format: LinkFormat = "shortest"


def render_named_link(path: str, title: str) -> str:
    """Return a wikilink that shows the title, for our own files; the title alone where a link cannot hold the name."""
    target, shown = without_md(path), render_line(title)
    return f"[[{target}|{shown}]]" if _LINKABLE.fullmatch(target) and _LINKABLE.fullmatch(shown) else shown


def render_target(
    path: str, source: str, written: str, find_files: FindFiles, settings: LinkSettings, *, markdown: bool
) -> str:
    """Return the path text of a link from `source` to `path` that resolves to it and to nothing else.

    `written` is the old text, decoded: `./`, `../`, a leading slash and `.md` are kept as a manner of writing.
    Raises InvalidArgument for a name that no wikilink can hold.
    """
    keep_md = without_md(written) != written
    texts = [*_find_texts(path, source, written, find_files, settings), path, f"/{path}"]
    spellings = (spelling for text in texts for spelling in ((text,) if keep_md else (without_md(text), text)))
    good = (spelling for spelling in spellings if _means(spelling, source, path, find_files))
    return _checked(next(good, f"/{path}"), path, markdown=markdown)


def _means(text: str, source: str, path: str, find_files: FindFiles) -> bool:
    found = resolve_link(text, source, find_files)
    return found.path == path and not found.candidates


def _find_texts(
    path: str, source: str, written: str, find_files: FindFiles, settings: LinkSettings
) -> Iterator[str]:
    """Yield the path texts that the old one's manner and the settings ask for, best first."""
    if written.startswith(("./", "../")):
        relative = _relative(path, folder_of(source))
        yield relative if relative.startswith("../") else f"./{relative}"
    elif written.startswith("/"):
        yield f"/{path}"
    elif settings.new_link_format == "relative":
        relative = _relative(path, folder_of(source))
        yield relative
        yield f"./{relative}"
    elif settings.new_link_format == "shortest" and len(find_files(name_key(base_of(path)))) == 1:
        yield base_of(path)
    yield path


def _relative(path: str, folder: str) -> str:
    here = folder.split("/") if folder else []
    there = path.split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    return "/".join([".."] * (len(here) - shared) + there[shared:])


def _checked(text: str, path: str, *, markdown: bool) -> str:
    if "#" in text or (not markdown and _NOT_IN_WIKILINKS.search(text)):
        raise InvalidArgument(
            "path",
            f"No link can name {path!r}: a path with # | [[ ]] or a leading ^ breaks links. Choose another name.",
        )
    return text


def encode_target(text: str, *, angle: bool) -> str:
    """Return a path as it stands in a Markdown link: spaces and the like as %20, letters of any script bare."""
    unsafe = _IN_ANGLE if angle else _IN_BARE
    text = unsafe.sub(lambda found: f"%{ord(found[0]):02X}", text)
    return _ENTITY.sub("%26", text)
