"""Standard input whose unreadable messages are answered.

The SDK drops a line that is no message (half of a character, nesting too deep, `params` as a list), and the caller
waits until its time is up. Here it learns at once what was wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import anyio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

_ID = r'"id"\s*:\s*(-?\d+|"[^"\\]*")'
# Clients write the id either first or last. In the middle it may be anybody's.
_ID_FIRST = re.compile(r'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_ID_LAST = re.compile(_ID + r"\s*\}\s*\Z")
_LAST = 200  # characters

Incoming = SessionMessage | Exception


class CheckedStream:
    """The messages of `inner`; whatever is none is answered through `answers` when it has an id."""

    def __init__(self, inner: ReadStream[Incoming], answers: WriteStream[SessionMessage]) -> None:
        self._inner = inner
        self._answers = answers

    @property
    def last_context(self) -> Any:
        """The sender's context, where the inner stream carries one."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Incoming:
        """Return the next message."""
        while True:
            item = await self._inner.receive()
            answer = build_refusal(item) if isinstance(item, ValidationError) else None
            if answer is None:
                return item
            await self._answers.send(SessionMessage(answer))

    async def aclose(self) -> None:
        """Close the inner stream."""
        await self._inner.aclose()

    def __aiter__(self) -> CheckedStream:
        return self

    async def __anext__(self) -> Incoming:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> CheckedStream:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def build_refusal(error: ValidationError) -> JSONRPCError | None:
    """Return the answer to a line that is no message; None when it names no request to answer."""
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        number = _find_id(str(first["input"]))
        code, text = PARSE_ERROR, f"The message does not parse: {first['msg']}."
    else:
        wholes = [
            fault["input"] for fault in error.errors(include_url=False) if isinstance(fault["input"], Mapping)
        ]
        number = next((whole["id"] for whole in wholes if "jsonrpc" in whole and "id" in whole), None)
        code, text = (
            INVALID_REQUEST,
            f"The message is no request: {'.'.join(map(str, first['loc']))}: {first['msg']}.",
        )
    if isinstance(number, bool) or not isinstance(number, int | str):
        return None
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=text))


def _find_id(line: str) -> int | str | None:
    found = _ID_FIRST.match(line) or _ID_LAST.search(line, max(0, len(line) - _LAST))
    number: int | str | None = json.loads(found[1]) if found else None
    return number
