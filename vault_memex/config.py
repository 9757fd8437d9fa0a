"""Settings of one vault: `.memex/config.toml`, overridden by the environment, overridden by flags.

This module reads no file; `store.files` hands it the text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

from vault_memex.core.note import Layer
from vault_memex.errors import InvalidArgument
from vault_memex.memory.connections import Role
from vault_memex.memory.signals import SignalSettings, parse_signal_settings
from vault_memex.memory.thresholds import check_fixed

CommitMode = Literal["auto", "each", "batch", "off"]
WriteIds = Literal["own", "all", "never"]
Policy = Literal["personal", "reviewed"]
SearchProfile = Literal["full", "generic"]


@dataclass(frozen=True, slots=True)
class Config:
    """What the person chose; each default is what suits a vault nobody configured."""

    commit: CommitMode = "auto"
    write_ids: WriteIds = "own"
    policy: Policy = "personal"
    role: Role = "agent"
    connection: str = ""
    tools: str = "core"
    search_profile: SearchProfile = "full"  # generic: tools named as XMemo names them take no plugin parameters
    new_note_folder: str = ""  # where `save` puts a note without a folder
    ignore: tuple[str, ...] = ()  # folders or path patterns that are not notes
    layers: tuple[tuple[str, Layer], ...] = ()  # (path pattern, layer), first match wins
    model: str = "multilingual-e5-small"  # "none" switches meaning off
    distances: tuple[tuple[str, float], ...] = ()  # fixed ones, instead of those measured in the vault
    signals: SignalSettings = field(default_factory=SignalSettings)
    reconcile_seconds: float = 60.0
    debounce_seconds: float = 0.1

    def layer_for(self, path: str) -> Layer | None:
        """Return the layer that the folder mapping gives to a path, if any."""
        for pattern, layer in self.layers:
            if fnmatchcase(path, pattern):
                return layer
        return None


ENVIRONMENT = {
    "VAULT_MEMEX_COMMIT": "commit",
    "VAULT_MEMEX_POLICY": "policy",
    "VAULT_MEMEX_ROLE": "role",
    "VAULT_MEMEX_CONNECTION": "connection",
    "VAULT_MEMEX_TOOLS": "tools",
    "VAULT_MEMEX_SEARCH_PROFILE": "search_profile",
    "VAULT_MEMEX_MODEL": "model",
}
_SECONDS: Mapping[str, tuple[float, float]] = {"reconcile_seconds": (1, 86_400), "debounce_seconds": (0, 60)}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "commit": get_args(CommitMode),
    "write_ids": get_args(WriteIds),
    "policy": get_args(Policy),
    "role": get_args(Role),
    "search_profile": get_args(SearchProfile),
}


def parse_config(
    text: str,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
    default: Config | None = None,
) -> Config:
    """Return the settings. Unknown keys and wrong values are errors that name what may be written."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgument("config.toml", f".memex/config.toml does not parse: {error}") from error
    values = {key: _checked(key, value) for key, value in raw.items()}
    for variable, key in ENVIRONMENT.items():
        if environment and environment.get(variable):
            values[key] = _checked(key, environment[variable])
    for key, value in (flags or {}).items():
        if value is not None:
            values[key] = _checked(key, value)
    return replace(default or Config(), **values)


def _checked(key: str, value: Any) -> Any:
    known = {f.name: f for f in fields(Config)}
    if key not in known:
        raise InvalidArgument(key, f"Unknown setting {key!r}. Known: {', '.join(sorted(known))}.")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise InvalidArgument(key, f"{key} = {value!r}: write one of {', '.join(_CHOICES[key])}.")
    if key == "layers":
        return _checked_layers(value)
    if key == "distances":
        return tuple(sorted(check_fixed(_checked_table(key, value)).items()))
    if key == "signals":
        return parse_signal_settings(_checked_table(key, value))
    if key == "ignore":
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InvalidArgument(key, 'ignore is a list of texts, for example ["Templates", "drafts/**"].')
        return tuple(value)
    if key in _SECONDS:
        return _checked_seconds(key, value)
    expected = type(getattr(Config(), key))
    if not isinstance(value, expected):
        raise InvalidArgument(key, f"{key} = {value!r}: write a {expected.__name__}.")
    return value


def _checked_seconds(key: str, value: Any) -> float:
    low, high = _SECONDS[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:  # nor nan
        raise InvalidArgument(key, f"{key} = {value!r}: write a number of seconds from {low} to {high}.")
    return float(value)


def _checked_table(key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidArgument(key, f"{key} is a table: [{key}] and then one line for each value.")
    return value


def _checked_layers(value: Any) -> tuple[tuple[str, Layer], ...]:
    if not isinstance(value, dict):
        raise InvalidArgument("layers", 'layers is a table: [layers] then "journal/**" = "past".')
    for pattern, layer in value.items():
        if layer not in get_args(Layer):
            raise InvalidArgument(
                "layers", f"layers.{pattern!r} = {layer!r}: write one of {', '.join(get_args(Layer))}."
            )
    return tuple(value.items())
