"""Who wants to hear that a resource changed, in both eras of the protocol.

Newer clients listen on a stream, which the SDK serves from a bus. Older ones subscribe once, which it leaves to us.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated, ServerEvent
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

Context = ServerRequestContext[Any, Any]


class _Bus(InMemorySubscriptionBus):
    """A bus that says when somebody is going to listen, and whether anybody does."""

    def __init__(self, on_subscribe: Callable[[], None]) -> None:
        super().__init__()
        self._on_subscribe = on_subscribe

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        self._on_subscribe()
        return super().subscribe(listener)

    def has_listeners(self) -> bool:
        return bool(self._listeners)


class Subscriptions:
    """The subscriptions of all connections of one server."""

    def __init__(self) -> None:
        self.on_watch: Callable[[], None] = lambda: None  # called before somebody begins to watch
        self.bus = _Bus(self._begin)
        self._sessions: dict[tuple[int, str], ServerSession] = {}  # by connection and address of the resource

    def _begin(self) -> None:
        self.on_watch()

    def add_handlers(self, add_request_handler: Callable[..., None]) -> None:
        """Serve `resources/subscribe` and `resources/unsubscribe`."""
        add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
        add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe)

    def is_watched(self) -> bool:
        """Return whether anybody may want to hear. Listeners of the newer protocol do not say of what, here."""
        return bool(self._sessions) or self.bus.has_listeners()

    async def publish(self, uri: str) -> None:
        """Tell whoever asked that the resource may have changed."""
        await self.bus.publish(ResourceUpdated(uri=uri))
        for (connection, wanted), session in list(self._sessions.items()):
            if wanted == uri:
                # A connection that broke this instant has its own end.
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    await session.send_resource_updated(uri)
                    continue
                self._sessions.pop((connection, wanted), None)

    async def _subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        # The session is made anew for each request; what stays is the connection behind it.
        connection = context.session._connection
        key = (id(connection), str(params.uri))
        if key not in self._sessions:
            self.on_watch()
            self._sessions[key] = context.session
            connection.exit_stack.callback(self._sessions.pop, key, None)
        return EmptyResult()

    async def _unsubscribe(self, context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        self._sessions.pop((id(context.session._connection), str(params.uri)), None)
        return EmptyResult()
