"""The event hub of a process: polls the database twice a second for all subscribers and publishes changes to them."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from forebay.api.events.lookback import Lookback
from forebay.api.events.subscribers import MOST_WAITING, EventFilter, Subscriber, item_event, job_event, progress_event
from forebay.api.events.watches import Watch, changed_jobs, remove
from forebay.db.pool import UNAVAILABLE
from forebay.engine.db import changes
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    import asyncpg

    from forebay.db.pool import Connection, Pool
    from forebay.engine.db.changes import Position

    Connect = Callable[[], AbstractAsyncContextManager[Connection]]

log = get_logger("events")

T = TypeVar("T")

_KEYS = 5000  # changes per query
_WHOLE = 200  # rows per query
_PROGRESS = 500  # items of a job with progress events
_LOOKED_AT = 5000  # items per query that looks for changes


@dataclass(frozen=True, slots=True)
class Pace:
    """Intervals in seconds. A row carries the time of its change but becomes visible when it commits: every poll reads
    back by `near`, which is cheap, and every `far_every` seconds by `far` or to `Lookback.seen_to`."""

    poll: float = 0.5
    near: float = 2.0
    far: float = 60.0
    far_every: float = 5.0
    still_here: float = 15.0
    recheck: float = 30.0
    catch_up: float = 2.0  # pause between two reads of the database for a slow reader

    @property
    def overlap(self) -> timedelta:
        return timedelta(seconds=self.far)


class Hub:
    """All subscribers of this process. It reads the rows of all owners; `EventFilter.covers` decides who gets what."""

    def __init__(self, pool: Pool, pace: Pace | None = None) -> None:
        self.pace = pace or Pace()
        self._pool = pool
        self._owners: dict[int | None, Watch] = {}
        self._listening: Counter[int] = Counter()  # streams by the owner whose credentials opened them
        self._jobs: dict[int, Watch] = {}
        self._mark: datetime | None = None
        self._lookback: Lookback | None = None
        self._far_due: datetime | None = None
        self._wanted = asyncio.Event()
        self._joined = asyncio.Event()
        self._is_closed = False
        # Subscribers that catch up read the database themselves, page by page, few at a time.
        self._catching_up = asyncio.Semaphore(2)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Hub]:
        tasks = [asyncio.create_task(self._poll()), asyncio.create_task(self._close_on_exit())]
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
    def subscribed(self, event_filter: EventFilter, after: datetime | None, listener: int) -> Generator[Subscriber]:
        """A subscriber with the credentials of owner `listener`, from now or from a mark on."""
        subscriber = Subscriber(event_filter, after, self.pace.overlap)
        self._owners.setdefault(event_filter.owner_id, Watch()).subscribers.add(subscriber)
        if event_filter.job_id is not None:
            self._jobs.setdefault(event_filter.job_id, Watch()).subscribers.add(subscriber)
        if self._is_closed:
            subscriber.end()
        self._wanted.set()
        self._joined.set()
        self._listening[listener] += 1
        try:
            yield subscriber
        finally:
            self._listening[listener] -= 1
            if not self._listening[listener]:
                del self._listening[listener]
            remove(self._owners, event_filter.owner_id, subscriber)
            if event_filter.job_id is not None:
                remove(self._jobs, event_filter.job_id, subscriber)
            if not self._owners:
                self._rest()

    def _rest(self) -> None:
        self._wanted.clear()
        self._mark = self._far_due = self._lookback = None

    async def stream(self, subscriber: Subscriber, connect: Connect) -> AsyncGenerator[bytes]:
        """The frames for one subscriber; `connect` gives connections that see what the subscriber may see."""
        await subscriber.begun.wait()
        if subscriber.ended.is_set():
            return
        yield subscriber.ready()
        if subscriber.event_filter.job_id is not None and subscriber.behind_since is None:
            yield await self._introduction(subscriber, subscriber.event_filter.job_id, connect)
        loop = asyncio.get_running_loop()
        next_time = loop.time()
        while not subscriber.ended.is_set():
            if subscriber.behind_since is not None:
                await asyncio.sleep(next_time - loop.time())
                async for chunk in self._catch_up(subscriber, connect):
                    yield chunk
                next_time = loop.time() + self.pace.catch_up
            while not subscriber.ended.is_set() and (chunk := subscriber.take()):
                yield chunk
            if not await subscriber.is_woken(self.pace.still_here):
                yield subscriber.still_here()

    # -- one subscriber ------------------------------------------------------------------------------------------------

    async def _introduction(self, subscriber: Subscriber, job_id: int, connect: Connect) -> bytes:
        """The current state of a job, so that a subscriber does not wait for a change that has already happened."""
        async with self._catching_up, connect() as conn:
            rows = await changes.jobs(conn, [job_id])
            running = await changes.progress(conn, [job_id], _PROGRESS)
        events = [job_event(row) for row in rows]
        events += [progress_event(row, subscriber.mark) for row in running]
        return b"".join(subscriber.frame(event) for event in events if subscriber.is_to_send(event))

    async def _catch_up(self, subscriber: Subscriber, connect: Connect) -> AsyncGenerator[bytes]:
        since, mark = subscriber.begin_to_catch_up()
        job_id = subscriber.event_filter.job_id
        reads = (
            self._jobs_since(subscriber, since, mark, connect)
            if job_id is None
            else self._items_since(subscriber, job_id, since, connect)
        )
        async for chunk in reads:
            if chunk:
                yield chunk
        subscriber.sent_to = max(subscriber.sent_to, mark)

    async def _jobs_since(
        self, subscriber: Subscriber, since: datetime, mark: datetime, connect: Connect
    ) -> AsyncGenerator[bytes]:
        """In the order of their changes, so that a disconnected reader can continue."""
        owner_id = subscriber.event_filter.owner_id
        after: Position | None = (since - timedelta(microseconds=1), 0)
        while after is not None:
            async with self._catching_up, connect() as conn:
                keys, after = await changes.changed(conn, None if owner_id is None else [owner_id], after, _WHOLE)
                rows = {row["id"]: row for row in await changes.jobs(conn, [key["id"] for key in keys])}
            frames: list[bytes] = []
            for key in keys:
                if key["id"] in rows and subscriber.is_to_send(event := job_event(rows[key["id"]])):
                    frames.append(subscriber.frame(event))
                subscriber.sent_to = max(subscriber.sent_to, min(key["at"], mark))
            yield b"".join(frames)
            if after is not None:
                subscriber.sent_to = max(subscriber.sent_to, min(after[0], mark))

    async def _items_since(
        self, subscriber: Subscriber, job_id: int, since: datetime, connect: Connect
    ) -> AsyncGenerator[bytes]:
        """The job and its changed items, by number: one pass over the job."""
        yield await self._introduction(subscriber, job_id, connect)
        owner_id = subscriber.event_filter.owner_id
        assert owner_id is not None  # noqa: S101 - a filter with a job has its owner
        after: int | None = 0
        while after is not None:
            async with self._catching_up, connect() as conn:
                ns, after = await changes.touched_items(
                    conn, job_id, after, since - timedelta(microseconds=1), _LOOKED_AT
                )
            for some in _slices(ns):
                async with self._catching_up, connect() as conn:
                    rows = await changes.items(conn, [job_id] * len(some), some)
                events = (item_event(row, owner_id) for row in rows)
                yield b"".join(subscriber.frame(event) for event in events if subscriber.is_to_send(event))

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
            await self._publish_jobs(conn, owners, jobs, far if is_far else near)
            if running:
                is_new = not all(watch.begun for watch in running.values())
                await self._publish_items(conn, running, far if is_far or is_new else near, near)
                await self._publish_progress(conn, running, mark)
            if is_far:
                self._far_due = self._next_far(mark, await changes.clock(conn))
                lookback.seen_to = reached
        # A reader that returns with a mark reads from `overlap` before it: no older change may commit later.
        self._finish([*owners.values(), *jobs.values()], mark, min(mark, lookback.seen_to + self.pace.overlap), far)

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
            job_watch = self._jobs.get(subscriber.event_filter.job_id or 0)
            if job_watch is None or job_watch.begun:
                subscriber.advance(mark)

    async def _begin(
        self, conn: Connection, owners: Mapping[int | None, Watch], jobs: Mapping[int, Watch], far: datetime
    ) -> None:
        """Record the present state for new watches, which get changes only."""
        new_owners = {owner_id: watch for owner_id, watch in owners.items() if not watch.begun}
        if new_owners:
            await self._publish_jobs(conn, new_owners, jobs, far)
        new_jobs = [job_id for job_id, watch in jobs.items() if not watch.begun]
        for row in await changes.jobs(conn, new_jobs) if new_jobs else ():
            jobs[row["id"]].is_over = row["finished_at"] is not None  # a finished job is not polled

    async def _publish_jobs(
        self,
        conn: Connection,
        owners: Mapping[int | None, Watch],
        jobs: Mapping[int, Watch],
        since: datetime,
    ) -> None:
        owner_ids = None if None in owners else [owner_id for owner_id in owners if owner_id is not None]
        after: Position | None = (since, 0)
        while after is not None:
            keys, after = await changes.changed(conn, owner_ids, after, _KEYS)
            changed = changed_jobs(keys, owners)
            for ids in _slices(list(changed)):
                for row in await changes.jobs(conn, ids):
                    event = job_event(row)
                    if event.job_id in jobs:
                        jobs[event.job_id].is_over = event.is_over
                    for watch in changed[event.job_id]:
                        watch.seen[event.job_id] = event.at  # may be newer than the key
                        watch.offer(event)

    async def _publish_items(
        self, conn: Connection, jobs: Mapping[int, Watch], since: datetime, near: datetime
    ) -> None:
        found: dict[int, list[asyncpg.Record]] = {job_id: [] for job_id in jobs}
        for key in await changes.attempted_items(conn, list(jobs), since, _KEYS):
            found[key["job_id"]].append(key)
        for job_id, keys in found.items():
            watch = jobs[job_id]
            newest = {key["n"]: key for key in reversed(keys)}
            fresh = [key for key in newest.values() if watch.is_newer(key["n"], key["at"])]
            is_cut = len(keys) >= _KEYS and keys[-1]["at"] > near
            if watch.begun and (is_cut or len(fresh) > MOST_WAITING):
                for subscriber in watch.subscribers:
                    subscriber.fall_behind(min([near, *(key["at"] for key in fresh)]))
                watch.seen.update((key["n"], key["at"]) for key in fresh)
            else:
                await self._publish_rows(conn, watch, fresh)

    async def _publish_rows(self, conn: Connection, watch: Watch, keys: Sequence[asyncpg.Record]) -> None:
        known = {key["n"]: key for key in keys}
        for some in _slices(keys):
            for row in await changes.items(conn, [key["job_id"] for key in some], [key["n"] for key in some]):
                key = known[row["n"]]
                watch.seen[row["n"]] = max(key["at"], row["updated_at"])  # the item may have changed again
                watch.offer(item_event(row, key["owner_id"]))

    async def _publish_progress(self, conn: Connection, jobs: Mapping[int, Watch], mark: datetime) -> None:
        said: dict[int, dict[int, str]] = {job_id: {} for job_id in jobs}
        for row in await changes.progress(conn, list(jobs), _PROGRESS):
            said[row["job_id"]][row["n"]] = row["progress"]
            watch = jobs[row["job_id"]]
            if watch.begun and watch.progress.get(row["n"]) != row["progress"]:
                watch.offer(progress_event(row, mark))
        for job_id, watch in jobs.items():
            watch.progress = said[job_id]


def _log_failure(error: Exception) -> None:
    if isinstance(error, UNAVAILABLE):
        log.warning("look_failed", error=one_line(error))
    else:
        log.error("look_failed", exc_info=error)


def _slices(rows: Sequence[T]) -> Generator[Sequence[T]]:
    for start in range(0, len(rows), _WHOLE):
        yield rows[start : start + _WHOLE]


def _server_exits() -> bool:
    """Whether the uvicorn server that handles SIGTERM is about to stop."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False))
