"""Messages of Redis to those who listen; one who does not listen misses them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from forebay.errors import one_line
from forebay.fleet.bullmq.connection import reaching
from forebay.fleet.port import BrokerUnavailable
from forebay.log import get_logger

if TYPE_CHECKING:
    from typing import Any

    from forebay.fleet.bullmq.connection import Redis

log = get_logger("bullmq")

_MOST_WAITING = 10_000
_LOOK_S = 1.0
_PAUSE_S = 0.5


class Subscription:
    """Listens to one channel, forever; connects again when the connection is lost."""

    def __init__(self, redis: Redis, channel: str) -> None:
        self._redis = redis
        self._channel = channel
        self._messages: asyncio.Queue[bytes] = asyncio.Queue(_MOST_WAITING)

    async def run(self, listening: asyncio.Event) -> None:
        """`listening` is set when messages are received."""
        while True:
            try:
                with reaching():
                    async with self._redis.pubsub(ignore_subscribe_messages=True) as pubsub:
                        await pubsub.subscribe(self._channel)
                        listening.set()
                        await self._receive(pubsub)
            except BrokerUnavailable as error:
                log.warning("channel_lost", channel=self._channel, error=one_line(error))
                await asyncio.sleep(_PAUSE_S)

    async def _receive(self, pubsub: Any) -> None:
        while True:
            message = await pubsub.get_message(timeout=_LOOK_S)
            if message is None:
                continue
            if self._messages.full():  # whoever reads is far behind: the oldest say the least
                self._messages.get_nowait()
            self._messages.put_nowait(str(message["data"]).encode())

    async def next(self) -> bytes:
        """The next message."""
        return await self._messages.get()
