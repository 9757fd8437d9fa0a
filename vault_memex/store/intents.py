"""What a change is about to do, written down before it does it: `.memex/pending/<event>.intent`.

An intent holds the old bytes, so a crash can be reversed with the vault alone. It lies in the vault, not in the
cache, because the cache may be deleted at any time. It is removed when the change is done; while the change waits
for its commit it is called `<event>.commit`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault_memex.core.revision import revision_of
from vault_memex.store.disk import remove_quietly, sync_folder, write_all
from vault_memex.store.journal import JournalEvent, parse_event, render_event
from vault_memex.store.steps import Step

_NAME = re.compile(r"(\d+)\.(intent|commit)")


@dataclass(frozen=True, slots=True)
class Intent:
    """An event that is to be journalled, the steps that make it, and the folders they create."""

    event: JournalEvent
    steps: tuple[Step, ...]
    folders: tuple[str, ...]  # outermost first
    machine: str  # a synced folder may show us another machine's intents


@dataclass(frozen=True, slots=True)
class PendingIntent:
    """An intent found at start. `intent` is None when its file was torn: then no step was done."""

    file: Path
    intent: Intent | None


def render_intent(intent: Intent) -> bytes:
    """Return the intent's bytes: a line of JSON, the old (and in-place new) bytes, and a hash of it all."""
    blobs: list[bytes] = []
    steps: list[dict[str, Any]] = []
    for step in intent.steps:
        new = step.new if step.kind == "in_place" else b""
        steps.append(
            {
                "kind": step.kind,
                "path": step.path,
                "to": step.to,
                "before": step.before,
                "after": step.after,
                "old": len(step.old),
                "new": len(new),
            }
        )
        blobs += (step.old, new)
    event = render_event(intent.event).decode("utf-8").rstrip("\n")
    head = json.dumps({"event": event, "machine": intent.machine, "folders": intent.folders, "steps": steps})
    body = b"".join((head.encode("ascii"), b"\n", *blobs))
    return body + revision_of(body).encode("ascii")


def parse_intent(data: bytes) -> Intent | None:
    """Return the intent, or None when the bytes are not all there."""
    body, digest = data[:-32], data[-32:]
    if revision_of(body).encode("ascii") != digest:
        return None
    head, _, blobs = body.partition(b"\n")
    raw = json.loads(head)
    event = parse_event(raw["event"].encode("utf-8"))
    if event is None:
        return None
    steps: list[Step] = []
    at = 0
    for entry in raw["steps"]:
        old, new = blobs[at : at + entry["old"]], blobs[at + entry["old"] : at + entry["old"] + entry["new"]]
        at += entry["old"] + entry["new"]
        steps.append(Step(entry["kind"], entry["path"], entry["to"], entry["before"], entry["after"], old, new))
    return Intent(event, tuple(steps), tuple(raw["folders"]), raw["machine"])


class PendingFolder:
    """The folder of intents. Writing and removing need the vault lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, intent: Intent) -> Path:
        """Write the intent and return its file. It is on disk after `sync`."""
        file = self.folder / f"{intent.event.id}.intent"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        try:
            descriptor = os.open(file, flags, 0o600)
        except FileNotFoundError:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(file, flags, 0o600)
        try:
            try:
                write_all(descriptor, render_intent(intent))
            finally:
                os.close(descriptor)
        except BaseException:
            remove_quietly(file)
            raise
        return file

    def sync(self, file: Path, *, name: bool) -> None:
        """Make an intent durable. Its `name` must be too where a change is of several files."""
        descriptor = os.open(file, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if name:
            sync_folder(self.folder)

    def finish(self, file: Path, waits_for_commit: bool) -> Path | None:
        """Remove the intent of a change that is done and journalled, or keep it until its commit is made."""
        if waits_for_commit:
            waiting = file.with_suffix(".commit")
            os.replace(file, waiting)
            return waiting
        remove_quietly(file)
        return None

    def remove_if_empty(self) -> None:
        """Remove the folder unless an intent is in it."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def highest_id(self) -> int:
        """Return the highest event number among what is pending, 0 for none."""
        return max((number for number, _ in self._names()), default=0)

    def find_pending(self, commits: bool) -> Iterator[PendingIntent]:
        """Yield the intents of writes under way, or with `commits` of those that wait for it; oldest first."""
        ending = ".commit" if commits else ".intent"
        for _, name in sorted(self._names()):
            if name.endswith(ending):
                file = self.folder / name
                with contextlib.suppress(FileNotFoundError):  # its commit was made just now
                    yield PendingIntent(file, parse_intent(file.read_bytes()))

    @property
    def is_interrupted(self) -> bool:
        """Whether a write was begun and not ended: by a crash, or by another process at this moment."""
        return next(self.find_pending(commits=False), None) is not None

    def _names(self) -> list[tuple[int, str]]:
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        return [(int(match[1]), match[0]) for name in names if (match := _NAME.fullmatch(name))]
