"""Edits of `.memex/connections.toml` that leave every byte the person wrote and the edit does not name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable, Table
from tomlkit.toml_document import TOMLDocument

from vault_memex.errors import InvalidArgument, NotFound
from vault_memex.memory.connections import FILE, check_name, parse_connections

HEAD = """\
# Which assistant may do what: docs/connections.md. A name that is not listed is an agent for the whole vault.
"""


def plan_connection(
    text: str,
    name: str,
    *,
    role: str | None = None,
    scopes: Sequence[str] | None = None,
    hidden_skills: Sequence[str] | None = None,
) -> str:
    """Return the file with a connection set; None leaves a value as it is. The result is checked as a whole."""
    check_name(name)
    document = _parse(text or HEAD)
    table = document.get(name)
    if table is None:
        table = tomlkit.table()
        if text:
            document.add(tomlkit.nl())
        document.add(name, table)
        role = role or "agent"
    if not isinstance(table, Table | InlineTable):
        raise InvalidArgument(
            "name", f".memex/{FILE}: {name} is written in several places. Change it by hand there."
        )
    if role is not None:
        table["role"] = role
    for key, texts in (("scopes", scopes), ("hidden_skills", hidden_skills)):
        if texts is not None:
            _set_texts(table, key, texts)
    planned = tomlkit.dumps(document)
    parse_connections(planned)
    return planned


def plan_removal(text: str, name: str) -> str:
    """Return the file without a connection. Raises NotFound."""
    known = parse_connections(text)
    if name not in known:
        names = ", ".join(known) or "none"
        raise NotFound(f"No connection {name!r} is listed. Listed: {names}.", list(known))
    document = _parse(text)
    document.remove(name)
    return tomlkit.dumps(document)


def _parse(text: str) -> TOMLDocument:
    parse_connections(text)  # its errors say what may be written
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise InvalidArgument(FILE, f".memex/{FILE}: {error}. Change it by hand.") from error


def _set_texts(table: Table | InlineTable, key: str, texts: Sequence[str]) -> None:
    if not texts:
        table.pop(key, None)
        return
    array: Any = tomlkit.array()
    array.extend(texts)
    table[key] = array
