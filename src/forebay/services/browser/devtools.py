"""Chromium's DevTools protocol over a pipe: JSON messages separated by NUL."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import TYPE_CHECKING, Any, cast

from forebay.errors import TransientError

if TYPE_CHECKING:
    from collections.abc import Callable

    Listener = Callable[[str, dict[str, Any]], None]

_LARGEST = 128 << 20  # bytes per message: a screenshot of a very long page has a tenth of that


class BrowserGone(TransientError):
    """The browser ended during a call."""


class ProtocolError(Exception):
    """The browser rejected a call, mostly because the page is closed."""


class DevToolsConnection(asyncio.Protocol):
    """The connection to a browser; each page has a session, the browser itself has none."""

    def __init__(self) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listeners: dict[str, Listener] = {}
        self._parts: list[bytes] = []
        self._held = 0

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        first, *rest = data.split(b"\0")
        self._keep(first)
        for part in rest:
            message, self._parts, self._held = b"".join(self._parts), [], 0
            self._hear(json.loads(message))
            self._keep(part)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(BrowserGone("the browser has ended"))
        self._listeners.clear()

    # Called by users.

    @property
    def is_open(self) -> bool:
        return not self.ended.done()

    async def call(self, method: str, session: str = "", /, **params: Any) -> dict[str, Any]:
        """Call a method of the browser and wait for the result.

        Raises:
            BrowserGone: it ended.
            ProtocolError: it refused.
        """
        if not self.is_open:
            raise BrowserGone("the browser has ended")
        number = next(self._numbers)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self._send(number, method, session, params)
        try:
            return await future
        finally:
            self._waiting.pop(number, None)

    def tell(self, method: str, session: str = "", /, **params: Any) -> None:
        """Call a method without waiting for the result."""
        if self.is_open:
            self._send(next(self._numbers), method, session, params)

    def listen(self, session: str, listener: Listener) -> None:
        self._listeners[session] = listener

    def forget(self, session: str) -> None:
        self._listeners.pop(session, None)

    def close(self) -> None:
        self._transport.abort()

    def _send(self, number: int, method: str, session: str, params: dict[str, Any]) -> None:
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self._transport.write(json.dumps(message).encode() + b"\0")

    def _keep(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._held += len(part)
            if self._held > _LARGEST:
                self.close()

    def _hear(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if number is None:
            listener = self._listeners.get(message.get("sessionId", ""))
            if listener is not None:
                listener(message["method"], message.get("params", {}))
            return
        future = self._waiting.get(number)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(ProtocolError(str(message["error"].get("message"))))
        else:
            future.set_result(message["result"])
