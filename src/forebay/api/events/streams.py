"""A response of server-sent events: lasts until the reader leaves, loses its rights, or the server stops."""

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

    from forebay.api.events.hub import Hub
    from forebay.api.events.subscribers import Subscriber
    from forebay.api.events.topic_reads import Connect
    from forebay.api.events.topics import EventFilter

log = get_logger("events")

_FLUSH_S = 1.0  # seconds to send the rest to a reader before the connection is closed


class EventStream(Response):
    media_type = "text/event-stream"

    def __init__(
        self,
        hub: Hub,
        event_filter: EventFilter,
        after: datetime | None,
        listener: int,
        connect: Connect,
        is_authorized: Callable[[], Awaitable[bool]],
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({"x-accel-buffering": "no"})  # proxies must not buffer the stream
        self._hub, self._event_filter, self._after, self._listener = hub, event_filter, after, listener
        self._connect, self._is_authorized = connect, is_authorized

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._hub.subscribed(self._event_filter, self._after, self._listener, self._connect) as subscriber:
            sending = asyncio.create_task(self._send(subscriber, send))
            ends = (asyncio.create_task(_gone(receive)), asyncio.create_task(self._wait_for_end(subscriber)))
            try:
                await asyncio.wait((sending, *ends), return_when=asyncio.FIRST_COMPLETED)
                subscriber.end()
                await asyncio.wait((sending,), timeout=_FLUSH_S)
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
        except UNAVAILABLE as error:  # the reader reconnects with its last mark
            log.warning("stream_cut", error=one_line(error))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _wait_for_end(self, subscriber: Subscriber) -> None:
        """Wait for the end of the stream, or until the caller is no longer authorized."""
        while True:
            try:
                async with asyncio.timeout(self._hub.pace.recheck):
                    await subscriber.ended.wait()
            except TimeoutError:
                if await self._is_authorized():
                    continue
            return


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
