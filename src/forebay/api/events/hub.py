"""The event hub of a process: polls the database twice a second for all subscribers and publishes changes to them."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from forebay.api.events import publishing
from forebay.api.events.catching_up import CatchUp
from forebay.api.events.lookback import Lookback
from forebay.api.events.subscribers import Subscriber
from forebay.api.events.topic_reads import TopicReads
from forebay.api.events.watches import Watch, remove
from forebay.db.pool import UNAVAILABLE
from forebay.engine.db import changes
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Mapping, Sequence

    from forebay.api.events.topic_reads import Connect
    from forebay.api.events.topics import EventFilter, Topic
    from forebay.db.pool import Connection, Pool

log = get_logger("events")


@dataclass(frozen=True, slots=True)
class Pace:
    """Intervals in seconds. A row carries the time of its change but becomes visible when it commits: every poll reads
    back by `near`, which is cheap, and every `far_every` seconds by `far` or to `Lookback.seen_to`."""

    poll: float = 0.5
    near: float = 2.0
    far: float = 60.0
    far_every: float = 5.0
    tick: float = 15.0
    digest: float = 2.0  # between two digests of a large job
    recheck: float = 30.0
    catch_up: float = 2.0  # pause between two reads of the database for a slow reader

    @property
    def overlap(self) -> timedelta:
        return timedelta(seconds=self.far)


class Hub:
    """All subscribers of this process. It reads the rows of all owners; `EventFilter.covers` decides who gets what."""

    def __init__(self, pool: Pool, pace: Pace | None = None, topics: Sequence[Topic] = ()) -> None:
        self.pace = pace or Pace()
        self._pool = pool
        self._topic_reads = TopicReads(topics)
        self._owners: dict[int | None, Watch] = {}
        self._listening: Counter[int] = Counter()  # streams by the owner whose credentials opened them
        self._jobs: dict[int, Watch] = {}
        self._mark: datetime | None = None
        self._lookback: Lookback | None = None
        self._far_due: datetime | None = None
        self._wanted = asyncio.Event()
        self._joined = asyncio.Event()
        self._is_closed = False
        self._catch_up = CatchUp()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Hub]:
        loops = self._poll(), self._close_on_exit(), self._topic_reads.run()
        tasks = [asyncio.create_task(loop) for loop in loops]
        try:
            yield self
        finally:
            self.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def close(self) -> None:
        """End all streams; later ones end immediately."""
        self._is_closed = True
        for subscriber in self._everyone():
            subscriber.end()

    @property
    def topics(self) -> Mapping[str, Topic]:
        """The registered topics."""
        return self._topic_reads.topics

    @property
    def listeners(self) -> int:
        return len(self._everyone())

    def listeners_of(self, owner_id: int) -> int:
        """The number of streams that this owner has open."""
        return self._listening[owner_id]

    def _everyone(self) -> set[Subscriber]:
        return {subscriber for watch in self._owners.values() for subscriber in watch.subscribers}

    async def _close_on_exit(self) -> None:
        """End the streams when the server stops: it would wait for them before it shuts the application down."""
        while not self._is_closed:
            await self._wanted.wait()
            if _server_exits():
                self.close()
            await asyncio.sleep(0.2)

    # -- subscribers ---------------------------------------------------------------------------------------------------

    @contextmanager
    def subscribed(
        self, event_filter: EventFilter, after: datetime | None, listener: int, connect: Connect
    ) -> Generator[Subscriber]:
        """A subscriber with the credentials of owner `listener`, from now or from a mark on. Connections of `connect`
        see what the subscriber may see."""
        subscriber = Subscriber(event_filter, after, self.pace.overlap)
        self._owners.setdefault(event_filter.owner_id, Watch()).subscribers.add(subscriber)
        for job_id in event_filter.job_ids:
            self._jobs.setdefault(job_id, Watch()).subscribers.add(subscriber)
        if self._is_closed:
            subscriber.end()
        self._wanted.set()
        self._joined.set()
        self._listening[listener] += 1
        try:
            with self._topic_reads.joined(subscriber, connect):
                yield subscriber
        finally:
            self._listening[listener] -= 1
            if not self._listening[listener]:
                del self._listening[listener]
            remove(self._owners, event_filter.owner_id, subscriber)
            for job_id in event_filter.job_ids:
                remove(self._jobs, job_id, subscriber)
            if not self._owners:
                self._rest()

    def _rest(self) -> None:
        self._wanted.clear()
        self._mark = self._far_due = self._lookback = None

    async def stream(self, subscriber: Subscriber, connect: Connect) -> AsyncGenerator[bytes]:
        """The frames for one subscriber."""
        await subscriber.begun.wait()
        if subscriber.ended.is_set():
            return
        yield subscriber.ready()
        if subscriber.behind_since is None:
            yield await self._catch_up.introduction(subscriber, connect)
        loop = asyncio.get_running_loop()
        next_time, next_tick = loop.time(), loop.time() + self.pace.tick
        while not subscriber.ended.is_set():
            if subscriber.behind_since is not None:
                await asyncio.sleep(next_time - loop.time())
                async for chunk in self._catch_up.missed(subscriber, connect):
                    yield chunk
                next_time = loop.time() + self.pace.catch_up
            while not subscriber.ended.is_set() and (chunk := subscriber.take()):
                yield chunk
            await subscriber.woken(next_tick)
            if loop.time() >= next_tick:
                yield subscriber.tick()
                next_tick = loop.time() + self.pace.tick

    # -- all subscribers -----------------------------------------------------------------------------------------------

    async def _poll(self) -> None:
        failures = 0
        while True:
            await self._wanted.wait()
            try:
                await self._look()
                failures = 0
            except Exception as error:
                # After any error the next poll starts from the last mark and reads back by `far`.
                self._far_due = None
                failures += 1
                _log_failure(error)
                await asyncio.sleep(min(self.pace.poll * 2**failures, 5.0))
            with suppress(TimeoutError):
                async with asyncio.timeout(self.pace.poll):
                    await self._joined.wait()

    async def _look(self) -> None:
        self._joined.clear()
        owners, jobs = dict(self._owners), dict(self._jobs)
        async with self._pool.acquire() as conn:
            mark = await changes.clock(conn)
            lookback = self._lookback = self._lookback or Lookback(
                mark, timedelta(seconds=self.pace.near), self.pace.overlap
            )
            near = (self._mark or mark) - timedelta(seconds=self.pace.near)
            far = min(near - self.pace.overlap, lookback.seen_to)
            is_far = self._far_due is None or mark >= self._far_due
            reached = lookback.reached(await changes.now(conn)) if is_far else lookback.seen_to
            await self._begin(conn, owners, jobs, far)
            running = {job_id: watch for job_id, watch in jobs.items() if not watch.is_over}
            since = far if is_far else near
            await publishing.publish_jobs(conn, owners, jobs, since)
            if is_far:  # retention is not in a hurry
                await publishing.publish_deleted(conn, owners, jobs, far)
            await self._publish_items(conn, running, mark, near, since)
            if is_far:
                self._far_due = self._next_far(mark, await changes.clock(conn))
                lookback.seen_to = reached
        # A reader that returns with a mark reads from `overlap` before it: no older change may commit later.
        self._finish([*owners.values(), *jobs.values()], mark, min(mark, lookback.seen_to + self.pace.overlap), far)

    async def _publish_items(
        self, conn: Connection, jobs: Mapping[int, Watch], mark: datetime, near: datetime, since: datetime
    ) -> None:
        small = {job_id: watch for job_id, watch in jobs.items() if not watch.is_large}
        if small:
            is_new = not all(watch.begun for watch in small.values())
            since = min(since, near - self.pace.overlap) if is_new else since
            await publishing.publish_items(conn, small, since, near)
            await publishing.publish_progress(conn, small, mark)
        large = {job_id: watch for job_id, watch in jobs.items() if watch.is_large}
        overlap, pause = timedelta(seconds=self.pace.near), timedelta(seconds=self.pace.digest)
        await publishing.publish_digests(conn, large, mark, overlap, pause)

    def _next_far(self, began: datetime, ended: datetime) -> datetime:
        """Far polls take at most about a tenth of the time: the longer they take, the rarer they are."""
        pause = min(max((ended - began).total_seconds() * 10, self.pace.far_every), self.pace.far / 2)
        return ended + timedelta(seconds=pause)

    def _finish(self, watches: Sequence[Watch], looked_at: datetime, mark: datetime, far: datetime) -> None:
        for watch in watches:
            watch.begun = True
            watch.forget(far)
        if not self._owners:
            return  # the last subscriber left meanwhile
        self._mark = looked_at
        for subscriber in {subscriber for watch in watches for subscriber in watch.subscribers}:
            followed = [self._jobs.get(job_id) for job_id in subscriber.event_filter.job_ids]
            if all(watch is None or watch.begun for watch in followed):
                subscriber.advance(mark)

    async def _begin(
        self, conn: Connection, owners: Mapping[int | None, Watch], jobs: Mapping[int, Watch], far: datetime
    ) -> None:
        """Record the present state for new watches, which get changes only."""
        new_owners = {owner_id: watch for owner_id, watch in owners.items() if not watch.begun}
        if new_owners:
            await publishing.publish_jobs(conn, new_owners, jobs, far)
            await publishing.publish_deleted(conn, new_owners, jobs, far)
        new_jobs = [job_id for job_id, watch in jobs.items() if not watch.begun]
        for row in await changes.jobs(conn, new_jobs) if new_jobs else ():
            publishing.note_job(jobs, row)  # a finished job is not polled


def _log_failure(error: Exception) -> None:
    if isinstance(error, UNAVAILABLE):
        log.warning("look_failed", error=one_line(error))
    else:
        log.error("look_failed", exc_info=error)


def _server_exits() -> bool:
    """Whether the uvicorn server that handles SIGTERM is about to stop."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False))
