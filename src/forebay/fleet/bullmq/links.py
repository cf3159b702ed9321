"""What both sides of the adapter have: a client of Redis, and loops that end with it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from forebay.errors import one_line
from forebay.fleet import wire
from forebay.fleet.broker_clock import BrokerClock
from forebay.fleet.bullmq.channels import Subscription
from forebay.fleet.bullmq.connection import Address, connect, queue_of, reaching
from forebay.fleet.bullmq.queues import SendingQueue, TakenQueue
from forebay.log import get_logger
from forebay.waits import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from typing import Any

log = get_logger("bullmq")

M = TypeVar("M")


class Link:
    """A client of Redis with its loops."""

    def __init__(self, url: str) -> None:
        """Raises: DefinitionError if the address is not one of Redis."""
        self.address = Address.parse(url)
        self.redis = connect(self.address)
        self._clock = BrokerClock(self._server_time)
        self._loops: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Raises: BrokerUnavailable."""
        with reaching():
            await self.redis.ping()

    def start(self, loop: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a loop until it returns or the link is closed."""
        task = asyncio.create_task(_supervised(loop))
        self._loops.add(task)
        task.add_done_callback(self._loops.discard)

    def sending(self, kind: str, name: str, *, kept_s: float | None = None) -> SendingQueue:
        """`kept_s`: the queue is deleted if nothing is added for so long."""
        return SendingQueue(self.redis, self.address.prefix, queue_of(kind, name), self._clock, kept_s=kept_s)

    def taking(self, kind: str, name: str, *, fresh_s: float | None = None) -> TakenQueue:
        """`fresh_s`: messages that have been in the queue for longer are dropped."""
        return TakenQueue(self.redis, self.address.prefix, queue_of(kind, name), self._clock, fresh_s=fresh_s)

    async def _server_time(self) -> float:
        with reaching():
            seconds, microseconds = await self.redis.time()
        return float(seconds + microseconds / 1e6)

    async def subscribe(self, kind: str, name: str = "") -> Subscription:
        """A subscription that receives from now on."""
        subscription, listening = Subscription(self.redis, self.address.channel(kind, name)), asyncio.Event()
        self.start(partial(subscription.run, listening))
        await listening.wait()
        return subscription

    async def publish(self, message: bytes, kind: str, name: str = "") -> int:
        """How many have received the message. Raises: BrokerUnavailable."""
        with reaching():
            return int(await self.redis.publish(self.address.channel(kind, name), message))

    async def close(self) -> None:
        running = set(self._loops)
        while running:
            for loop in running:
                loop.cancel()
            # The client may swallow a cancellation while it closes a connection: then the loop is cancelled again.
            _, running = await asyncio.wait(running, timeout=1)
        await self.redis.aclose()


async def _supervised(loop: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """After an unexpected error, such as a message that the client cannot read, a loop begins again."""
    backoff = Backoff(0.1, 1)
    while True:
        try:
            return await loop()
        except Exception as error:
            log.exception("broker_loop_failed", error=one_line(error), pause=backoff.grow())
            await asyncio.sleep(backoff.pause)


def read(kind: type[M], message: object) -> Sequence[M]:
    """The content of a message; nothing if this release does not understand it."""
    try:
        return wire.decode(kind, message) if isinstance(message, bytes) else wire.decode_object(kind, message)
    except wire.WireError as error:
        log.warning("message_dropped", kind=kind.__name__, error=str(error))
        return ()
