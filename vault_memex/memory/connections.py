"""Connections: which assistant may do what, to which notes. Only the person writes `.memex/connections.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from vault_memex.errors import InvalidArgument
from vault_memex.memory.scope import check_pattern

Role = Literal["reader", "agent", "curator", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may
GIVEN_ROLES = ROLES[:-1]  # the owner is the person, on the command line

FILE = "connections.toml"
LONGEST_NAME = 64  # characters


@dataclass(frozen=True, slots=True)
class Connection:
    """What one assistant may do. The defaults are those of a connection that is not listed."""

    name: str
    role: Role = "agent"
    scopes: tuple[str, ...] = ()  # path patterns; none: the whole vault
    hidden_skills: tuple[str, ...] = ()  # slugs


def parse_connections(text: str) -> Mapping[str, Connection]:
    """Return the connections by name. Unknown keys and roles are errors that name what may be written."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgument(FILE, f".memex/{FILE} does not parse: {error}") from error
    return {name: _parse_one(name, table) for name, table in raw.items()}


def _parse_one(name: str, table: Any) -> Connection:
    check_name(name)
    if not isinstance(table, dict):
        raise InvalidArgument(name, f'.memex/{FILE}: {name} is a table: ["{name}"] and then role = "agent".')
    known = [field.name for field in fields(Connection) if field.name != "name"]
    for key in table:
        if key not in known:
            raise InvalidArgument(
                key, f".memex/{FILE}: {name} has an unknown key {key!r}. Known: {', '.join(known)}."
            )
    scopes = _parse_texts(name, "scopes", table.get("scopes", []))
    for pattern in scopes:
        check_pattern(pattern)
    role = parse_role(table.get("role", "agent"), f".memex/{FILE}: {name}: role")
    return Connection(name, role, scopes, _parse_texts(name, "hidden_skills", table.get("hidden_skills", [])))


def _parse_texts(name: str, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidArgument(key, f'.memex/{FILE}: {name}: {key} is a list of texts, for example ["Work/**"].')
    return tuple(value)


def parse_role(value: object, what: str) -> Role:
    """Return a role that a connection can have; `what` begins the sentence of the error."""
    for role in GIVEN_ROLES:
        if value == role:
            return role
    raise InvalidArgument("role", f"{what} = {value!r}: write one of {', '.join(GIVEN_ROLES)}.")


def check_name(name: str) -> None:
    """Refuse a name that cannot stand in a journal, a commit or a file name."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip() or "/" in name:
        raise InvalidArgument(
            "name", f"{name!r} names no connection: write 1 to {LONGEST_NAME} visible characters without `/`."
        )


def lower_role(one: Role, other: Role) -> Role:
    """Return the role of the two that may do less."""
    return min(one, other, key=ROLES.index)


def find_connection(connections: Mapping[str, Connection], name: str, asked: Role | None = None) -> Connection:
    """Return what a connection may do: what the file gives its name, or less when it asks for less.

    One that is not listed is an agent without limits of scope.
    """
    listed = connections.get(name) or Connection(name)
    role = listed.role if asked is None else lower_role(asked, listed.role)
    return Connection(name, role, listed.scopes, listed.hidden_skills)
