"""Calls that errors suggest, in the names of a profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from vault_memex.core.snapshot import Snapshot
from vault_memex.errors import MemexError
from vault_memex.server.tool import Answer, Arguments
from vault_memex.vault import Vault

A = TypeVar("A", bound=Arguments)
Translate = Callable[[Mapping[str, Any], Snapshot], Mapping[str, Any]]


def with_suggestions(run: Callable[[Vault, A], Answer], translate: Translate) -> Callable[[Vault, A], Answer]:
    """Return the function with the calls that its errors suggest put in the terms of `translate`."""

    def run_here(vault: Vault, arguments: A) -> Answer:
        try:
            return run(vault, arguments)
        except MemexError as error:
            suggestion = error.fields.get("suggestion")
            if isinstance(suggestion, dict):
                error.fields["suggestion"] = dict(translate(suggestion, vault.snapshot()))
            raise

    return run_here


def find_number(snapshot: Snapshot, path: str) -> int | str:
    """Return the number of a note, by which callers of a profile name it; the path where it has none."""
    note = snapshot.notes.get(path)
    return note.note_id if note is not None and note.note_id is not None else path
