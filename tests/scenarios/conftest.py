"""A vault that thinks: real files, catalogue and detection; meaning from hashed words, so that it is fast and exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.meaning_here import MeaningHere
from vault_memex.memory.triage import SignalRow
from vault_memex.vault import Vault, open_vault

TODAY = datetime(2026, 11, 30, 9, tzinfo=UTC)

WRIST = (
    "The wrist hurts after centring heavy clay on the wheel, and the thumb is numb in the evening; resting two days "
    "helps, a brace helps a little, and rowing seems to make the swelling under the joint go down again for a week."
)
KILN = (
    "The old kiln trips the breaker when the lid element heats, so the firing stops at nine hundred degrees and the "
    "whole load has to be fired again on another day, which costs a week of work and a lot of power each time."
)


class ThinkingVault:
    """A vault folder with a clock of its own and helpers that say what a test is about."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now = TODAY
        self.flags: dict[str, Any] = {"connection": "tester"}
        self._opened: Vault | None = None

    @property
    def vault(self) -> Vault:
        """The vault, open."""
        if self._opened is None:
            self._opened = open_vault(
                self.root, flags=self.flags, clock=lambda: self.now, build_meaning=MeaningHere
            )
        return self._opened

    def write(self, path: str, body: str, **properties: Any) -> None:
        """Write a note as a person would, outside the program."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{name}: {value}" for name, value in properties.items()]
        head = "---\n" + "\n".join(lines) + "\n---\n" if lines else ""
        file.write_text(f"{head}{body}\n", encoding="utf-8")

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert old in text
        (self.root / path).write_text(text.replace(old, new), encoding="utf-8")

    def index(self) -> None:
        """Bring index and vectors up to the files."""
        self.vault.refresh()
        meaning = self.vault.meaning
        assert isinstance(meaning, MeaningHere)
        meaning.embed_all()

    def signals(self, status: str | None = None) -> list[SignalRow]:
        """The signals after looking for them, by number."""
        self.index()
        return [row for row in self.vault.signals.find().table.rows if status in (None, row.status)]

    def events(self) -> list[str]:
        """What the person sees in the journal, oldest first."""
        return [f"{e.kind}: {e.title}" for e in self.vault.transactor.stores.journal.read()]

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close(patient=False)
            self._opened = None

    def reopen(self, **flags: Any) -> None:
        self.close()
        self.flags = {"connection": "tester", **flags}


def days_ago(days: int) -> str:
    return (TODAY - timedelta(days=days)).date().isoformat()


Arc = Callable[..., None]


@pytest.fixture
def thinking(folder: Path) -> Iterator[ThinkingVault]:
    opened = ThinkingVault(folder)
    yield opened
    opened.close()
