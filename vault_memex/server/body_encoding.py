"""Texts sent as base64, for clients that would damage some: `body_encoding: base64` on any tool that writes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from vault_memex.errors import InvalidArgument

ARGUMENT = "body_encoding"
MEANING = "How all texts of this call are sent."
_NAMES = (
    "title body body_md content text merged_body merged_body_md summary comment change_title reason description "
    "resolution"
)
TEXTS = frozenset(_NAMES.split())
_PATCH_NAMES = "find replace append prepend before section old_str old_string new_str new_string"
PATCH_TEXTS = frozenset(_PATCH_NAMES.split())
"""Refs, tags and properties are never encoded."""


def decode_texts(sent: Mapping[str, Any], *, keep: bool) -> dict[str, Any]:
    """Return the arguments with their texts decoded as `body_encoding` says; `keep` leaves that argument itself in.

    Raises InvalidArgument that names the text which is no base64, or no UTF-8.
    """
    encoding = sent.get(ARGUMENT)
    shown = {name: value for name, value in sent.items() if keep or name != ARGUMENT}
    if encoding in (None, ""):
        return shown
    if encoding != "base64":
        raise InvalidArgument(
            ARGUMENT, f"{ARGUMENT} = {encoding!r}: write base64, or leave it out for plain text."
        )
    for name, value in shown.items():
        if name in TEXTS:
            shown[name] = _decode(name, value)
        elif name == "patch" and isinstance(value, list):
            shown[name] = [_decode_operation(f"patch[{number}]", one) for number, one in enumerate(value)]
    return shown


def _decode_operation(name: str, operation: Any) -> Any:
    if not isinstance(operation, dict):
        return operation
    return {
        key: _decode(f"{name}.{key}", value) if key in PATCH_TEXTS else value for key, value in operation.items()
    }


def _decode(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode("".join(value.split()), validate=True).decode("utf-8")
    except (binascii.Error, ValueError) as error:
        what = "UTF-8" if isinstance(error, UnicodeDecodeError) else "base64"
        raise InvalidArgument(
            name, f"{name} is not {what}: with {ARGUMENT}: base64 every text is sent so."
        ) from error
