"""Server-sent events as an answer: goes on until the reader is gone, no longer welcome, or the server stops."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from fastapi import Response

from forebay.db.pool import UNAVAILABLE
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from starlette.types import Receive, Scope, Send

    from forebay.api.events.hub import Connect, Hub
    from forebay.api.events.subscribers import Subscriber, Wish

log = get_logger("events")

_LAST_WORDS = 1.0  # a reader that does not read is cut off after so many seconds


class EventStream(Response):
    media_type = "text/event-stream"

    def __init__(
        self,
        hub: Hub,
        wish: Wish,
        after: datetime | None,
        listener: int,
        connect: Connect,
        is_welcome: Callable[[], Awaitable[bool]],
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({"x-accel-buffering": "no"})  # proxies must not collect what they pass on
        self._hub, self._wish, self._after, self._listener = hub, wish, after, listener
        self._connect, self._is_welcome = connect, is_welcome

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._hub.subscribed(self._wish, self._after, self._listener) as subscriber:
            sending = asyncio.create_task(self._send(subscriber, send))
            ends = (asyncio.create_task(_gone(receive)), asyncio.create_task(self._unwelcome(subscriber)))
            try:
                await asyncio.wait((sending, *ends), return_when=asyncio.FIRST_COMPLETED)
                subscriber.end()
                await asyncio.wait((sending,), timeout=_LAST_WORDS)
            finally:
                for task in (sending, *ends):
                    task.cancel()
                done = await asyncio.gather(sending, *ends, return_exceptions=True)
        for failure in done:
            if isinstance(failure, Exception):
                raise failure

    async def _send(self, subscriber: Subscriber, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async with aclosing(self._hub.stream(subscriber, self._connect)) as chunks:
                async for chunk in chunks:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except UNAVAILABLE as error:  # the reader comes back, with its last mark
            log.warning("stream_cut", error=one_line(error))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _unwelcome(self, subscriber: Subscriber) -> None:
        """Waits for the end, or until the caller may not listen any more."""
        while True:
            try:
                async with asyncio.timeout(self._hub.pace.recheck):
                    await subscriber.ended.wait()
            except TimeoutError:
                if await self._is_welcome():
                    continue
            return


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
