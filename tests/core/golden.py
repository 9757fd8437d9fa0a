"""Reads golden cases: Markdown files of title, note, operation (JSON) and result, each ended by a line with one dot.

An empty note is the note of the case before. A result that starts with `error CODE: words` stands for the error of
that code whose message holds the words; then nothing of the note has changed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    title: str
    note: str
    operation: dict[str, Any]
    result: str

    @property
    def error(self) -> tuple[str, str] | None:
        """Code and words of the expected error."""
        if not self.result.startswith("error "):
            return None
        code, _, words = self.result.removeprefix("error ").strip().partition(": ")
        return code, words


def read_cases(name: str) -> list[Case]:
    lines = (CASES / name).read_text(encoding="utf-8").splitlines(keepends=True)
    blocks: list[str] = [""]
    for line in lines:
        if line == ".\n":
            blocks.append("")
        else:
            blocks[-1] += line
    rest = blocks.pop()
    assert rest.strip() == "", f"{name}: a case ends with a line of one dot"
    assert len(blocks) % 4 == 0, f"{name}: a case has title, note, operation and result"
    cases: list[Case] = []
    for title, note, operation, result in zip(*[iter(blocks)] * 4, strict=True):
        cases.append(Case(" ".join(title.split()), note or cases[-1].note, json.loads(operation), result))
    return cases
