"""What the benchmarks work on: generated vaults in a temporary folder, indexed by the real commands."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.client import RawClient, memex_command
from benchmarks.generate import GeneratedNote, Manifest, generate_vault


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    notes: int = 10_000
    growth: tuple[int, ...] = (2_000, 10_000)
    rounds: int = 7  # of what takes a moment; the best one counts
    edits: int = 50
    many: int = 100  # files changed at once
    patches: int = 200
    searches: int = 200
    saves: int = 60
    embedded_notes: int = 200
    idle_seconds: float = 60.0


FULL = Scale()
LARGE = Scale(growth=(2_000, 10_000, 50_000))
QUICK = Scale(
    notes=60,
    growth=(30, 60),
    rounds=1,
    edits=3,
    many=5,
    patches=4,
    searches=8,
    saves=3,
    embedded_notes=25,
    idle_seconds=0.5,
)


@dataclass(frozen=True, slots=True)
class Indexed:
    """A vault with its index."""

    root: Path
    cache: Path
    manifest: Manifest

    @property
    def editable(self) -> list[GeneratedNote]:
        """The notes that an assistant may rewrite: the past is only amended, and rules are the person's."""
        return [note for note in self.manifest.notes if note.layer == "state"]

    def serve(self, *more: str) -> RawClient:
        """Start a server of it."""
        return RawClient(memex_command("serve", self.root, self.cache, *more))

    def run_init(self) -> None:
        """Run `vault-memex init`: settings, and a number for every note."""
        command = [sys.executable, "-m", "vault_memex", "init", str(self.root), "--cache-dir", str(self.cache)]
        subprocess.run(command, check=True, capture_output=True)

    def run_index(self, *more: str) -> tuple[dict[str, Any], float]:
        """Run `vault-memex index`; return what it says and the seconds the whole command took."""
        started = time.perf_counter()
        command = memex_command("index", self.root, self.cache, "--json", *more)
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - started
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer, seconds


@dataclass(slots=True)
class Workbench:
    """Makes vaults once and lends them to every benchmark."""

    folder: Path
    scale: Scale
    say: Callable[[str], None]
    _fresh: dict[int, Indexed] = field(default_factory=dict)
    _indexed: Indexed | None = None
    _filled: bool = False

    def make(self, notes: int, name: str = "") -> Indexed:
        """Return a generated vault of that many notes whose index is still empty; each name has its own."""
        label = f"{name or 'vault'}-{notes}"
        self.say(f"generating {notes} notes")
        root = self.folder / label
        manifest = generate_vault(root, notes)
        return Indexed(root, self.folder / f"{label}-cache", manifest)

    def lend(self) -> Indexed:
        """Return the vault that most figures are about, with words and links indexed."""
        if self._indexed is None:
            self._indexed = self.make(self.scale.notes)
            self.say("indexing words and links")
            self._indexed.run_index("--no-vectors")
        return self._indexed

    def lend_filled(self) -> Indexed:
        """Return the same vault with a vector for every passage; see `vectors.fill_vectors`."""
        vault = self.lend()
        if not self._filled:
            from benchmarks.vectors import fill_vectors

            self.say("filling the vector store")
            fill_vectors(vault)
            self._filled = True
        return vault
