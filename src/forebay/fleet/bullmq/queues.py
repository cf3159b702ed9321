"""Queues of BullMQ whose jobs are removed when they are taken, so that BullMQ never gives one out again."""

from __future__ import annotations

import asyncio
import time
from itertools import count
from typing import TYPE_CHECKING, Any

import bullmq  # pyright: ignore[reportMissingTypeStubs]

from forebay.fleet.bullmq.connection import WAIT_S, reaching
from forebay.fleet.port import BrokerUnavailable
from forebay.log import get_logger

if TYPE_CHECKING:
    from typing import TypeAlias

    from forebay.fleet.broker_clock import BrokerClock
    from forebay.fleet.bullmq.connection import Redis

    Job: TypeAlias = Any  # BullMQ has no types

log = get_logger("bullmq")

_ONCE = {"attempts": 1, "removeOnComplete": True, "removeOnFail": True}
_EVENTS_KEPT = 100  # for those who look into the queue; nothing here reads them
_DROPPED = 1000  # messages at once


class SendingQueue:
    """Adds messages to a queue."""

    def __init__(self, redis: Redis, prefix: str, name: str, clock: BrokerClock, *, kept_s: float | None) -> None:
        self._redis = redis
        self._clock = clock
        self._kept_ms = None if kept_s is None else round(kept_s * 1000)
        self._queue: Any = bullmq.Queue(name, {"connection": redis, "prefix": prefix})

    async def send(self, name: str, message: Any) -> None:
        """Raises: BrokerUnavailable."""
        with reaching():
            job = await self._queue.add(name, message, await self._options())
            await self._queue.trimEvents(_EVENTS_KEPT)
            if self._kept_ms is not None:
                await self._expire(job.id, self._kept_ms)

    async def drop_old(self, seconds: float) -> None:
        """Remove messages that nobody has taken for so long, and those whose receiver has ended while it took them.

        Raises: BrokerUnavailable.
        """
        with reaching():
            now = await self._clock.now()
            if now is None:
                return
            kept_s = seconds + time.time() - now  # BullMQ compares with the clock of this host
            for state in ("wait", "active"):
                if await self._redis.llen(self._queue.toKey(state)):
                    await self._queue.clean(round(kept_s * 1000), _DROPPED, state)
                    await self._queue.trimEvents(_EVENTS_KEPT)

    async def _options(self) -> dict[str, Any]:
        """With the time of Redis: that of this host may differ from that of whoever takes the message."""
        now = await self._clock.now()
        return _ONCE if now is None else {**_ONCE, "timestamp": round(now * 1000)}

    async def _expire(self, job_id: str, kept_ms: int) -> None:
        async with self._redis.pipeline(transaction=False) as commands:
            for part in ("wait", "active", "id", "meta", "marker", "events", job_id):
                commands.pexpire(self._queue.toKey(part), kept_ms)
            await commands.execute()


class TakenQueue:
    """Takes messages from a queue."""

    def __init__(self, redis: Redis, prefix: str, name: str, clock: BrokerClock, *, fresh_s: float | None) -> None:
        self._clock, self._fresh_s = clock, fresh_s
        options: Any = {"connection": redis, "prefix": prefix, "autorun": False, "drainDelay": WAIT_S}
        no_processor: Any = None  # jobs are asked for
        self._worker: Any = bullmq.Worker(name, no_processor, options)
        self._tokens = (f"{self._worker.id}:{n}" for n in count())
        self._taking = asyncio.Lock()  # a worker of BullMQ waits once at a time

    async def take(self, most: int) -> list[Any]:
        """At most `most` messages; waits up to two seconds for the first one.

        Raises: BrokerUnavailable.
        """
        taken: list[Any] = []
        async with self._taking:
            try:
                job = await self._next() or await self._next()  # the first call only finds that there is none
                while job is not None:
                    is_mine, following = await self._remove(job, and_next=len(taken) + 1 < most)
                    if is_mine and await self._is_fresh(job):
                        taken.append(job.data)
                    job = following
            except BrokerUnavailable:
                if not taken:
                    raise
        return taken

    async def _is_fresh(self, job: Job) -> bool:
        if self._fresh_s is None or await self._clock.age(job.timestamp / 1000) <= self._fresh_s:
            return True
        log.info("message_skipped", queue=self._worker.name)
        return False

    async def _next(self) -> Job | None:
        with reaching():
            return await self._worker.getNextJob(next(self._tokens))

    async def _remove(self, job: Job, *, and_next: bool) -> tuple[bool, Job | None]:
        """Whether the job was there to be removed, and the job after it if there is one."""
        token = str(job.token)
        job.opts["removeOnComplete"] = True  # whatever a sender of somebody else's has asked for
        try:
            with reaching():
                found = await job.moveToCompleted("", token, and_next)
        except TypeError as error:  # BullMQ's error for a job that is not there any more, as after FLUSHALL
            log.info("taken_message_gone", queue=self._worker.name, error=str(error))
            return False, None
        if not and_next or not found:
            return True, None
        data, job_id, limit_until, delay_until = found
        with reaching():
            return True, await self._worker.nextJobFromJobData(data, job_id, limit_until or 0, delay_until or 0, token)
