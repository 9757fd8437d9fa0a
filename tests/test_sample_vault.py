"""The sample vault shows every feature that a vault can have; none may get lost in an edit.

The demonstration, many tests and the detectors lean on it, so each feature is a row of a table with its check.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "sample_vault"
FILES = {p.relative_to(ROOT).as_posix(): p.read_bytes() for p in sorted(ROOT.rglob("*")) if p.is_file()}
NOTES = {path: data for path, data in FILES.items() if path.endswith(".md")}

HANGUL = re.compile("[가-힣]")
CYRILLIC = re.compile("[а-яёА-ЯЁ]")
KANA = re.compile("[ぁ-ヿ]")


def written_in(script: re.Pattern[str], *, share: float = 0.4) -> list[str]:
    """Return the notes with at least this share of their letters in the script."""
    found = []
    for path, data in NOTES.items():
        letters = [c for c in data.decode() if c.isalpha()]
        if sum(bool(script.match(c)) for c in letters) >= share * len(letters):
            found.append(path)
    return found


def names_in(script: re.Pattern[str]) -> list[str]:
    """Return the notes whose file name is in the script and lies in a folder named in it."""
    return [path for path in NOTES if all(script.search(part) for part in path.rsplit("/", 1)) and "/" in path]


FILE_FEATURES: Mapping[str, Callable[[], bool]] = {
    "a believable size": lambda: 40 <= len(NOTES) <= 55,
    "a note with CRLF line endings": lambda: any(
        data.count(b"\r\n") == data.count(b"\n") > 5 for data in NOTES.values()
    ),
    "a note without frontmatter": lambda: any(not data.startswith(b"---") for data in NOTES.values()),
    "exactly one note without a final newline": lambda: 1 == sum(not d.endswith(b"\n") for d in NOTES.values()),
    "a long note": lambda: any(len(data.decode()) > 6000 for data in NOTES.values()),
    "five notes in Korean": lambda: len(written_in(HANGUL)) >= 5,
    "five notes in Russian": lambda: len(written_in(CYRILLIC)) >= 5,
    "a Japanese sentence": lambda: any(KANA.search(data.decode()) for data in NOTES.values()),
    "folders and names in Hangul": lambda: len(names_in(HANGUL)) >= 4,
    "folders and names in Cyrillic": lambda: len(names_in(CYRILLIC)) >= 4,
    "one base name in two folders": lambda: {"Studio/Ideas.md", "Kitchen/Ideas.md"} <= set(NOTES),
    "Obsidian's settings for links": lambda: b'"alwaysUpdateLinks": true' in FILES[".obsidian/app.json"],
}


@pytest.mark.parametrize("feature", FILE_FEATURES)
def test_the_files_have(feature: str) -> None:
    assert FILE_FEATURES[feature]()


def test_every_note_is_utf_8_in_composed_form_without_a_control_character() -> None:
    odd = [
        path
        for path, data in NOTES.items()
        if not unicodedata.is_normalized("NFC", path + data.decode())
        or re.search(r"[^\S\r\n ]|[\x00-\x08\x0b\x0c\x0e-\x1f]", data.decode())
    ]

    assert [] == odd


def test_the_picture_is_a_small_real_png() -> None:
    picture = FILES["attachments/celadon tile 7.png"]

    width, height = struct.unpack(">II", picture[16:24])

    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert picture.endswith(b"IEND\xaeB`\x82")
    assert (96, 96) == (width, height)
    assert len(picture) < 2048
