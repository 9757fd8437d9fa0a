"""Names of files and folders: which are hidden, which can be created everywhere, and the file name of a title."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PureWindowsPath

MAX_NAME_BYTES = 200  # of a new name; file systems stop at 255
MAX_PATH_BYTES = 1024  # of a new path
MAX_TITLE_BYTES = 120

_NOT_PORTABLE = frozenset('\\/:*?"<>|')
_NOT_LINKABLE = frozenset("#^[]|")  # they break wikilinks
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_JOINERS = frozenset("\u200c\u200d")  # needed to write Persian, Hindi and some emoji
_PARTING = re.compile(r"""(?<=[^\W_])[\\/:*?"<>|#^\[\]]+(?=[^\W_])""")
_ENCODED = re.compile(r"%(2e|2f|5c|00)", re.IGNORECASE)
_GIT_SHORT = re.compile(r"git~\d+$", re.IGNORECASE)


def is_hidden_name(name: str) -> bool:
    """Whether a component is a dot name, also once invisible characters are dropped, or git's 8.3 short name."""
    if name.startswith("."):
        return True
    visible = "".join(c for c in name if unicodedata.category(c) != "Cf")  # some file systems ignore these
    return visible.startswith(".") or _GIT_SHORT.match(visible) is not None


def find_name_fault(name: str) -> str | None:
    """Return why a new file or folder must not have this name, or None. Existing files may have it."""
    bad = sorted({c for c in name if c in _NOT_PORTABLE or c in _NOT_LINKABLE})
    if bad:
        return f"the characters {' '.join(bad)} cannot be used in a file name"
    if any(unicodedata.category(c) in _INVISIBLE and c not in _JOINERS for c in name):
        return "it holds a control, invisible or unassigned character"
    if name != name.strip() or name.startswith(".") or name.endswith("."):
        return "it begins or ends with a dot or a space"
    if PureWindowsPath(name).is_reserved():
        return "Windows reserves it"
    if _ENCODED.search(name):
        return "percent codes are not decoded; write the character itself"
    if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
        return f"it is longer than {MAX_NAME_BYTES} bytes"
    return None


def twin_key(name: str) -> str:
    """Return what two names must differ in to be two files on every system: NFC, then case folded, then NFC."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def file_name_for_title(title: str, extension: str = ".md") -> str:
    """Return the file name of a note with this title: what cannot be in a name is left out, at most 120 bytes.

    Between two letters or digits it becomes a hyphen, so that words stay apart: `TCP/IP`, but `What?`.
    A title of which nothing is left becomes `untitled`. The caller adds ` (2)` when the name is taken, and
    keeps the title as an alias when it differs from the name.
    """
    kept = "".join(
        " " if c in "\t\r\n" else c
        for c in _PARTING.sub("-", unicodedata.normalize("NFC", title))
        if c in "\t\r\n"
        or (
            c not in _NOT_PORTABLE
            and c not in _NOT_LINKABLE
            and (unicodedata.category(c) not in _INVISIBLE or c in _JOINERS)
        )
    )
    stem = _trimmed(" ".join(kept.split()))
    stem = _trimmed(_cut_to_bytes(stem, MAX_TITLE_BYTES - len(extension)))
    stem = _ENCODED.sub(r"\1", stem)
    if not stem:
        stem = "untitled"
    if PureWindowsPath(stem).is_reserved() or _GIT_SHORT.match(stem):
        stem = f"{stem}_" if "." not in stem else stem.replace(".", "_", 1)
    return stem + extension


def is_named_after(name: str, title: str) -> bool:
    """Whether a file has the name of a note with this title; what was left out without a hyphen is one too."""
    plain = "".join(c for c in title if c not in _NOT_PORTABLE and c not in _NOT_LINKABLE)
    names = {twin_key(file_name_for_title(wanted)) for wanted in (title, plain)}
    return twin_key(name) in names


def numbered_name(name: str, number: int) -> str:
    """Return the name with ` (number)` before its extension: `Plan.md`, 2 → `Plan (2).md`."""
    stem, dot, extension = name.rpartition(".")
    return f"{stem} ({number}){dot}{extension}" if stem else f"{name} ({number})"


def _trimmed(stem: str) -> str:
    return stem.strip().lstrip("~. ").rstrip(". ")


def _cut_to_bytes(text: str, limit: int) -> str:
    return text.encode("utf-8")[:limit].decode("utf-8", errors="ignore")
