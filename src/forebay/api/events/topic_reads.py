"""Reads the registered topics: each at its interval, once for all subscribers with the same owner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from forebay.api.events.event import topic_event
from forebay.api.events.subscribers import Subscriber
from forebay.db.pool import UNAVAILABLE, Connection
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from forebay.api.events.topics import Topic

Connect = Callable[[], AbstractAsyncContextManager[Connection]]

log = get_logger("events")


@dataclass(slots=True)
class _Reading:
    """The subscribers of one topic with one owner."""

    topic: Topic
    owner_id: int | None
    connects: dict[Subscriber, Connect] = field(default_factory=dict[Subscriber, Connect])
    told: dict[Subscriber, bytes] = field(default_factory=dict[Subscriber, bytes])
    due: float = 0.0


class TopicReads:
    def __init__(self, topics: Sequence[Topic]) -> None:
        self.topics = {topic.name: topic for topic in topics}
        self._readings: dict[tuple[str, int | None], _Reading] = {}
        self._joined = asyncio.Event()

    @contextmanager
    def joined(self, subscriber: Subscriber, connect: Connect) -> Generator[None]:
        """Read the topics of a subscriber, until it leaves."""
        owner_id = subscriber.event_filter.owner_id
        keys = [(name, owner_id) for name in subscriber.event_filter.named]
        for name, _ in keys:
            reading = self._readings.setdefault((name, owner_id), _Reading(self.topics[name], owner_id))
            reading.connects[subscriber] = connect
            reading.due = 0.0
        if keys:
            self._joined.set()
        try:
            yield
        finally:
            for key in keys:
                reading = self._readings[key]
                del reading.connects[subscriber]
                reading.told.pop(subscriber, None)
                if not reading.connects:
                    del self._readings[key]

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._joined.clear()
            for reading in list(self._readings.values()):
                if reading.connects and reading.due <= loop.time():
                    reading.due = loop.time() + reading.topic.interval_s
                    await self._read(reading)
            next_due = min((reading.due for reading in self._readings.values()), default=None)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(next_due):
                    await self._joined.wait()

    async def _read(self, reading: _Reading) -> None:
        """After an error, the next reading tries again."""
        name = reading.topic.name
        try:
            async with next(iter(reading.connects.values()))() as conn:
                value = await reading.topic.read(conn, reading.owner_id)
            event = topic_event(name, reading.owner_id, datetime.now(UTC), value)
        except UNAVAILABLE as error:
            log.warning("topic_not_read", topic=name, error=one_line(error))
            return
        except Exception:
            log.exception("topic_not_read", topic=name)
            return
        for subscriber in list(reading.connects):
            if reading.told.get(subscriber) != event.data:
                reading.told[subscriber] = event.data
                subscriber.offer(event)
                subscriber.wake()
