"""What the catalogue's contents depend on besides the files: the code and settings that notes are read with."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

from vault_memex.config import Config

_PACKAGES = (
    ("vault_memex.core", None),
    ("vault_memex.index", ("document.py",)),
    ("vault_memex.memory", ("knowledge.py", "knowledge_items.py", "knowledge_text.py")),
)
_PARSERS = ("markdown-it-py", "pyyaml", "py-rust-stemmers", "charset-normalizer")


def find_fingerprint(config: Config) -> str:
    """Return a hash that differs whenever the same files might be indexed otherwise; for `Catalogue.open`.

    The code itself is hashed, so that no version number can be forgotten. A rebuild it causes in vain costs some
    seconds and embeds nothing again.
    """
    digest = hashlib.blake2b(digest_size=16)
    for package, names in _PACKAGES:
        for file in sorted(files(package).iterdir(), key=lambda f: f.name):
            if file.name.endswith(".py") and (names is None or file.name in names):
                digest.update(file.name.encode() + b"\0" + file.read_bytes())
    for parser in _PARSERS:
        digest.update(f"{parser} {_find_version(parser)}\n".encode())
    digest.update(repr(config.layers).encode())
    return digest.hexdigest()


def _find_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
